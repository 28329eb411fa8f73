/* SPDX-License-Identifier: MIT */
/*
 * The metadata of CTF 2: JSON objects ("fragments"), each after a byte 1e. Field classes are in
 * ctf2_types.c.
 *
 * Release candidates of the specification are read as well, as far as traces of that time need it: their
 * clocks go by their names, and values that are attributes may be called user-attributes.
 */
#include "store/ctf/ctf2.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- errors ---- */

/* The way from @here to @wanted, which is in it: as "a.b[2].c", as far as there is room. */
static void put_path(const struct json_tree *here, const struct json_tree *wanted, char *path,
		     size_t size)
{
	int n = 0;

	while (here && here != wanted && (size_t)n < size) {
		const struct json_tree *in = NULL;
		size_t i = 0, at = 0;

		for (const struct json_tree *m = here->first; m && m->offset <= wanted->offset;
		     m = m->next, i++) {
			in = m;
			at = i;
		}
		here = in;
		if (in && in->key)
			n += snprintf(path + n, size - (size_t)n, "%s%s", n ? "." : "", in->key);
		else if (in)
			n += snprintf(path + n, size - (size_t)n, "[%zu]", at);
	}
}

void *ctf2_bad(struct ctf2 *p, enum cvl_code code, const struct json_tree *at, const char *fmt, ...)
{
	const struct json_tree *type = p->fragment ? json_tree_member(p->fragment, "type") : NULL;
	char what[CVL_ERROR_TEXT / 2], path[200] = "";
	va_list ap;

	if (p->code)
		return NULL;
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	if (p->fragment && at)
		put_path(p->fragment, at, path, sizeof(path));
	p->code =
		cvl_fail(p->err, code, at ? at->offset : CVL_NO_OFFSET,
			 "%s:%zu: fragment %u%s%s%s%s%s: %s", p->name, at ? at->offset : 0,
			 p->number, type && type->kind == TREE_TEXT ? " (" : "",
			 type && type->kind == TREE_TEXT ? type->text : "",
			 type && type->kind == TREE_TEXT ? ")" : "", *path ? ", " : "", path, what);
	return NULL;
}

void *ctf2_need_memory(struct ctf2 *p, size_t n)
{
	void *v = arena_alloc(&p->trace->arena, n);

	if (!v && !p->code)
		p->code = cvl_no_memory(p->err);
	return v;
}

/* ---- properties ---- */

/* Whether property @m of an object may be ignored. */
static bool is_extra(struct ctf2 *p, const struct json_tree *m)
{
	if (!strcmp(m->key, "attributes") || !strcmp(m->key, "user-attributes")) {
		if (m->kind != TREE_OBJECT)
			ctf2_bad(p, CVL_E_SYNTAX, m, "an object is expected");
		return true;
	}
	if (strcmp(m->key, "extensions") != 0)
		return false;
	if (m->kind != TREE_OBJECT)
		ctf2_bad(p, CVL_E_SYNTAX, m, "an object is expected");
	else if (m->n)
		ctf2_bad(p, CVL_E_UNSUPPORTED, m,
			 "extensions change what a trace means; none of them is known");
	return true;
}

bool ctf2_take(struct ctf2 *p, const struct json_tree *object, const struct ctf2_property *property,
	       size_t n, const struct json_tree **got)
{
	if (object->kind != TREE_OBJECT)
		return ctf2_bad(p, CVL_E_SYNTAX, object, "an object is expected, not %s",
				json_tree_kind_name(object->kind));
	for (size_t i = 0; i < n; i++)
		got[i] = NULL;
	for (const struct json_tree *m = object->first; m && !p->code; m = m->next) {
		size_t i = 0;

		while (i < n && strcmp(m->key, property[i].name) != 0)
			i++;
		if (i < n && property[i].kinds >> m->kind & 1)
			got[i] = m;
		else if (i < n)
			ctf2_bad(p, CVL_E_SYNTAX, m, "not %s", json_tree_kind_name(m->kind));
		else if (!is_extra(p, m))
			ctf2_bad(p, CVL_E_SYNTAX, m, "no such property is known here");
	}
	for (size_t i = 0; i < n; i++)
		if (property[i].required && !got[i])
			ctf2_bad(p, CVL_E_MISSING, object, "property '%s' is missing",
				 property[i].name);
	return !p->code;
}

