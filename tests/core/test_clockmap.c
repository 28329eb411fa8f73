/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include <coeval/clockmap.h>

#include "core/clockmap_join.h"
#include "test_draw.h"

#define KNOTS_MAX 12
#define YEAR_S 31557600u

typedef unsigned __int128 u128;
typedef __int128 i128;

static struct cvl_tick tick(uint64_t count)
{
	return (struct cvl_tick){ count };
}

static struct cvl_map *make(const struct cvl_map_spec *spec)
{
	struct cvl_error err;
	struct cvl_map *map;

	if (cvl_map_new(&map, spec, &err))
		fail_msg("%s", err.text);
	return map;
}

static int64_t time_at(const struct cvl_map *map, uint64_t count)
{
	return cvl_map_time(map, tick(count), NULL).ns;
}

static int64_t bound_at(const struct cvl_map *map, uint64_t count)
{
	int64_t bound;

	cvl_map_time(map, tick(count), &bound);
	return bound;
}

/* Knots of all magnitudes; rates outside in whole ppb, so that a reference can be exact. */
static void random_spec(struct draw *d, struct cvl_map_spec *spec, struct cvl_knot knot[KNOTS_MAX])
{
	uint64_t at = draw_size(d, 60);
	i128 time = (i128)draw_size(d, 60) - (i128)draw_size(d, 61);

	*spec = (struct cvl_map_spec){
		.rate_hz = 1 + draw_below(d, 10000000000),
		.knots = knot,
		.n = 1 + draw_below(d, KNOTS_MAX),
		.kind = CVL_BOUND_PROVEN,
	};
	spec->before.rate_ppb = (double)(int64_t)draw_size(d, 20) - (double)draw_size(d, 20);
	spec->after.rate_ppb =
		draw_below(d, 2) ? 0 : (double)(int64_t)draw_size(d, 20) - (double)draw_size(d, 20);
	for (size_t i = 0; i < spec->n; i++) {
		knot[i] = (struct cvl_knot){
			.tick = { at },
			.time = { (int64_t)time },
			.frac = (uint32_t)draw_u64(d),
			.bound_ns = (int64_t)draw_size(d, 40),
		};
		at += 1 + draw_size(d, 58);
		time += 1 + draw_size(d, 57);
	}
}

static uint64_t random_tick(struct draw *d, const struct cvl_map_spec *spec)
{
	const struct cvl_knot *k = &spec->knots[draw_below(d, spec->n)];
	uint64_t distance = draw_size(d, 62);

	switch (draw_below(d, 4)) {
	case 0: return k->tick.count + draw_below(d, 3) - (k->tick.count > 0);
	case 1:
		return k->tick.count + distance < k->tick.count ? UINT64_MAX :
								  k->tick.count + distance;
	case 2: return k->tick.count > distance ? k->tick.count - distance : 0;
	default: return draw_u64(d);
	}
}

/* floor(a * b / c) for a <= c, b < 2^96 */
static u128 part_of(uint64_t a, u128 b, uint64_t c)
{
	return a * (b / c) + a * (b % c) / c;
}

static i128 fine(const struct cvl_knot *k)
{
	return (i128)k->time.ns * ((i128)1 << 32) + k->frac;
}

static i128 held(i128 ns)
{
	return ns > INT64_MAX ? INT64_MAX : ns < INT64_MIN ? INT64_MIN : ns;
}

/* Time that the map should show, by whole numbers alone: floor of the exact value between knots. */
static i128 exact_time(const struct cvl_map_spec *spec, uint64_t at, bool *outside)
{
	const struct cvl_knot *k = spec->knots, *last = k + spec->n - 1;
	bool after = at >= last->tick.count;
	uint64_t distance, per_s;
	u128 ns;

	*outside = after || at < k->tick.count;
	if (!*outside) {
		while (at >= k[1].tick.count)
			k++;
		return held(
			(fine(k) + (i128)part_of(at - k->tick.count, (u128)(fine(k + 1) - fine(k)),
						 k[1].tick.count - k->tick.count)) >>
			32);
	}
	distance = after ? at - last->tick.count : k->tick.count - at;
	/* ticks a second in 1e-9: rate (1e9 + ppb) */
	per_s = spec->rate_hz *
		(uint64_t)(1000000000 + (after ? spec->after : spec->before).rate_ppb);
	ns = (u128)distance * 1000000000000000000u / per_s;
	return held(after ? (i128)last->time.ns + (i128)ns : (i128)k->time.ns - (i128)ns);
}

