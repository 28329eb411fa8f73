/* SPDX-License-Identifier: MIT */
#include "formats/fields.h"

#include <stdio.h>
#include <string.h>

#define DEPTH_MAX 80

struct printer {
	struct out *o;
	unsigned depth;
	unsigned groups;                  /* scopes written */
	bool packet;                      /* in the packet context, of which a group is made */
	bool group_open;                  /* only when it has members */
	struct fields_cache *cache;
	uint64_t number;                  /* of the packet */
	size_t packet_from;               /* where in the output its text began */
	struct {
		uint64_t n;               /* members written */
		enum cvl_type_kind kind;
	} level[DEPTH_MAX];
};

/* ---- scalars ---- */

static uint64_t cut_to(uint64_t v, unsigned bits)
{
	return bits < 64 ? v & (((uint64_t)1 << bits) - 1) : v;
}

static inline void put_int(struct out *o, const struct cvl_type *t, uint64_t v)
{
	switch (t->base) {
	case 10:
		if (t->is_signed)
			out_i64(o, (int64_t)v);
		else
			out_u64(o, v);
		return;
	case 2:
		out_text(o, "0b");
		for (unsigned i = t->size; i-- > 0;)
			out_char(o, (char)('0' + (v >> i & 1)));
		return;
	case 8:
		out_char(o, '0');
		out_base(o, cut_to(v, (t->size + 2) / 3 * 3), 8);
		return;
	case 16:
		out_text(o, "0x");
		out_base(o, cut_to(v, (t->size + 3) / 4 * 4), 16);
		return;
	default:
		if (t->is_signed)
			out_i64(o, (int64_t)v);
		else
			out_u64(o, v);
	}
}

/* Labels whose range holds @v: each is given to @put. */
static unsigned each_label(struct printer *p, const struct cvl_type *t, uint64_t v,
			   void (*put)(struct printer *, const char *, unsigned))
{
	unsigned n = 0;

	for (uint32_t i = 0; i < t->n; i++) {
		const struct cvl_label *l = &t->label[i];

		if (t->is_signed ? (int64_t)v >= l->low && (int64_t)v <= l->high
				 : v >= (uint64_t)l->low && v <= (uint64_t)l->high)
			put(p, l->name, n++);
	}
	return n;
}

static void put_label(struct printer *p, const char *name, unsigned before)
{
	if (before)
		out_text(p->o, ", ");
	out_quoted(p->o, name, strlen(name));
}

static void put_label_json(struct printer *p, const char *name, unsigned before)
{
	if (before)
		out_char(p->o, ',');
	out_json(p->o, name, strlen(name));
}

static inline void put_scalar(struct printer *p, const struct cvl_value *v)
{
	const struct cvl_type *t = v->type;
	char text[40];

	switch (t->kind) {
	case CVL_TYPE_INT:
		put_int(p->o, t, v->u);
		break;
	case CVL_TYPE_FLOAT:
		snprintf(text, sizeof(text), "%g", v->f);
		out_text(p->o, text);
		break;
	case CVL_TYPE_ENUM:
		out_text(p->o, "( ");
		if (!each_label(p, t, v->u, put_label))
			out_text(p->o, "<unknown>");
		out_text(p->o, " : container = ");
		put_int(p->o, t->elem, v->u);
		out_text(p->o, " )");
		break;
	default:
		out_quoted(p->o, v->s.text, v->s.len);
	}
}

static void put_scalar_json(struct printer *p, const struct cvl_value *v)
{
	const struct cvl_type *t = v->type;

	switch (t->kind) {
	case CVL_TYPE_INT:
		if (t->is_signed)
			out_i64(p->o, v->i);
		else
			out_u64(p->o, v->u);
		break;
	case CVL_TYPE_FLOAT:
		if (v->f - v->f != 0) /* JSON has neither infinity nor NaN */
			out_text(p->o, "null");
		else
			out_double(p->o, v->f);
		break;
	case CVL_TYPE_ENUM:
		out_text(p->o, "{\"value\":");
		if (t->is_signed)
			out_i64(p->o, v->i);
		else
			out_u64(p->o, v->u);
		out_text(p->o, ",\"labels\":[");
		each_label(p, t, v->u, put_label_json);
		out_text(p->o, "]}");
		break;
	default:
		out_json(p->o, v->s.text, v->s.len);
	}
}

/* ---- text ---- */

/* ", name = ", or " name = " for the first of a group. */
static void put_name(struct printer *p, const char *name, bool first)
{
	size_t at = (uintptr_t)name / 16 % FIELDS_LEADS, n;

	if (!p->cache) {
		out_text(p->o, first ? " " : ", ");
		out_text(p->o, cvl_plain_name(name));
		out_text(p->o, " = ");
		return;
	}
	if (p->cache->lead[at].name != name) {
		n = strlen(cvl_plain_name(name)) + 5;
		if (n > 32) {
			struct fields_cache *cache = p->cache;

			p->cache = NULL;
			put_name(p, name, first);
			p->cache = cache;
			return;
		}
		sprintf(p->cache->lead[at].text, ", %s = ", cvl_plain_name(name));
		p->cache->lead[at].n = n;
		p->cache->lead[at].name = name;
	}
	out_slack(p->o, p->cache->lead[at].text + first, p->cache->lead[at].n - first);
}

static inline void lead_text(struct printer *p, const char *name)
{
	uint64_t n = p->level[p->depth].n++;
	enum cvl_type_kind kind = p->level[p->depth].kind;

	if (kind == CVL_TYPE_STRUCT && name) {
		put_name(p, name, !n);
		return;
	}
	if (n)
		out_char(p->o, ',');
	out_char(p->o, ' ');
	if (kind == CVL_TYPE_ARRAY) {
		out_char(p->o, '[');
		out_u64(p->o, n);
		out_text(p->o, "] = ");
	}
}

