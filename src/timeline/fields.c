/* SPDX-License-Identifier: MIT */
#include "timeline/fields.h"

#include <stdio.h>
#include <string.h>

/* ---- names ---- */

static size_t count(const struct cvl_timeline *tl, size_t stream, const char *what, size_t most)
{
	const struct cvl_trace *trace = cvl_timeline_trace(tl, stream);
	uint64_t n = cvl_trace_ours(trace) ? cvl_trace_env_number(trace, what) : 0;

	return n < most ? (size_t)n : most;
}

size_t cvl_timeline_lines(const struct cvl_timeline *tl, size_t stream)
{
	return count(tl, stream, "lines", CVL_LINES_MAX);
}

size_t cvl_timeline_channels(const struct cvl_timeline *tl, size_t stream)
{
	return count(tl, stream, "channels", CVL_CHANNELS_MAX);
}

static const char *name_at(const struct cvl_timeline *tl, size_t stream, const char *what,
			   const char *letter, size_t i, char buf[24])
{
	const char *name = cvl_trace_env_at(cvl_timeline_trace(tl, stream), what, i);

	if (name && *name)
		return name;
	snprintf(buf, 24, "%s%zu", letter, i);
	return buf;
}

const char *cvl_timeline_line(const struct cvl_timeline *tl, size_t stream, size_t line,
			      char buf[24])
{
	return name_at(tl, stream, "line", "D", line, buf);
}

const char *cvl_timeline_channel(const struct cvl_timeline *tl, size_t stream, size_t channel,
				 char buf[24])
{
	return name_at(tl, stream, "channel", "A", channel, buf);
}

const char *cvl_record_name(const struct cvl_timeline *tl, const struct cvl_slice *sl, size_t i)
{
	const struct cvl_batch *b = sl->batch;
	const struct cvl_event_class *class =
		cvl_stream_class(cvl_timeline_stream(tl, sl->stream), b, i);

	if (class)
		return class->name;
	if (b->kind[i] == CVL_EDGE && b->flags[i] & CVL_STATE)
		return "levels";
	return cvl_kind_name((enum cvl_kind)b->kind[i]);
}

#define DEPTH_MAX 80

struct level {
	uint64_t n; /* members written */
	enum cvl_type_kind kind;
};

struct printer {
	struct cvl_out *o;
	unsigned depth;
	unsigned groups;            /* scopes written */
	bool packet;                /* in the packet context, which makes a group */
	bool group_open;            /* only once it has members */
	struct fields_cache *cache; /* of the packet's context, or NULL */
	uint64_t number;            /* of the packet */
	size_t packet_from;         /* start of its text in the output */
	struct level *level;        /* the innermost of levels, at depth */
	struct level levels[DEPTH_MAX];
};

/* ---- scalars ---- */

static void put_int(struct cvl_out *o, const struct cvl_type *t, uint64_t v)
{
	switch (t->base) {
	case 2:
		cvl_out_text(o, "0b");
		for (unsigned i = t->size; i-- > 0;)
			cvl_out_char(o, (char)('0' + (v >> i & 1)));
		return;
	case 8:
		cvl_out_char(o, '0');
		cvl_out_base(o, fields_cut(v, (t->size + 2) / 3 * 3), 8);
		return;
	case 16: cvl_out_to(o, fields_hex(cvl_out_room(o, CVL_OUT_NUMBER), t, v)); return;
	default:
		if (t->is_signed)
			cvl_out_i64(o, (int64_t)v);
		else
			cvl_out_u64(o, v);
	}
}

/* Pass each label whose range contains @v to @put. */
static unsigned each_label(struct cvl_out *o, const struct cvl_type *t, uint64_t v,
			   void (*put)(struct cvl_out *, const char *, unsigned))
{
	unsigned n = 0;

	for (uint32_t i = 0; i < t->n; i++) {
		const struct cvl_label *l = &t->label[i];

		if (t->is_signed ? (int64_t)v >= l->low && (int64_t)v <= l->high :
				   v >= (uint64_t)l->low && v <= (uint64_t)l->high)
			put(o, l->name, n++);
	}
	return n;
}

static void put_label(struct cvl_out *o, const char *name, unsigned before)
{
	if (before)
		cvl_out_text(o, ", ");
	cvl_out_quoted(o, name, strlen(name));
}

static void put_label_json(struct cvl_out *o, const char *name, unsigned before)
{
	if (before)
		cvl_out_char(o, ',');
	cvl_out_json(o, name, strlen(name));
}