static void map_is_monotone_across_knots(void **state)
{
	struct draw d = draw_begin(1);

	(void)state;
	for (int i = 0; i < 2000; i++) {
		struct cvl_knot knot[KNOTS_MAX];
		struct cvl_map_spec spec;
		struct cvl_map *map;

		random_spec(&d, &spec, knot);
		map = make(&spec);
		for (int k = 0; k < 100; k++) {
			uint64_t a = random_tick(&d, &spec), b = random_tick(&d, &spec);
			uint64_t low = a < b ? a : b, high = a < b ? b : a;

			if (time_at(map, low) > time_at(map, high))
				fail_msg("%" PRIu64 " comes after %" PRIu64, low, high);
			if (low < UINT64_MAX && time_at(map, low) > time_at(map, low + 1))
				fail_msg("time goes back after tick %" PRIu64, low);
		}
		for (size_t k = 0; k < spec.n; k++)
			assert_true(time_at(map, knot[k].tick.count) == knot[k].time.ns);
		cvl_map_free(map);
	}
}

/* Between knots and at the nominal rate within 1 ns; a rate in ppb is worked out with 64 bits. */
static void time_is_exact_within_a_nanosecond(void **state)
{
	struct draw d = draw_begin(2);

	(void)state;
	for (int i = 0; i < 5000; i++) {
		struct cvl_knot knot[KNOTS_MAX];
		struct cvl_map_spec spec;
		struct cvl_map *map;

		random_spec(&d, &spec, knot);
		map = make(&spec);
		for (int k = 0; k < 50; k++) {
			uint64_t at = random_tick(&d, &spec);
			bool outside;
			i128 want = exact_time(&spec, at, &outside), off = time_at(map, at) - want;
			i128 allowed = 1 + (outside ? (want < 0 ? -want : want) >> 61 : 0);

			allowed += outside ? 1 : 0; /* the fraction of the knot */
			if (off > allowed || -off > allowed)
				fail_msg("map of %zu knots, tick %" PRIu64 ": %" PRId64
					 ", not %" PRId64,
					 spec.n, at, time_at(map, at), (int64_t)want);
		}
		cvl_map_free(map);
	}
}

static void a_century_does_not_overflow(void **state)
{
	static const struct {
		uint64_t rate_hz, count;
		int64_t ns;
	} cases[] = {
		{ 1000000000, 100 * YEAR_S * 1000000000ull, 100 * YEAR_S * 1000000000ll },
		{ 10000000000, 50 * YEAR_S * 10000000000ull, 50 * YEAR_S * 1000000000ll },
		{ 10000000000, UINT64_MAX, 1844674407370955161 },
		{ 1000000000, UINT64_MAX, INT64_MAX },
		{ 3000000000, UINT64_MAX, 6148914691236517205 },
		{ 1, UINT64_MAX, INT64_MAX },
		{ 1, 9223372036, 9223372036000000000 },
		{ 1, 9223372037, INT64_MAX },
		{ UINT64_MAX, UINT64_MAX, 999999999 },
		{ 32768, 100 * YEAR_S * 32768ull, 100 * YEAR_S * 1000000000ll },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct cvl_map *map =
			cvl_map_nominal(cases[i].rate_hz, tick(0), (struct cvl_time){ 0 });
		int64_t got = time_at(map, cases[i].count), got_back;

		if (got - cases[i].ns > 1 || cases[i].ns - got > 1)
			fail_msg("case %zu: %" PRId64, i, got);
		assert_true(bound_at(map, cases[i].count) == CVL_BOUND_UNKNOWN);
		assert_int_equal(cvl_map_kind(map), CVL_BOUND_NONE);
		cvl_map_free(map);

		/* the same way back from the last tick */
		map = cvl_map_nominal(cases[i].rate_hz, tick(cases[i].count),
				      (struct cvl_time){ 0 });
		got_back = time_at(map, 0);
		if (cases[i].ns == INT64_MAX)
			assert_true(got_back == INT64_MIN);
		else if (got_back + cases[i].ns > 1 || got_back + cases[i].ns < -1)
			fail_msg("case %zu backwards: %" PRId64, i, got_back);
		cvl_map_free(map);
	}
}

