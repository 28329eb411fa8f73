/* SPDX-License-Identifier: MIT */
/*
 * TSDL, the metadata language of CTF 1.8 (specification, section 7 and appendix C), by recursive
 * descent: the declarations of a trace. Types are built while parsing; byte order and clocks, which
 * may be declared after their use, are filled in at the end.
 */
#include "store/ctf/tsdl.h"

#include "core/uuid.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct cvl_type *struct_only(struct tsdl_parser *p, const struct tsdl_attribute *a)
{
	if (a->kind != A_TYPE || a->type->kind != CVL_TYPE_STRUCT)
		return tsdl_bad(p, CVL_E_SYNTAX, a->offset, "'%s' must be a struct", a->name);
	return a->type;
}

struct block {
	uint64_t id, stream_id, major, minor;
	bool has_id, has_stream_id, has_major, has_minor;
	struct cvl_event_class event;
	struct stream_class stream;
	struct cvl_clock_class clock;
};

typedef void block_attribute(struct tsdl_parser *p, struct block *b,
			     const struct tsdl_attribute *a);

static void trace_attribute(struct tsdl_parser *p, struct block *b, const struct tsdl_attribute *a)
{
	struct cvl_trace *trace = p->trace;

	if (tsdl_attribute_is(a, "major")) {
		b->major = tsdl_attribute_uint(p, a, UINT32_MAX);
		b->has_major = true;
		if (b->major != 1)
			tsdl_bad(p, CVL_E_UNSUPPORTED, a->offset,
				 "this is CTF %" PRIu64 ".x; only CTF 1.8 can be read", b->major);
	} else if (tsdl_attribute_is(a, "minor")) {
		b->minor = tsdl_attribute_uint(p, a, UINT32_MAX);
		b->has_minor = true;
		if (b->minor != 8)
			tsdl_bad(p, CVL_E_UNSUPPORTED, a->offset,
				 "this is CTF x.%" PRIu64 "; only CTF 1.8 can be read", b->minor);
	} else if (tsdl_attribute_is(a, "uuid")) {
		const char *text = tsdl_attribute_text(p, a);

		if (text && !cvl_uuid_parse(text, trace->uuid))
			tsdl_bad(p, CVL_E_SYNTAX, a->offset, "'%s' is not a UUID", text);
		trace->has_uuid = true;
	} else if (tsdl_attribute_is(a, "byte_order")) {
		int order = tsdl_attribute_order(p, a);

		if (order < 0)
			tsdl_bad(p, CVL_E_SYNTAX, a->offset,
				 "the trace's byte order must be le or be");
		trace->big_endian = order > 0;
		trace->byte_order_known = true;
	} else if (tsdl_attribute_is(a, "packet.header")) {
		trace->packet_header = struct_only(p, a);
	}
}

static void env_attribute(struct tsdl_parser *p, struct block *b, const struct tsdl_attribute *a)
{
	const char *value = a->text;
	char number[24];

	(void)b;
	if (a->kind == A_TYPE)
		return;
	if (a->kind == A_INT) {
		snprintf(number, sizeof(number), "%s%" PRIu64, a->negative ? "-" : "", a->num);
		value = arena_text(&p->trace->arena, number, strlen(number));
	}
	if (!metadata_add_env(p->trace, arena_text(&p->trace->arena, a->name, strlen(a->name)),
			      value))
		tsdl_bad(p, CVL_E_NOMEM, a->offset, "out of memory");
}

static void clock_attribute(struct tsdl_parser *p, struct block *b, const struct tsdl_attribute *a)
{
	struct cvl_clock_class *c = &b->clock;

	if (tsdl_attribute_is(a, "name")) {
		c->name = tsdl_attribute_text(p, a);
	} else if (tsdl_attribute_is(a, "uuid")) {
		c->uuid = tsdl_attribute_text(p, a);
	} else if (tsdl_attribute_is(a, "description")) {
		c->description = tsdl_attribute_text(p, a);
	} else if (tsdl_attribute_is(a, "freq")) {
		c->rate_hz = tsdl_attribute_uint(p, a, UINT64_MAX);
		if (!c->rate_hz)
			tsdl_bad(p, CVL_E_RANGE, a->offset, "clock with a frequency of 0");
	} else if (tsdl_attribute_is(a, "precision")) {
		c->precision = tsdl_attribute_uint(p, a, UINT64_MAX);
	} else if (tsdl_attribute_is(a, "offset_s")) {
		uint64_t s = a->num;

		if (a->kind != A_INT || s > INT64_MAX / 1000000000)
			tsdl_bad(p, CVL_E_RANGE, a->offset, "clock offset out of range");
		c->offset_s = a->negative ? -(int64_t)s : (int64_t)s;
	} else if (tsdl_attribute_is(a, "offset")) {
		if (a->kind != A_INT)
			tsdl_bad(p, CVL_E_SYNTAX, a->offset, "clock offset must be a number");
		c->offset = a->negative ? 0 - a->num : a->num;
	}
}

