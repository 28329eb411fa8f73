/* SPDX-License-Identifier: MIT */
/**
 * Clocks that hear the pulses of a reference, some of them withheld: marks straight for an
 * estimator, without a capture, and what comes out of them at the withheld ones. For bench/truth.c
 * and tests/sync/test_reference.c.
 *
 * A column is one clock: 1000 pulses each 100 ms, of which those in 5 s of every 15 s are withheld.
 * The truth is where the reference stood, without the jitter of the single pulse.
 */
#ifndef BENCH_COLUMNS_H
#define BENCH_COLUMNS_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "sim/oscillator.h"
#include "sim/reference.h"
#include "sync/marks.h"

#define COLUMN_PULSES 1000
#define COLUMN_PERIOD_NS 100000000
#define COLUMN_PATTERN 150 /* pulses, of which the last COLUMN_GAP are withheld */
#define COLUMN_GAP 50
#define COLUMN_STEPS 20 /* of the clock's process in a period */

/** What the references of one kind do. */
struct column_world {
	const char *name, *what;
	double normal_ns, uniform_ns; /* jitter of a pulse; uniform: to either side */
	double late, late_min_ns, late_max_ns;
	struct world_reference reference[3]; /* one in three each, where there are several */
	double goal;                         /* % of the withheld that must be within, or 0 */
};

#define COLUMN_WANDER(sd, s) \
	.wander_ns = (sd), .wander_time_ns = (int64_t)((s)*1e9), .burst_factor = 1

static const struct column_world column_worlds[] = {
	{ .name = "R0", .what = "no wander", .normal_ns = 130, .goal = 99.9 },
	{ .name = "R1",
	  .what = "kernel timer",
	  .normal_ns = 130,
	  .late = 0.01,
	  .late_min_ns = 300,
	  .late_max_ns = 700,
	  .reference = { { COLUMN_WANDER(60, 1), .rough = true } },
	  .goal = 99.9 },
	{ .name = "R2",
	  .what = "servo",
	  .uniform_ns = 24,
	  .reference = { { COLUMN_WANDER(50, 0.6) },
			 { COLUMN_WANDER(80, 1) },
			 { COLUMN_WANDER(150, 1.5) } },
	  .goal = 99.9 },
	{ .name = "R3",
	  .what = "servo under load",
	  .uniform_ns = 24,
	  .reference = { { COLUMN_WANDER(60, 1), .kicks_every_ns = 25000000000, .kick_ns = 400,
			   .kick_spread = 1.3 } } },
	{ .name = "R4",
	  .what = "bursts",
	  .normal_ns = 100,
	  .reference = { { .wander_ns = 35,
			   .wander_time_ns = 700000000,
			   .bursts_every_ns = 25000000000,
			   .burst_ns = 8000000000,
			   .burst_factor = 3 } },
	  .goal = 99.9 },
};

#define COLUMN_WORLDS (sizeof(column_worlds) / sizeof(*column_worlds))

/** One clock: where it stood at each pulse, and what it read. */
struct column {
	double stood[COLUMN_PULSES], read[COLUMN_PULSES];
};

/** Results of an estimator. */
struct column_sums {
	unsigned columns, good, degraded, untied;
	uint64_t n, within; /* withheld pulses of good clocks */
	uint64_t n_marks, within_marks;
	double *gap, *mark; /* bounds of good clocks */
	size_t n_gap, n_mark, cap;
};

/*
 * A clock of 1 ns/s/sqrt(s) and 0.15 ns/s^2/sqrt(s), off by some 20 ppm, in steps that are short
 * against a period.
 */
static int column_make(struct column *c, const struct column_world *w, uint64_t seed,
		       unsigned number, struct cvl_error *err)
{
	struct sim_random r = world_random(seed, w->name, "column");
	struct reference ref;
	double rate, drift = 0, x, dt = COLUMN_PERIOD_NS * 1e-9 / COLUMN_STEPS;
	size_t kinds = 1;
	int rc;

	r.state += (uint64_t)number * 0x9e3779b97f4a7c15u;
	sim_u64(&r);
	while (kinds < 3 && w->reference[kinds].wander_ns > 0)
		kinds++;
	rc = reference_make(&ref, &w->reference[number % kinds], sim_u64(&r), w->name,
			    COLUMN_PULSES, COLUMN_PERIOD_NS, err);
	rate = 20e3 * sim_normal(&r);
	x = 1e6 * sim_uniform(&r);
	for (size_t k = 0; k < COLUMN_PULSES && !rc; k++) {
		double jitter =
			w->normal_ns * sim_normal(&r) + w->uniform_ns * (2 * sim_uniform(&r) - 1);
		double luck = sim_uniform(&r), late = sim_uniform(&r);

		c->stood[k] = (double)k * COLUMN_PERIOD_NS + x + ref.slow[k];
		c->read[k] = c->stood[k] + ref.factor[k] * jitter;
		if (luck < w->late)
			c->read[k] += w->late_min_ns + (w->late_max_ns - w->late_min_ns) * late;
		for (int i = 0; i < COLUMN_STEPS; i++) {
			x += rate * dt;
			rate += drift * dt + 1 * sqrt(dt) * sim_normal(&r);
			drift += 0.15 * sqrt(dt) * sim_normal(&r);
		}
	}
	reference_free(&ref);
	return rc;
}