static void bound_is_interpolated_between_knots(void **state)
{
	static const struct cvl_knot knots[] = {
		{ { 1000 }, { 0 }, 0, 100 },
		{ { 2000 }, { 1000000 }, 0, 300 },
		{ { 3000 }, { 2000000 }, 0, 0 },
	};
	const struct cvl_map_spec spec = {
		.rate_hz = 1000000,
		.knots = knots,
		.n = 3,
		.kind = CVL_BOUND_STATISTICAL,
	};
	struct cvl_map *map = make(&spec);

	(void)state;
	assert_int_equal(bound_at(map, 1000), 100);
	assert_int_equal(bound_at(map, 1500), 200);
	assert_int_equal(bound_at(map, 1001), 101); /* 100.2, never rounded down */
	assert_int_equal(bound_at(map, 2000), 300);
	assert_int_equal(bound_at(map, 2999), 1);
	assert_int_equal(bound_at(map, 3000), 0);
	assert_int_equal(bound_at(map, 9000), 0);
	cvl_map_free(map);
}

static void bound_grows_outside_by_drift_and_wander(void **state)
{
	static const struct cvl_knot knots[] = {
		{ { 10000000 }, { 0 }, 0, 50 },
		{ { 20000000 }, { 10000000000 }, 0, 70 },
	};
	const struct cvl_map_spec spec = {
		.rate_hz = 1000000,
		.knots = knots,
		.n = 2,
		.kind = CVL_BOUND_PROVEN,
		.before = { .drift_ppb = 1000 },
		.after = { .drift_ppb = 10, .wander_ppb_s = 4 },
	};
	struct cvl_map *map = make(&spec);

	(void)state;
	assert_int_equal(bound_at(map, 9000000), 50 + 1000);
	assert_int_equal(bound_at(map, 0), 50 + 10000);
	assert_int_equal(bound_at(map, 21000000), 70 + 10 + 2);
	assert_int_equal(bound_at(map, 120000000), 70 + 1000 + 2 * 100 * 100);
	assert_true(bound_at(map, UINT64_MAX) >= CVL_BOUND_UNKNOWN - 1);
	cvl_map_free(map);
}

static void tick_of_a_time_is_the_first_not_before_it(void **state)
{
	struct draw d = draw_begin(3);

	(void)state;
	for (int i = 0; i < 500; i++) {
		struct cvl_knot knot[KNOTS_MAX];
		struct cvl_map_spec spec;
		struct cvl_map *map;

		random_spec(&d, &spec, knot);
		map = make(&spec);
		for (int k = 0; k < 20; k++) {
			int64_t near = time_at(map, random_tick(&d, &spec));
			struct cvl_time t = { k % 2 ? cvl_add_sat(near, k % 3 - 1) :
						      (int64_t)draw_u64(&d) };
			uint64_t at = cvl_map_tick(map, t).count;

			if (at < UINT64_MAX && time_at(map, at) < t.ns)
				fail_msg("tick %" PRIu64 " is before %" PRId64, at, t.ns);
			if (at > 0 && time_at(map, at - 1) >= t.ns)
				fail_msg("tick %" PRIu64 " is not the first at %" PRId64, at, t.ns);
		}
		cvl_map_free(map);
	}
}

static void many_ticks_give_the_same_as_one_by_one(void **state)
{
	struct draw d = draw_begin(4);

	(void)state;
	for (int i = 0; i < 2000; i++) {
		struct cvl_tick ticks[200];
		struct cvl_time times[200];
		struct cvl_knot knot[KNOTS_MAX];
		struct cvl_map_spec spec;
		struct cvl_map *map;
		bool rising = i % 2;
		const unsigned most = (unsigned)draw_below(&d, 51); /* bits between two of them */

		random_spec(&d, &spec, knot);
		if (i % 3 == 0) /* where the short way is taken */
			for (size_t k = 0; k < spec.n; k++)
				knot[k].time.ns = (int64_t)(draw_size(&d, 20) + 100000000 * k);
		map = make(&spec);
		for (size_t k = 0; k < 200; k++)
			ticks[k].count = rising && k ? ticks[k - 1].count + draw_size(&d, most) :
						       random_tick(&d, &spec);
		cvl_map_times(map, ticks, 200, times);
		for (size_t k = 0; k < 200; k++)
			if (times[k].ns != time_at(map, ticks[k].count))
				fail_msg("tick %" PRIu64 ": %" PRId64 ", not %" PRId64,
					 ticks[k].count, times[k].ns, time_at(map, ticks[k].count));
		cvl_map_free(map);
	}
}