uint64_t ctf2_uint(struct ctf2 *p, const struct json_tree *at, uint64_t otherwise, uint64_t max)
{
	if (!at)
		return otherwise;
	if (at->negative || at->num > max) {
		ctf2_bad(p, CVL_E_RANGE, at, "a number from 0 to %" PRIu64 " is expected", max);
		return otherwise;
	}
	return at->num;
}

/* An array of 16 integers; false: it is none. */
static bool take_uuid(struct ctf2 *p, const struct json_tree *j, uint8_t uuid[16])
{
	const struct json_tree *m = j->first;

	for (unsigned i = 0; i < 16; i++, m = m->next) {
		if (j->n != 16 || m->kind != TREE_INT || m->negative || m->num > 255)
			return ctf2_bad(p, CVL_E_SYNTAX, j, "a UUID is an array of 16 bytes");
		uuid[i] = (uint8_t)m->num;
	}
	return true;
}

/* ---- fragments ---- */

static void preamble(struct ctf2 *p, const struct json_tree *j)
{
	static const struct ctf2_property properties[] = { { "type", CTF2_TEXT, true },
							   { "version", CTF2_INT, true },
							   { "uuid", CTF2_ARRAY, false } };
	const struct json_tree *got[3];

	if (p->number > 1) {
		ctf2_bad(p, CVL_E_SYNTAX, j, "only the first fragment is a preamble");
		return;
	}
	if (!ctf2_take(p, j, properties, 3, got))
		return;
	if (got[1]->num != 2)
		ctf2_bad(p, CVL_E_UNSUPPORTED, got[1],
			 "this is CTF %" PRIu64 "; CTF 1.8 and CTF 2 can be read", got[1]->num);
	if (got[2])
		p->trace->has_uuid = take_uuid(p, got[2], p->trace->uuid);
}

struct ctf2_alias **ctf2_alias(struct ctf2 *p, const char *name)
{
	struct ctf2_alias **at = &p->alias[metadata_hash(0, name) % CTF2_BUCKETS];

	while (*at && strcmp((*at)->name, name) != 0)
		at = &(*at)->next;
	return at;
}

static void alias(struct ctf2 *p, const struct json_tree *j)
{
	static const struct ctf2_property properties[] = {
		{ "type", CTF2_TEXT, true },
		{ "name", CTF2_TEXT, true },
		{ "field-class", CTF2_TEXT | CTF2_OBJECT, true },
	};
	const struct json_tree *got[3];
	const struct cvl_type *t;
	struct ctf2_alias **at, *a;

	if (!ctf2_take(p, j, properties, 3, got))
		return;
	t = ctf2_type(p, got[2]);
	at = ctf2_alias(p, got[1]->text);
	if (*at)
		ctf2_bad(p, CVL_E_SYNTAX, got[1], "'%s' is there already", got[1]->text);
	else if (++p->n_aliases > CTF_OPS_MAX)
		ctf2_bad(p, CVL_E_LIMIT, j, "more than %d aliases", CTF_OPS_MAX);
	a = t && !p->code ? ctf2_need_memory(p, sizeof(*a)) : NULL;
	if (a) {
		*a = (struct ctf2_alias){ got[1]->text, t, NULL };
		*at = a;
	}
}

static void environment(struct ctf2 *p, const struct json_tree *j)
{
	for (const struct json_tree *m = j->first; m && !p->code; m = m->next) {
		const char *value = m->text;
		char number[24];

		if (m->kind != TREE_TEXT && m->kind != TREE_INT) {
			ctf2_bad(p, CVL_E_SYNTAX, m, "a string or an integer is expected");
			return;
		}
		if (m->kind == TREE_INT) {
			snprintf(number, sizeof(number), m->negative ? "%" PRId64 : "%" PRIu64,
				 m->num);
			value = arena_text(&p->trace->arena, number, strlen(number));
		}
		if (!value || !metadata_add_env(p->trace, m->key, value))
			p->code = cvl_no_memory(p->err);
	}
}

