/* SPDX-License-Identifier: MIT */
/*
 * The smoother works in overlapping windows: where one ends and the next begins nothing may be seen
 * of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/random.h"
#include "sync/problem.h"
#include "sync/track.h"

#define MARKS 20000
#define JITTER_NS 487.0
/* As in est_smooth.c. */
#define WINDOW 1536
#define OVERLAP 128
#define NEAR 4 /* marks from a seam */

/* A clock whose rate wanders, and how far it is off at each second. */
static void wander(double *truth, uint64_t seed)
{
	struct sim_random r = { seed };
	double rate = 100 * sim_normal(&r), offset = 0;

	for (int k = 0; k < MARKS; k++) {
		truth[k] = offset;
		offset += rate;
		rate += 3 * sim_normal(&r);
	}
}

static bool at_seam(int k)
{
	int first = WINDOW - OVERLAP - 1, step = WINDOW - 2 * OVERLAP, d;

	if (k < first - NEAR)
		return false;
	d = (k - first) % step;
	return d <= NEAR || step - d <= NEAR;
}

static void seams_are_as_good_as_the_rest(void **state)
{
	double *truth = malloc(MARKS * sizeof(*truth)), seam = 0, rest = 0;
	uint64_t seams = 0, others = 0, covered = 0;

	(void)state;
	assert_non_null(truth);
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct sim_random r = { 1000 + seed };
		struct track t = { 0 };
		const struct track_setup setup = { .rate_hz = 8000000,
						   .period_ns = 1e9,
						   .resolution_ns = 125 };
		void *s;

		wander(truth, seed);
		t.report = (struct track_report){ .emit = track_keep, .ctx = &t };
		s = estimator_smooth.tracker->open(&setup, &t.report);
		assert_non_null(s);
		for (int k = 0; k < MARKS; k++) {
			struct track_mark m = { .x = (int64_t)k * 1000000000,
						.offset = truth[k] + JITTER_NS * sim_normal(&r) };

			assert_int_equal(estimator_smooth.tracker->feed(s, &m), 0);
		}
		assert_int_equal(estimator_smooth.tracker->close(s, 0), 0);
		for (int k = 20; k < MARKS - 20; k++) {
			double bound, e = track_at(&t, (int64_t)k * 1000000000, &bound) - truth[k];

			if (at_seam(k)) {
				seam += e * e;
				seams++;
			} else {
				rest += e * e;
				others++;
			}
			covered += fabs(e) <= bound;
		}
		track_free(&t);
	}
	seam = sqrt(seam / (double)seams);
	rest = sqrt(rest / (double)others);
	printf("rms at %llu places near seams %.1f ns, elsewhere %.1f ns, %.3f %% covered\n",
	       (unsigned long long)seams, seam, rest,
	       100 * (double)covered / (double)(seams + others));
	assert_true(seams > 500);
	assert_true(seam < 1.15 * rest);
	assert_true((double)covered >= 0.999 * (double)(seams + others));
	free(truth);
}

#define STRETCH 40 /* marks between two slips */
#define STRETCHES 50
#define SLIP_NS 2e8 /* half-width: what a host knows of an analyzer that was unplugged */

/* Little is known behind a slip, which must not make what is known there look better than it is. */
static void bounds_hold_behind_wide_slips(void **state)
{
	static double truth[MARKS];
	struct track_slip slip[STRETCHES - 1];
	uint64_t covered = 0, n = 0;
	double least = INFINITY;

	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct sim_random r = { 2000 + seed };
		struct track t = { 0 };
		const struct track_setup setup = { .rate_hz = 8000000,
						   .period_ns = 1e9,
						   .resolution_ns = 125,
						   .slip = slip,
						   .n_slips = STRETCHES - 1 };
		double shift = 0;
		void *s;

		wander(truth, seed);
		t.report = (struct track_report){ .emit = track_keep, .ctx = &t };
		for (int i = 0; i < STRETCHES - 1; i++) {
			int64_t before = ((int64_t)i + 1) * STRETCH * 1000000000 - 700000000;

			slip[i] = (struct track_slip){ before, before + 400000000, SLIP_NS };
		}
		s = estimator_smooth.tracker->open(&setup, &t.report);
		assert_non_null(s);
		for (int k = 0; k < STRETCH * STRETCHES; k++) {
			struct track_mark m = { .x = (int64_t)k * 1000000000 };

			if (k && k % STRETCH == 0)
				shift += SLIP_NS * (2 * sim_uniform(&r) - 1);
			truth[k] += shift;
			m.offset = truth[k] + JITTER_NS * sim_normal(&r);
			assert_int_equal(estimator_smooth.tracker->feed(s, &m), 0);
		}
		assert_int_equal(estimator_smooth.tracker->close(s, 0), 0);
		for (int k = STRETCH; k < STRETCH * STRETCHES; k++) {
			double bound, e = track_at(&t, (int64_t)k * 1000000000, &bound) - truth[k];

			covered += fabs(e) <= bound;
			least = fmin(least, bound);
			n++;
		}
		track_free(&t);
	}
	printf("%.3f %% covered, least bound %.0f ns\n", 100 * (double)covered / (double)n, least);
	assert_true((double)covered >= 0.997 * (double)n);
	assert_true(least > JITTER_NS / 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(seams_are_as_good_as_the_rest),
		cmocka_unit_test(bounds_hold_behind_wide_slips),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
