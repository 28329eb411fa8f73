/* SPDX-License-Identifier: MIT */
#include "view/answers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <coeval/fields.h>
#include <coeval/sync.h>

#include "analysis/clocks.h"
#include "core/out_keep.h"
#include "lod/blocks.h"
#include "store/stored.h"

#define JSON "application/json"
#define BYTES "application/octet-stream"

/* Of one answer, at most; what is more is asked for by a coarser level. */
#define CELLS_MAX 65536
#define RECORDS_MAX 50000
#define KNOTS_MAX 20000
#define SENT_MAX 2000

/* ---- parameters ---- */

static int bad(const char *name, struct cvl_error *err)
{
	return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "%s is missing or out of range", name);
}

static int number(const struct view_query *q, const char *name, uint64_t limit, uint64_t *out,
		  struct cvl_error *err)
{
	const char *text = q->get(q->ctx, name);
	char *end;

	if (!text || *text < '0' || *text > '9')
		return bad(name, err);
	errno = 0;
	*out = strtoull(text, &end, 10);
	return errno || *end || *out >= limit ? bad(name, err) : 0;
}

static int stream_of(const struct model *m, const struct view_query *q, struct model_stream **s,
		     struct cvl_error *err)
{
	uint64_t i;
	int rc = number(q, "stream", m->n, &i, err);

	if (!rc)
		*s = &m->stream[i];
	return rc;
}

/* A half-width; -1: unknown. */
static int64_t told(int64_t bound)
{
	return bound == CVL_BOUND_UNKNOWN ? -1 : bound;
}

/* ---- the session ---- */

/* A comma, unless it is the first of its list. */
static void element(struct cvl_out *o)
{
	const char last = o->n ? o->buf[o->n - 1] : o->n_kept ? o->kept[o->n_kept - 1] : '[';

	if (last != '{' && last != '[')
		cvl_out_char(o, ',');
}

static void member(struct cvl_out *o, const char *name)
{
	element(o);
	cvl_out_json(o, name, strlen(name));
	cvl_out_char(o, ':');
}

static void put_text(struct cvl_out *o, const char *name, const char *text)
{
	member(o, name);
	cvl_out_json(o, text, strlen(text));
}

static void put_number(struct cvl_out *o, const char *name, int64_t v)
{
	member(o, name);
	cvl_out_i64(o, v);
}

static void put_real(struct cvl_out *o, const char *name, double v)
{
	member(o, name);
	cvl_out_double(o, v);
}

static void put_names(struct cvl_out *o, const char *name, const struct cvl_trace *trace,
		      const char *count, const char *each)
{
	const uint64_t n = cvl_trace_ours(trace) ? cvl_trace_env_number(trace, count) : 0;

	member(o, name);
	cvl_out_char(o, '[');
	for (uint64_t i = 0; i < n && i <= UINT16_MAX; i++) {
		const char *text = cvl_trace_env_at(trace, each, i);

		element(o);
		cvl_out_json(o, text ? text : "", text ? strlen(text) : 0);
	}
	cvl_out_char(o, ']');
}

/* Where it begins and ends, on the timeline, by its clock's map. */
static bool range_of(const struct model *m, const struct model_stream *s, int64_t ns[2])
{
	const struct cvl_map *map = cvl_timeline_map(m->tl, s->clock);
	struct cvl_tick first, last;

	if (!cvl_lod_range(s->lod, &first, &last))
		return false;
	ns[0] = cvl_map_time(map, first, NULL).ns;
	ns[1] = cvl_map_time(map, last, NULL).ns;
	return true;
}

static void put_clock(const struct model *m, size_t i, struct cvl_out *o)
{
	const struct cvl_sync *sync = cvl_timeline_sync(m->tl);
	const struct cvl_clock *c = cvl_session_clock(m->session, i);
	const struct cvl_bound b =
		cvl_timeline_clock_bound(m->tl, i, (struct cvl_tick){ model_base(m, i) });

	element(o);
	cvl_out_char(o, '{');
	put_text(o, "name", c->name);
	put_text(o, "node", c->node);
	put_number(o, "rate", (int64_t)c->rate_hz);
	put_number(o, "resolution", (int64_t)c->resolution);
	put_text(o, "verdict",
		 sync && i < sync->n ? cvl_verdict_name(sync->clock[i].verdict) :
				       "not synchronised");
	put_text(o, "reason", sync && i < sync->n ? sync->clock[i].reason : "");
	if (sync && i < sync->n) {
		put_real(o, "rate_ppb", sync->clock[i].rate_ppb);
		put_real(o, "rate_bound_ppb", sync->clock[i].rate_bound_ppb);
		put_number(o, "used", (int64_t)sync->clock[i].used);
		put_number(o, "rejected", (int64_t)sync->clock[i].rejected);
	}
	put_text(o, "kind", cvl_bound_kind_name(b.kind));
	put_number(o, "group", b.group);
	put_number(o, "reference_ns", b.reference);
	cvl_out_char(o, '}');
}

