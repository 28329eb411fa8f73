/* SPDX-License-Identifier: MIT */
/* Counting pulses that carry no number, and deciding by how many periods counts are apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/random.h"
#include "sync/count.h"
#include "sync/turns.h"
#include "tier.h"

#define MOST 40000

struct line {
	struct heard mark[MOST], *list[MOST];
	int64_t truth[MOST]; /* number; INT64_MIN: noise */
	size_t n;
};

static struct line line;

static uint64_t seed(void)
{
	return seed_of_run();
}

static void put(double x, int64_t number)
{
	line.mark[line.n].x = llround(x);
	line.truth[line.n] = number;
	line.n++;
}

static int by_x(const void *pa, const void *pb)
{
	const struct heard *a = *(struct heard *const *)pa, *b = *(struct heard *const *)pb;

	return a->x < b->x ? -1 : a->x > b->x;
}

static struct pulse_count count(double period, double drift_ppm)
{
	struct pulse_count found;

	for (size_t i = 0; i < line.n; i++)
		line.list[i] = &line.mark[i];
	qsort(line.list, line.n, sizeof(*line.list), by_x);
	assert_int_equal(count_pulses(line.list, line.n, llround(period), 0, drift_ppm, &found), 0);
	return found;
}

/* How many pulses that count are wrong: true ones whose number is off by what most are not. */
static size_t wrong(size_t *counted)
{
	int64_t off = INT64_MIN;
	size_t n = 0;

	*counted = 0;
	for (size_t i = 0; i < line.n; i++) {
		if (line.mark[i].bad || line.truth[i] == INT64_MIN)
			continue;
		if (off == INT64_MIN)
			off = line.mark[i].number - line.truth[i];
		n += line.mark[i].number - line.truth[i] != off;
		++*counted;
	}
	return n;
}

static void noise_is_a_gap(void **state)
{
	struct sim_random r = { seed() };

	(void)state;
	for (int k = 0; k < 100; k++) {
		double rate = 1 + (sim_uniform(&r) - 0.5) * 300e-6,
		       jitter = 1e3 * pow(10, 4 * sim_uniform(&r)),
		       burst = 100 + 1500 * sim_uniform(&r), length = 3 + 117 * sim_uniform(&r),
		       hertz = 2 + 28 * sim_uniform(&r);
		struct pulse_count found;
		size_t counted;

		line.n = 0;
		for (int i = 0; i < 1800; i++)
			if ((i < burst || i > burst + length) && sim_uniform(&r) > 0.1)
				put((double)i * 1e9 * rate + jitter * sim_normal(&r), i);
		for (double t = burst; t < burst + length; t -= log(1 - sim_uniform(&r)) / hertz)
			put(t * 1e9, INT64_MIN);
		found = count(1e9, 200);
		assert_int_equal(found.finding, PULSES_COUNTED);
		if (wrong(&counted))
			fail_msg("%d: a burst of %.0f s at %.0f Hz changed the count", k, length,
				 hertz);
		assert_true(counted > 1400);
		assert_false(found.too_fast);
	}
}

static void a_period_that_is_not_theirs_is_refused(void **state)
{
	static const struct {
		double stated;
		double is;
	} wrong_ones[] = { { 101e6, 100e6 }, { 1e9, 100e6 },   { 10e6, 100e6 },
			   { 200e6, 100e6 }, { 300e6, 100e6 }, { 50e6, 100e6 } };
	struct sim_random r = { seed() };

	(void)state;
	line.n = 0;
	for (int i = 0; i < 600; i++)
		put(i * 100e6 * (1 + 50e-6) + 100 * sim_normal(&r), i);
	assert_int_equal(count(100e6, 200).finding, PULSES_COUNTED);
	for (size_t i = 0; i < sizeof(wrong_ones) / sizeof(*wrong_ones); i++) {
		struct pulse_count found = count(wrong_ones[i].stated, 200);

		assert_int_equal(found.finding, PULSES_OTHER);
		assert_true(fabs(found.period_ns / wrong_ones[i].is - 1) < 2e-3);
	}
	line.n = 0;
	for (double x = 0; line.n < 600; x -= log(1 - sim_uniform(&r)) * 100e6)
		put(x, INT64_MIN);
	assert_int_equal(count(100e6, 200).finding, PULSES_RANDOM);
}

static void a_rate_beyond_what_was_stated_is_told(void **state)
{
	struct sim_random r = { seed() };
	struct pulse_count found;
	size_t counted;

	(void)state;
	line.n = 0;
	for (int i = 0; i < 1800; i++)
		put(i * 1e9 * (1 + 516e-6) + 1e6 * sim_normal(&r), i);
	found = count(1e9, 200);
	assert_true(found.too_fast);
	assert_true(fabs(found.rate_ppm - 516) < 40);
	assert_int_equal(wrong(&counted), 0);
	found = count(1e9, 600);
	assert_false(found.too_fast);
	assert_int_equal(wrong(&counted), 0);
}

/*
 * 20 ppm fast; pauses of an hour are bridged by the rate that was seen, where too little was seen
 * they are not.
 */
static void a_pause_is_bridged_only_by_what_is_known(void **state)
{
	struct sim_random r = { seed() };
	struct pulse_count found;
	size_t counted;

	(void)state;
	line.n = 0;
	for (int i = 0; i < 7200; i++)
		if (i < 1800 || i >= 5400)
			put(i * 1e9 * (1 + 20e-6) + 1e3 * sim_normal(&r), i);
	found = count(1e9, 200);
	assert_int_equal(found.aside, 0);
	assert_int_equal(wrong(&counted), 0);
	assert_int_equal(counted, 3600);
	line.n = 0;
	for (int i = 0; i < 7200; i++)
		if (i < 10 || i >= 7190)
			put(i * 1e9 * (1 + 20e-6) + 1e3 * sim_normal(&r), i);
	found = count(1e9, 200);
	assert_int_equal(found.aside, 10);
	assert_true(fabs(found.pause_ns - 7181e9) < 2e9);
}

