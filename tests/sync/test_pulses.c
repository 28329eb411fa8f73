/* SPDX-License-Identifier: MIT */
/*
 * A pulse record beside the edges of its line: what it makes of a clock whose edges are known to
 * 500 ns only.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <coeval/sync.h>

#include "test_draw.h"
#include "test_scratch.h"

#define RATE 100000000
#define RATE_OFF 20.0137e-6 /* fast */
#define STEP 50             /* ticks of an edge */
#define SECONDS 300
#define LINES 2
#define OTHER_CHANNEL 0
#define PPS 1

static void ok(int rc, const struct cvl_error *err)
{
	if (rc < 0)
		fail_msg("%s", err->text);
}

/* @t in s. */
static double cycles(double t)
{
	return (10 + t) * RATE * (1 + RATE_OFF);
}

enum { NO_PULSES = -1, LATE = -2 /* PPS, but behind the falling edge */ };

/* One clock: seconds with 30 ns of jitter as edges, and as pulse records of @channel. */
static void add_clock(struct cvl_session *s, const char *name, uint64_t seed, int channel)
{
	static const char *const lines[LINES] = { "T1", "PPS" };
	static const struct cvl_origin origin = { .format = "test", .path = "-" };
	const struct cvl_store_desc desc = {
		.clock = name,
		.rate_hz = RATE,
		.resolution = STEP,
		.start_unix_ns = INT64_C(1700000000) * 1000000000,
		.start_bound_ns = 20000000, /* which second it is */
		.lines = lines,
		.n_lines = LINES,
	};
	struct draw d = { seed };
	struct cvl_writer *w;
	struct cvl_error err;

	ok(cvl_session_add(s, &desc, &origin, &w, &err), &err);
	ok(cvl_writer_levels(w, (struct cvl_tick){ 0 }, 0, &err), &err);
	for (int k = 0; k < SECONDS; k++) {
		double jitter = 0;
		struct cvl_tick exact, edge;
		uint64_t level = 1 << PPS;

		for (int i = 0; i < 12; i++)
			jitter += (double)(draw_u64(&d) >> 11) * 0x1p-53 - 0.5;
		exact.count = (uint64_t)cycles(k + 30e-9 * jitter);
		edge.count = exact.count / STEP * STEP;
		ok(cvl_writer_edges(w, &edge, &level, 1, &err), &err);
		if (channel >= 0)
			ok(cvl_writer_pulse(w, exact, (uint32_t)channel, &err), &err);
		edge.count += RATE / 10;
		level = 0;
		ok(cvl_writer_edges(w, &edge, &level, 1, &err), &err);
		if (channel == LATE)
			ok(cvl_writer_pulse(w, exact, PPS, &err), &err);
	}
	ok(cvl_session_finish(s, w, (struct cvl_tick){ 0 }, &err), &err);
}

/* Two clocks, synchronised; the second has pulse records of @channel. */
static struct cvl_sync *solve(int channel, bool rising, const char *estimator)
{
	static unsigned number;
	struct cvl_sync_opts opts = { .estimator = estimator, .n_pulse = 1 };
	struct cvl_session *s;
	struct cvl_sync *sync = NULL;
	struct cvl_error err;
	char path[300];

	snprintf(path, sizeof(path), "%s/p%u", scratch, number++);
	ok(cvl_session_create(&s, path, &err), &err);
	add_clock(s, "a", 1, NO_PULSES);
	add_clock(s, "b", 2, channel);
	cvl_session_close(s);
	ok(cvl_session_open(&s, path, NULL, &err), &err);
	snprintf(opts.pulse[0].line, sizeof(opts.pulse[0].line), "PPS");
	opts.pulse[0].rising = rising;
	opts.pulse[0].period_ns = 1000000000;
	ok(cvl_sync_run(&sync, s, &opts, &err), &err);
	cvl_session_close(s);
	return sync;
}

