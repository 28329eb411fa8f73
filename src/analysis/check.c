/* SPDX-License-Identifier: MIT */
/* The engine: from records to the monitors that listen. */
#include "analysis/check.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/check_internal.h"

static int no_memory(struct cvl_error *err)
{
	return cvl_fail(err, CVL_E_NOMEM, CVL_NO_OFFSET, "out of memory");
}

/* ---- telling monitors ---- */

/* Nothing is known of one of its streams from @from on. */
static void tell_dark(struct check *c, uint32_t source, const struct occ *from)
{
	struct source *s = &c->source[source];

	if (s->blind++)
		return;
	for (size_t i = 0; i < s->n_listeners; i++) {
		struct monitor *m = &c->monitor[s->listener[i].monitor];
		size_t role = s->listener[i].role;

		switch (m->rule->kind) {
		case CHECK_THEN:
		case CHECK_THEN_NOT: after_dark(c, m, role, from); break;
		case CHECK_NEVER: never_dark(c, m, role, from); break;
		default: row_dark(c, m, role, from);
		}
	}
}

static inline void tell(struct check *c, const struct target *t, const struct occ *o)
{
	struct source *s = &c->source[t->source];
	struct monitor *m = &c->monitor[t->monitor];

	if (t->many && !s->ended && !source_reaches(c, s, o->ns)) {
		s->ended = true;
		tell_dark(c, t->source, &s->end);
	}
	s->seen = s->seen || t->level;
	switch ((enum check_kind)t->kind) {
	case CHECK_THEN:
	case CHECK_THEN_NOT: after_event(c, m, t->role, o); break;
	case CHECK_NEVER: never_event(c, m, t->role, o, t->level); break;
	default: row_event(c, m, t->role, o, t->level);
	}
}

static struct target target_of(const struct check *c, uint32_t source, size_t i, bool level)
{
	const struct source *s = &c->source[source];

	return (struct target){
		.monitor = s->listener[i].monitor,
		.source = source,
		.kind = (uint8_t)c->monitor[s->listener[i].monitor].rule->kind,
		.role = (uint8_t)s->listener[i].role,
		.level = level,
		.many = s->n_streams > 1,
	};
}

static void tell_event(struct check *c, uint32_t source, const struct occ *o)
{
	for (size_t i = 0; i < c->source[source].n_listeners; i++) {
		const struct target t = target_of(c, source, i, true);

		tell(c, &t, o);
	}
}

/* One of its streams is known again, or for the first time. */
static void tell_light(struct check *c, uint32_t source, const struct occ *at, bool level)
{
	struct source *s = &c->source[source];
	bool first = !s->began;

	if (--s->blind)
		return;
	s->began = true;
	s->seen = s->seen || level;
	for (size_t i = 0; i < s->n_listeners; i++) {
		struct monitor *m = &c->monitor[s->listener[i].monitor];
		size_t role = s->listener[i].role;

		switch (m->rule->kind) {
		case CHECK_THEN:
		case CHECK_THEN_NOT: after_light(c, m, role, at, first); break;
		case CHECK_NEVER: never_light(c, m, role, at, level, first); break;
		default: row_light(c, m, at, level);
		}
	}
}

/* ---- streams ---- */

/* Keeps c->hi true for the ticks to come. */
static void widen(struct check *c, struct stream_state *st, const struct cvl_slice *sl, size_t i)
{
	const struct cvl_batch *b = sl->batch;
	uint64_t lo = b->tick[i].count, hi = b->tick[b->n - 1].count;
	int64_t most;

	if (hi < lo)
		hi = lo;
	most = map_bound_max(cvl_timeline_map(c->tl, sl->clock), lo, hi, false);
	st->tick_lo = lo;
	st->tick_hi = hi;
	if (!b->bracket)
		st->capture = cvl_timeline_bound_parts(c->tl, sl, i).capture;
	if (most > c->hi[sl->clock])
		c->hi[sl->clock] = most;
	for (size_t k = 0; k < st->n_sources; k++) {
		struct source *s = &c->source[st->source[k]];
		int64_t reach = cvl_add_sat(c->hi[sl->clock], st->capture);

		s->capture = s->capture > st->capture ? s->capture : st->capture;
		s->reach = s->reach > reach ? s->reach : reach;
	}
}

