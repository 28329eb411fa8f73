/* SPDX-License-Identifier: MIT */
#include "sync/steps_internal.h"

#include <coeval/array.h>

#include <stdlib.h>
#include <string.h>

#define SHORT 320 /* periods in one whose clocks' noise is known, and at least ... */
#define SHORT_HORIZONS 2.5

/* The final knot by which clock @c is placed in a stretch from @begin on, or NULL. */
static const struct cvl_knot *anchor_of(const struct steps *s, size_t c, int64_t begin)
{
	const struct stepped *k = &s->clock[c];
	size_t i = 0;

	if (!k->n || k->kind == CVL_BOUND_NONE)
		return NULL;
	while (i + 1 < k->n && k->knot[i].time.ns < begin)
		i++;
	return &k->knot[i];
}

/* Where the stretch to solve begins: marks matter for a horizon, noise is learned from more. */
static int64_t begin_of(const struct steps *s)
{
	int64_t least = SHORT * s->period;

	if (s->learning)
		return s->begin;
	if (least < (int64_t)(SHORT_HORIZONS * (double)s->horizon))
		least = (int64_t)(SHORT_HORIZONS * (double)s->horizon);
	return s->next - s->begin > least ? s->next - least : s->begin;
}

/* Clock @c starts where it was put before. */
static int place_clock(const struct steps *s, size_t c, struct sync_clock *k)
{
	const int64_t begin = begin_of(s);
	const struct sync_problem *p = &s->all->p;
	const size_t root = steps_root(s, c);
	const struct cvl_knot *a = anchor_of(s, root, begin);
	struct cvl_knot at;
	int64_t by = 0;

	if (a) {
		if (p->reference < 0 || p->clock[p->reference].same_as != root)
			by = cvl_add_sat(a->time.ns, -sync_x(p, root, a->tick.count));
		k->start_x = a->time.ns;
		k->start_bound_ns = s->last->clock[root].group ? 0 : a->bound_ns + 1;
		k->host = "";
		k->before = s->last->clock[root].group ? NULL : s->clock[root].map;
	}
	cvl_map_ends(k->nominal, &at, NULL);
	k->nominal = cvl_map_nominal(k->rate_hz, at.tick,
				     (struct cvl_time){ cvl_add_sat(at.time.ns, by) });
	k->noise = s->clock[root].noise;
	k->slip = NULL;
	k->n_slips = k->cap_slips = 0;
	if (!k->nominal)
		return CVL_E_NOMEM;
	for (size_t i = 0; i < p->clock[c].n_slips; i++) {
		struct track_slip slip = p->clock[c].slip[i];

		slip.from = cvl_add_sat(slip.from, by);
		slip.to = cvl_add_sat(slip.to, by);
		if (slip.to < begin)
			continue;
		if (cvl_room(&k->slip, k->n_slips, &k->cap_slips, sizeof(*k->slip)))
			return CVL_E_NOMEM;
		k->slip[k->n_slips++] = slip;
	}
	return 0;
}

/* Records of a clock in the stretch, by its marks. */
static void see_tick(struct sync_clock *k, uint64_t tick)
{
	k->first = !k->seen || tick < k->first ? tick : k->first;
	k->last = !k->seen || tick > k->last ? tick : k->last;
	k->seen = true;
}

static bool takes(const struct steps *s, const struct stretch *st, size_t clock, uint64_t tick,
		  int64_t end)
{
	const size_t root = steps_root(s, clock);
	int64_t t;

	if (s->alone)
		return false;
	if (!s->clock[root].map)
		return tick <= s->clock[root].cut;
	t = steps_time(s, clock, tick);
	return t <= end && t >= st->begin;
}

static int take_marks(const struct steps *s, struct stretch *st, int64_t end)
{
	const struct sync_problem *p = &s->all->p;
	struct sync_problem *q = &st->obs.p;

	if (spill_room(&q->marks, (p->n_marks + 1) * sizeof(*q->mark)))
		return CVL_E_NOMEM;
	q->mark = q->marks.at;
	for (size_t i = 0; i < p->n_marks; i++) {
		const struct sync_mark *m = &p->mark[i];

		if (!takes(s, st, m->clock, m->tick, end))
			continue;
		q->mark[q->n_marks++] = *m;
		see_tick(&q->clock[steps_root(s, m->clock)], m->tick);
	}
	for (size_t i = 0; i < s->ends.n; i++) {
		struct pairing_end e = s->ends.end[i];

		if (!takes(s, st, e.clock, e.tick, end))
			continue;
		e.x = sync_x(q, e.clock, e.tick);
		if (pairing_add(&st->ends, &e, NULL))
			return CVL_E_NOMEM;
		see_tick(&q->clock[steps_root(s, e.clock)], e.tick);
	}
	return 0;
}

void stretch_free(struct stretch *st)
{
	struct sync_problem *q = &st->obs.p;

	for (size_t c = 0; q->clock && c < q->n_clocks; c++) {
		cvl_map_free(q->clock[c].nominal);
		free(q->clock[c].slip);
	}
	free(q->clock);
	free(q->message);
	free(q->source);
	spill_free(&q->marks);
	pairing_free(&st->ends);
}

int stretch_make(const struct steps *s, struct stretch *st, int64_t end, struct cvl_error *err)
{
	const struct sync_problem *p = &s->all->p;
	struct sync_problem *q = &st->obs.p;
	int rc = 0;

	*st = (struct stretch){ .obs = *s->all, .begin = begin_of(s) };
	q->mark = NULL;
	q->n_marks = q->n_messages = q->cap_messages = 0;
	q->marks = (struct spill){ 0 };
	q->message = NULL;
	q->progress = (struct cvl_progress){ 0 };
	q->jobs = 1; /* a stretch is short */
	q->sender = s->sender ? s->sender : q->sender;
	q->unmatched = q->duplicates = q->ambiguous = 0;
	q->clock = calloc(p->n_clocks + 1, sizeof(*q->clock));
	q->source = calloc(p->n_sources + 1, sizeof(*q->source));
	if (!q->clock || !q->source)
		rc = CVL_E_NOMEM;
	for (size_t i = 0; i < p->n_sources && !rc; i++) {
		q->source[i] = p->source[i];
		q->source[i].marks = 0;
	}
	q->n_clocks = 0;
	for (size_t c = 0; c < p->n_clocks && !rc; c++) {
		q->clock[c] = p->clock[c];
		q->clock[c].seen = false;
		q->n_clocks++;
		rc = place_clock(s, c, &q->clock[c]);
	}
	rc = rc ? rc : take_marks(s, st, end);
	if (rc) {
		stretch_free(st);
		return cvl_no_memory(err);
	}
	rc = observed(q, &st->ends, &st->obs.rules, err);
	if (rc)
		stretch_free(st);
	else
		observations_complete(&st->obs);
	return rc;
}