static void rate_is_told_against_nominal(void **state)
{
	static const struct cvl_knot knots[] = { { { 0 }, { 0 }, 0, 0 },
						 { { 1000000 }, { 999990000 }, 0, 0 } };
	const struct cvl_map_spec spec = {
		.rate_hz = 1000000,
		.knots = knots,
		.n = 2,
		.after = { .rate_ppb = -5000 },
	};
	struct cvl_map *map = make(&spec);
	struct cvl_map_spec told;
	struct cvl_knot first, last;

	(void)state;
	/* 1e6 ticks in 0.99999 s: fast by 10.0001 ppm */
	assert_in_range((uint64_t)(cvl_map_rate_ppb(map, tick(10)) * 10), 100000, 100002);
	assert_in_range((uint64_t)(cvl_map_rate_ppb(map, tick(2000000)) * -10 + 0.5), 49999, 50001);
	cvl_map_describe(map, &told);
	assert_int_equal(told.n, 2);
	assert_int_equal(cvl_map_ends(map, &first, &last), 2);
	assert_int_equal(first.time.ns, 0);
	assert_int_equal(last.time.ns, 999990000);
	assert_int_equal(cvl_map_rate_hz(map), 1000000);
	cvl_map_free(map);
}

static int64_t median_of(const struct cvl_map *map, uint64_t from, uint64_t to)
{
	return cvl_map_bound_median(map, tick(from), tick(to));
}

/* Two long stretches at 1000 ns and 50 ns do not make the one place of 3 ns the middle. */
static void many_bounds_are_those_of_one_by_one(void **state)
{
	struct draw d = draw_begin(9);

	(void)state;
	for (int round = 0; round < 2000; round++) {
		struct cvl_knot knot[KNOTS_MAX];
		struct cvl_map_cursor cursor = { 0 };
		struct cvl_map_spec spec;
		struct cvl_tick ticks[64];
		int64_t bound[64];
		struct cvl_map *map;

		random_spec(&d, &spec, knot);
		if (round %
		    2) /* as clocks are: many ticks in a segment, bounds of some hundred ns */
			for (size_t i = 0; i < spec.n; i++)
				knot[i] = (struct cvl_knot){
					.tick = { 1000 + i * (1 + draw_size(&d, 24)) * 40 },
					.time = { (int64_t)i * 1000000 },
					.bound_ns = (int64_t)draw_size(&d, 10),
				};
		for (size_t i = 1; i < spec.n; i++)
			if (knot[i].tick.count <= knot[i - 1].tick.count)
				knot[i].tick.count = knot[i - 1].tick.count + 1;
		spec.kind = draw_below(&d, 20) ? CVL_BOUND_PROVEN : CVL_BOUND_NONE;
		map = make(&spec);
		for (size_t i = 0; i < 64; i++)
			ticks[i].count = draw_below(&d, 8) && i ?
						 ticks[i - 1].count + draw_size(&d, 20) :
						 random_tick(&d, &spec);
		if (draw_below(&d, 2)) { /* in pieces, by a cursor */
			cvl_map_bounds(map, &cursor, ticks, 20, bound);
			cvl_map_bounds(map, &cursor, ticks + 20, 44, bound + 20);
		} else {
			cvl_map_bounds(map, NULL, ticks, 64, bound);
		}
		for (size_t i = 0; i < 64; i++)
			assert_int_equal(bound[i], bound_at(map, ticks[i].count));
		cvl_map_free(map);
	}
}

