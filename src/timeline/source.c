/* SPDX-License-Identifier: MIT */
/* A stream of the timeline: its batches as far as they were asked for, with their times. */
#include "timeline/internal.h"

#include <stdlib.h>
#include <string.h>

#include "store/ctf/pages.h"

#define IN_MEMORY_FOR 64 /* records of each stream; see IN_MEMORY_MAX */

bool timeline_wants(const struct cvl_timeline *tl, size_t clock)
{
	return !tl->opts.node ||
	       cvl_clock_matches(cvl_session_clock(tl->session, clock), tl->opts.node);
}

/* Session clock of the stream, once its first packet has been read. */
static int clock_of(const struct cvl_timeline *tl, const struct source *s)
{
	const struct opened *t = &tl->trace[s->trace];
	int class = cvl_stream_clock(s->stream);

	return class < 0 ? t->any : t->clock[class];
}

static bool inside(const struct cvl_timeline *tl, struct cvl_time t)
{
	return (!tl->opts.has_from || t.ns >= tl->opts.from.ns) &&
	       (!tl->opts.has_until || t.ns <= tl->opts.until.ns);
}

/* Record @i of the batch becomes its record @to. */
static inline void move_record(struct source *s, size_t to, size_t i)
{
	struct cvl_batch *b = &s->batch;

	s->time[to] = s->time[i];
	b->tick[to] = b->tick[i];
	b->kind[to] = b->kind[i];
	b->flags[to] = b->flags[i];
	b->cls[to] = b->cls[i];
	b->value[to] = b->value[i];
	b->aux[to] = b->aux[i];
	if (b->bracket)
		b->bracket[to] = b->bracket[i];
}

/* ---- the range ---- */

/* What record @i of the batch says of the lines. */
static void see(struct seen *seen, const struct cvl_batch *b, size_t i)
{
	if (b->kind[i] == CVL_EDGE)
		*seen = (struct seen){ b->value[i], b->aux[i] };
	else if (b->kind[i] == CVL_GAP || b->kind[i] == CVL_SLIP)
		*seen = (struct seen){ 0, UINT64_MAX };
}

/* The same of records [begin, end), of which the last that does counts. */
static void see_last(struct seen *seen, const struct cvl_batch *b, size_t begin, size_t end)
{
	for (size_t i = end; i-- > begin;)
		if (b->kind[i] == CVL_EDGE || b->kind[i] == CVL_GAP || b->kind[i] == CVL_SLIP) {
			see(seen, b, i);
			return;
		}
}

/* Whether records that were left out changed what is known of the lines. */
static bool has_news(const struct source *s)
{
	return s->seen.levels != s->told.levels || s->seen.unknown != s->told.unknown;
}

/* Records of the batch from @i on are to come once more, after what is delivered now. */
static void hold_from(struct source *s, size_t i)
{
	struct cvl_batch *b = &s->held;

	*b = s->batch;
	s->holds = true;
	b->n -= i;
	b->tick += i;
	b->kind += i;
	b->flags += i;
	b->cls += i;
	b->value += i;
	b->aux += i;
	b->bracket += b->bracket ? i : 0;
}

/*
 * A batch that restates the levels at @time. No line changed there: one whose level is another than was told is
 * unknown first.
 */
static void put_state(const struct cvl_timeline *tl, struct source *s, struct cvl_time time,
		      struct cvl_tick tick, uint8_t flags)
{
	const uint64_t other =
		(s->told.levels ^ s->seen.levels) & ~s->told.unknown & ~s->seen.unknown;
	const struct seen say[] = { { s->told.levels & ~other, s->told.unknown | other }, s->seen };
	struct state *r = &s->state;
	size_t n = 0;