/* The same of each label of a bit that is set. */
static unsigned each_flag(struct cvl_out *o, const struct cvl_type *t, uint64_t v,
			  void (*put)(struct cvl_out *, const char *, unsigned))
{
	const char *last = NULL; /* of several ranges of one flag one is enough */
	unsigned n = 0;

	for (uint32_t i = 0; i < t->n; i++) {
		const struct cvl_label *l = &t->label[i];

		if (!(v >> l->low << l->low & UINT64_MAX >> (63 - l->high)) || l->name == last)
			continue;
		put(o, l->name, n++);
		last = l->name;
	}
	return n;
}

static void put_flags(struct cvl_out *o, const struct cvl_type *t, uint64_t v)
{
	const size_t before = o->n;

	cvl_out_text(o, " { ");
	if (each_flag(o, t, v, put_label))
		cvl_out_text(o, " }");
	else
		o->n = before;
}

void cvl_value_text(struct cvl_out *o, const struct cvl_value *v)
{
	const struct cvl_type *t = v->type;
	char text[40];

	switch (t->kind) {
	case CVL_TYPE_INT:
		if (t->boolean)
			cvl_out_text(o, v->u ? "true" : "false");
		else
			put_int(o, t, v->u);
		if (t->flags)
			put_flags(o, t, v->u);
		break;
	case CVL_TYPE_FLOAT:
		snprintf(text, sizeof(text), "%g", v->f);
		cvl_out_text(o, text);
		break;
	case CVL_TYPE_ENUM:
		cvl_out_text(o, "( ");
		if (!each_label(o, t, v->u, put_label))
			cvl_out_text(o, "<unknown>");
		cvl_out_text(o, " : container = ");
		put_int(o, t->elem, v->u);
		cvl_out_text(o, " )");
		break;
	default: cvl_out_quoted(o, v->s.text, v->s.len);
	}
}

void cvl_value_json(struct cvl_out *o, const struct cvl_value *v)
{
	const struct cvl_type *t = v->type;

	switch (t->kind) {
	case CVL_TYPE_INT:
		if (t->flags) {
			cvl_out_text(o, "{\"value\":");
			cvl_out_u64(o, v->u);
			cvl_out_text(o, ",\"labels\":[");
			each_flag(o, t, v->u, put_label_json);
			cvl_out_text(o, "]}");
		} else if (t->boolean) {
			cvl_out_text(o, v->u ? "true" : "false");
		} else if (t->is_signed) {
			cvl_out_i64(o, v->i);
		} else {
			cvl_out_u64(o, v->u);
		}
		break;
	case CVL_TYPE_FLOAT:
		if (v->f - v->f != 0) /* JSON has neither infinity nor NaN */
			cvl_out_text(o, "null");
		else
			cvl_out_double(o, v->f);
		break;
	case CVL_TYPE_ENUM:
		cvl_out_text(o, "{\"value\":");
		if (t->is_signed)
			cvl_out_i64(o, v->i);
		else
			cvl_out_u64(o, v->u);
		cvl_out_text(o, ",\"labels\":[");
		each_label(o, t, v->u, put_label_json);
		cvl_out_text(o, "]}");
		break;
	default: cvl_out_json(o, v->s.text, v->s.len);
	}
}

/* ---- text ---- */

/* Text before a value: ", name = " in a struct. */
static void prefix_text(struct printer *p, const char *name)
{
	uint64_t before = p->level->n++;
	char *w = cvl_out_room(p->o, 8 + CVL_OUT_NUMBER);

	*w = ',';
	w += before > 0;
	*w++ = ' ';
	if (p->level->kind == CVL_TYPE_ARRAY) {
		*w++ = '[';
		w = cvl_text_u64(w, before);
		memcpy(w, "] = ", 4);
		w += 4;
	}
	cvl_out_to(p->o, w);
	if (p->level->kind == CVL_TYPE_STRUCT && name) {
		cvl_out_text(p->o, cvl_plain_name(name));
		cvl_out_text(p->o, " = ");
	}
}

/* A scope's group, or the first of them. */
static inline void open_group(struct printer *p)
{
	if (p->groups++)
		cvl_out_text(p->o, ", {");
	else
		cvl_out_text(p->o, "{");
}

/* The struct of a scope is a group; that of the packet context begins with its first member. */
static inline void open_packet_group(struct printer *p)
{
	if (p->packet && p->depth == 1 && !p->group_open) {
		open_group(p);
		p->group_open = true;
	}
}

