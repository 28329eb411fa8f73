/* SPDX-License-Identifier: MIT */
#include "sync/bias.h"

#include <coeval/error.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "sync/student.h"

#define PASSES 10
/* The maps' own bounds count as this many independent edges. */
#define PRIOR 10
/* Autocorrelation below this is noise. */
#define CORRELATED 0.05
#define LAGS_FINE 32

/* Distance of one clock's edge from the mean of all stamps of that edge. */
struct distance {
	double late, weight, variance, fixed;
};

/* One clock's distances. */
struct series {
	struct distance *d;
	size_t n;
	int64_t first, last; /* times */
	double late, tau_ns;
};

static int by_time(const void *pa, const void *pb)
{
	const struct bias_edge *a = pa, *b = pb;

	return a->time < b->time ? -1 : a->time > b->time;
}

static bool is_one_happening(const struct bias_edge *g, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++)
			if (g[i].clock == g[j].clock)
				return false;
	return n > 1;
}

/*
 * Each clock's distance from the mean of all, corrected by the biases found so far.
 */
static void see_happening(struct series *s, const struct bias_edge *g, size_t n)
{
	const double w = 1 / (double)n;
	double mean = 0, variance = 0, fixed = 0;

	for (size_t i = 0; i < n; i++) {
		mean += w * ((double)(g[i].time - g[0].time) + s[g[i].clock].late);
		variance += w * w * g[i].sd * g[i].sd;
		fixed += w * g[i].fixed;
	}
	for (size_t i = 0; i < n; i++) {
		struct series *c = &s[g[i].clock];
		struct distance *d = &c->d[c->n++];

		/* a receiver that hears late has a map that is early */
		d->late = mean - (double)(g[i].time - g[0].time);
		d->variance = variance + (1 - 2 * w) * g[i].sd * g[i].sd;
		d->fixed = fixed + (1 - 2 * w) * g[i].fixed;
		d->weight = 1 / (d->variance + d->fixed * d->fixed + 1);
		if (c->n == 1)
			c->first = g[i].time;
		c->last = g[i].time;
	}
}

static double mean_late(const struct series *c)
{
	double sum = 0, weights = 0;

	for (size_t i = 0; i < c->n; i++) {
		sum += c->d[i].weight * c->d[i].late;
		weights += c->d[i].weight;
	}
	return sum / weights;
}

/* Alternating least squares: the edges' true times from the biases, then the biases from those. */
static void fit(struct series *s, size_t n_clocks, const struct bias_edge *e, size_t n)
{
	for (int pass = 0; pass < PASSES; pass++) {
		double mean = 0, clocks = 0;

		for (size_t c = 0; c < n_clocks; c++)
			s[c].n = 0;
		for (size_t i = 0, end; i < n; i = end) {
			for (end = i + 1; end < n && e[end].time - e[i].time <= BIAS_TOGETHER_NS;)
				end++;
			if (is_one_happening(e + i, end - i))
				see_happening(s, e + i, end - i);
		}
		for (size_t c = 0; c < n_clocks; c++)
			if (s[c].n) {
				s[c].late = mean_late(&s[c]);
				mean += s[c].late;
				clocks++;
			}
		for (size_t c = 0; c < n_clocks && clocks > 0; c++)
			s[c].late -= s[c].n ? mean / clocks : 0;
	}
}

/*
 * How long an error lasts: half a step plus the autocorrelation summed until it is lost in noise,
 * with larger strides at longer lags.
 * @too_small: how much the autocorrelation is underestimated, as the mean removed is that of the
 * series itself.
 */
static double correlated_for(const struct series *c, double mean, double too_small)
{
	const double step = c->n > 1 ? (double)(c->last - c->first) / (double)(c->n - 1) : 0;
	double sum = 0.5, all = 0, weights = 0;

	for (size_t i = 0; i < c->n; i++) {
		const double off = c->d[i].late - mean;

		all += c->d[i].weight * off * off;
		weights += c->d[i].weight;
	}
	for (size_t lag = 1, stride; lag < c->n / 2 && all > 0; lag += stride) {
		double r = 0, of = 0;

		stride = lag < LAGS_FINE ? 1 : lag / LAGS_FINE;
		for (size_t i = lag; i < c->n; i++) {
			const struct distance *a = &c->d[i], *b = &c->d[i - lag];
			const double w = fmin(a->weight, b->weight);

			r += w * (a->late - mean) * (b->late - mean);
			of += w;
		}
		r /= all / weights * of;
		r += (1 - r) * too_small;
		if (r < CORRELATED)
			break;
		sum += r * (double)stride;
	}
	return sum * step;
}

/*
 * The variance of a series' mean is that of the series over its number of independent parts.
 */
static void find_tau(struct series *c)
{
	const double mean = mean_late(c), span = (double)(c->last - c->first);

	c->tau_ns = correlated_for(c, mean, 0);
	if (span > 0)
		c->tau_ns = correlated_for(c, mean, fmin(2 * c->tau_ns / span, 0.5));
}

static double bound_of(const struct series *c)
{
	const double mean = mean_late(c), span = (double)(c->last - c->first);
	double weights = 0, squares = 0, variance = 0, promised = 0, fixed = 0, n, sd;

	for (size_t i = 0; i < c->n; i++) {
		const struct distance *d = &c->d[i];

		weights += d->weight;
		squares += d->weight * d->weight;
		variance += d->weight * (d->late - mean) * (d->late - mean);
		promised += d->weight * d->variance;
		fixed += d->weight * d->fixed;
	}
	variance /= weights;
	promised /= weights;
	n = c->tau_ns > 0 ? span / (2 * c->tau_ns) : 2;
	n = fmax(fmin(n, weights * weights / squares), 2);
	sd = sqrt((PRIOR * promised + (n - 1) * variance) / (PRIOR + n - 1));
	return student_999(PRIOR + n - 1) * sd / sqrt(n) + fixed / weights + 1;
}

int bias_find(struct bias_edge *edge, size_t n, struct bias *bias, size_t n_clocks)
{
	struct series *s = calloc(n_clocks + 1, sizeof(*s));
	double tau = 0, tied = 0;
	int rc = s ? 0 : CVL_E_NOMEM;

	for (size_t i = 0; i < n && !rc; i++)
		s[edge[i].clock].n++;
	for (size_t c = 0; c < n_clocks && !rc; c++) {
		s[c].d = calloc(s[c].n + 1, sizeof(*s[c].d));
		rc = s[c].d ? 0 : CVL_E_NOMEM;
	}
	if (!rc && n) {
		qsort(edge, n, sizeof(*edge), by_time);
		fit(s, n_clocks, edge, n);
	}
	for (size_t c = 0; c < n_clocks && !rc; c++) {
		bias[c] = (struct bias){ .edges = n ? s[c].n : 0 };
		if (!bias[c].edges)
			continue;
		find_tau(&s[c]);
		tau += s[c].tau_ns;
		tied++;
	}
	/*
		 * the error duration is common to most of what is heard alike: a short series may
		 * underestimate it
	 */
	for (size_t c = 0; c < n_clocks && !rc; c++) {
		if (!bias[c].edges)
			continue;
		s[c].tau_ns = fmax(s[c].tau_ns, tau / tied);
		bias[c].late_ns = s[c].late;
		bias[c].bound_ns = bound_of(&s[c]);
	}
	for (size_t c = 0; s && c < n_clocks; c++)
		free(s[c].d);
	free(s);
	return rc;
}