static struct occ occ_at(struct check *c, struct stream_state *st, const struct cvl_slice *sl,
			 size_t i)
{
	uint64_t tick = sl->batch->tick[i].count;
	struct occ o = {
		.ns = sl->time[i].ns,
		.tick = tick,
		.place = st->place + (i - sl->begin),
		.stream = (uint32_t)sl->stream,
		.clock = (uint32_t)sl->clock,
	};

	if (sl->batch->bracket) {
		int64_t capture = cvl_timeline_bound_parts(c->tl, sl, i).capture;

		o.capture = capture;
		if (capture > st->capture) {
			st->capture = capture;
			st->tick_lo = 1;
			st->tick_hi = 0;
		}
	}
	if (tick - st->tick_lo > st->tick_hi - st->tick_lo || st->tick_lo > st->tick_hi)
		widen(c, st, sl, i);
	if (!sl->batch->bracket)
		o.capture = st->capture;
	return o;
}

static bool state_level(const struct feed *f, uint64_t levels)
{
	return (levels >> f->what & 1) != f->low;
}

/* Whether @source is of lines, so that only levels make it known. */
static bool of_lines(const struct check *c, uint32_t source)
{
	return c->source[source].phrase->verb != CHECK_HAPPENS;
}

static void light(struct check *c, struct stream_state *st, const struct occ *o, bool lines)
{
	for (size_t k = 0; k < st->n_sources; k++) {
		uint32_t source = st->source[k];
		bool level = false;

		if (of_lines(c, source) != lines)
			continue;
		for (size_t f = 0; lines && f < st->line.n; f++)
			if (st->line.feed[f].source == source && st->line.feed[f].state)
				level = state_level(&st->line.feed[f], st->levels);
		tell_light(c, source, o, level);
	}
}

static void dark(struct check *c, struct stream_state *st, const struct occ *o)
{
	for (size_t k = 0; k < st->n_sources; k++) {
		bool lines = of_lines(c, st->source[k]);

		/* what is dark already stays so */
		if (lines ? st->known : st->begun && !st->dark)
			tell_dark(c, st->source[k], o);
	}
	st->known = false;
	st->dark = true;
}

static void late(struct check *c, struct stream_state *st, const struct occ *o)
{
	for (size_t k = 0; k < st->n_sources; k++) {
		const struct source *s = &c->source[st->source[k]];

		for (size_t i = 0; i < s->n_listeners; i++)
			case_unknown(c, &c->monitor[s->listener[i].monitor], CHECK_LATE, o, NULL);
	}
}

/* ---- records ---- */

static void levels(struct check *c, struct stream_state *st, const struct cvl_slice *sl, size_t i)
{
	uint64_t now = sl->batch->value[i], changed = (st->levels ^ now) & st->mask;
	struct occ o;

	if (!st->known) {
		st->levels = now;
		st->known = true;
		o = occ_at(c, st, sl, i);
		light(c, st, &o, true);
		return;
	}
	st->levels = now;
	if (!changed)
		return;
	o = occ_at(c, st, sl, i);
	for (; changed; changed &= changed - 1) {
		unsigned line = (unsigned)__builtin_ctzll(changed);
		bool up = now >> line & 1;

		o.what = line;
		for (size_t k = st->target_first[2 * line + up];
		     k < st->target_first[2 * line + up + 1]; k++)
			tell(c, &st->target[k], &o);
	}
}

static void event(struct check *c, struct stream_state *st, const struct cvl_slice *sl, size_t i,
		  uint32_t class)
{
	struct cvl_stream *stream = cvl_timeline_stream(c->tl, sl->stream);
	size_t k = st->class.first[class], end = st->class.first[class + 1];
	struct occ o;

	if (k == end)
		return;
	o = occ_at(c, st, sl, i);
	o.what = CVL_LINES_MAX + class;
	for (; k < end; k++) {
		const struct feed *f = &st->class.feed[k];
		const struct check_phrase *p = c->source[f->source].phrase;

		if (!p->n_conditions || where_holds(stream, sl->batch, i, p))
			tell_event(c, f->source, &o);
	}
}