struct quality {
	double error,
		bound; /* ns: means of what the map says where an edge's step has its middle */
	int n, outside;
	int late; /* edges further off than bound and half a step */
};

static struct quality quality(const struct cvl_clock_sync *c)
{
	struct quality q = { 0 };
	struct draw d = { 7 };

	assert_int_equal(c->verdict, CVL_GOOD);
	for (double t = 5; t < SECONDS - 5; t += 0.37, q.n++) {
		uint64_t exact = (uint64_t)cycles(t + 1e-6 * (double)draw_below(&d, 1000));
		double when = ((double)exact / (1 + RATE_OFF) / RATE - 10) * 1e9, error;
		const struct cvl_tick middle = { exact - (STEP - 1) / 2 },
				      edge = { exact / STEP * STEP };
		int64_t bound;

		error = fabs(
			remainder((double)cvl_map_time(c->map, middle, &bound).ns - when, 1e9));
		q.error += error;
		q.bound += (double)bound;
		q.outside += error > (double)bound;
		error = remainder((double)cvl_map_time(c->map, edge, &bound).ns - when, 1e9);
		q.late += fabs(error) > (double)bound + 250;
	}
	q.error /= q.n;
	q.bound /= q.n;
	return q;
}

static void pulse_records_are_better_than_edges(void **state)
{
	static const char *const estimator[] = { "smooth", "kalman" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct cvl_sync *edges = solve(NO_PULSES, true, estimator[i]);
		struct cvl_sync *pulses = solve(PPS, true, estimator[i]);
		struct quality by_edges = quality(&edges->clock[1]);
		struct quality by_pulses = quality(&pulses->clock[1]);

		printf("%s: edges %.1f ns, bound %.1f ns; pulses %.1f ns, bound %.1f ns\n",
		       estimator[i], by_edges.error, by_edges.bound, by_pulses.error,
		       by_pulses.bound);
		assert_true(by_pulses.bound * 3 < by_edges.bound);
		assert_true(by_pulses.error * 2 < by_edges.error);
		assert_true(by_pulses.outside * 100 <= by_pulses.n);
		assert_true(by_pulses.late * 100 <= by_pulses.n);
		assert_int_equal(pulses->clock[1].used + pulses->clock[1].rejected, SECONDS);
		cvl_sync_free(edges);
		cvl_sync_free(pulses);
	}
}

static void check_same(const struct cvl_clock_sync *a, const struct cvl_clock_sync *b)
{
	for (int k = 0; k < 10000; k++) {
		const struct cvl_tick tick = { (uint64_t)k * 3100007 };
		int64_t bound_a, bound_b, at = cvl_map_time(a->map, tick, &bound_a).ns;

		assert_int_equal(at, cvl_map_time(b->map, tick, &bound_b).ns);
		assert_int_equal(bound_a, bound_b);
	}
}

static void a_clock_of_edges_only_stays_as_it_was(void **state)
{
	struct cvl_sync *edges = solve(NO_PULSES, true, "smooth");
	struct cvl_sync *pulses = solve(PPS, true, "smooth");

	(void)state;
	check_same(&edges->clock[0], &pulses->clock[0]);
	cvl_sync_free(edges);
	cvl_sync_free(pulses);
}

static void records_late_or_of_other_channels_or_for_falling_edges_change_nothing(void **state)
{
	struct cvl_sync *edges = solve(NO_PULSES, true, "smooth");
	struct cvl_sync *other = solve(OTHER_CHANNEL, true, "smooth");
	struct cvl_sync *late = solve(LATE, true, "smooth");
	struct cvl_sync *falling = solve(NO_PULSES, false, "smooth");
	struct cvl_sync *falling_pulses = solve(PPS, false, "smooth");

	(void)state;
	check_same(&edges->clock[1], &other->clock[1]);
	check_same(&edges->clock[1], &late->clock[1]);
	assert_int_equal(late->clock[1].verdict, CVL_GOOD);
	check_same(&falling->clock[1], &falling_pulses->clock[1]);
	cvl_sync_free(edges);
	cvl_sync_free(other);
	cvl_sync_free(late);
	cvl_sync_free(falling);
	cvl_sync_free(falling_pulses);
}

