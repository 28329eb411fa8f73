/* SPDX-License-Identifier: MIT */
/*
 * A straight line through all marks, for clocks whose rates are constant during the capture.
 *
 * It is fitted by iteratively reweighted least squares with Tukey's biweight (c = 4.685, scale from
 * the median absolute residual), from a start that wild marks cannot spoil. Its uncertainty is that
 * of weighted regression, widened by (1 + r) / (1 - r) when successive residuals are correlated by
 * r, times Student's quantile.
 */
#include <coeval/array.h>
#include "sync/problem.h"
#include "sync/student.h"
#include "sync/track.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Of Tukey's biweight: 95 % efficient. With few residuals the scale itself is uncertain, so
 * rejection is more lenient then; else the bound would come out too small.
 */
#define BIWEIGHT_C 4.685
#define BIWEIGHT_FEW 12.0
#define RATE_SEARCH 2000e-6
#define ITERATIONS 30
#define KNOTS 65

struct sample {
	double x, z; /* ns from the first mark, and its offset */
	double weight, residual;
};

struct liner {
	struct track_setup setup;
	struct track_report *r;
	int64_t x0;
	struct sample *s;
	size_t n, capacity;
	double *scratch;
	double x_mean, z_mean, slope, scale; /* the line */
};

static double median_abs(struct liner *l)
{
	size_t k = 0;

	for (size_t i = 0; i < l->n; i++)
		if (l->s[i].weight > 0)
			l->scratch[k++] = fabs(l->s[i].residual);
	return median_of(l->scratch, k);
}

static void find_residuals(struct liner *l)
{
	for (size_t i = 0; i < l->n; i++)
		l->s[i].residual = l->s[i].z - l->z_mean - l->slope * (l->s[i].x - l->x_mean);
}

/*
 * A start that wild marks cannot spoil: the median slope between marks half the series apart,
 * within what a clock can be off, and the median offset from it. Marks far from that line begin
 * without weight.
 */
static void start_line(struct liner *l, double floor)
{
	size_t k = 0, n = l->n;
	double scale;

	for (size_t i = 0; i + n / 2 < n; i++) {
		double dx = l->s[i + n / 2].x - l->s[i].x;
		double slope = dx > 0 ? (l->s[i + n / 2].z - l->s[i].z) / dx : 1;

		if (fabs(slope) <= RATE_SEARCH)
			l->scratch[k++] = slope;
	}
	l->slope = median_of(l->scratch, k);
	l->x_mean = 0;
	for (size_t i = 0; i < n; i++)
		l->scratch[i] = l->s[i].z - l->slope * l->s[i].x;
	l->z_mean = median_of(l->scratch, n);
	find_residuals(l);
	for (size_t i = 0; i < n; i++)
		l->s[i].weight = 1;
	scale = fmax(median_abs(l) * 1.4826, floor);
	for (size_t i = 0; i < n; i++)
		l->s[i].weight = fabs(l->s[i].residual) <= 10 * scale ? 1 : 0;
}

/* Weighted regression. Returns false if there are too few marks. */
static bool regress(struct liner *l)
{
	double w = 0, sx = 0, sz = 0, sxz = 0, sxx = 0;

	for (size_t i = 0; i < l->n; i++) {
		w += l->s[i].weight;
		sx += l->s[i].weight * l->s[i].x;
		sz += l->s[i].weight * l->s[i].z;
	}
	if (!(w > 0))
		return false;
	l->x_mean = sx / w;
	l->z_mean = sz / w;
	for (size_t i = 0; i < l->n; i++) {
		double dx = l->s[i].x - l->x_mean;

		sxz += l->s[i].weight * dx * (l->s[i].z - l->z_mean);
		sxx += l->s[i].weight * dx * dx;
	}
	if (!(sxx > 0))
		return false;
	l->slope = sxz / sxx;
	find_residuals(l);
	return true;
}

static double cutoff(const struct liner *l)
{
	return BIWEIGHT_C * (1 + BIWEIGHT_FEW / (double)l->n) * l->scale;
}

static bool fit(struct liner *l, double floor)
{
	start_line(l, floor);
	for (int i = 0; i < ITERATIONS; i++) {
		double before = l->slope, reach;

		if (!regress(l))
			return false;
		l->scale = fmax(median_abs(l) * 1.4826, floor);
		reach = cutoff(l);
		for (size_t k = 0; k < l->n; k++) {
			double u = l->s[k].residual / reach;

			l->s[k].weight = fabs(u) < 1 ? (1 - u * u) * (1 - u * u) : 0;
		}
		if (i > 2 && fabs(l->slope - before) < 1e-13)
			break;
	}
	return true;
}