/* The struct of a scope is a group; that of the packet context begins with its first member. */
static inline void open_packet_group(struct printer *p)
{
	if (p->packet && p->depth == 1 && !p->group_open) {
		out_text(p->o, p->groups++ ? ", {" : "{");
		p->group_open = true;
	}
}

static void push(struct printer *p, enum cvl_type_kind kind)
{
	if (p->depth + 1 < DEPTH_MAX)
		p->depth++;
	p->level[p->depth].n = 0;
	p->level[p->depth].kind = kind;
}

static enum cvl_type_kind shape(const struct cvl_type *t)
{
	return t->kind == CVL_TYPE_SEQUENCE ? CVL_TYPE_ARRAY : t->kind;
}

static void value_text(void *ctx, const char *name, const struct cvl_value *v)
{
	struct printer *p = ctx;

	open_packet_group(p);
	lead_text(p, name);
	put_scalar(p, v);
}

static void begin_text(void *ctx, const char *name, const struct cvl_type *t, uint64_t n)
{
	struct printer *p = ctx;

	(void)n;
	if (!p->depth) {
		if (!p->packet)
			out_text(p->o, p->groups++ ? ", {" : "{");
	} else {
		open_packet_group(p);
		lead_text(p, name);
		out_char(p->o, shape(t) == CVL_TYPE_ARRAY ? '[' : '{');
	}
	push(p, shape(t));
}

static void end_text(void *ctx, const struct cvl_type *t)
{
	struct printer *p = ctx;

	p->depth--;
	if (p->depth)
		out_text(p->o, shape(t) == CVL_TYPE_ARRAY ? " ]" : " }");
	else if (!p->packet || p->group_open)
		out_text(p->o, " }");
	if (p->depth || !p->packet || !p->cache)
		return;
	p->cache->packet = UINT64_MAX;
	if (p->o->n >= p->packet_from && p->o->n - p->packet_from < sizeof(p->cache->text) - OUT_SLACK) {
		p->cache->n = p->o->n - p->packet_from;
		memcpy(p->cache->text, p->o->buf + p->packet_from, p->cache->n);
		p->cache->packet = p->number;
	}
}

static bool text_scope(void *ctx, enum cvl_scope scope)
{
	struct printer *p = ctx;

	p->packet = scope == CVL_SCOPE_PACKET_CONTEXT;
	p->group_open = false;
	p->depth = 0;
	if (!p->packet || !p->cache)
		return true;
	if (p->cache->packet == p->number) {
		out_slack(p->o, p->cache->text, p->cache->n);
		p->groups += p->cache->n > 0;
		return false;
	}
	out_room(p->o, sizeof(p->cache->text)); /* all of it in the buffer, to be copied from there */
	p->packet_from = p->o->n;
	return true;
}

int fields_text(struct out *o, struct cvl_stream *stream, const struct cvl_batch *batch, size_t i,
		struct fields_cache *cache, struct cvl_error *err)
{
	struct printer p;
	const struct cvl_visitor visitor = { value_text, begin_text, end_text, text_scope, &p };

	p.o = o;
	p.depth = p.groups = 0;
	p.cache = cache;
	p.number = cvl_stream_packet(stream);
	return cvl_stream_visit(stream, batch, i, &visitor, err);
}

/* ---- JSON: all scopes flow into one object ---- */

static void lead_json(struct printer *p, const char *name)
{
	if (p->level[p->depth].n++)
		out_char(p->o, ',');
	if (p->level[p->depth].kind == CVL_TYPE_STRUCT && name) {
		name = cvl_plain_name(name);
		out_json(p->o, name, strlen(name));
		out_char(p->o, ':');
	}
}

static void value_json(void *ctx, const char *name, const struct cvl_value *v)
{
	struct printer *p = ctx;

	lead_json(p, name);
	put_scalar_json(p, v);
}

static void begin_json(void *ctx, const char *name, const struct cvl_type *t, uint64_t n)
{
	struct printer *p = ctx;

	(void)n;
	if (!p->depth) {
		p->depth = 1;
		return;
	}
	lead_json(p, name);
	/* a variant is shown as what it holds */
	if (t->kind != CVL_TYPE_VARIANT)
		out_char(p->o, shape(t) == CVL_TYPE_ARRAY ? '[' : '{');
	push(p, shape(t));
}

static void end_json(void *ctx, const struct cvl_type *t)
{
	struct printer *p = ctx;

	p->depth--;
	if (p->depth && t->kind != CVL_TYPE_VARIANT)
		out_char(p->o, shape(t) == CVL_TYPE_ARRAY ? ']' : '}');
}

static bool json_scope(void *ctx, enum cvl_scope scope)
{
	(void)scope;
	((struct printer *)ctx)->depth = 0;
	return true;
}

int fields_json(struct out *o, struct cvl_stream *stream, const struct cvl_batch *batch, size_t i,
		struct cvl_error *err)
{
	struct printer p;
	const struct cvl_visitor visitor = { value_json, begin_json, end_json, json_scope, &p };
	int rc;

	p.o = o;
	p.depth = p.groups = 0;
	p.level[1].n = 0;
	p.level[1].kind = CVL_TYPE_STRUCT;
	out_char(o, '{');
	rc = cvl_stream_visit(stream, batch, i, &visitor, err);
	out_char(o, '}');
	return rc;
}
