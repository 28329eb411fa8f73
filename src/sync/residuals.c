/* SPDX-License-Identifier: MIT */
#include "sync/problem.h"
#include "sync/track.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A beacon heard by one clock, placed by its clock's map. */
struct placed {
	uint32_t source, clock;
	int64_t index;
	int64_t time;
};

static int by_mark(const void *pa, const void *pb)
{
	const struct placed *a = pa, *b = pb;

	if (a->source != b->source)
		return a->source < b->source ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

/* Distance from the nearest whole period, where the timeline is this source's time. */
static double folded(const struct sync_problem *p, const struct sync_source *s, int64_t time)
{
	int64_t phase = s->numbered ? 0 : p->epoch_unix_ns % s->period_ns;
	int64_t rest = (time % s->period_ns + phase) % s->period_ns;

	if (rest > s->period_ns / 2)
		rest -= s->period_ns;
	if (rest < -s->period_ns / 2)
		rest += s->period_ns;
	return (double)rest;
}

static void see_group(const struct placed *g, size_t n, size_t clock,
		      void (*see)(void *ctx, struct cvl_time t, double residual_ns), void *ctx)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += track_span(g[i].time, g[0].time);
	for (size_t i = 0; i < n && n > 1; i++)
		if (g[i].clock == clock)
			see(ctx, (struct cvl_time){ g[i].time },
			    track_span(g[i].time, g[0].time) - sum / (double)n);
}

int sync_residuals(const struct sync_problem *p, const struct cvl_sync *sync, size_t clock,
		   void (*see)(void *ctx, struct cvl_time t, double residual_ns), void *ctx,
		   struct cvl_error *err)
{
	struct placed *placed = malloc((p->n_marks + 1) * sizeof(*placed));
	size_t n = 0, same = p->clock[clock].same_as, root = 0;

	if (!placed)
		return cvl_no_memory(err);
	while (root < p->n_sources && strcmp(p->source[root].name, sync->reference) != 0)
		root++;
	for (size_t i = 0; i < p->n_marks && sync->clock[clock].map; i++) {
		const struct sync_mark *m = &p->mark[i];
		const struct sync_source *s = &p->source[m->source];
		size_t c = p->clock[m->clock].same_as;
		int64_t time;

		sync_rest(p, i);
		if (!sync->clock[m->clock].map || (m->source == root ? c != same : !s->numbered))
			continue;
		time = cvl_map_time(sync->clock[m->clock].map, (struct cvl_tick){ m->tick }, NULL)
			       .ns -
		       p->clock[c].bias_ns;
		if (m->source == root)
			see(ctx, (struct cvl_time){ time }, folded(p, s, time));
		else
			placed[n++] = (struct placed){ m->source, (uint32_t)c, m->index, time };
	}
	qsort(placed, n, sizeof(*placed), by_mark);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && !by_mark(&placed[i], &placed[end]);)
			end++;
		see_group(placed + i, end - i, same, see, ctx);
	}
	free(placed);
	return 0;
}