static void put_stream(const struct model *m, const struct model_stream *s, struct cvl_out *o)
{
	const uint64_t base = model_base(m, s->clock);
	struct cvl_tick first, last;
	const bool any = cvl_lod_range(s->lod, &first, &last);

	element(o);
	cvl_out_char(o, '{');
	put_number(o, "clock", (int64_t)s->clock);
	put_text(o, "name", cvl_trace_stream_name(s->trace, s->number));
	put_number(o, "leaf", cvl_lod_leaf(s->lod));
	member(o, "grows");
	cvl_out_text(o, s->grows ? "true" : "false");
	if (any) {
		put_number(o, "first", (int64_t)(first.count - base));
		put_number(o, "last", (int64_t)(last.count - base));
	}
	put_names(o, "lines", s->trace, "lines", "line");
	put_names(o, "channels", s->trace, "channels", "channel");
	member(o, "events");
	cvl_out_char(o, '[');
	for (size_t k = 0; k < cvl_trace_events(s->trace); k++) {
		const struct cvl_event_class *e = cvl_trace_event(s->trace, k);

		element(o);
		cvl_out_json(o, e->name, strlen(e->name));
	}
	cvl_out_text(o, "]}");
}

static int put_session(struct model *m, const struct view_query *q, struct cvl_out *o,
		       struct cvl_error *err)
{
	const struct cvl_sync *sync = cvl_timeline_sync(m->tl);
	int64_t from = INT64_MAX, to = INT64_MIN, ns[2];

	(void)q, (void)err;
	for (size_t i = 0; i < m->n; i++) {
		if (!range_of(m, &m->stream[i], ns))
			continue;
		from = ns[0] < from ? ns[0] : from;
		to = ns[1] > to ? ns[1] : to;
	}
	cvl_out_char(o, '{');
	put_number(o, "version", m->version);
	put_text(o, "path", cvl_session_path(m->session));
	member(o, "zero_unix_ns");
	cvl_out_printf(o, "\"%" PRId64 "\"", cvl_session_epoch(m->session));
	put_number(o, "from", from > to ? 0 : from);
	put_number(o, "to", from > to ? 0 : to);
	put_text(o, "estimator", sync ? sync->estimator : "");
	put_text(o, "reference", sync ? sync->reference : "");
	member(o, "clocks");
	cvl_out_char(o, '[');
	for (size_t i = 0; i < cvl_session_clocks(m->session); i++)
		put_clock(m, i, o);
	cvl_out_char(o, ']');
	member(o, "streams");
	cvl_out_char(o, '[');
	for (size_t i = 0; i < m->n; i++)
		put_stream(m, &m->stream[i], o);
	cvl_out_text(o, "]}");
	return 0;
}

static int put_news(struct model *m, const struct view_query *q, struct cvl_out *o,
		    struct cvl_error *err)
{
	int rc = model_refresh(m, err);

	(void)q;
	if (rc)
		return rc;
	cvl_out_char(o, '{');
	put_number(o, "version", m->version);
	member(o, "streams");
	cvl_out_char(o, '[');
	for (size_t i = 0; i < m->n; i++) {
		const uint64_t base = model_base(m, m->stream[i].clock);
		struct cvl_tick first, last;

		if (!m->stream[i].grows || !cvl_lod_range(m->stream[i].lod, &first, &last))
			continue;
		element(o);
		cvl_out_printf(o, "[%zu,%.0f,%.0f]", i, (double)(first.count - base),
			       (double)(last.count - base));
	}
	cvl_out_text(o, "]}");
	return 0;
}

/* ---- maps ---- */

static void put_edge(struct cvl_out *o, const char *name, const struct cvl_map_edge *e)
{
	member(o, name);
	cvl_out_char(o, '{');
	put_real(o, "rate_ppb", e->rate_ppb);
	put_real(o, "drift_ppb", e->drift_ppb);
	put_real(o, "wander_ppb_s", e->wander_ppb_s);
	cvl_out_char(o, '}');
}