	for (size_t k = !other; k < 2; k++, n++) {
		r->tick[n] = tick;
		r->kind[n] = CVL_EDGE;
		r->flags[n] = CVL_STATE | flags;
		r->cls[n] = 0;
		r->value[n] = say[k].levels;
		r->aux[n] = say[k].unknown;
		r->bracket[n] = cvl_session_clock(tl->session, (size_t)s->clock)->resolution;
		s->time[n] = time;
	}
	s->batch = (struct cvl_batch){
		.n = n,
		.tick = r->tick,
		.kind = r->kind,
		.flags = r->flags,
		.cls = r->cls,
		.value = r->value,
		.aux = r->aux,
		.bracket = s->batch.bracket ? r->bracket : NULL,
	};
	s->told = s->seen;
	s->known = false; /* what follows is delivered, whatever is picked */
	s->pos = 0;
	s->end = n;
}

/* The same at the beginning of the range. */
static void put_first_state(const struct cvl_timeline *tl, struct source *s)
{
	s->begun = true;
	put_state(tl, s, tl->opts.from, cvl_map_tick(tl->clock[s->clock].map, tl->opts.from), 0);
}

/*
 * The part of the batch within the requested range, as [pos, end). Late records may be anywhere. Where records were
 * left out, levels are restated, so that the next edge is the change that it is in the whole.
 */
static void cut_range(const struct cvl_timeline *tl, struct source *s)
{
	const struct cvl_batch *b = &s->batch;
	size_t n = 0, i = 0;

	s->pos = 0;
	s->end = b->n;
	if (!tl->opts.has_from && !tl->opts.has_until)
		return;
	while (i < b->n) {
		if (!inside(tl, s->time[i])) {
			see(&s->seen, b, i++);
			continue;
		}
		if (has_news(s)) {
			hold_from(s, i);
			break;
		}
		for (; i < b->n && inside(tl, s->time[i]); i++, n++)
			if (n < i)
				move_record(s, n, i);
		see_last(&s->seen, b, 0, n);
		s->told = s->seen;
	}
	s->end = n;
	if (!n && s->holds)
		put_state(tl, s, s->time[i], b->tick[i], b->flags[i] & CVL_LATE);
}

/* ---- what is wanted of it ---- */

/* Whether record @i, which is not an ordinary edge, is wanted or must be delivered anyway. */
static bool picked(struct source *s, const struct cvl_batch *b, size_t i)
{
	const struct cvl_pick *p = s->pick;

	if (b->kind[i] == CVL_EDGE) {
		s->levels = b->value[i];
		s->unknown = b->aux[i];
		s->known = !(b->flags[i] & CVL_LATE); /* late: consumers may ignore its levels */
		return true;
	}
	if (b->kind[i] == CVL_GAP || b->kind[i] == CVL_SLIP) {
		s->known = false;
		return true;
	}
	if (b->flags[i] || i == s->pos || i + 1 == s->end)
		return true;
	if (source_has_fields(b->kind[i]))
		return b->cls[i] < p->n_classes && p->classes[b->cls[i]];
	return p->kinds >> b->kind[i] & 1;
}

/*
 * Drop unwanted records of those that are pending. Whether an edge is wanted is not known in advance, so each
 * is copied, and the next one overwrites it if it is not.
 */
static void pick(struct source *s)
{
	struct cvl_batch *b = &s->batch;
	const uint64_t lines = s->pick->kinds & 1u << CVL_EDGE ? s->pick->lines : 0;
	size_t n = s->pos;

	for (size_t i = s->pos; i < s->end; i++) {
		bool keep;

		if (b->kind[i] == CVL_EDGE && !b->flags[i] && s->known && i > s->pos &&
		    i + 1 < s->end) {
			keep = (((s->levels ^ b->value[i]) | (s->unknown ^ b->aux[i])) & lines) !=
			       0;
			s->levels = b->value[i];
			s->unknown = b->aux[i];
		} else {
			keep = picked(s, b, i);
		}
		move_record(s, n, i);
		n += keep;
	}
	s->end = n;
}

/* ---- levels at the beginning of a range ---- */

/*
 * Track levels through the records before the range. Whether one of the batch is not before it.
 */
static bool note_levels(const struct cvl_timeline *tl, struct source *s)
{
	size_t n = 0;

	while (n < s->batch.n && s->time[n].ns < tl->opts.from.ns)
		n++;
	see_last(&s->seen, &s->batch, 0, n);
	return n < s->batch.n;
}