static void trace_class(struct ctf2 *p, const struct json_tree *j)
{
	static const struct ctf2_property properties[] = {
		{ "type", CTF2_TEXT, true },
		{ "namespace", CTF2_TEXT, false },
		{ "name", CTF2_TEXT, false },
		{ "uid", CTF2_TEXT, false },
		{ "environment", CTF2_OBJECT, false },
		{ "packet-header-field-class", CTF2_TEXT | CTF2_OBJECT, false },
		{ "uuid", CTF2_ARRAY, false }, /* of a release candidate */
	};
	const struct json_tree *got[7];

	if (p->trace_seen || p->stream_seen)
		ctf2_bad(p, CVL_E_SYNTAX, j,
			 p->trace_seen ? "there is a trace class already" :
					 "a trace class comes before data stream classes");
	p->trace_seen = true;
	if (!ctf2_take(p, j, properties, 7, got))
		return;
	if (got[4])
		environment(p, got[4]);
	if (got[6])
		p->trace->has_uuid = take_uuid(p, got[6], p->trace->uuid);
	p->trace->packet_header = ctf2_scope(p, got[5], CVL_SCOPE_PACKET_HEADER, false);
}

/* Whether its offset is one from 1970; unless said so it is unknown. */
static bool is_unix(struct ctf2 *p, const struct json_tree *origin)
{
	static const struct ctf2_property properties[] = { { "namespace", CTF2_TEXT, false },
							   { "name", CTF2_TEXT, true },
							   { "uid", CTF2_TEXT, true } };
	const struct json_tree *got[3];

	if (!origin)
		return false;
	if (origin->kind == TREE_OBJECT) {
		ctf2_take(p, origin, properties, 3, got);
		return false;
	}
	if (strcmp(origin->text, "unix-epoch") != 0)
		ctf2_bad(p, CVL_E_SYNTAX, origin, "an origin is 'unix-epoch' or an object");
	return true;
}

static void take_offset(struct ctf2 *p, const struct json_tree *j, struct cvl_clock_class *c)
{
	static const struct ctf2_property properties[] = { { "seconds", CTF2_INT, false },
							   { "cycles", CTF2_INT, false } };
	const struct json_tree *got[2];

	if (!j || !ctf2_take(p, j, properties, 2, got))
		return;
	if (got[0]) {
		c->offset_s = (int64_t)got[0]->num;
		if ((!got[0]->negative && got[0]->num > INT64_MAX) ||
		    c->offset_s > INT64_MAX / 1000000000 || c->offset_s < INT64_MIN / 1000000000)
			ctf2_bad(p, CVL_E_RANGE, got[0], "more seconds than nanoseconds can count");
	}
	c->offset = ctf2_uint(p, got[1], 0, UINT64_MAX);
	if (c->offset && c->offset >= c->rate_hz)
		ctf2_bad(p, CVL_E_RANGE, got[1], "cycles must be less than the frequency");
}

static void clock_class(struct ctf2 *p, const struct json_tree *j)
{
	static const struct ctf2_property properties[] = {
		{ "type", CTF2_TEXT, true },
		{ "id", CTF2_TEXT, false },
		{ "frequency", CTF2_INT, true },
		{ "name", CTF2_TEXT, false },
		{ "uid", CTF2_TEXT, false },
		{ "description", CTF2_TEXT, false },
		{ "origin", CTF2_TEXT | CTF2_OBJECT, false },
		{ "offset-from-origin", CTF2_OBJECT, false },
		{ "namespace", CTF2_TEXT, false },
		{ "precision", CTF2_INT, false },
		{ "accuracy", CTF2_INT, false },
		/* of release candidates */
		{ "uuid", CTF2_ARRAY, false },
		{ "offset", CTF2_OBJECT, false },
		{ "origin-is-unix-epoch", 1u << TREE_BOOL, false },
	};
	const struct json_tree *got[14], *id;
	struct cvl_clock_class c = { 0 };

	if (!ctf2_take(p, j, properties, 14, got))
		return;
	id = got[1] ? got[1] : got[3];
	if (!id) {
		ctf2_bad(p, CVL_E_MISSING, j, "property 'id' is missing");
		return;
	}
	for (uint32_t i = 0; i < p->trace->n_clocks; i++)
		if (!strcmp(p->clock_id[i], id->text))
			ctf2_bad(p, CVL_E_SYNTAX, id, "clock '%s' is there already", id->text);
	c.name = got[3] && *got[3]->text ? got[3]->text : id->text;
	c.uuid = got[4] ? got[4]->text : NULL;
	c.description = got[5] ? got[5]->text : NULL;
	c.rate_hz = ctf2_uint(p, got[2], 0, UINT64_MAX);
	if (!c.rate_hz)
		ctf2_bad(p, CVL_E_RANGE, got[2], "a frequency of 0");
	c.no_epoch = !is_unix(p, got[6]) && !(got[13] && got[13]->truth);
	take_offset(p, got[7] ? got[7] : got[12], &c);
	c.precision = ctf2_uint(p, got[9], 0, UINT64_MAX);
	c.accuracy = ctf2_uint(p, got[10], 0, UINT64_MAX);
	if (p->trace->n_clocks == CTF_CLOCKS_MAX)
		ctf2_bad(p, CVL_E_LIMIT, j, "more than %d clocks", CTF_CLOCKS_MAX);
	if (p->code)
		return;
	p->clock_id[p->trace->n_clocks] = id->text;
	if (!metadata_add_clock(p->trace, &c))
		p->code = cvl_no_memory(p->err);
}

