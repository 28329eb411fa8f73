/* SPDX-License-Identifier: MIT */
/* The engine: from records to monitors. */
#include "analysis/check/internal.h"

/* ---- streams ---- */

/* Keep c->hi valid for the next ticks. */
static __attribute__((noinline)) void widen(struct check *c, struct stream_state *st,
					    const struct cvl_slice *sl, size_t i)
{
	const struct cvl_batch *b = sl->batch;
	uint64_t lo = b->tick[i].count, hi = b->tick[b->n - 1].count;
	int64_t most = c->hi[sl->clock], here;
	struct cvl_knot first, last;

	if (hi < lo)
		hi = lo;
	/* as the session grows its map does not reach as far as what is stored */
	cvl_map_ends(cvl_timeline_map(c->tl, sl->clock), &first, &last);
	if (lo <= last.tick.count && hi > last.tick.count)
		hi = last.tick.count;
	here = clock_bound_max(c, sl->clock, lo, hi, false);
	most = here > most ? here : most;
	st->tick_lo = lo;
	st->tick_span = hi - lo;
	if (!b->bracket)
		st->capture = cvl_timeline_bound_parts(c->tl, sl, i).capture;
	for (size_t k = 0; k < st->n_sources; k++) {
		struct source *s = &c->source[st->source[k]];
		int64_t reach = cvl_add_sat(most, st->capture);

		if (s->capture >= st->capture && s->reach >= reach)
			continue;
		tell_all(c); /* earlier events are judged by what was known then */
		s->capture = s->capture > st->capture ? s->capture : st->capture;
		s->reach = s->reach > reach ? s->reach : reach;
		for (size_t n = 0; n < s->n_listeners; n++) {
			struct monitor *m = &c->monitor[s->listener[n].monitor];

			m->reach = monitor_reach(c, m);
		}
	}
	c->hi[sl->clock] = most;
}

static bool is_new(const struct stream_state *st, uint64_t tick)
{
	return tick - st->tick_lo > st->tick_span;
}

static __attribute__((noinline)) int64_t own_capture(struct check *c, struct stream_state *st,
						     const struct cvl_slice *sl, size_t i)
{
	int64_t capture = cvl_timeline_bound_parts(c->tl, sl, i).capture;
	bool wider = capture > st->capture;

	if (wider)
		st->capture = capture;
	if (wider || is_new(st, sl->batch->tick[i].count))
		widen(c, st, sl, i);
	return capture;
}

/* Half-width due to the resolution of record @i's capture. May flush the news. */
static inline int64_t capture_of(struct check *c, struct stream_state *st,
				 const struct cvl_slice *sl, size_t i)
{
	if (sl->batch->bracket)
		return own_capture(c, st, sl, i);
	if (is_new(st, sl->batch->tick[i].count))
		widen(c, st, sl, i);
	return st->capture;
}

/* Record @i, of line or class @what. */
static inline void fill(struct occ *o, const struct stream_state *st, const struct cvl_slice *sl,
			size_t i, int64_t capture, uint32_t what)
{
	o->ns = sl->time[i].ns;
	o->tick = sl->batch->tick[i].count;
	o->place = st->place + (i - sl->begin);
	o->capture = capture;
	o->stream = (uint32_t)sl->stream;
	o->clock = (uint32_t)sl->clock;
	o->what = what;
}

static struct occ occ_at(struct check *c, struct stream_state *st, const struct cvl_slice *sl,
			 size_t i)
{
	struct occ o;

	fill(&o, st, sl, i, capture_of(c, st, sl, i), 0);
	return o;
}

static bool state_level(const struct feed *f, uint64_t levels)
{
	return (levels >> f->what & 1) != f->low;
}

/* Whether @source is of lines, so that it needs levels to be known. */
static bool of_lines(const struct check *c, uint32_t source)
{
	return c->source[source].meaning->of_lines;
}

/* Sources that are not of lines become known. */
static void light(struct check *c, struct stream_state *st, const struct occ *o)
{
	for (size_t k = 0; k < st->n_sources; k++)
		if (!of_lines(c, st->source[k]))
			tell_light(c, &c->source[st->source[k]], o, false);
}

static bool all_known(uint64_t lines, uint64_t known)
{
	return (lines & known) == lines;
}

/* A source sees while all of its lines are known; @was: the lines known before. */
static void lines_known(struct check *c, struct stream_state *st, const struct occ *o, uint64_t was)
{
	for (size_t k = 0; k < st->n_sources; k++) {
		uint64_t lines = st->source_lines[k];
		uint32_t source = st->source[k];
		bool level = false, is = all_known(lines, st->levels.known);

		if (!of_lines(c, source) || is == all_known(lines, was))
			continue;
		for (size_t f = 0; f < st->line.n; f++)
			if (st->line.feed[f].source == source && st->line.feed[f].state)
				level = state_level(&st->line.feed[f], st->levels.now);
		if (is)
			tell_light(c, &c->source[source], o, level);
		else
			tell_dark(c, &c->source[source], o);
	}
}

static void dark(struct check *c, struct stream_state *st, const struct occ *o)
{
	uint64_t was = st->levels.known;

	st->levels.known = 0;
	lines_known(c, st, o, was);
	for (size_t k = 0; k < st->n_sources; k++)
		/* what is already dark stays so */
		if (!of_lines(c, st->source[k]) && st->begun && !st->dark)
			tell_dark(c, &c->source[st->source[k]], o);
	st->dark = true;
}

/*
 * A record out of order shows that not all was seen in its turn: what waits for something of this stream
 * cannot be told, as after a loss, up to the next record in order.
 */
