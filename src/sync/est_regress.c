/* SPDX-License-Identifier: MIT */
/*
 * Sliding regression, online: a line through the last marks, as many (4 to 64) as pass a runs test.
 * Residuals of a line change sign about every other time, so 1 + (n - 1) / 2 runs are expected;
 * with fewer, the oldest mark is dropped. (As in chrony, with a different test.)
 */
#include "sync/local.h"
#include "sync/problem.h"
#include "sync/student.h"
#include "sync/track.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MARKS_MAX 64
#define WILD 10.0 /* sd of forecasts beyond which a mark is rejected */
#define AGREE 4   /* consecutive rejected marks that restart the fit */

struct regression {
	struct track_setup setup;
	struct track_report *r;
	struct track_mark mark[MARKS_MAX];
	size_t n;
	unsigned wild;
	bool known;
	struct forecast now;
	struct forecast_errors errors;
	struct local_noise local;
	struct residual_sums residuals;
};

static unsigned runs_of(const struct regression *g, double mean, double slope, double x_mean)
{
	unsigned runs = 1;
	bool before = false;

	for (size_t i = 0; i < g->n; i++) {
		double d = (double)(g->mark[i].x - g->mark[0].x) - x_mean;
		bool above = g->mark[i].offset - mean - slope * d > 0;

		runs += i && above != before;
		before = above;
	}
	return runs;
}

/* Fit a line through all marks, dropping the oldest until there are enough runs. */
static void fit(struct regression *g)
{
	for (;;) {
		double n = (double)g->n, x = 0, z = 0, xx = 0, xz = 0, rest = 0, slope, d, s2,
		       missed, local;

		for (size_t i = 0; i < g->n; i++) {
			x += (double)(g->mark[i].x - g->mark[0].x) / n;
			z += g->mark[i].offset / n;
		}
		for (size_t i = 0; i < g->n; i++) {
			d = (double)(g->mark[i].x - g->mark[0].x) - x;
			xx += d * d;
			xz += d * (g->mark[i].offset - z);
		}
		slope = xz / xx;
		if (g->n > TRACK_MARKS_MIN && runs_of(g, z, slope, x) < 1 + (n - 1) / 2) {
			memmove(g->mark, g->mark + 1, --g->n * sizeof(*g->mark));
			continue;
		}
		for (size_t i = 0; i < g->n; i++) {
			d = (double)(g->mark[i].x - g->mark[0].x) - x;
			rest += (g->mark[i].offset - z - slope * d) *
				(g->mark[i].offset - z - slope * d);
		}
		/* excess of forecast errors over the marks' own: the clock was not a line */
		missed = TRACK_999 *
			 sqrt(fmax(g->errors.mean2 - g->r->jitter_ns * g->r->jitter_ns, 0));
		d = (double)(g->mark[g->n - 1].x - g->mark[0].x) - x;
		local = sqrt(local_noise_now(&g->local));
		s2 = fmax(rest / (n - 2), g->setup.resolution_ns * g->setup.resolution_ns / 12);
		g->now = (struct forecast){
			.x = g->mark[g->n - 1].x,
			.offset = z + slope * d,
			.slope = slope * 1e9,
			.bound = local *
				 fmax(student_999(n - 2) * sqrt(s2 * (1 / n + d * d / xx)), missed),
			.bound_rate = local * student_999(n - 2) * sqrt(s2 / xx) * 1e9,
			.bound_acceleration = 10,
		};
		g->r->jitter_ns = sqrt(s2);
		return;
	}
}

static void *open_regression(const struct track_setup *setup, struct track_report *r)
{
	struct regression *g = calloc(1, sizeof(*g));

	if (g) {
		g->setup = *setup;
		g->r = r;
		g->local.luck = setup->pulses ? 0 : LOCAL_LUCK; /* references are known less well */
	}
	return g;
}

static void add_mark(struct regression *g, const struct track_mark *m)
{
	if (g->n == MARKS_MAX)
		memmove(g->mark, g->mark + 1, --g->n * sizeof(*g->mark));
	g->mark[g->n++] = *m;
	g->r->used++;
}

/* Before the first forecast the line of the first marks applies, back to where they begin. */
static int begin(struct regression *g)
{
	struct track_knot k = { .x = g->mark[0].x };

	fit(g);
	g->known = true;
	k.offset = g->now.offset + g->now.slope * (double)(k.x - g->now.x) * 1e-9;
	k.bound = g->now.bound;
	g->r->before = (struct cvl_map_edge){
		.rate_ppb = track_rate_ppb(g->now.slope * 1e-9),
		.drift_ppb = g->now.bound_rate,
		.wander_ppb_s = g->now.bound_acceleration,
	};
	return track_emit(g->r, &k);
}

static int feed(void *state, const struct track_mark *m)
{
	struct regression *g = state;
	double error;
	int rc;

	if (g->n && m->x <= g->mark[g->n - 1].x)
		return 0;
	if (!g->known) {
		add_mark(g, m);
		return g->n == 2 * TRACK_MARKS_MIN ? begin(g) : 0;
	}
	rc = forecast_emit(g->r, &g->now, m->x);
	error = m->offset - g->now.offset - g->now.slope * (double)(m->x - g->now.x) * 1e-9;
	if (g->errors.n > 16 && error * error > WILD * WILD * g->errors.mean2 &&
	    ++g->wild < AGREE) {
		g->r->rejected++;
		return rc;
	}
	if (g->wild >= AGREE) {
		g->r->steps++;
		g->n = 0;
		g->known = false;
	}
	g->wild = 0;
	if (g->errors.n > 16)
		local_noise_add(&g->local, error / sqrt(g->errors.mean2));
	forecast_error(&g->errors, error);
	residual_add(&g->residuals, error);
	add_mark(g, m);
	if (g->known)
		fit(g);
	return rc;
}

static int close_regression(void *state, int rc)
{
	struct regression *g = state;

	if (!rc && !g->known && !g->residuals.n)
		rc = g->n >= TRACK_MARKS_MIN ? begin(g) : CVL_E_NO;
	if (!rc)
		rc = forecast_emit(g->r, &g->now, g->now.x + 2);
	if (!rc) {
		forecast_last(g->r, &g->now);
		residual_end(&g->residuals, g->r);
	}
	free(g);
	return rc;
}

static const struct tracker tracker = { open_regression, feed, close_regression, false, false };

const struct estimator estimator_regress = {
	.info = { .name = "regress",
		  .what = "pulses and beacons, online: sliding regression with a test of runs",
		  .options = sync_mark_options },
	.tracker = &tracker,
};