static int find_clock(struct ctf2 *p, const struct json_tree *id, bool by_name)
{
	for (uint32_t i = 0; i < p->trace->n_clocks; i++)
		if (!strcmp(by_name ? p->trace->clock[i].name : p->clock_id[i], id->text))
			return (int)i;
	ctf2_bad(p, CVL_E_UNKNOWN_ID, id, "no clock class is called '%s' before this", id->text);
	return -1;
}

static void stream_class(struct ctf2 *p, const struct json_tree *j)
{
	static const struct ctf2_property properties[] = {
		{ "type", CTF2_TEXT, true },
		{ "id", CTF2_INT, false },
		{ "default-clock-class-id", CTF2_TEXT, false },
		{ "packet-context-field-class", CTF2_TEXT | CTF2_OBJECT, false },
		{ "event-record-header-field-class", CTF2_TEXT | CTF2_OBJECT, false },
		{ "event-record-common-context-field-class", CTF2_TEXT | CTF2_OBJECT, false },
		{ "namespace", CTF2_TEXT, false },
		{ "name", CTF2_TEXT, false },
		{ "uid", CTF2_TEXT, false },
		{ "default-clock-class-name", CTF2_TEXT, false }, /* of release candidates */
	};
	const struct json_tree *got[10], *clock;
	struct stream_class *s;

	p->stream_seen = true;
	if (!ctf2_take(p, j, properties, 10, got))
		return;
	s = metadata_stream(p->trace, ctf2_uint(p, got[1], 0, UINT64_MAX));
	if (!s || s->declared) {
		if (s)
			ctf2_bad(p, CVL_E_SYNTAX, got[1] ? got[1] : j,
				 "data stream class %" PRIu64 " is there already", s->id);
		else
			ctf2_bad(p, CVL_E_LIMIT, j, "more than %d data stream classes",
				 CTF_STREAMS_MAX);
		return;
	}
	s->declared = true;
	clock = got[2] ? got[2] : got[9];
	s->clock = clock ? find_clock(p, clock, !got[2]) : -1;
	s->packet_context = ctf2_scope(p, got[3], CVL_SCOPE_PACKET_CONTEXT, clock);
	s->event_header = ctf2_scope(p, got[4], CVL_SCOPE_EVENT_HEADER, clock);
	s->event_context = ctf2_scope(p, got[5], CVL_SCOPE_STREAM_CONTEXT, false);
}

