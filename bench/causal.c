/* SPDX-License-Identifier: MIT */
#include "causal.h"

#include <coeval/error.h>

#include <math.h>
#include <stdlib.h>

#include "sim/happen.h"

#define SIDES 2
#define NO_MESSAGE SIZE_MAX

/* A variable of the programme. */
struct point {
	size_t clock;
	int64_t x;
	size_t message, side; /* 0: sent, 1: received; NO_MESSAGE: an instant, its number in side */
	double low, high;
};

struct work {
	const struct happened *h;
	struct world_air air;
	struct point *p; /* by clock, then x */
	size_t n;
	size_t (*end)[SIDES]; /* points of each message; NO_MESSAGE where it was not recorded */
	double rho;
};

/*
 * Stamps are whole ticks. As in est_interval.c, a receive may have come up to a resolution and 1 ns
 * later than it says; all clocks here have the same resolution, so it is the same slack whichever
 * end was rounded.
 */
static int add_clock(struct work *w, size_t clock, const struct causal_instant *at, size_t n_at,
		     struct cvl_error *err)
{
	const struct world_clock *c = &w->air.clock[clock];
	int64_t resolution_ns =
		(int64_t)ceil(1e9 / (double)c->group->rate_hz * (double)c->group->resolution);
	struct cvl_map *nominal = cvl_session_nominal(w->h->session, clock);
	struct oscillator o = { 0 };
	int rc = nominal ? oscillator_make(&o, &w->h->w, &c->group->oscillator, c->name, err) :
			   cvl_no_memory(err);

	for (size_t i = 0; i < w->air.n_messages && !rc; i++) {
		const struct sent_message *m = &w->air.message[i];
		const double t[SIDES] = { m->sent, m->received };

		for (size_t side = 0; side < SIDES; side++) {
			struct cvl_tick tick;
			int64_t x;

			/* what was before the capture or after it is not in the session */
			if ((side ? m->to : m->from) != clock || m->lost || t[side] < c->start ||
			    t[side] >= (double)w->h->w.duration_ns)
				continue;
			tick.count = world_stamp(c, &o, t[side]);
			x = cvl_map_time(nominal, tick, NULL).ns;
			w->p[w->n++] = (struct point){ .clock = clock,
						       .x = side ? x + resolution_ns + 1 : x,
						       .message = i,
						       .side = side };
		}
	}
	for (size_t i = 0; i < n_at && !rc; i++)
		if (at[i].clock == clock)
			w->p[w->n++] = (struct point){
				.clock = clock,
				.x = cvl_map_time(nominal, (struct cvl_tick){ at[i].tick }, NULL)
					     .ns,
				.message = NO_MESSAGE,
				.side = i,
			};
	oscillator_free(&o);
	cvl_map_free(nominal);
	return rc;
}

static int by_clock(const void *pa, const void *pb)
{
	const struct point *a = pa, *b = pb;

	if (a->clock != b->clock)
		return a->clock < b->clock ? -1 : 1;
	return a->x < b->x ? -1 : a->x > b->x;
}

/* Propagate the limits of @b to @a: theta_a <= theta_b + most, theta_a >= theta_b - least. */
static bool relax(struct point *a, const struct point *b, double least, double most)
{
	bool changed = false;

	if (b->high + most < a->high - 1e-6) {
		a->high = b->high + most;
		changed = true;
	}
	if (b->low - least > a->low + 1e-6) {
		a->low = b->low - least;
		changed = true;
	}
	return changed;
}

/* Every edge once: along each clock there and back, and over each message. */
static bool sweep(struct work *w)
{
	struct point *p = w->p;
	bool changed = false;

	for (size_t i = 1; i < w->n; i++) {
		double d = w->rho * (double)(p[i].x - p[i - 1].x);

		if (p[i].clock == p[i - 1].clock && p[i].clock)
			changed |= relax(&p[i], &p[i - 1], d, d);
	}
	for (size_t i = w->n; i-- > 1;) {
		double d = w->rho * (double)(p[i].x - p[i - 1].x);

		if (p[i].clock == p[i - 1].clock && p[i].clock)
			changed |= relax(&p[i - 1], &p[i], d, d);
	}
	for (size_t i = 0; i < w->air.n_messages; i++) {
		struct point *sent, *received;
		double flight;

		if (w->end[i][0] == NO_MESSAGE || w->end[i][1] == NO_MESSAGE)
			continue;
		sent = &p[w->end[i][0]];
		received = &p[w->end[i][1]];
		flight = (double)(received->x - sent->x); /* theta_s - theta_r <= flight */
		changed |= relax(sent, received, INFINITY, flight);
		changed |= relax(received, sent, flight, INFINITY);
	}
	return changed;
}

/*
 * Bellman and Ford: as many rounds as a path has edges at most; a few do, as each round goes along
 * whole clocks.
 */
static int solve(struct work *w, struct cvl_error *err)
{
	for (size_t i = 0; i < w->n; i++) {
		struct point *p = &w->p[i];

		p->low = p->clock ? -INFINITY : 0;
		p->high = p->clock ? INFINITY : 0;
		if (p->message != NO_MESSAGE)
			w->end[p->message][p->side] = i;
	}
	for (size_t round = 0; sweep(w); round++)
		if (round > w->n)
			return cvl_fail(err, CVL_E_NO, CVL_NO_OFFSET,
					"the messages contradict the drift limit");
	return 0;
}

int causal_bounds(const struct bench *b, const struct happened *h, double drift_ppm,
		  struct causal_instant *at, size_t n)
{
	struct work w = { .h = h, .rho = (1 + drift_ppm * 1e-6) / (1 - drift_ppm * 1e-6) - 1 };
	struct cvl_error err;
	int rc = air_make(&w.air, &h->w, &err);

	if (!rc) {
		w.p = malloc((SIDES * w.air.n_messages + n) * sizeof(*w.p));
		w.end = malloc(w.air.n_messages * sizeof(*w.end));
		if (!w.p || !w.end)
			rc = cvl_no_memory(&err);
	}
	for (size_t i = 0; !rc && i < w.air.n_messages; i++)
		w.end[i][0] = w.end[i][1] = NO_MESSAGE;
	for (size_t c = 0; !rc && c < w.air.n_clocks; c++)
		rc = add_clock(&w, c, at, n, &err);
	if (!rc) {
		qsort(w.p, w.n, sizeof(*w.p), by_clock);
		rc = solve(&w, &err);
	}
	for (size_t i = 0; i < w.n && !rc; i++)
		if (w.p[i].message == NO_MESSAGE) {
			at[w.p[i].side].low = w.p[i].low;
			at[w.p[i].side].high = w.p[i].high;
		}
	air_free(&w.air);
	free(w.p);
	free(w.end);
	return rc ? bench_fail(b, rc, "world %s: %s", h->w.name, err.text) : 0;
}