static void gap(struct check *c, struct stream_state *st, const struct cvl_slice *sl, size_t i)
{
	const struct cvl_batch *b = sl->batch;
	struct occ o = occ_at(c, st, sl, i);

	dark(c, st, &o);
	/* across a slip nothing is as long as it seems: as if something were lost up to the next record */
	if (b->kind[i] != CVL_GAP || b->aux[i] == CVL_TICK_UNKNOWN)
		return;
	o.tick = b->aux[i];
	o.ns = cvl_map_time(cvl_timeline_map(c->tl, sl->clock), (struct cvl_tick){ o.tick }, NULL)
		       .ns;
	o.ns = o.ns > sl->time[i].ns ? o.ns : sl->time[i].ns;
	st->begun = true;
	st->dark = false;
	light(c, st, &o, false);
}

/* What is not of lines is known from the first record on, and from the one behind a gap whose end nobody knows. */
static void begin(struct check *c, struct stream_state *st, const struct cvl_slice *sl, size_t i)
{
	struct occ o = occ_at(c, st, sl, i);

	st->begun = true;
	st->dark = false;
	light(c, st, &o, false);
}

static void record(struct check *c, struct stream_state *st, const struct cvl_slice *sl, size_t i)
{
	const struct cvl_batch *b = sl->batch;
	enum cvl_kind kind = (enum cvl_kind)b->kind[i];

	if (b->flags[i] & CVL_LATE) {
		struct occ o = occ_at(c, st, sl, i);

		late(c, st, &o);
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

int check_push(struct check *c, const struct cvl_slice *sl, struct cvl_error *err)
{
	struct stream_state *st = &c->stream[sl->stream];
	const struct cvl_batch *b = sl->batch;

	for (size_t i = sl->begin; i < sl->end && st->n_sources; i++) {
		/* the commonest by far: an edge of lines that nobody looks at */
		if (b->kind[i] == CVL_EDGE && st->known && !b->flags[i] &&
		    !((st->levels ^ b->value[i]) & st->mask)) {
			st->levels = b->value[i];
			continue;
		}
		record(c, st, sl, i);
	}
	st->place += sl->end - sl->begin;
	return c->nomem ? no_memory(err) : 0;
}

/* ---- begin and end ---- */

static void set_ends(struct check *c, struct cvl_time last)
{
	for (size_t i = 0; i < c->n_sources; i++) {
		struct source *s = &c->source[i];

		if (!source_reaches(c, s, INT64_MAX) && s->end.ns > last.ns) {
			s->end.ns = last.ns;
			s->end.tick =
				cvl_map_tick(cvl_timeline_map(c->tl, s->end.clock), last).count;
		}
	}
}

static enum check_verdict verdict(const struct check_result *r, bool tried)
{
	if (r->violated)
		return CHECK_VIOLATED;
	if (r->unknown)
		return CHECK_CANNOT_TELL;
	return tried ? CHECK_HOLDS : CHECK_VACUOUS;
}

int check_end(struct check *c, struct cvl_time last, struct cvl_error *err)
{
	bool *tried = calloc(c->rules->n + 1, sizeof(*tried));

	if (!tried)
		return no_memory(err);
	set_ends(c, last);
	for (size_t i = 0; i < c->n_monitors; i++) {
		struct monitor *m = &c->monitor[i];
		size_t rule = (size_t)(m->result - c->result), last_phrase = m->rule->n_phrases - 1;

		switch (m->rule->kind) {
		case CHECK_THEN:
		case CHECK_THEN_NOT: after_end(c, m); break;
		case CHECK_NEVER: never_end(c, m); break;
		default: row_end(c, m);
		}
		/* of `never A while B` both have to be there; an A alone that never comes is what is wanted */
		if (m->rule->kind == CHECK_NEVER)
			tried[rule] =
				tried[rule] || !last_phrase ||
				(c->source[m->source[0]].seen && c->source[m->source[1]].seen);
		else
			tried[rule] = tried[rule] || m->result->held;
	}
	for (size_t i = 0; i < c->rules->n; i++)
		c->result[i].verdict = verdict(&c->result[i], tried[i]);
	free(tried);
	return c->nomem ? no_memory(err) : 0;
}

const struct check_result *check_result(const struct check *c, size_t i)
{
	return &c->result[i];
}

static int allocate(struct check *c)
{
	struct cvl_session *session = cvl_timeline_session(c->tl);

	c->n_streams = cvl_timeline_streams(c->tl);
	c->n_clocks = cvl_session_clocks(session);
	c->result = calloc(c->rules->n + 1, sizeof(*c->result));
	c->stream = calloc(c->n_streams + 1, sizeof(*c->stream));
	c->hi = calloc(c->n_clocks + 1, sizeof(*c->hi));
	c->root = calloc(c->n_clocks + 1, sizeof(*c->root));
	if (!c->result || !c->stream || !c->hi || !c->root)
		return CVL_E_NOMEM;
	for (size_t i = 0; i < c->rules->n; i++)
		c->result[i].rule = &c->rules->rule[i];
	for (size_t i = 0; i < c->n_clocks; i++) {
		int same = cvl_session_clock(session, i)->same_as;

		c->root[i] = same >= 0 ? c->root[same] : (uint32_t)i;
		c->hi[i] = map_bound_max(cvl_timeline_map(c->tl, i), 0, 0, true);
	}
	for (size_t i = 0; i < c->n_streams; i++) {
		c->stream[i].tick_lo = 1;
		for (size_t k = 0; k < CVL_KINDS; k++)
			c->stream[i].kind_source[k] = -1;
	}
	return 0;
}

/* By line and direction, so that an edge costs one walk over what listens. */
static int list_targets(const struct check *c, struct stream_state *st)
{
	size_t room = 0, n = 0;

	for (size_t i = 0; i < st->line.n; i++)
		room += 2 * c->source[st->line.feed[i].source].n_listeners;
	st->target = calloc(room + 1, sizeof(*st->target));
	if (!st->target)
		return CVL_E_NOMEM;
	for (unsigned at = 0; at < 2 * CVL_LINES_MAX; at++) {
		unsigned line = at / 2;
		bool up = at & 1;

		st->target_first[at] = (uint32_t)n;
		for (size_t k = st->line.first[line]; k < st->line.first[line + 1]; k++) {
			const struct feed *f = &st->line.feed[k];

			for (size_t i = 0;
			     i < c->source[f->source].n_listeners && (up ? f->rise : f->fall); i++)
				st->target[n++] =
					target_of(c, f->source, i, !f->state || up != f->low);
		}
	}
	st->target_first[2 * CVL_LINES_MAX] = (uint32_t)n;
	return 0;
}

int check_open(struct check **out, const struct check_rules *rules, const struct cvl_timeline *tl,
	       struct cvl_error *err)
{
	struct check *c = calloc(1, sizeof(*c));
	int rc;

	*out = NULL;
	if (!c)
		return no_memory(err);
	c->rules = rules;
	c->tl = tl;
	rc = allocate(c) ? no_memory(err) : check_bind(c, err);
	for (size_t i = 0; i < c->n_streams && !rc; i++)
		rc = list_targets(c, &c->stream[i]) ? no_memory(err) : 0;
	if (rc)
		check_close(c);
	else
		*out = c;
	return rc;
}

void check_close(struct check *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n_monitors; i++) {
		free(c->monitor[i].source);
		free(c->monitor[i].a.item);
		free(c->monitor[i].b.item);
	}
	for (size_t i = 0; i < c->n_sources; i++) {
		free(c->source[i].listener);
		free(c->source[i].stream);
	}
	for (size_t i = 0; c->stream && i < c->n_streams; i++) {
		free(c->stream[i].line.feed);
		free(c->stream[i].line.first);
		free(c->stream[i].class.feed);
		free(c->stream[i].class.first);
		free(c->stream[i].source);
		free(c->stream[i].target);
	}
	free(c->monitor);
	free(c->source);
	free(c->stream);
	free(c->result);
	free(c->hi);
	free(c->root);
	free(c);
}