static void push(struct printer *p, enum cvl_type_kind kind)
{
	if (p->depth + 1 < DEPTH_MAX)
		p->depth++;
	p->level = &p->levels[p->depth];
	*p->level = (struct level){ 0, kind };
}

static enum cvl_type_kind shape(const struct cvl_type *t)
{
	return t->kind == CVL_TYPE_SEQUENCE ? CVL_TYPE_ARRAY : t->kind;
}

static void pop(struct printer *p)
{
	p->level = &p->levels[--p->depth];
}

static void value_text(void *ctx, const char *name, const struct cvl_value *v)
{
	struct printer *p = ctx;

	open_packet_group(p);
	prefix_text(p, name);
	cvl_value_text(p->o, v);
}

static void begin_text(void *ctx, const char *name, const struct cvl_type *t, uint64_t n)
{
	struct printer *p = ctx;

	(void)n;
	if (!p->depth) {
		if (!p->packet)
			open_group(p);
	} else {
		open_packet_group(p);
		prefix_text(p, name);
		cvl_out_char(p->o, shape(t) == CVL_TYPE_ARRAY ? '[' : '{');
	}
	push(p, shape(t));
}

/* The context of the packet was written. */
static void keep_packet(struct printer *p)
{
	struct fields_cache *c = p->cache;

	if (!c)
		return;
	c->packet = UINT64_MAX;
	if (p->o->n >= p->packet_from &&
	    p->o->n - p->packet_from < sizeof(c->text) - CVL_OUT_SLACK) {
		c->n = p->o->n - p->packet_from;
		memcpy(c->text, p->o->buf + p->packet_from, c->n);
		c->packet = p->number;
	}
}

/* It is about to be: all of it in the buffer, to be copied from there. */
static void begin_packet(struct printer *p)
{
	if (p->cache)
		cvl_out_room(p->o, sizeof(p->cache->text));
	p->packet_from = p->o->n;
}

static void end_text(void *ctx, const struct cvl_type *t)
{
	struct printer *p = ctx;

	pop(p);
	if (p->depth && shape(t) == CVL_TYPE_ARRAY)
		cvl_out_text(p->o, " ]");
	else if (p->depth || !p->packet || p->group_open)
		cvl_out_text(p->o, " }");
	if (!p->depth && p->packet)
		keep_packet(p);
}

static bool text_scope(void *ctx, enum cvl_scope scope)
{
	struct printer *p = ctx;

	p->packet = scope == CVL_SCOPE_PACKET_CONTEXT;
	p->group_open = false;
	p->depth = 0;
	if (p->packet)
		begin_packet(p);
	return true;
}

static void optional_text(void *ctx, const char *name, const struct cvl_type *t, bool there)
{
	struct printer *p = ctx;

	(void)t;
	if (there)
		return;
	open_packet_group(p);
	prefix_text(p, name);
	cvl_out_text(p->o, "<none>");
}

static int visit_text(struct cvl_out *o, struct cvl_stream *stream, const struct cvl_batch *batch,
		      size_t i, struct fields_cache *cache, struct cvl_error *err)
{
	struct printer p;
	const struct cvl_visitor visitor = { value_text, begin_text, end_text,
					     text_scope, &p,         optional_text };

	p.o = o;
	p.depth = p.groups = 0;
	p.cache = cache;
	p.number = cvl_batch_packet(batch);
	return cvl_stream_visit(stream, batch, i, &visitor, err);
}

int cvl_fields_text(struct cvl_out *o, struct cvl_stream *stream, const struct cvl_batch *batch,
		    size_t i, struct cvl_error *err)
{
	return visit_text(o, stream, batch, i, NULL, err);
}

/* ---- JSON: all scopes in one object ---- */

static void prefix_json(struct printer *p, const char *name)
{
	if (p->level->n++)
		cvl_out_char(p->o, ',');
	if (p->level->kind == CVL_TYPE_STRUCT && name) {
		name = cvl_plain_name(name);
		cvl_out_json(p->o, name, strlen(name));
		cvl_out_char(p->o, ':');
	}
}

static void value_json(void *ctx, const char *name, const struct cvl_value *v)
{
	struct printer *p = ctx;

	prefix_json(p, name);
	cvl_value_json(p->o, v);
}