void source_bound(const struct cvl_timeline *tl, struct source *s)
{
	const struct cvl_slice all = { (size_t)s->clock, s->number, &s->batch, s->time,
				       s->pos,           s->end,    NULL };

	if (s->bound)
		cvl_timeline_bounds(tl, &all, s->bound + s->pos);
}

void source_time(const struct cvl_timeline *tl, struct source *s)
{
	cvl_map_times(tl->clock[s->clock].map, s->batch.tick + s->pos, s->end - s->pos,
		      s->time + s->pos);
	source_bound(tl, s);
}

/* Whether the stream, which has no more records, reaches the begin of the range. */
static bool reaches_range(const struct cvl_timeline *tl, const struct source *s)
{
	struct cvl_stream_stats stats;

	cvl_stream_stats(s->stream, &stats);
	return stats.beyond ||
	       cvl_map_time(tl->clock[s->clock].map, stats.end, NULL).ns >= tl->opts.from.ns;
}

/* Room for the times of the batch, as much as it may come to have. */
static int make_room(const struct cvl_timeline *tl, struct source *s, struct cvl_error *err)
{
	size_t room = s->room ? s->room : BATCH_LEAST;
	struct cvl_time *time;
	int64_t *bound;

	while (room < s->batch.n)
		room *= 4;
	if (room == s->room)
		return 0;
	time = realloc(s->time, room * sizeof(*time));
	if (!time)
		return cvl_no_memory(err);
	s->time = time;
	if (tl->opts.bounds) {
		bound = realloc(s->bound, room * sizeof(*bound));
		if (!bound)
			return cvl_no_memory(err);
		s->bound = bound;
	}
	s->room = room;
	return 0;
}

/* Stream @s was opened, read, or has grown. */
static void note_progress(struct cvl_timeline *tl, struct source *s)
{
	struct cvl_stream_stats st;

	cvl_stream_stats(s->stream, &st);
	tl->done += st.position - s->done;
	tl->total += st.bytes - s->total;
	s->done = st.position;
	s->total = st.bytes;
}

void source_count_memory(struct cvl_timeline *tl, struct source *s)
{
	tl->in_memory -= s->in_memory;
	s->in_memory = stream_held(s->stream);
	tl->in_memory += s->in_memory;
}

void source_use(struct cvl_timeline *tl, size_t i)
{
	struct source *s = tl->source[i];

	if (tl->in_memory > IN_MEMORY_MAX &&
	    (tl->records >= IN_MEMORY_FOR * tl->n_in_use || !tl->filled)) {
		for (size_t k = 0; k < tl->n_in_use; k++) {
			stream_let_go(tl->source[tl->in_use[k]]->stream);
			tl->source[tl->in_use[k]]->in_memory = 0;
		}
		tl->n_in_use = tl->in_memory = tl->records = 0;
	}
	if (!s->in_memory)
		tl->in_use[tl->n_in_use++] = i;
	source_count_memory(tl, s);
}

static void tell_damage(const struct cvl_timeline *tl, struct clock *c)
{
	struct cvl_error e;

	if (c->told || !cvl_map_damaged(c->map, &e))
		return;
	c->told = true;
	cvl_tell(tl->opts.report, &e);
}

void source_mark_late(const struct cvl_timeline *tl, struct source *s)
{
	for (size_t i = s->pos; i < s->end && s->time[i].ns < tl->passed; i++)
		s->batch.flags[i] |= CVL_LATE;
}