static int put_map(struct model *m, const struct view_query *q, struct cvl_out *o,
		   struct cvl_error *err)
{
	struct cvl_map_spec spec;
	const struct cvl_map *map;
	uint64_t clock, base;
	size_t each;
	int rc = number(q, "clock", cvl_session_clocks(m->session), &clock, err);

	if (rc)
		return rc;
	map = cvl_timeline_map(m->tl, clock);
	base = model_base(m, clock);
	cvl_map_describe(map, &spec);
	each = spec.n / KNOTS_MAX + 1;
	cvl_out_char(o, '{');
	put_number(o, "rate", (int64_t)spec.rate_hz);
	put_edge(o, "before", &spec.before);
	put_edge(o, "after", &spec.after);
	member(o, "knots");
	cvl_out_char(o, '[');
	for (size_t i = 0; i < spec.n + each - 1 && !rc; i += each) {
		struct cvl_knot k;

		/* the last, too */
		rc = cvl_map_knot(map, i < spec.n ? i : spec.n - 1, &k, err);
		element(o);
		if (!rc)
			cvl_out_printf(o, "[%.0f,%" PRId64 ",%" PRId64 "]",
				       (double)(int64_t)(k.tick.count - base), k.time.ns,
				       told(k.bound_ns));
	}
	cvl_out_text(o, "]}");
	return rc;
}

/* ---- cells ---- */

struct cells {
	struct cvl_out *o;
	uint64_t next, n;
	size_t channels;
	unsigned char *bytes; /* room for one */
	size_t room;
};

static int put_cell(void *ctx, const struct cvl_lod_cell *cell)
{
	struct cells *c = ctx;
	const size_t need = lod_cell_room(cell);

	if (c->n++ >= CELLS_MAX)
		return CVL_E_LIMIT;
	if (need > c->room) {
		unsigned char *grown = realloc(c->bytes, need);

		if (!grown)
			return CVL_E_NOMEM;
		c->bytes = grown;
		c->room = need;
	}
	cvl_out_bytes(c->o, (const char *)c->bytes,
		      (size_t)(lod_cell_put(c->bytes, cell, cell->bucket - c->next, c->channels) -
			       c->bytes));
	c->next = cell->bucket;
	return 0;
}

/* What holds at the begin, which is known last, comes before the cells. */
static int put_range(const struct model_stream *s, unsigned level, uint64_t from, uint64_t to,
		     uint64_t base, struct cvl_out *o, struct cvl_out *body, struct cvl_error *err)
{
	struct cells c = { .o = body, .next = from };
	struct cvl_lod_begin begin;
	unsigned char head[40], *w = head;
	int rc;

	for (uint32_t i = 0; i < cvl_lod_tracks(s->lod); i++)
		c.channels += cvl_lod_track(s->lod, i).of == CVL_LOD_CHANNEL;
	rc = cvl_lod_read(s->lod, level, from, to, &begin, put_cell, &c, err);
	free(c.bytes);
	if (rc)
		return rc == CVL_E_LIMIT ? bad("to", err) : rc;
	w = lod_number_put(w, begin.levels.now);
	w = lod_number_put(w, begin.levels.known);
	w = lod_number_put(w, begin.gap_until > base ? begin.gap_until - base : 0);
	cvl_out_bytes(o, (const char *)head, (size_t)(w - head));
	out_join(o, body);
	return o->error || body->error ? cvl_no_memory(err) : 0;
}

static int put_cells(struct model *m, const struct view_query *q, struct cvl_out *o,
		     struct cvl_error *err)
{
	struct model_stream *s;
	struct cvl_out *body;
	uint64_t level, from, to, base;
	int rc = stream_of(m, q, &s, err);

	rc = rc ? rc : number(q, "level", 26, &level, err);
	rc = rc ? rc : number(q, "from", UINT64_C(1) << 53, &from, err);
	rc = rc ? rc : number(q, "to", UINT64_C(1) << 53, &to, err);
	if (rc)
		return rc;
	if (to < from)
		return bad("to", err);
	body = malloc(sizeof(*body));
	if (!body)
		return cvl_no_memory(err);
	out_keep(body, false);
	base = model_base(m, s->clock);
	rc = put_range(s, (unsigned)level, from + (base >> 2 * level), to + (base >> 2 * level),
		       base, o, body, err);
	free(body->kept);
	free(body);
	return rc;
}

/* ---- records ---- */