static void describe(struct liner *l, double noise)
{
	struct residual_sums sums = { 0 };
	struct track_report *r = l->r;

	for (size_t i = 0; i < l->n; i++) {
		if (!(l->s[i].weight > 0)) {
			r->rejected++;
			continue;
		}
		r->used++;
		residual_add(&sums, l->s[i].residual);
	}
	residual_end(&sums, r);
	if (sums.pairs > 8 && r->residuals.sd > noise)
		r->correlation = sums.product / (double)sums.pairs / (sums.sum2 / (double)sums.n);
}

/*
 * Variance of one mark that stands for the precision of the robust fit: Huber's proposal for
 * M-estimates with two parameters (Robust Statistics, 7.6), K^2 [sum psi^2 / (n - 2)] / [sum psi' /
 * n]^2. @sxx: spread of x of the marks used.
 */
static double estimate_variance(const struct liner *l, double floor, double *sxx)
{
	double psi2 = 0, slope = 0, slope2 = 0, used = 0, reach = cutoff(l), k;

	*sxx = 0;
	for (size_t i = 0; i < l->n; i++) {
		const struct sample *s = &l->s[i];
		double u = s->residual / reach, dx = s->x - l->x_mean, d;

		if (!(s->weight > 0))
			continue;
		d = (1 - u * u) * (1 - 5 * u * u);
		psi2 += s->weight * s->residual * s->weight * s->residual;
		slope += d;
		slope2 += d * d;
		*sxx += dx * dx;
		used++;
	}
	if (used <= 2 || !(slope > 0))
		return INFINITY;
	slope /= used;
	slope2 = slope2 / used - slope * slope;
	k = 1 + 2 / used * slope2 / (slope * slope);
	return fmax(k * k * psi2 / (used - 2) / (slope * slope), floor * floor);
}

static int emit_line(struct liner *l, double floor)
{
	struct track_report *r = l->r;
	double sxx, widen = fmin(fmax(r->correlation, 0), 0.95), variance, var_z, var_slope, q;
	double span = l->s[l->n - 1].x;
	int rc = 0;

	variance = estimate_variance(l, floor, &sxx) * (1 + widen) / (1 - widen);
	if (r->used < TRACK_MARKS_MIN || !(sxx > 0) || !isfinite(variance))
		return CVL_E_NO;
	q = student_999((double)r->used - 2);
	var_z = variance / (double)r->used;
	var_slope = variance / sxx;
	for (int i = 0; i < KNOTS && !rc; i++) {
		double x = span * i / (KNOTS - 1), d = x - l->x_mean;
		struct track_knot k = { l->x0 + (int64_t)x, l->z_mean + l->slope * d,
					q * sqrt(var_z + var_slope * d * d) };

		rc = track_emit(r, &k);
	}
	r->rate_ppb = track_rate_ppb(l->slope);
	r->rate_bound_ppb = q * sqrt(var_slope) * 1e9;
	r->before = r->after =
		(struct cvl_map_edge){ .rate_ppb = r->rate_ppb, .drift_ppb = r->rate_bound_ppb };
	r->jitter_ns = sqrt(variance);
	return rc;
}

static void *open_line(const struct track_setup *setup, struct track_report *r)
{
	struct liner *l = calloc(1, sizeof(*l));

	if (l) {
		l->setup = *setup;
		l->r = r;
	}
	return l;
}

static int feed_line(void *state, const struct track_mark *m)
{
	struct liner *l = state;

	if (cvl_room(&l->s, l->n, &l->capacity, sizeof(*l->s)))
		return CVL_E_NOMEM;
	if (!l->n)
		l->x0 = m->x;
	l->s[l->n++] = (struct sample){ .x = (double)(m->x - l->x0), .z = m->offset };
	return 0;
}

static int close_line(void *state, int rc)
{
	struct liner *l = state;
	double floor = l->setup.resolution_ns * 0.289; /* 1 / sqrt(12) */

	if (!rc && l->n < TRACK_MARKS_MIN)
		rc = CVL_E_NO;
	if (!rc) {
		l->scratch = malloc(l->n * sizeof(*l->scratch));
		rc = l->scratch ? 0 : CVL_E_NOMEM;
	}
	if (!rc && !fit(l, floor))
		rc = CVL_E_NO;
	if (!rc) {
		describe(l, floor * 1.5);
		rc = emit_line(l, floor);
	}
	free(l->scratch);
	free(l->s);
	free(l);
	return rc;
}

static const struct tracker tracker = { open_line, feed_line, close_line, false, false };

const struct estimator estimator_line = {
	.info = { .name = "line",
		  .what = "pulses and beacons: one robust straight line per clock",
		  .options = sync_mark_options },
	.tracker = &tracker,
};