static void median_bound_is_over_the_time_and_not_over_the_knots(void **state)
{
	static const struct cvl_knot knot[] = {
		{ { 1000 }, { 1000 }, 0, 3 },      { { 1001 }, { 1001 }, 0, 4 },
		{ { 1002 }, { 1002 }, 0, 50 },     { { 31000 }, { 31000 }, 0, 50 },
		{ { 31001 }, { 31001 }, 0, 1000 }, { { 100000 }, { 100000 }, 0, 1000 },
		{ { 100001 }, { 100001 }, 0, 5 },
	};
	struct cvl_map_spec spec = { .rate_hz = 1000000000,
				     .knots = knot,
				     .n = 7,
				     .after = { .drift_ppb = 2e9 },
				     .kind = CVL_BOUND_PROVEN };
	struct cvl_map *map = make(&spec);

	(void)state;
	assert_int_equal(median_of(map, 1000, 100001), 1000);
	assert_int_equal(median_of(map, 1002, 60900), 50);
	assert_int_equal(median_of(map, 1000, 1000), 3);
	/* growth beyond the end: from 5 by 2 a tick */
	assert_in_range(median_of(map, 100001, 100001 + 1000), 5 + 1000, 5 + 1001);
	cvl_map_free(map);

	spec.kind = CVL_BOUND_NONE;
	map = make(&spec);
	assert_true(median_of(map, 1000, 2000) == CVL_BOUND_UNKNOWN);
	cvl_map_free(map);
}

#define PLACES 20001

static int by_bound(const void *a, const void *b)
{
	return (*(const int64_t *)a > *(const int64_t *)b) -
	       (*(const int64_t *)a < *(const int64_t *)b);
}

/* Against the bounds at many places evenly apart: as many ranks away as pieces have ends. */
static void median_bound_is_that_of_many_places(void **state)
{
	static int64_t at[PLACES];
	struct draw d = draw_begin(71);

	(void)state;
	for (int round = 0; round < 200; round++) {
		struct cvl_knot knot[KNOTS_MAX];
		struct cvl_map_spec spec;
		struct cvl_map *map;
		uint64_t from, to;
		int64_t median;

		random_spec(&d, &spec, knot);
		map = make(&spec);
		from = random_tick(&d, &spec);
		to = random_tick(&d, &spec);
		if (from > to) {
			uint64_t t = from;

			from = to;
			to = t;
		}
		if (to - from < 100 * PLACES) { /* places would be the same few ticks */
			cvl_map_free(map);
			continue;
		}
		for (size_t i = 0; i < PLACES; i++)
			at[i] = bound_at(map,
					 from + (uint64_t)((u128)(to - from) * i / (PLACES - 1)));
		qsort(at, PLACES, sizeof(*at), by_bound);
		median = median_of(map, from, to);
		if (median < at[PLACES / 2 - KNOTS_MAX] - 1 ||
		    median > at[PLACES / 2 + KNOTS_MAX] + 1)
			fail_msg("round %d: %" PRId64 " is not between %" PRId64 " and %" PRId64,
				 round, median, at[PLACES / 2 - KNOTS_MAX],
				 at[PLACES / 2 + KNOTS_MAX]);
		cvl_map_free(map);
	}
}

static void map_that_makes_no_sense_is_refused(void **state)
{
	static const struct cvl_knot good[] = { { { 5 }, { 5 }, 0, 1 },
						{ { 6 }, { 5 }, 0, 1 },
						{ { 7 }, { 9 }, 0, 1 } };
	static const struct cvl_knot same_tick[] = { { { 5 }, { 5 }, 0, 0 },
						     { { 6 }, { 6 }, 0, 0 },
						     { { 6 }, { 7 }, 0, 0 } };
	static const struct cvl_knot tick_back[] = { { { 5 }, { 5 }, 0, 0 },
						     { { 4 }, { 6 }, 0, 0 } };
	static const struct cvl_knot time_back[] = { { { 5 }, { 5 }, 0, 0 },
						     { { 6 }, { 6 }, 9, 0 },
						     { { 7 }, { 6 }, 8, 0 } };
	static const struct cvl_knot negative[] = { { { 5 }, { 5 }, 0, 0 },
						    { { 6 }, { 6 }, 0, -1 } };
	static const struct {
		struct cvl_map_spec spec;
		int code;
		uint64_t offset;
	} cases[] = {
		{ { .rate_hz = 1, .knots = good, .n = 3 }, 0, 0 },
		{ { .rate_hz = 1, .knots = good, .n = 0 }, CVL_E_RANGE, CVL_NO_OFFSET },
		{ { .rate_hz = 0, .knots = good, .n = 3 }, CVL_E_RANGE, CVL_NO_OFFSET },
		{ { .rate_hz = 1, .knots = same_tick, .n = 3 }, CVL_E_ORDER, 2 },
		{ { .rate_hz = 1, .knots = tick_back, .n = 2 }, CVL_E_ORDER, 1 },
		{ { .rate_hz = 1, .knots = time_back, .n = 3 }, CVL_E_ORDER, 2 },
		{ { .rate_hz = 1, .knots = negative, .n = 2 }, CVL_E_RANGE, 1 },
		{ { .rate_hz = 1, .knots = good, .n = 3, .after = { .rate_ppb = -1e9 } },
		  CVL_E_RANGE,
		  CVL_NO_OFFSET },
		{ { .rate_hz = 1, .knots = good, .n = 3, .before = { .rate_ppb = 1e30 } },
		  CVL_E_RANGE,
		  CVL_NO_OFFSET },
		{ { .rate_hz = 1, .knots = good, .n = 3, .after = { .drift_ppb = -1 } },
		  CVL_E_RANGE,
		  CVL_NO_OFFSET },
		{ { .rate_hz = 1, .knots = good, .n = 3, .before = { .wander_ppb_s = -1 } },
		  CVL_E_RANGE,
		  CVL_NO_OFFSET },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct cvl_error err = { 0 };
		struct cvl_map *map;
		int rc = cvl_map_new(&map, &cases[i].spec, &err);

		if (rc != cases[i].code || (rc && err.offset != cases[i].offset))
			fail_msg("case %zu: %d at %" PRIu64 " (%s)", i, rc, err.offset, err.text);
		if (rc)
			assert_null(map);
		cvl_map_free(map);
	}
}