static void a_step_of_the_phase_is_followed(void **state)
{
	struct sim_random r = { seed() };
	size_t counted;

	(void)state;
	line.n = 0;
	for (int i = 0; i < 600; i++)
		put(i * 1e9 + (i >= 300 ? 0.3e9 : 0) + 1e3 * sim_normal(&r), i);
	count(1e9, 200);
	assert_int_equal(wrong(&counted), 0);
	assert_true(counted > 590);
}

/* ---- turns ---- */

static void what_is_not_decided_is_a_group_of_its_own(void **state)
{
	struct turns *t = turns_new(5);
	struct turn turn[5];

	(void)state;
	/*
	 * 0 and 1 by beacons, 1 and 2 by claims that are tight enough; 3 and 4 against each other
	 * only
	 */
	assert_int_equal(turns_between(t, 0, 1, 2.8, 3.2, TURN_BEACON), 0);
	assert_int_equal(turns_between(t, 1, 2, -0.9, 0.4, TURN_CLAIM), 0);
	assert_int_equal(turns_between(t, 2, 3, -0.9, 1.4, TURN_CLAIM), 0);
	assert_int_equal(turns_between(t, 3, 4, 6.7, 7.3, TURN_ALIGN), 0);
	assert_int_equal(turns_solve(t, SIZE_MAX, turn), 0);
	assert_int_equal(turn[0].group, 0);
	assert_int_equal(turn[1].group, 0);
	assert_int_equal(turn[2].group, 0);
	assert_int_equal(turn[1].low, -3);
	assert_int_equal(turn[1].high, -3);
	assert_int_equal(turn[1].decided_by, 1 << TURN_BEACON);
	assert_int_equal(turn[2].decided_by, 1 << TURN_BEACON | 1 << TURN_CLAIM);
	assert_true(turn[3].group != 0);
	assert_int_equal(turn[3].group, turn[4].group);
	assert_int_equal(turn[3].high - turn[3].low, 1);
	turns_free(t);
}

static void claims_give_way_to_what_contradicts_them(void **state)
{
	struct turns *t = turns_new(3);
	struct turn turn[3];

	(void)state;
	assert_int_equal(turns_between(t, 0, 1, 0.9, 1.1, TURN_BEACON), 0);
	assert_int_equal(turns_between(t, 0, 1, 3.9, 4.1, TURN_CLAIM), 0);
	assert_int_equal(turns_between(t, 1, 2, -0.3, 0.2, TURN_MESSAGE), 0);
	assert_int_equal(turns_solve(t, 0, turn), 1 << TURN_CLAIM);
	assert_int_equal(turn[1].low, -1);
	assert_int_equal(turn[2].low, -1);
	assert_int_equal(turn[2].group, 0);
	turns_free(t);
}

/* Against all assignments of small integers. */
static void the_hull_is_exact(void **state)
{
	struct sim_random r = { seed() };
	int feasible = 0;

	(void)state;
	for (int k = 0; k < 2000; k++) {
		enum { N = 4, SPAN = 3 };
		struct turns *t = turns_new(N);
		int least[N][N], low[N], high[N];
		struct turn turn[N];
		bool any = false;

		for (int a = 0; a < N; a++)
			for (int b = 0; b < N; b++) {
				least[a][b] = -2 * SPAN; /* always so */
				if (a != b && sim_uniform(&r) < 0.6)
					least[a][b] = (int)(sim_u64(&r) % 5) - 4;
				if (a != b)
					turns_at_least(t, (size_t)a, (size_t)b, least[a][b] - 0.3,
						       TURN_MESSAGE);
				low[a] = SPAN + 1;
				high[a] = -SPAN - 1;
			}
		for (int code = 0; code < 7 * 7 * 7; code++) {
			int n[N] = { 0, code % 7 - SPAN, code / 7 % 7 - SPAN, code / 49 - SPAN };
			bool fits = true;

			for (int a = 0; a < N; a++)
				for (int b = 0; b < N; b++)
					fits = fits && (a == b || n[a] - n[b] >= least[a][b]);
			for (int a = 0; a < N && fits; a++) {
				low[a] = n[a] < low[a] ? n[a] : low[a];
				high[a] = n[a] > high[a] ? n[a] : high[a];
			}
			any = any || fits;
		}
		if (any && turns_solve(t, 0, turn) == 0) {
			feasible++;
			for (int a = 0; a < N; a++) {
				if (turn[a].low >= -SPAN)
					assert_int_equal(turn[a].low, low[a]);
				if (turn[a].high <= SPAN)
					assert_int_equal(turn[a].high, high[a]);
			}
		} else {
			assert_false(any);
		}
		turns_free(t);
	}
	assert_true(feasible > 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(noise_is_a_gap),
		cmocka_unit_test(a_period_that_is_not_theirs_is_refused),
		cmocka_unit_test(a_rate_beyond_what_was_stated_is_told),
		cmocka_unit_test(a_pause_is_bridged_only_by_what_is_known),
		cmocka_unit_test(a_step_of_the_phase_is_followed),
		cmocka_unit_test(what_is_not_decided_is_a_group_of_its_own),
		cmocka_unit_test(claims_give_way_to_what_contradicts_them),
		cmocka_unit_test(the_hull_is_exact),
	};

	printf("COEVAL_SEED=%llu\n", (unsigned long long)seed());
	return cmocka_run_group_tests(tests, NULL, NULL);
}