static void put_record(const struct model *m, const struct model_stream *s, struct cvl_out *o,
		       struct cvl_stream *stream, const struct cvl_batch *b, size_t i,
		       uint64_t base)
{
	const struct cvl_slice slice = { .clock = s->clock, .batch = b, .begin = i, .end = i + 1 };
	const struct cvl_bound bound = cvl_timeline_bound_parts(m->tl, &slice, i);

	cvl_out_printf(o, "[%.0f,\"%s\",%" PRId64 ",%" PRId64,
		       (double)(int64_t)(b->tick[i].count - base),
		       b->flags[i] & CVL_STATE ? "state" : cvl_kind_name(b->kind[i]),
		       told(cvl_bound_total(bound)), bound.capture);
	switch (b->kind[i]) {
	case CVL_EDGE:
		cvl_out_printf(o, ",%u,%u,%u,%u", (unsigned)b->value[i],
			       (unsigned)(b->value[i] >> 32), (unsigned)b->aux[i],
			       (unsigned)(b->aux[i] >> 32));
		break;
	case CVL_GAP:
		cvl_out_printf(o, ",\"%s\",%.0f,%.0f", cvl_gap_name(b->cls[i]),
			       b->aux[i] == CVL_TICK_UNKNOWN ? -1.0 :
							       (double)(int64_t)(b->aux[i] - base),
			       b->value[i] == CVL_LOST_UNKNOWN ? -1.0 : (double)b->value[i]);
		break;
	case CVL_EVENT:
	case CVL_BEGIN:
	case CVL_END: {
		struct cvl_out *text = malloc(sizeof(*text));
		bool good = text;

		cvl_out_printf(o, ",%u,", b->cls[i]);
		if (good) {
			out_keep(text, false);
			good = !cvl_fields_text(text, stream, b, i, NULL);
			cvl_out_drain(text);
		}
		if (good && !text->error)
			cvl_out_json(o, text->n_kept ? text->kept : "", text->n_kept);
		else
			cvl_out_text(o, "\"?\"");
		if (text)
			free(text->kept);
		free(text);
		break;
	}
	case CVL_SAMPLE: {
		double v;

		memcpy(&v, &b->value[i], sizeof(v));
		cvl_out_printf(o, ",%u,", b->cls[i]);
		if (v - v == 0)
			cvl_out_double(o, v);
		else
			cvl_out_text(o, "null");
		break;
	}
	default: cvl_out_printf(o, ",%u,%.0f", b->cls[i], (double)b->value[i]);
	}
	cvl_out_char(o, ']');
}

static int put_records(struct model *m, const struct view_query *q, struct cvl_out *o,
		       struct cvl_error *err)
{
	struct cvl_stream_opts opts;
	struct cvl_stream *stream;
	struct model_stream *s;
	struct cvl_batch b;
	struct cvl_levels levels = { 0 }, begin = { 0 };
	uint64_t from, to, base, n = 0;
	bool more = false;
	int rc = stream_of(m, q, &s, err);

	rc = rc ? rc : number(q, "from", UINT64_C(1) << 53, &from, err);
	rc = rc ? rc : number(q, "to", UINT64_C(1) << 53, &to, err);
	if (rc)
		return rc;
	base = model_base(m, s->clock);
	opts = session_stream_opts(m->session, s->of, cvl_trace_stream_name(s->trace, s->number));
	opts.from.count = base + from;
	opts.to.count = base + to + 1;
	rc = cvl_stream_open(&stream, s->trace, s->number, &opts, err);
	if (rc)
		return rc;
	cvl_out_text(o, "{\"records\":[");
	while (!more && (rc = cvl_stream_next(stream, &b, err)) > 0)
		for (size_t i = 0; i < b.n && !more; i++) {
			if (b.kind[i] == CVL_EDGE && !(b.flags[i] & CVL_LATE))
				cvl_levels_take(&levels, &b, i);
			else if (b.kind[i] == CVL_GAP)
				levels.known = 0;
			if (b.tick[i].count < base + from)
				begin = levels;
			if (b.tick[i].count < base + from || b.tick[i].count > base + to)
				continue;
			element(o);
			put_record(m, s, o, stream, &b, i, base);
			more = ++n >= RECORDS_MAX;
		}
	cvl_out_printf(o, "],\"begin\":[%u,%u,%u,%u],\"more\":%s}", (unsigned)begin.now,
		       (unsigned)(begin.now >> 32), (unsigned)begin.known,
		       (unsigned)(begin.known >> 32), more ? "true" : "false");
	cvl_stream_close(stream);
	return rc < 0 ? rc : 0;
}

/* ---- messages ---- */

static int signed_number(const struct view_query *q, const char *name, int64_t *out,
			 struct cvl_error *err)
{
	const char *text = q->get(q->ctx, name);
	char *end;