static void stream_attribute(struct tsdl_parser *p, struct block *b, const struct tsdl_attribute *a)
{
	if (tsdl_attribute_is(a, "id")) {
		b->id = tsdl_attribute_uint(p, a, UINT64_MAX);
		b->has_id = true;
	} else if (tsdl_attribute_is(a, "packet.context")) {
		b->stream.packet_context = struct_only(p, a);
	} else if (tsdl_attribute_is(a, "event.header")) {
		b->stream.event_header = struct_only(p, a);
	} else if (tsdl_attribute_is(a, "event.context")) {
		b->stream.event_context = struct_only(p, a);
	}
}

static void event_attribute(struct tsdl_parser *p, struct block *b, const struct tsdl_attribute *a)
{
	if (tsdl_attribute_is(a, "name")) {
		b->event.name = tsdl_attribute_text(p, a);
	} else if (tsdl_attribute_is(a, "id")) {
		b->id = tsdl_attribute_uint(p, a, UINT64_MAX);
		b->has_id = true;
	} else if (tsdl_attribute_is(a, "stream_id")) {
		b->stream_id = tsdl_attribute_uint(p, a, UINT64_MAX);
		b->has_stream_id = true;
	} else if (tsdl_attribute_is(a, "context")) {
		b->event.type[CVL_SCOPE_EVENT_CONTEXT] = struct_only(p, a);
	} else if (tsdl_attribute_is(a, "fields")) {
		b->event.type[CVL_SCOPE_FIELDS] = struct_only(p, a);
	}
}

static struct stream_class *find_stream(struct tsdl_parser *p, uint64_t id)
{
	struct stream_class *s = metadata_stream(p->trace, id);

	return s ? s :
		   tsdl_bad(p, CVL_E_LIMIT, p->tok.offset, "more than %d streams", CTF_STREAMS_MAX);
}

static void finish_trace(struct tsdl_parser *p, struct block *b, size_t offset)
{
	if (p->trace_seen)
		tsdl_bad(p, CVL_E_SYNTAX, offset, "duplicate trace block");
	p->trace_seen = true;
	if (!b->has_major || !b->has_minor)
		tsdl_bad(p, CVL_E_MISSING, offset, "trace block without a major and minor version");
	if (!p->trace->byte_order_known)
		tsdl_bad(p, CVL_E_MISSING, offset, "trace block without a byte order");
}

static void finish_stream(struct tsdl_parser *p, struct block *b, size_t offset)
{
	struct stream_class *s = find_stream(p, b->id);

	if (!s)
		return;
	if (s->declared) {
		tsdl_bad(p, CVL_E_SYNTAX, offset, "stream %" PRIu64 " is already declared", b->id);
		return;
	}
	s->declared = true;
	s->packet_context = b->stream.packet_context;
	s->event_header = b->stream.event_header;
	s->event_context = b->stream.event_context;
}

static void finish_event(struct tsdl_parser *p, struct block *b, size_t offset)
{
	struct stream_class *s = find_stream(p, b->stream_id);
	struct event_class *e = s ? metadata_add_event(p->trace, s, b->id) : NULL;

	if (!s)
		return;
	if (!e) {
		tsdl_bad(p, CVL_E_LIMIT, offset, "more than %d event classes", CTF_OPS_MAX);
		return;
	}
	e->declared_at = offset;
	if (b->event.name)
		e->pub.name = b->event.name;
	for (int scope = 0; scope < CVL_SCOPES; scope++)
		e->pub.type[scope] = b->event.type[scope];
}

static void finish_clock(struct tsdl_parser *p, struct block *b, size_t offset)
{
	const struct cvl_trace *trace = p->trace;

	if (!b->clock.name || !*b->clock.name) {
		tsdl_bad(p, CVL_E_MISSING, offset, "clock without a name");
		return;
	}
	for (uint32_t i = 0; i < trace->n_clocks; i++)
		if (!strcmp(trace->clock[i].name, b->clock.name))
			tsdl_bad(p, CVL_E_SYNTAX, offset, "clock '%s' is already declared",
				 b->clock.name);
	if (!b->clock.rate_hz)
		b->clock.rate_hz = 1000000000;
	if (!p->code && !metadata_add_clock(p->trace, &b->clock))
		tsdl_bad(p, CVL_E_LIMIT, offset, "more than %d clocks", CTF_CLOCKS_MAX);
}

static void finish_nothing(struct tsdl_parser *p, struct block *b, size_t offset)
{
	(void)p, (void)b, (void)offset;
}

static void ignore_attribute(struct tsdl_parser *p, struct block *b, const struct tsdl_attribute *a)
{
	(void)p, (void)b, (void)a;
}