static void late(struct check *c, struct stream_state *st, const struct occ *o)
{
	tell_all(c);
	for (size_t k = 0; k < st->n_sources; k++) {
		const struct source *s = &c->source[st->source[k]];

		for (size_t i = 0; i < s->n_listeners; i++)
			case_unknown(c, &c->monitor[s->listener[i].monitor], CVL_CHECK_LATE, o,
				     NULL);
	}
}

/* ---- records ---- */

/* Queue record @i for these. */
static inline void tell(struct check *c, struct stream_state *st, const struct cvl_slice *sl,
			size_t i, uint32_t what, const struct target *first,
			const struct target *end)
{
	int64_t capture = capture_of(c, st, sl, i);
	struct heard *h;

	if (c->n_heard == CHECK_ROUND)
		tell_all(c);
	h = &c->heard[c->n_heard++];
	h->first = first;
	h->end = end;
	fill(&h->occ, st, sl, i, capture, what);
}

/* An edge where the levels were known; @changed: the watched lines. */
static inline void edge(struct check *c, struct stream_state *st, const struct cvl_slice *sl,
			size_t i, uint64_t changed)
{
	for (; changed; changed &= changed - 1) {
		unsigned line = (unsigned)__builtin_ctzll(changed);
		const uint32_t *first = &st->target_first[2 * line + (st->levels.now >> line & 1)];

		if (first[0] < first[1])
			tell(c, st, sl, i, line, st->target + first[0], st->target + first[1]);
	}
}

static void levels(struct check *c, struct stream_state *st, const struct cvl_slice *sl, size_t i)
{
	uint64_t was = st->levels.known, changed = cvl_levels_take(&st->levels, sl->batch, i);

	edge(c, st, sl, i, changed & st->mask);
	if (was != st->levels.known) {
		struct occ o = occ_at(c, st, sl, i);

		lines_known(c, st, &o, was);
	}
}

static void event(struct check *c, struct stream_state *st, const struct cvl_slice *sl, size_t i,
		  uint32_t class)
{
	size_t k = st->class.first[class], end = st->class.first[class + 1];

	for (; k < end; k++) {
		const struct feed *f = &st->class.feed[k];

		if (!f->test ||
		    cvl_selector_holds(&c->source[f->source].meaning->sel, c->tl, sl, i))
			tell(c, st, sl, i, CVL_LINES_MAX + class, st->target + st->class_first[k],
			     st->target + st->class_first[k + 1]);
	}
}

static void gap(struct check *c, struct stream_state *st, const struct cvl_slice *sl, size_t i)
{
	const struct cvl_batch *b = sl->batch;
	struct occ o = occ_at(c, st, sl, i);

	dark(c, st, &o);
	/*
	 * across a slip durations are unreliable: as if something were lost up to the next
	 * record
	 */
	if (b->kind[i] != CVL_GAP || b->aux[i] == CVL_TICK_UNKNOWN)
		return;
	o.tick = b->aux[i];
	o.ns = cvl_map_time(cvl_timeline_map(c->tl, sl->clock), (struct cvl_tick){ o.tick }, NULL)
		       .ns;
	o.ns = o.ns > sl->time[i].ns ? o.ns : sl->time[i].ns;
	st->begun = true;
	st->dark = false;
	light(c, st, &o);
}

/*
 * Sources not of lines are known from the first record on, and from the one after a gap with an
 * unknown end.
 */
static void begin(struct check *c, struct stream_state *st, const struct cvl_slice *sl, size_t i)
{
	struct occ o = occ_at(c, st, sl, i);

	st->begun = true;
	st->dark = false;
	light(c, st, &o);
}

static __attribute__((noinline)) void record(struct check *c, struct stream_state *st,
					     const struct cvl_slice *sl, size_t i)
{
	const struct cvl_batch *b = sl->batch;
	enum cvl_kind kind = (enum cvl_kind)b->kind[i];

	if (b->flags[i] & CVL_LATE) {
		struct occ o = occ_at(c, st, sl, i);

		late(c, st, &o);
		dark(c, st, &o);
		return;
	}
	if ((!st->begun || st->dark) && kind != CVL_GAP && kind != CVL_SLIP)
		begin(c, st, sl, i);
	switch (kind) {
	case CVL_EDGE: levels(c, st, sl, i); break;
	case CVL_EVENT:
	case CVL_BEGIN:
	case CVL_END:
		if (b->cls[i] < st->class.n_whats)
			event(c, st, sl, i, b->cls[i]);
		break;
	case CVL_BEACON:
	case CVL_PULSE:
	case CVL_MESSAGE:
		if (st->kind_source[kind] >= 0)
			event(c, st, sl, i, (uint32_t)st->kind_source[kind]);
		break;
	case CVL_GAP:
	case CVL_SLIP: gap(c, st, sl, i); break;
	default: break;
	}
}

int check_push(struct cvl_analysis *a, const struct cvl_slice *sl, struct cvl_error *err)
{
	struct check *c = (struct check *)a;
	struct stream_state *st = &c->stream[sl->stream];
	const struct cvl_batch *b = sl->batch;

	if (!st->n_sources)
		return 0;
	for (size_t i = sl->begin, end = sl->end; i < end; i++) {
		uint64_t changed;

		if (b->kind[i] != CVL_EDGE || b->flags[i] || st->levels.known != ~b->aux[i]) {
			record(c, st, sl, i);
			continue;
		}
		/* by far the most common case: begun, known and not dark */
		changed = (st->levels.now ^ b->value[i]) & st->mask;
		st->levels.now = b->value[i];
		if (changed)
			edge(c, st, sl, i, changed);
	}
	st->place += sl->end - sl->begin;
	return c->nomem ? cvl_no_memory(err) : 0;
}