static void event_class(struct ctf2 *p, const struct json_tree *j)
{
	static const struct ctf2_property properties[] = {
		{ "type", CTF2_TEXT, true },
		{ "id", CTF2_INT, false },
		{ "data-stream-class-id", CTF2_INT, false },
		{ "name", CTF2_TEXT, false },
		{ "specific-context-field-class", CTF2_TEXT | CTF2_OBJECT, false },
		{ "payload-field-class", CTF2_TEXT | CTF2_OBJECT, false },
		{ "namespace", CTF2_TEXT, false },
		{ "uid", CTF2_TEXT, false },
	};
	const struct json_tree *got[8];
	struct stream_class *s = NULL;
	struct event_class *e;
	uint64_t stream;

	if (!ctf2_take(p, j, properties, 8, got))
		return;
	stream = ctf2_uint(p, got[2], 0, UINT64_MAX);
	for (s = p->trace->streams; s && s->id != stream;)
		s = s->next;
	if (!s) {
		ctf2_bad(p, CVL_E_UNKNOWN_ID, got[2] ? got[2] : j,
			 "no data stream class %" PRIu64 " comes before this", stream);
		return;
	}
	e = metadata_add_event(p->trace, s, ctf2_uint(p, got[1], 0, UINT64_MAX));
	if (!e) {
		ctf2_bad(p, CVL_E_LIMIT, j, "more than %d event record classes", CTF_OPS_MAX);
		return;
	}
	e->declared_at = j->offset;
	if (got[3])
		e->pub.name = got[3]->text;
	e->pub.type[CVL_SCOPE_EVENT_CONTEXT] =
		ctf2_scope(p, got[4], CVL_SCOPE_EVENT_CONTEXT, false);
	e->pub.type[CVL_SCOPE_FIELDS] = ctf2_scope(p, got[5], CVL_SCOPE_FIELDS, false);
}

static void read_fragment(struct ctf2 *p, size_t from, size_t to)
{
	static const struct {
		const char *type;
		void (*read)(struct ctf2 *p, const struct json_tree *j);
	} kinds[] = {
		{ "preamble", preamble },
		{ "field-class-alias", alias },
		{ "trace-class", trace_class },
		{ "clock-class", clock_class },
		{ "data-stream-class", stream_class },
		{ "event-record-class", event_class },
	};
	struct cvl_error err = { .offset = from };
	const struct json_tree *j =
		json_tree_read(&p->tree, &p->trace->arena, p->text, from, to, &err);
	const struct json_tree *type;

	p->number++;
	p->fragment = NULL;
	p->depth = 0;
	if (!j) {
		p->code = err.code == CVL_E_NOMEM ?
				  cvl_no_memory(p->err) :
				  cvl_fail(p->err, err.code, err.offset,
					   "%s:%" PRIu64 ": fragment %u: %s", p->name, err.offset,
					   p->number, err.text);
		return;
	}
	p->fragment = j;
	type = j->kind == TREE_OBJECT ? json_tree_member(j, "type") : NULL;
	if (!type || type->kind != TREE_TEXT) {
		ctf2_bad(p, CVL_E_SYNTAX, j,
			 "a fragment is an object with a 'type', which is a string");
		return;
	}
	if (p->number == 1 && strcmp(type->text, "preamble") != 0) {
		ctf2_bad(p, CVL_E_SYNTAX, type, "the first fragment is a preamble");
		return;
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(type->text, kinds[i].type)) {
			kinds[i].read(p, j);
			return;
		}
	ctf2_bad(p, CVL_E_SYNTAX, type, "no fragment of this type is known");
}

int ctf2_parse(struct cvl_trace *trace, const char *text, size_t n, const char *name,
	       struct cvl_error *err)
{
	struct ctf2 *p = arena_alloc(&trace->arena, sizeof(*p));
	const struct event_class *twice;
	size_t from, to;

	if (!p)
		return cvl_no_memory(err);
	*p = (struct ctf2){ .trace = trace, .text = text, .name = name, .err = err };
	trace->json = true;
	for (from = 0; from < n && !p->code; from = to) {
		while (from < n && text[from] == CTF2_BEGIN)
			from++;
		for (to = from; to < n && text[to] != CTF2_BEGIN;)
			to++;
		if (to > from)
			read_fragment(p, from, to);
		arena_free(&p->tree);
	}
	if (p->code)
		return p->code;
	p->fragment = NULL;
	if (!p->stream_seen)
		return cvl_fail(err, CVL_E_MISSING, n, "%s:%zu: no data stream class", name, n);
	if (!metadata_finish(trace, &twice))
		return cvl_no_memory(err);
	if (twice)
		return cvl_fail(err, CVL_E_SYNTAX, twice->declared_at,
				"%s:%zu: event record class %" PRIu64
				" of data stream class %" PRIu64 " is there already",
				name, twice->declared_at, twice->pub.id, twice->stream->id);
	return 0;
}
