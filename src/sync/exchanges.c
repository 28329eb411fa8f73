/* SPDX-License-Identifier: MIT */
#include "sync/exchanges.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A message between two clocks with maps. */
struct flight {
	uint32_t a, b;
	bool up; /* from a to b */
	int64_t sent, received;
	size_t message;
};

static int by_pair_and_time(const void *pf, const void *pg)
{
	const struct flight *f = pf, *g = pg;

	if (f->a != g->a)
		return f->a < g->a ? -1 : 1;
	if (f->b != g->b)
		return f->b < g->b ? -1 : 1;
	if (f->sent != g->sent)
		return f->sent < g->sent ? -1 : 1;
	return f->message < g->message ? -1 : f->message > g->message;
}

static size_t find_flights(struct flight *out, const struct sync_problem *p,
			   const struct cvl_clock_sync *maps)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_messages; i++) {
		const struct sync_message *m = &p->message[i];
		uint32_t from = (uint32_t)p->clock[m->from].same_as,
			 to = (uint32_t)p->clock[m->to].same_as;

		if (from == to || !maps[m->from].map || !maps[m->to].map)
			continue;
		out[n++] = (struct flight){
			.a = from < to ? from : to,
			.b = from < to ? to : from,
			.up = from < to,
			.sent = cvl_map_time(maps[m->from].map, (struct cvl_tick){ m->sent }, NULL)
					.ns,
			.received = cvl_map_time(maps[m->to].map, (struct cvl_tick){ m->received },
						 NULL)
					    .ns,
			.message = i,
		};
	}
	qsort(out, n, sizeof(*out), by_pair_and_time);
	return n;
}

static double took(const struct sync_problem *p, const struct flight *f)
{
	return (double)f->received - (double)f->sent +
	       (double)p->clock[f->up ? f->b : f->a].resolution_ns + 1;
}

static void pair_up(struct exchanges *x, const struct sync_problem *p, const struct flight *f,
		    size_t n)
{
	for (size_t i = 0; i < n;) {
		const struct exchange *before = x->n ? &x->list[x->n - 1] : NULL;
		bool same_pair = before && before->a == f[i].a && before->b == f[i].b;
		bool answered = i + 1 < n && f[i + 1].a == f[i].a && f[i + 1].b == f[i].b &&
				f[i + 1].up != f[i].up;

		x->list[x->n++] = (struct exchange){
			.a = f[i].a,
			.b = f[i].b,
			.message = { f[i].message, answered ? f[i + 1].message : SIZE_MAX },
			.number = same_pair ? before->number + 1 : 0,
			.round_trip = answered ? took(p, &f[i]) + took(p, &f[i + 1]) : INFINITY,
		};
		for (size_t k = 0; k < 2; k++) {
			size_t clock = k ? f[i].b : f[i].a;
			struct cvl_time t = { f[i].sent };

			if (!x->count[clock]++ || t.ns < x->first[clock].ns)
				x->first[clock] = t;
			if (x->count[clock] == 1 || t.ns > x->last[clock].ns)
				x->last[clock] = t;
		}
		i += answered ? 2 : 1;
	}
}

/* Shortest paths from the reference (Bellman and Ford). */
static void find_floors(struct exchanges *x, size_t n_clocks, size_t reference)
{
	bool changed = true;

	for (size_t c = 0; c < n_clocks; c++)
		x->floor[c] = c == reference ? 0 : INFINITY;
	for (size_t round = 0; changed && round < n_clocks; round++) {
		changed = false;
		for (size_t i = 0; i < x->n; i++) {
			const struct exchange *e = &x->list[i];
			double half = fmax(e->round_trip, 0) / 2;

			if (x->floor[e->a] + half < x->floor[e->b]) {
				x->floor[e->b] = x->floor[e->a] + half;
				changed = true;
			} else if (x->floor[e->b] + half < x->floor[e->a]) {
				x->floor[e->a] = x->floor[e->b] + half;
				changed = true;
			}
		}
	}
}

void exchanges_free(struct exchanges *x)
{
	free(x->list);
	free(x->count);
	free(x->floor);
	free(x->first);
	free(x->last);
	*x = (struct exchanges){ 0 };
}

int exchanges_find(struct exchanges *x, const struct sync_problem *p,
		   const struct cvl_clock_sync *maps, size_t reference, struct cvl_error *err)
{
	struct flight *flight = calloc(p->n_messages + 1, sizeof(*flight));
	size_t n = p->n_clocks + 1;

	*x = (struct exchanges){
		.list = calloc(p->n_messages + 1, sizeof(*x->list)),
		.count = calloc(n, sizeof(*x->count)),
		.floor = calloc(n, sizeof(*x->floor)),
		.first = calloc(n, sizeof(*x->first)),
		.last = calloc(n, sizeof(*x->last)),
	};
	if (!flight || !x->list || !x->count || !x->floor || !x->first || !x->last) {
		free(flight);
		exchanges_free(x);
		return cvl_no_memory(err);
	}
	pair_up(x, p, flight, find_flights(flight, p, maps));
	find_floors(x, p->n_clocks, reference);
	free(flight);
	return 0;
}

void exchanges_thin(struct sync_problem *thin, const struct sync_problem *p,
		    const struct exchanges *x, size_t step, size_t phase,
		    struct sync_message *message)
{
	*thin = *p;
	thin->message = message;
	thin->n_messages = 0;
	for (size_t i = 0; i < x->n; i++)
		for (size_t k = 0; k < 2 && x->list[i].number % step == phase; k++)
			if (x->list[i].message[k] != SIZE_MAX)
				message[thin->n_messages++] = p->message[x->list[i].message[k]];
}