int source_refill(struct cvl_timeline *tl, size_t i, struct cvl_error *err)
{
	struct source *s = tl->source[i];
	bool past;
	int rc = 1;

	source_use(tl, i);
	for (;;) {
		if (s->holds)
			s->batch = s->held;
		else
			rc = cvl_stream_next(s->stream, &s->batch, err);
		note_progress(tl, s);
		if (rc > 0 && make_room(tl, s, err))
			return CVL_E_NOMEM;
		if (rc <= 0)
			break;
		s->holds = false;
		s->clock = clock_of(tl, s);
		if (s->clock < 0 || !timeline_wants(tl, (size_t)s->clock))
			continue;
		cvl_map_times(tl->clock[s->clock].map, s->batch.tick, s->batch.n, s->time);
		tell_damage(tl, &tl->clock[s->clock]);
		if (tl->opts.has_from && !s->begun) {
			s->begun = note_levels(tl, s);
			if (s->begun && has_news(s)) {
				hold_from(s, 0);
				put_first_state(tl, s);
				source_bound(tl, s);
				return 1;
			}
		}
		/* of ours the stream knows where no more can follow */
		past = tl->opts.has_until && s->batch.n && s->time[0].ns > tl->opts.until.ns &&
		       !cvl_trace_ours(tl->trace[s->trace].trace);
		cut_range(tl, s);
		source_mark_late(tl, s);
		if (s->pick)
			pick(s);
		source_bound(tl, s);
		if (s->pos < s->end)
			return 1;
		if (past)
			return 0;
	}
	if (rc || !tl->opts.has_from || s->begun || !has_news(s) || !reaches_range(tl, s))
		return rc;
	put_first_state(tl, s);
	source_bound(tl, s);
	return 1;
}

/* Ticks that bound the requested range on @clock, widened so that rounding loses nothing. */
static void tick_range(const struct cvl_timeline *tl, int clock, struct cvl_stream_opts *o)
{
	if (clock < 0)
		return;
	if (tl->opts.has_from)
		o->from = cvl_map_tick(tl->clock[clock].map, tl->opts.from);
	if (tl->opts.has_until) {
		o->to = cvl_map_tick(tl->clock[clock].map,
				     (struct cvl_time){ cvl_add_sat(tl->opts.until.ns, 1) });
		if (!o->to.count)
			o->to.count = 1;
	}
}

static int only_clock(const struct opened *t)
{
	size_t n = cvl_trace_clocks(t->trace);

	return n == 1 ? t->clock[0] : n ? -1 : t->any;
}

/* Options for reading the stream of @s, from what @session knows of it. */
static void stream_opts(const struct cvl_timeline *tl, const struct source *s,
			const struct cvl_session *session, struct cvl_stream_opts *o)
{
	const struct opened *t = &tl->trace[s->trace];

	*o = session_stream_opts(session, t->first,
				 s->missing ? s->missing :
					      cvl_trace_stream_name(t->trace, s->file));
	o->strict = tl->opts.strict;
	o->report = tl->opts.report;
	o->unfinished = t->unfinished;
	o->growing = tl->live && t->growing;
	o->batch = tl->batch;
	tick_range(tl, only_clock(t), o);
	if (s->missing && !o->first.count)
		o->first.count = cvl_session_clock(session, t->first)->base_tick;
}

/* Streams of one rate are not to run out of records all at the same time. */
static size_t first_batch(const struct cvl_timeline *tl, const struct source *s)
{
	return tl->expected < 2 ?
		       0 :
		       BATCH_LEAST + (tl->batch - BATCH_LEAST) * s->number / tl->expected;
}

int source_open(struct cvl_timeline *tl, struct source *s, struct cvl_error *err)
{
	const struct opened *t = &tl->trace[s->trace];
	struct cvl_stream_opts o;
	int rc;

	stream_opts(tl, s, tl->session, &o);
	cvl_stream_close(s->stream);
	s->stream = NULL;
	s->pos = s->end = 0;
	s->reached = INT64_MIN;
	s->known = s->begun = s->holds = false;
	s->seen = s->told = (struct seen){ 0, UINT64_MAX };
	rc = s->missing ? cvl_stream_memory(&s->stream, t->trace, "", 0, s->missing, &o, err) :
			  cvl_stream_open(&s->stream, t->trace, s->file, &o, err);
	if (rc)
		return rc;
	stream_share(s->stream, IN_MEMORY_MAX / 4 / tl->expected, first_batch(tl, s));
	note_progress(tl, s);
	return 0;
}

int source_grow(struct cvl_timeline *tl, struct source *s, const struct cvl_session *now,
		struct cvl_error *err)
{
	struct cvl_stream_opts o;
	int rc;

	stream_opts(tl, s, now, &o);
	rc = cvl_stream_grow(s->stream, &o, err);
	note_progress(tl, s);
	return rc;
}