/* Wherever a map is cut, the two parts joined answer as the whole does. */
static void joined_maps_are_the_whole_one(void **state)
{
	(void)state;
	for (int round = 0; round < 300; round++) {
		struct draw d = draw_begin((uint64_t)round);
		struct cvl_knot knot[KNOTS_MAX];
		struct cvl_map_spec spec, part;
		struct cvl_map *whole, *past, *map;
		struct cvl_error err;
		size_t cut, more;

		random_spec(&d, &spec, knot);
		whole = make(&spec);
		cut = draw_below(&d, spec.n);
		more = draw_below(&d, spec.n - cut + 1); /* that both have */
		part = spec;
		part.n = cut + more ? cut + more : 1;
		past = make(&part);
		part = spec;
		part.knots += cut;
		part.n -= cut;
		map = make(&part);
		assert_int_equal(map_join(map, past, &err), 0);
		assert_int_equal(cvl_map_ends(map, NULL, NULL), spec.n);
		for (size_t i = 0; i < spec.n; i++) {
			struct cvl_knot k;

			assert_int_equal(cvl_map_knot(map, i, &k, &err), 0);
			assert_true(k.tick.count == knot[i].tick.count);
		}
		for (int k = 0; k < 60; k++) {
			const uint64_t at = k < 30 ? knot[draw_below(&d, spec.n)].tick.count +
							     draw_below(&d, 5) - 2 :
						     draw_size(&d, 62);
			const struct cvl_time t = { time_at(whole, at) };

			if (!cut && at < knot[0].tick.count)
				continue;
			assert_true(time_at(map, at) == t.ns);
			assert_true(bound_at(map, at) == bound_at(whole, at));
			assert_true(cvl_map_tick(map, t).count == cvl_map_tick(whole, t).count);
			assert_true(cvl_map_bound_max(map, tick(knot[0].tick.count), tick(at)) ==
					    cvl_map_bound_max(whole, tick(knot[0].tick.count),
							      tick(at)) ||
				    at < knot[0].tick.count);
		}
		cvl_map_free(map);
		cvl_map_free(whole);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(map_is_monotone_across_knots),
		cmocka_unit_test(time_is_exact_within_a_nanosecond),
		cmocka_unit_test(a_century_does_not_overflow),
		cmocka_unit_test(bound_is_interpolated_between_knots),
		cmocka_unit_test(bound_grows_outside_by_drift_and_wander),
		cmocka_unit_test(tick_of_a_time_is_the_first_not_before_it),
		cmocka_unit_test(many_ticks_give_the_same_as_one_by_one),
		cmocka_unit_test(many_bounds_are_those_of_one_by_one),
		cmocka_unit_test(rate_is_told_against_nominal),
		cmocka_unit_test(median_bound_is_over_the_time_and_not_over_the_knots),
		cmocka_unit_test(median_bound_is_that_of_many_places),
		cmocka_unit_test(joined_maps_are_the_whole_one),
		cmocka_unit_test(map_that_makes_no_sense_is_refused),
	};

	draw_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
