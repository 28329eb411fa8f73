/* SPDX-License-Identifier: MIT */
#include "view/answers_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <coeval/sync.h>

#include "core/clockmap_join.h"
#include "core/out_keep.h"

#define JSON "application/json"
#define BYTES "application/octet-stream"

#define KNOTS_MAX 20000 /* of one answer */

/* ---- parameters ---- */

int ask_bad(const char *name, struct cvl_error *err)
{
	return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "%s is missing or out of range", name);
}

int ask_number(const struct view_query *q, const char *name, uint64_t limit, uint64_t *out,
	       struct cvl_error *err)
{
	const char *text = q->get(q->ctx, name);
	char *end;

	if (!text || *text < '0' || *text > '9')
		return ask_bad(name, err);
	errno = 0;
	*out = strtoull(text, &end, 10);
	return errno || *end || *out >= limit ? ask_bad(name, err) : 0;
}

int ask_stream(const struct model *m, const struct view_query *q, struct model_stream **s,
	       struct cvl_error *err)
{
	uint64_t i;
	int rc = ask_number(q, "stream", m->n, &i, err);

	if (!rc)
		*s = &m->stream[i];
	return rc;
}

/* A half-width; -1: unknown. */
int64_t told_bound(int64_t bound)
{
	return bound == CVL_BOUND_UNKNOWN ? -1 : bound;
}

int ask_time(const struct view_query *q, const char *name, int64_t *out, struct cvl_error *err)
{
	const char *text = q->get(q->ctx, name);
	char *end;

	if (!text || !strchr("-0123456789", *text))
		return ask_bad(name, err);
	errno = 0;
	*out = strtoll(text, &end, 10);
	return errno || *end || end == text ? ask_bad(name, err) : 0;
}

/* ---- JSON ---- */

/* A comma, unless it is the first of its list. */
void put_element(struct cvl_out *o)
{
	const char last = o->n ? o->buf[o->n - 1] : o->n_kept ? o->kept[o->n_kept - 1] : '[';

	if (last != '{' && last != '[')
		cvl_out_char(o, ',');
}

void put_member(struct cvl_out *o, const char *name)
{
	put_element(o);
	cvl_out_json(o, name, strlen(name));
	cvl_out_char(o, ':');
}

void put_text(struct cvl_out *o, const char *name, const char *text)
{
	put_member(o, name);
	cvl_out_json(o, text, strlen(text));
}

void put_number(struct cvl_out *o, const char *name, int64_t v)
{
	put_member(o, name);
	cvl_out_i64(o, v);
}

void put_real(struct cvl_out *o, const char *name, double v)
{
	put_member(o, name);
	if (v - v == 0)
		cvl_out_double(o, v);
	else
		cvl_out_text(o, "null");
}

/* ---- the session ---- */