	if (!text || !strchr("-0123456789", *text))
		return bad(name, err);
	errno = 0;
	*out = strtoll(text, &end, 10);
	return errno || *end || end == text ? bad(name, err) : 0;
}

/* The first that was not sent before @ns. */
static size_t first_message(const struct messages *m, int64_t ns)
{
	size_t low = 0, high = m->n;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (m->list[mid].sent_ns < ns)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void put_end(const struct model *m, struct cvl_out *o, const struct message_end *e)
{
	cvl_out_printf(o, "%u,%u,%u,%.0f", e->stream, e->class, e->clock,
		       (double)(int64_t)(e->tick - model_base(m, e->clock)));
}

static int put_messages(struct model *m, const struct view_query *q, struct cvl_out *o,
			struct cvl_error *err)
{
	const struct messages *all = &m->messages;
	int64_t from, to;
	size_t i, n = 0;
	int rc = signed_number(q, "from", &from, err);

	rc = rc ? rc : signed_number(q, "to", &to, err);
	rc = rc ? rc : model_messages(m, err);
	if (rc)
		return rc;
	cvl_out_text(o, "{\"messages\":[");
	for (i = first_message(all, from); i < all->n && all->list[i].sent_ns < to && n < SENT_MAX;
	     i++, n++) {
		element(o);
		cvl_out_char(o, '[');
		put_end(m, o, &all->list[i].from);
		cvl_out_char(o, ',');
		put_end(m, o, &all->list[i].to);
		cvl_out_char(o, ']');
	}
	cvl_out_printf(o, "],\"more\":%s}",
		       all->more || (i < all->n && all->list[i].sent_ns < to) ? "true" : "false");
	return 0;
}

/* ---- order ---- */

/* A record: its clock, its tick, and what its capture could not resolve. */
static int take_point(const struct model *m, const struct view_query *q, const char *const names[3],
		      uint64_t *clock, struct cvl_time *t, struct cvl_bound *b,
		      struct cvl_error *err)
{
	struct cvl_tick tick;
	uint64_t capture;
	int rc = number(q, names[0], cvl_session_clocks(m->session), clock, err);

	rc = rc ? rc : number(q, names[1], UINT64_C(1) << 53, &tick.count, err);
	rc = rc ? rc : number(q, names[2], INT64_MAX, &capture, err);
	if (rc)
		return rc;
	tick.count += model_base(m, *clock);
	*t = cvl_map_time(cvl_timeline_map(m->tl, *clock), tick, NULL);
	*b = cvl_timeline_clock_bound(m->tl, *clock, tick);
	b->capture = (int64_t)capture;
	return 0;
}

static int put_pair(struct model *m, const struct view_query *q, struct cvl_out *o,
		    struct cvl_error *err)
{
	static const char *const orders[] = { "before", "cannot tell", "after" };
	static const char *const first[] = { "clock", "tick", "capture" }, *const second[] = {
		"clock2", "tick2", "capture2"
	};
	struct cvl_time a, z;
	struct cvl_bound of_a, of_z;
	uint64_t clock, clock2;
	int64_t bound, ns;
	int rc = take_point(m, q, first, &clock, &a, &of_a, err);

	rc = rc ? rc : take_point(m, q, second, &clock2, &z, &of_z, err);
	if (rc)
		return rc;
	ns = z.ns - a.ns;
	bound = m->root[clock] == m->root[clock2] ? clocks_duration(ns < 0 ? -ns : ns, of_a, of_z) :
						    clocks_pair(false, of_a, of_z);
	cvl_out_char(o, '{');
	put_number(o, "ns", ns);
	put_number(o, "bound", told(bound));
	put_text(o, "order", orders[cvl_timeline_order(z, a, bound) + 1]);
	cvl_out_char(o, '}');
	return 0;
}

int view_answer(struct model *m, const char *what, const struct view_query *query,
		struct cvl_out *o, const char **type, struct cvl_error *err)
{
	static const struct {
		const char *name, *type;
		int (*put)(struct model *m, const struct view_query *q, struct cvl_out *o,
			   struct cvl_error *err);
	} answers[] = {
		{ "session", JSON, put_session },   { "map", JSON, put_map },
		{ "cells", BYTES, put_cells },      { "records", JSON, put_records },
		{ "pair", JSON, put_pair },         { "news", JSON, put_news },
		{ "messages", JSON, put_messages },
	};

	for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++)
		if (!strcmp(what, answers[i].name)) {
			*type = answers[i].type;
			return answers[i].put(m, query, o, err);
		}
	return cvl_fail(err, CVL_E_MISSING, CVL_NO_OFFSET, "no such request: %.40s", what);
}