static bool column_withheld(size_t k)
{
	return k % COLUMN_PATTERN >= COLUMN_PATTERN - COLUMN_GAP;
}

/* The clock's ticks are ns; it began a second before its first pulse. */
#define COLUMN_BEGAN 1000000000

/* Tie one clock of @last ns by @n pulses. */
static int column_tie(struct sync_mark *mark, size_t n, int64_t period_ns, uint64_t last,
		      const struct estimator *e, struct cvl_clock_sync *out, struct cvl_error *err)
{
	struct cvl_knot knot = { { 0 }, { 0 }, 0, 0 };
	const struct cvl_map_spec spec = { .knots = &knot, .n = 1, .rate_hz = 1000000000 };
	struct sync_source source = { .name = "PPS", .period_ns = period_ns, .marks = n };
	struct sync_clock clock = { .name = "clock",
				    .rate_hz = 1000000000,
				    .resolution_ns = 1,
				    .mark_ns = 1,
				    .drift_ppm = 200,
				    .host = "",
				    .seen = true,
				    .last = last };
	struct sync_problem p = { .clock = &clock,
				  .n_clocks = 1,
				  .mark = mark,
				  .n_marks = n,
				  .source = &source,
				  .n_sources = 1,
				  .reference = -1 };
	struct sync_solution s = { .clock = out };
	int rc = cvl_map_new(&clock.nominal, &spec, err);

	*out = (struct cvl_clock_sync){ 0 };
	if (!rc)
		rc = marks_solve(&p, &s, e->tracker, err);
	cvl_map_free(clock.nominal);
	return rc;
}

static int column_solve(const struct column *c, const struct estimator *e,
			struct cvl_clock_sync *out, struct cvl_error *err)
{
	struct sync_mark mark[COLUMN_PULSES];
	size_t n = 0;

	for (size_t k = 0; k < COLUMN_PULSES; k++)
		if (!column_withheld(k))
			mark[n++] = (struct sync_mark){
				.tick = (uint64_t)llround(c->read[k]) + COLUMN_BEGAN,
			};
	return column_tie(mark, n, COLUMN_PERIOD_NS,
			  COLUMN_BEGAN + (uint64_t)COLUMN_PULSES * COLUMN_PERIOD_NS, e, out, err);
}

static int column_score(struct column_sums *s, const struct column *c, const struct estimator *e,
			struct cvl_clock_sync *told, struct cvl_error *err)
{
	int rc = column_solve(c, e, told, err);

	if (rc)
		return rc;
	s->columns++;
	s->good += told->map && told->verdict == CVL_GOOD;
	s->degraded += told->map && told->verdict == CVL_DEGRADED;
	s->untied += !told->map;
	if (!told->map || told->verdict != CVL_GOOD)
		return 0;
	if (s->n_gap + s->n_mark + COLUMN_PULSES > s->cap) {
		size_t more = 2 * s->cap + 64 * (size_t)COLUMN_PULSES;
		double *gap = realloc(s->gap, more * sizeof(*gap)), *mark;

		if (!gap)
			return cvl_no_memory(err);
		s->gap = gap;
		mark = realloc(s->mark, more * sizeof(*mark));
		if (!mark)
			return cvl_no_memory(err);
		s->mark = mark;
		s->cap = more;
	}
	for (size_t k = 0; k < COLUMN_PULSES; k++) {
		uint64_t tick = (uint64_t)llround(c->stood[k]) + COLUMN_BEGAN;
		int64_t bound, due = COLUMN_BEGAN + (int64_t)k * COLUMN_PERIOD_NS, off;

		off = cvl_map_time(told->map, (struct cvl_tick){ tick }, &bound).ns - due;
		if (column_withheld(k)) {
			s->n++;
			s->within += llabs(off) <= bound;
			s->gap[s->n_gap++] = (double)bound;
		} else {
			s->n_marks++;
			s->within_marks += llabs(off) <= bound;
			s->mark[s->n_mark++] = (double)bound;
		}
	}
	return 0;
}

static void column_sums_free(struct column_sums *s)
{
	free(s->gap);
	free(s->mark);
	*s = (struct column_sums){ 0 };
}

#endif