static void begin_json(void *ctx, const char *name, const struct cvl_type *t, uint64_t n)
{
	struct printer *p = ctx;

	(void)n;
	if (!p->depth) {
		p->depth = 1;
		p->level = &p->levels[1];
		return;
	}
	prefix_json(p, name);
	/* a variant is shown as what it holds */
	if (t->kind != CVL_TYPE_VARIANT)
		cvl_out_char(p->o, shape(t) == CVL_TYPE_ARRAY ? '[' : '{');
	push(p, shape(t));
}

static void end_json(void *ctx, const struct cvl_type *t)
{
	struct printer *p = ctx;

	pop(p);
	if (p->depth && t->kind != CVL_TYPE_VARIANT)
		cvl_out_char(p->o, shape(t) == CVL_TYPE_ARRAY ? ']' : '}');
	if (!p->depth && p->packet)
		keep_packet(p);
}

static bool json_scope(void *ctx, enum cvl_scope scope)
{
	struct printer *p = ctx;

	p->packet = scope == CVL_SCOPE_PACKET_CONTEXT;
	p->depth = 0;
	if (p->packet)
		begin_packet(p);
	return true;
}

static void optional_json(void *ctx, const char *name, const struct cvl_type *t, bool there)
{
	struct printer *p = ctx;

	(void)t;
	if (there)
		return;
	prefix_json(p, name);
	cvl_out_text(p->o, "null");
}

static int visit_json(struct cvl_out *o, struct cvl_stream *stream, const struct cvl_batch *batch,
		      size_t i, struct fields_cache *cache, struct cvl_error *err)
{
	struct printer p;
	const struct cvl_visitor visitor = { value_json, begin_json, end_json,
					     json_scope, &p,         optional_json };

	p.o = o;
	p.depth = p.groups = 0;
	p.cache = cache;
	p.number = cvl_batch_packet(batch);
	p.levels[1] = (struct level){ 0, CVL_TYPE_STRUCT };
	return cvl_stream_visit(stream, batch, i, &visitor, err);
}

int cvl_fields_json(struct cvl_out *o, struct cvl_stream *stream, const struct cvl_batch *batch,
		    size_t i, struct cvl_error *err)
{
	int rc;

	cvl_out_char(o, '{');
	rc = visit_json(o, stream, batch, i, NULL, err);
	cvl_out_char(o, '}');
	return rc;
}

/* ---- many events ---- */

int fields_put(struct cvl_out *o, bool json, struct cvl_stream *stream,
	       const struct cvl_batch *batch, size_t i, struct fields_cache *cache,
	       const struct fields_template *template, struct cvl_error *err)
{
	const uint64_t packet = cvl_batch_packet(batch);
	int rc;

	if (json)
		cvl_out_char(o, '{');
	if (template && cache->packet == packet && cache->json == json) {
		cvl_out_slack(o, cache->text, cache->n);
		rc = template_put(template, !cache->n, o, stream, batch, i, err);
	} else {
		/* for streams whose packets have no context */
		cache->packet = packet;
		cache->json = json;
		cache->n = 0;
		rc = json ? visit_json(o, stream, batch, i, cache, err) :
			    visit_text(o, stream, batch, i, cache, err);
	}
	if (json)
		cvl_out_char(o, '}');
	return rc;
}

/* ---- one field ---- */

struct search {
	const char *name;
	struct cvl_value *value;
	unsigned depth, found; /* at this depth */
};

static void search_value(void *ctx, const char *name, const struct cvl_value *v)
{
	struct search *s = ctx;

	if (name && s->depth < s->found && !strcmp(cvl_plain_name(name), s->name)) {
		*s->value = *v;
		s->found = s->depth;
	}
}

static void search_begin(void *ctx, const char *name, const struct cvl_type *t, uint64_t n)
{
	(void)name, (void)t, (void)n;
	((struct search *)ctx)->depth++;
}

static void search_end(void *ctx, const struct cvl_type *t)
{
	(void)t;
	((struct search *)ctx)->depth--;
}

bool cvl_field(const struct cvl_timeline *tl, const struct cvl_slice *slice, size_t i,
	       const char *name, struct cvl_value *value)
{
	struct search s = { name, value, 0, UINT32_MAX };
	const struct cvl_visitor visitor = {
		search_value, search_begin, search_end, NULL, &s, NULL
	};

	return !cvl_stream_visit(cvl_timeline_stream(tl, slice->stream), slice->batch, i, &visitor,
				 NULL) &&
	       s.found != UINT32_MAX;
}