/* ---- edges with bounds of their own ---- */

#define USUAL 100   /* ticks */
#define AWAY 500000 /* of a look that came late */

/* A second's pulse is seen somewhere within its bound. Some were looked for late. */
static void add_poller(struct cvl_session *s, uint64_t seed, unsigned *away)
{
	static const char *const lines[] = { "PPS" };
	static const struct cvl_origin origin = { .format = "test", .path = "-" };
	const struct cvl_store_desc desc = { .clock = "poller",
					     .rate_hz = RATE,
					     .lines = lines,
					     .n_lines = 1,
					     .edges_within = true };
	struct draw d = { seed };
	struct cvl_writer *w;
	struct cvl_error err;

	ok(cvl_session_add(s, &desc, &origin, &w, &err), &err);
	ok(cvl_writer_levels(w, (struct cvl_tick){ 0 }, 0, &err), &err);
	for (int k = 0; k < SECONDS; k++) {
		const bool late = !draw_below(&d, 20);
		const uint64_t half = (late ? AWAY : USUAL) / 2u + draw_below(&d, USUAL);
		const struct cvl_tick middle = { (uint64_t)cycles(k) - half +
						 draw_below(&d, 2 * half) };

		*away += late;
		ok(cvl_writer_edge_within(w, middle, half, 1, &err), &err);
		ok(cvl_writer_edge_within(w, (struct cvl_tick){ middle.count + RATE / 2 }, half, 0,
					  &err),
		   &err);
	}
	ok(cvl_session_finish(s, w, (struct cvl_tick){ 0 }, &err), &err);
}

static void a_few_edges_seen_late_do_not_spoil_the_others(void **state)
{
	struct cvl_sync_opts opts = { .estimator = "smooth", .n_pulse = 1 };
	struct draw d = draw_begin(__LINE__);
	struct cvl_session *s;
	struct cvl_sync *sync;
	struct cvl_error err;
	char path[300];
	unsigned away = 0, outside = 0, n = 0;
	double sum = 0;

	(void)state;
	snprintf(path, sizeof(path), "%s/poller", scratch);
	ok(cvl_session_create(&s, path, &err), &err);
	add_poller(s, draw_u64(&d), &away);
	cvl_session_close(s);
	ok(cvl_session_open(&s, path, NULL, &err), &err);
	opts.pulse[0] =
		(struct cvl_pulse_rule){ .line = "PPS", .rising = true, .period_ns = 1000000000 };
	ok(cvl_sync_run(&sync, s, &opts, &err), &err);
	assert_int_equal(sync->clock[0].verdict, CVL_GOOD);
	assert_true(sync->clock[0].rejected >= away);
	for (double t = 5; t < SECONDS - 5; t += 0.37, n++) {
		int64_t bound;
		const struct cvl_tick tick = { (uint64_t)cycles(t) };
		double off = remainder(
			(double)cvl_map_time(sync->clock[0].map, tick, &bound).ns - t * 1e9, 1e9);

		outside += fabs(off) > (double)bound;
		sum += (double)bound;
	}
	assert_true(outside * 100 <= n);
	/* the usual edges are good for 1 to 3 us, those of late looks for 5 ms */
	assert_true(sum / n < 3000);
	cvl_sync_free(sync);
	cvl_session_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pulse_records_are_better_than_edges),
		cmocka_unit_test(a_clock_of_edges_only_stays_as_it_was),
		cmocka_unit_test(a_few_edges_seen_late_do_not_spoil_the_others),
		cmocka_unit_test(
			records_late_or_of_other_channels_or_for_falling_edges_change_nothing),
	};

	draw_seed();
	return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
