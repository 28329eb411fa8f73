/* SPDX-License-Identifier: MIT */
#include "analysis/freq/fit_internal.h"

#include <math.h>

#define N (1 + SWO_MODEL_FEATURES)

/*
 * Ridge penalty, for features of mean 0 and variance 1, in tasks: weak relative to some dozen of
 * them, and enough for features that hardly vary or depend on others. Not tuned.
 */
#define RIDGE 1.0

struct feature_stat {
	double mean, scale; /* 1 / standard deviation, or 0 if it does not vary */
};

static double value(const struct freq_set *set, size_t i, uint8_t feature)
{
	int32_t x = fit_feature(set, &set->c[i], feature);

	return x == INT32_MIN ? (double)NAN : x / 65536.0;
}

/* Rows of tasks that lack a feature are skipped. Returns their number. */
static size_t read_row(const struct freq_set *set, const struct fit_rule *rule, size_t i,
		       size_t skip, double *x)
{
	if (i == skip)
		return 0;
	for (unsigned k = 0; k < rule->n_features; k++) {
		x[k] = value(set, i, rule->feature[k]);
		if (isnan(x[k]))
			return 0;
	}
	return 1;
}

static size_t standardise(const struct freq_set *set, const struct fit_rule *rule, size_t skip,
			  struct feature_stat s[SWO_MODEL_FEATURES])
{
	double sum[SWO_MODEL_FEATURES] = { 0 }, sq[SWO_MODEL_FEATURES] = { 0 };
	double x[SWO_MODEL_FEATURES];
	size_t n = 0;

	for (size_t i = 0; i < set->n; i++) {
		if (!read_row(set, rule, i, skip, x))
			continue;
		n++;
		for (unsigned k = 0; k < rule->n_features; k++) {
			sum[k] += x[k];
			sq[k] += x[k] * x[k];
		}
	}
	for (unsigned k = 0; k < rule->n_features && n; k++) {
		double mean = sum[k] / (double)n, var = sq[k] / (double)n - mean * mean;

		s[k] = (struct feature_stat){ mean, var > 1e-9 ? 1 / sqrt(var) : 0 };
	}
	return n;
}

/*
 * Solve a symmetric positive definite system in place by Cholesky factorisation; the ridge makes it
 * positive definite.
 */
static void solve(double a[N][N], double b[N], unsigned n)
{
	for (unsigned j = 0; j < n; j++) {
		for (unsigned k = 0; k < j; k++)
			a[j][j] -= a[j][k] * a[j][k];
		a[j][j] = sqrt(fmax(a[j][j], 1e-12));
		for (unsigned i = j + 1; i < n; i++) {
			for (unsigned k = 0; k < j; k++)
				a[i][j] -= a[i][k] * a[j][k];
			a[i][j] /= a[j][j];
		}
	}
	for (unsigned i = 0; i < n; i++) {
		for (unsigned k = 0; k < i; k++)
			b[i] -= a[i][k] * b[k];
		b[i] /= a[i][i];
	}
	for (unsigned i = n; i-- > 0;) {
		for (unsigned k = i + 1; k < n; k++)
			b[i] -= a[k][i] * b[k];
		b[i] /= a[i][i];
	}
}

static int32_t fixed(double v)
{
	v *= 65536;
	return (int32_t)lround(fmax(-0x1p30, fmin(0x1p30, v)));
}

size_t fit_linear(struct swo_model *m, const struct fit_rule *rule, const struct freq_set *set,
		  size_t skip)
{
	const unsigned n = 1u + rule->n_features;
	struct feature_stat s[SWO_MODEL_FEATURES] = { 0 };
	size_t rows = standardise(set, rule, skip, s);

	*m = (struct swo_model){ .n_features = rule->n_features,
				 .n_points = (uint8_t)set->n_points };
	for (unsigned k = 0; k < rule->n_features; k++)
		m->feature[k] = rule->feature[k];
	for (uint32_t p = 1; p < set->n_points; p++) {
		double a[N][N] = { { 0 } }, b[N] = { 0 }, x[N];

		for (size_t i = 0; i < set->n; i++) {
			double y = set->c[i].energy[p] / set->c[i].energy[0];

			x[0] = 1;
			if (!read_row(set, rule, i, skip, x + 1))
				continue;
			for (unsigned k = 1; k < n; k++)
				x[k] = (x[k] - s[k - 1].mean) * s[k - 1].scale;
			for (unsigned k = 0; k < n; k++) {
				b[k] += x[k] * y;
				for (unsigned j = 0; j < n; j++)
					a[k][j] += x[k] * x[j];
			}
		}
		for (unsigned k = 1; k < n; k++)
			a[k][k] += RIDGE;
		m->weight[p][0] = 65536;
		if (!rows)
			continue;
		solve(a, b, n);
		for (unsigned k = 1; k < n; k++) {
			b[k] *= s[k - 1].scale;
			b[0] -= b[k] * s[k - 1].mean;
			m->weight[p][k] = fixed(b[k]);
		}
		m->weight[p][0] = fixed(b[0]);
	}
	return rows;
}