static void put_names(struct cvl_out *o, const char *name, const struct cvl_trace *trace,
		      const char *count, const char *each)
{
	const uint64_t n = cvl_trace_ours(trace) ? cvl_trace_env_number(trace, count) : 0;

	put_member(o, name);
	cvl_out_char(o, '[');
	for (uint64_t i = 0; i < n && i <= UINT16_MAX; i++) {
		const char *text = cvl_trace_env_at(trace, each, i);

		put_element(o);
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

#define MAP_NAME_BYTES 200

/*
 * Other words for another map, or for other distances of its ticks. Files of maps are named by what is in
 * them; one that grows has more knots.
 */
static const char *map_name(const struct model *m, size_t clock, char name[MAP_NAME_BYTES])
{
	const struct cvl_map *map = cvl_timeline_map(m->tl, clock);
	const char *path = cvl_map_path(map), *slash = path ? strrchr(path, '/') : NULL;
	struct cvl_knot first, last;
	struct cvl_map_spec spec;

	cvl_map_describe(map, &spec);
	cvl_map_ends(map, &first, &last);
	snprintf(name, MAP_NAME_BYTES, "%" PRIx64 " %.80s %zu %" PRIx64 " %" PRIx64 " %a",
		 model_base(m, clock), slash ? slash + 1 : "", spec.n, last.tick.count,
		 (uint64_t)last.time.ns, spec.after.rate_ppb);
	return name;
}

static void put_clock(const struct model *m, size_t i, struct cvl_out *o)
{
	char name[MAP_NAME_BYTES];
	const struct cvl_sync *sync = cvl_timeline_sync(m->tl);
	const struct cvl_clock *c = cvl_session_clock(m->session, i);
	const struct cvl_bound b =
		cvl_timeline_clock_bound(m->tl, i, (struct cvl_tick){ model_base(m, i) });

	put_element(o);
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
	put_text(o, "map", map_name(m, i, name));
	put_number(o, "group", b.group);
	put_number(o, "reference_ns", b.reference);
	cvl_out_char(o, '}');
}

static void put_stream(const struct model *m, const struct model_stream *s, struct cvl_out *o)
{
	const uint64_t base = model_base(m, s->clock);
	struct cvl_tick first, last;
	const bool any = cvl_lod_range(s->lod, &first, &last);

	put_element(o);
	cvl_out_char(o, '{');
	put_number(o, "clock", (int64_t)s->clock);
	put_text(o, "name", cvl_trace_stream_name(s->trace, s->number));
	put_number(o, "leaf", cvl_lod_leaf(s->lod));
	put_member(o, "grows");
	cvl_out_text(o, s->grows ? "true" : "false");
	if (any) {
		put_number(o, "first", (int64_t)(first.count - base));
		put_number(o, "last", (int64_t)(last.count - base));
	}
	put_names(o, "lines", s->trace, "lines", "line");
	put_names(o, "channels", s->trace, "channels", "channel");
	put_member(o, "events");
	cvl_out_char(o, '[');
	for (size_t k = 0; k < cvl_trace_events(s->trace); k++) {
		const struct cvl_event_class *e = cvl_trace_event(s->trace, k);

		put_element(o);
		cvl_out_json(o, e->name, strlen(e->name));
	}
	cvl_out_text(o, "]}");
}

int put_session(struct model *m, const struct view_query *q, struct cvl_out *o,
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
	put_number(o, "maps", m->maps);
	put_text(o, "path", cvl_session_path(m->session));
	put_member(o, "collected");
	cvl_out_text(o, nodes_are_collected(m) ? "true" : "false");
	put_member(o, "read_only");
	cvl_out_text(o, m->read_only ? "true" : "false");
	put_member(o, "zero_unix_ns");
	cvl_out_printf(o, "\"%" PRId64 "\"", cvl_session_epoch(m->session));
	put_number(o, "from", from > to ? 0 : from);
	put_number(o, "to", from > to ? 0 : to);
	put_text(o, "estimator", sync ? sync->estimator : "");
	put_text(o, "reference", sync ? sync->reference : "");
	put_member(o, "clocks");
	cvl_out_char(o, '[');
	for (size_t i = 0; i < cvl_session_clocks(m->session); i++)
		put_clock(m, i, o);
	cvl_out_char(o, ']');
	put_member(o, "streams");
	cvl_out_char(o, '[');
	for (size_t i = 0; i < m->n; i++)
		put_stream(m, &m->stream[i], o);
	cvl_out_text(o, "]}");
	return 0;
}

/* ---- maps ---- */

static void put_edge(struct cvl_out *o, const char *name, const struct cvl_map_edge *e)
{
	put_member(o, name);
	cvl_out_char(o, '{');
	put_real(o, "rate_ppb", e->rate_ppb);
	put_real(o, "drift_ppb", e->drift_ppb);
	put_real(o, "wander_ppb_s", e->wander_ppb_s);
	cvl_out_char(o, '}');
}

/* The last knot up to @tick, or the first. */
static int first_knot(const struct cvl_map *map, uint64_t tick, size_t *i, struct cvl_error *err)
{
	int rc = map_knots_before(map, tick < UINT64_MAX ? tick + 1 : tick, i, err);

	*i -= !rc && *i;
	return rc;
}

/* Of a clock, from the last knot up to a tick on. */
static int put_map_of(const struct model *m, size_t clock, uint64_t tick, struct cvl_out *o,
		      struct cvl_error *err)
{
	const struct cvl_map *map = cvl_timeline_map(m->tl, clock);
	const uint64_t base = model_base(m, clock);
	struct cvl_map_spec spec;
	size_t each, i = 0;
	int rc = tick ? first_knot(map, tick, &i, err) : 0;

	cvl_map_describe(map, &spec);
	each = (spec.n - i) / KNOTS_MAX + 1;
	cvl_out_char(o, '{');
	put_number(o, "rate", (int64_t)spec.rate_hz);
	put_edge(o, "before", &spec.before);
	put_edge(o, "after", &spec.after);
	put_member(o, "knots");
	cvl_out_char(o, '[');
	for (; i < spec.n + each - 1 && !rc; i += each) {
		struct cvl_knot k;

		/* the last, too */
		rc = cvl_map_knot(map, i < spec.n ? i : spec.n - 1, &k, err);
		put_element(o);
		if (!rc)
			cvl_out_printf(o, "[%.0f,%" PRId64 ",%" PRId64 "]",
				       (double)(int64_t)(k.tick.count - base), k.time.ns,
				       told_bound(k.bound_ns));
	}
	cvl_out_text(o, "]}");
	return rc;
}

int put_maps(struct model *m, const struct view_query *q, struct cvl_out *o, struct cvl_error *err)
{
	uint64_t since;
	int rc = ask_number(q, "since", UINT32_MAX, &since, err);
	int64_t same;

	if (rc)
		return rc;
	same = model_same_until(m, (unsigned)since);
	cvl_out_char(o, '{');
	put_number(o, "maps", m->maps);
	put_member(o, "clocks");
	cvl_out_char(o, '[');
	for (size_t i = 0; i < cvl_session_clocks(m->session) && !rc && same != INT64_MAX; i++) {
		const uint64_t tick = same == INT64_MIN ? 0 :
							  cvl_map_tick(cvl_timeline_map(m->tl, i),
								       (struct cvl_time){ same })
								  .count;

		put_element(o);
		rc = put_map_of(m, i, tick, o, err);
	}
	cvl_out_text(o, "]}");
	return rc;
}

/* ---- answers ---- */

#define REQUEST_BYTES 300
#define MANY_MOST 64

static void put_u32(struct cvl_out *o, uint32_t v)
{
	const char bytes[] = { (char)v, (char)(v >> 8), (char)(v >> 16), (char)(v >> 24) };

	cvl_out_bytes(o, bytes, sizeof(bytes));
}

/* An answer by itself, or what is wrong, which is told in its place. */
static int put_one(struct model *m, const char *request, struct cvl_out *o, struct cvl_out *part,
		   struct cvl_error *err)
{
	struct cvl_error wrong;
	int rc;

	out_keep(part, false);
	rc = strncmp(request, "many?", 5) != 0 ? view_answer_to(m, request, part, &wrong) :
						 ask_bad("ask", &wrong);
	cvl_out_drain(part);
	if (part->error) {
		free(part->kept);
		return cvl_no_memory(err);
	}
	put_u32(o, rc != 0);
	put_u32(o, (uint32_t)(rc ? strlen(wrong.text) : part->n_kept));
	cvl_out_bytes(o,
		      rc         ? wrong.text :
		      part->kept ? part->kept :
				   "",
		      rc ? strlen(wrong.text) : part->n_kept);
	free(part->kept);
	return 0;
}

int put_many(struct model *m, const struct view_query *q, struct cvl_out *o, struct cvl_error *err)
{
	const char *text = q->get(q->ctx, "ask");
	struct cvl_out *part = malloc(sizeof(*part));
	int rc = part ? 0 : cvl_no_memory(err);

	for (int n = 0; !rc && text && *text; n++) {
		const size_t length = strcspn(text, ";");
		char request[REQUEST_BYTES];

		if (length >= sizeof(request) || n >= MANY_MOST) {
			rc = ask_bad("ask", err);
			break;
		}
		memcpy(request, text, length);
		request[length] = '\0';
		rc = put_one(m, request, o, part, err);
		text += length + (text[length] == ';');
	}
	free(part);
	return rc;
}

/* A parameter of "what?name=value&name=value". */
static const char *parameter(void *ctx, const char *name)
{
	static _Thread_local char value[REQUEST_BYTES];
	const char *at = strchr(ctx, '?');
	const size_t n = strlen(name);

	for (; at; at = strchr(at, '&')) {
		at++;
		if (strncmp(at, name, n) != 0 || at[n] != '=')
			continue;
		snprintf(value, sizeof(value), "%.*s", (int)strcspn(at + n + 1, "&"), at + n + 1);
		return value;
	}
	return NULL;
}

int view_answer_to(struct model *m, const char *request, struct cvl_out *o, struct cvl_error *err)
{
	const struct view_query query = { parameter, (void *)(uintptr_t)request, false };
	const char *type;
	char what[40];

	snprintf(what, sizeof(what), "%.*s", (int)strcspn(request, "?"), request);
	return view_answer(m, what, &query, o, &type, err);
}

int view_answer(struct model *m, const char *what, const struct view_query *query,
		struct cvl_out *o, const char **type, struct cvl_error *err)
{
	static const struct {
		const char *name, *type;
		put_fn *put;
	} answers[] = {
		{ "session", JSON, put_session }, { "many", BYTES, put_many },
		{ "cells", BYTES, put_cells },    { "records", JSON, put_records },
		{ "pair", JSON, put_pair },       { "messages", JSON, put_messages },
		{ "found", JSON, put_found },     { "intervals", JSON, put_intervals },
		{ "area", JSON, put_area },       { "notes", JSON, put_notes },
		{ "nodes", JSON, put_nodes },     { "note", JSON, put_note },
		{ "search", JSON, put_search },   { "maps", JSON, put_maps },
	};

	for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++)
		if (!strcmp(what, answers[i].name)) {
			*type = answers[i].type;
			return answers[i].put(m, query, o, err);
		}
	return cvl_fail(err, CVL_E_MISSING, CVL_NO_OFFSET, "no such request: %.40s", what);
}