static bool parse_block(struct tsdl_parser *p, block_attribute *take,
			void (*finish)(struct tsdl_parser *, struct block *, size_t))
{
	struct tsdl_scope scope = { .up = p->scope };
	struct block b = { .stream = { .clock = -1 } };
	size_t offset = p->tok.offset;
	struct tsdl_attribute a;

	if (!tsdl_expect(p, '{'))
		return false;
	p->scope = &scope;
	while (!p->code && !tsdl_accept(p, '}')) {
		if (p->tok.kind == T_END) {
			tsdl_bad(p, CVL_E_TRUNCATED, p->pos, "the text ends inside a block");
		} else if (tsdl_is_name(p, "typealias")) {
			tsdl_next(p);
			tsdl_parse_alias(p);
		} else if (tsdl_is_name(p, "typedef")) {
			tsdl_next(p);
			tsdl_parse_typedef(p);
		} else if ((tsdl_is_name(p, "struct") || tsdl_is_name(p, "enum") ||
			    tsdl_is_name(p, "variant"))) {
			tsdl_parse_type(p);
		} else if (tsdl_parse_attribute(p, &a)) {
			take(p, &b, &a);
		}
		if (!p->code)
			tsdl_expect(p, ';');
	}
	tsdl_leave_scope(p);
	if (!p->code)
		finish(p, &b, offset);
	return !p->code;
}

static bool parse_declaration(struct tsdl_parser *p)
{
	static const struct {
		const char *word;
		block_attribute *take;
		void (*finish)(struct tsdl_parser *, struct block *, size_t);
	} blocks[] = {
		{ "trace", trace_attribute, finish_trace },
		{ "env", env_attribute, finish_nothing },
		{ "clock", clock_attribute, finish_clock },
		{ "stream", stream_attribute, finish_stream },
		{ "event", event_attribute, finish_event },
		{ "callsite", ignore_attribute, finish_nothing },
	};

	if (tsdl_accept(p, ';'))
		return !p->code;
	if (tsdl_is_name(p, "typealias")) {
		tsdl_next(p);
		return tsdl_parse_alias(p) && tsdl_expect(p, ';');
	}
	if (tsdl_is_name(p, "typedef")) {
		tsdl_next(p);
		return tsdl_parse_typedef(p) && tsdl_expect(p, ';');
	}
	for (size_t i = 0; i < sizeof(blocks) / sizeof(*blocks); i++) {
		if (!tsdl_is_name(p, blocks[i].word))
			continue;
		tsdl_next(p);
		return parse_block(p, blocks[i].take, blocks[i].finish) && tsdl_expect(p, ';');
	}
	if (tsdl_is_name(p, "struct") || tsdl_is_name(p, "enum") || tsdl_is_name(p, "variant"))
		return tsdl_parse_type(p) && tsdl_expect(p, ';');
	tsdl_bad(p, CVL_E_SYNTAX, p->tok.offset, "expected a declaration");
	return false;
}

/* ---- what may be used before it is declared ---- */

static void resolve_types(struct tsdl_parser *p)
{
	struct cvl_trace *trace = p->trace;

	for (struct type *t = p->types; t; t = t->next) {
		if (t->native_order)
			t->pub.big_endian = trace->big_endian;
		if (!t->clock_name)
			continue;
		for (uint32_t i = 0; i < trace->n_clocks; i++)
			if (!strcmp(trace->clock[i].name, t->clock_name))
				t->pub.clock = (int)i;
		if (t->pub.clock < 0)
			tsdl_bad(p, CVL_E_UNKNOWN_ID, t->pub.declared_at,
				 "clock '%s' is not declared", t->clock_name);
	}
	for (struct type *t = p->types; t; t = t->next)
		if (t->pub.kind == CVL_TYPE_ENUM)
			t->pub.big_endian = t->pub.elem->big_endian;
}

static void resolve_events(struct tsdl_parser *p)
{
	const struct event_class *twice;

	if (!metadata_finish(p->trace, &twice))
		tsdl_bad(p, CVL_E_NOMEM, CVL_NO_OFFSET, "out of memory");
	else if (twice)
		tsdl_bad(p, CVL_E_SYNTAX, twice->declared_at,
			 "event id %" PRIu64 " is already declared in stream %" PRIu64,
			 twice->pub.id, twice->stream->id);
}

int tsdl_parse(struct cvl_trace *trace, const char *text, size_t n, const char *name,
	       struct cvl_error *err)
{
	struct tsdl_scope root = { 0 };
	struct tsdl_parser p = {
		.trace = trace,
		.text = text,
		.n = n,
		.name = name,
		.scope = &root,
		.err = err,
	};

	p.n_buckets = BUCKETS_MIN;
	while (p.n_buckets < n / BYTES_A_BUCKET)
		p.n_buckets *= 2;
	p.bucket = tsdl_need_memory(&p, p.n_buckets * sizeof(*p.bucket));
	tsdl_next(&p);
	while (!p.code && p.tok.kind != T_END)
		parse_declaration(&p);
	if (!p.code && !p.trace_seen)
		tsdl_bad(&p, CVL_E_MISSING, n, "no trace block");
	if (!p.code)
		resolve_types(&p);
	if (!p.code)
		resolve_events(&p);
	return p.code;
}
