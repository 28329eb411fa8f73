/* SPDX-License-Identifier: MIT */
/* Events: all of them with their fields as JSON, or those of one name with a column for each field. */
#include "table/internal.h"

#include <stdlib.h>
#include <string.h>

#include "core/out_keep.h"

enum { EVENT_STREAM = RECORD_COLUMNS, EVENT_SEQ, EVENT_COMMON };

#define EVENT_NAME EVENT_COMMON
#define EVENT_FIELDS (EVENT_COMMON + 1)
#define FIELDS_MAX 200
#define NAME_MAX 120

#define COMMON                                                                         \
	RECORD_COLUMN_LIST, [EVENT_STREAM] = { "stream", CVL_COLUMN_NAME, false, "" }, \
			    [EVENT_SEQ] = { "seq", CVL_COLUMN_INT, false,              \
					    "number of the row among those of its stream" }

static const struct cvl_column common[] = { COMMON };

static const struct cvl_column event_columns[] = {
	COMMON,
	[EVENT_NAME] = { "event", CVL_COLUMN_NAME, false, "" },
	[EVENT_FIELDS] = { "fields", CVL_COLUMN_TEXT, false, "JSON" },
};

/* What both have of record @i, at the end of the table. */
static void put_common(struct cvl_table *t, struct table_stream *s, const struct cvl_slice *sl,
		       size_t i)
{
	table_put_record(t, s, sl, i);
	table_codes(t, EVENT_STREAM)[t->n] = s->stream;
	table_ints(t, EVENT_SEQ)[t->n] = s->seq++;
}

static const char *text_of(struct cvl_out *o, size_t *n)
{
	cvl_out_drain(o);
	*n = o->n_kept;
	return o->kept ? o->kept : "";
}

static int events_open(struct cvl_table *t, struct cvl_error *err)
{
	struct cvl_out *o = malloc(sizeof(*o));

	if (!o)
		return cvl_no_memory(err);
	out_keep(o, false);
	t->own = o;
	return 0;
}

static void events_free(struct cvl_table *t)
{
	struct cvl_out *o = t->own;

	free(o->kept);
	free(o);
}

static int events_slice(struct cvl_table *t, const struct cvl_slice *sl, struct cvl_error *err)
{
	struct cvl_stream *stream = cvl_timeline_stream(t->tl, sl->stream);
	struct table_stream *s = table_stream(t, sl, err);
	const struct cvl_batch *b = sl->batch;
	struct cvl_out *o = t->own;

	if (!s || table_room(t, sl->end - sl->begin, err))
		return CVL_E_NOMEM;
	for (size_t i = sl->begin; i < sl->end; i++) {
		const char *text;
		size_t n;
		int rc;

		if (b->kind[i] != CVL_EVENT || b->cls[i] >= s->n)
			continue;
		put_common(t, s, sl, i);
		table_codes(t, EVENT_NAME)[t->n] = s->name[b->cls[i]];
		o->n_kept = o->n = 0;
		rc = table_wants(t, EVENT_FIELDS) ? cvl_fields_json(o, stream, b, i, err) : 0;
		if (rc)
			return rc;
		text = text_of(o, &n);
		rc = table_text(t, EVENT_FIELDS, text, n, err);
		if (rc)
			return rc;
		t->n++;
	}
	return 0;
}

const struct table_kind table_events = {
	.name = "events",
	.what = "events, with their fields as JSON",
	.column = event_columns,
	.n_columns = sizeof(event_columns) / sizeof(*event_columns),
	.kinds = 1u << CVL_EVENT,
	.open = events_open,
	.slice = events_slice,
	.free = events_free,
};

/* ---- of one name ---- */

/* A field of the event, which may be of several classes: of several streams, or of traces that differ. */
struct field {
	char name[NAME_MAX], what[NAME_MAX];
	bool set; /* in the row that is being filled */
};

struct event {
	struct cvl_out json; /* of what has no type of its own */
	struct field field[FIELDS_MAX];
	size_t n;
	/* of the record at hand */
	struct cvl_table *t;
	enum cvl_scope scope;
	unsigned depth; /* of structures; 1: the members of the scope itself */
	size_t into;    /* column of the structure that is being written as JSON */
	bool comma[64];
	int rc;
	struct cvl_error *err;
};

/* A field's column: contexts are told apart by ctx_, and names that every event has by payload_. */
static void field_name(char out[NAME_MAX], enum cvl_scope scope, const char *name)
{
	const char *prefix = "";

	name = cvl_plain_name(name);
	if (scope == CVL_SCOPE_PACKET_CONTEXT || scope == CVL_SCOPE_STREAM_CONTEXT ||
	    scope == CVL_SCOPE_EVENT_CONTEXT || scope == CVL_SCOPE_PACKET_HEADER)
		prefix = "ctx_";
	for (size_t c = 0; c < EVENT_COMMON && !*prefix; c++)
		if (!strcmp(common[c].name, name))
			prefix = "payload_";
	snprintf(out, NAME_MAX, "%s%.100s", prefix, name);
}

static bool is_list(const struct cvl_type *type)
{
	return type->kind == CVL_TYPE_ARRAY || type->kind == CVL_TYPE_SEQUENCE;
}

/* A list of octets in hexadecimal. */
static bool is_bytes(const struct cvl_type *type)
{
	return is_list(type) && type->elem->kind == CVL_TYPE_INT && type->elem->size == 8 &&
	       type->elem->base == 16 && !type->elem->is_signed && !type->elem->text;
}

static enum cvl_column_type type_of(const struct cvl_type *type)
{
	if (is_bytes(type))
		return CVL_COLUMN_BYTES;
	switch (type->kind) {
	case CVL_TYPE_INT:
		return type->boolean   ? CVL_COLUMN_BOOL :
		       type->flags     ? CVL_COLUMN_TEXT :
		       type->is_signed ? CVL_COLUMN_INT :
					 CVL_COLUMN_UINT;
	case CVL_TYPE_OPTIONAL: return type_of(type->elem);
	case CVL_TYPE_FLOAT: return CVL_COLUMN_DOUBLE;
	case CVL_TYPE_ENUM: return CVL_COLUMN_NAME;
	default: return CVL_COLUMN_TEXT;
	}
}

/* A field of type @type has a column; if others of that name are of another type it becomes text. */
static int add_field(struct cvl_table *t, enum cvl_scope scope, const struct cvl_member *m,
		     struct cvl_error *err)
{
	struct event *e = t->own;
	char name[NAME_MAX];
	size_t k = 0;

	field_name(name, scope, m->name);
	while (k < e->n && strcmp(e->field[k].name, name) != 0)
		k++;
	if (k < e->n) {
		if (t->made[EVENT_COMMON + k].type != type_of(m->type))
			t->made[EVENT_COMMON + k].type = CVL_COLUMN_TEXT;
		return 0;
	}
	if (k == FIELDS_MAX)
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: more than %d fields", t->name,
				FIELDS_MAX);
	memcpy(e->field[k].name, name, sizeof(name));
	t->made[EVENT_COMMON + k] =
		(struct cvl_column){ e->field[k].name, type_of(m->type), true, "" };
	e->n++;
	return 0;
}

/* The columns are those of all classes of that name. */
static int event_open(struct cvl_table *t, struct cvl_error *err)
{
	const char *name = t->name + strlen(t->kind->name);
	struct event *e = calloc(1, sizeof(*e));
	bool found = false;
	int rc = 0;

	t->own = e;
	t->made = calloc(EVENT_COMMON + FIELDS_MAX, sizeof(*t->made));
	if (!e || !t->made)
		return cvl_no_memory(err);
	out_keep(&e->json, false);
	e->t = t;
	memcpy(t->made, common, sizeof(common));
	for (size_t i = 0; i < cvl_timeline_streams(t->tl); i++) {
		const struct cvl_trace *trace = cvl_timeline_trace(t->tl, i);

		for (size_t k = 0; k < cvl_trace_events(trace); k++) {
			const struct cvl_event_class *c = cvl_trace_event(trace, k);

			if (c->kind != CVL_EVENT || strcmp(c->name, name) != 0)
				continue;
			found = true;
			for (unsigned s = 0; s < CVL_SCOPES && !rc; s++)
				for (uint32_t m = 0; c->type[s] && m < c->type[s]->n && !rc; m++)
					if (s != CVL_SCOPE_EVENT_HEADER &&
					    cvl_trace_shows(trace, (enum cvl_scope)s,
							    c->type[s]->member[m].name,
							    c->type[s]->member[m].type))
						rc = add_field(t, (enum cvl_scope)s,
							       &c->type[s]->member[m], err);
		}
	}
	t->column = t->made;
	t->n_columns = EVENT_COMMON + e->n;
	if (!rc && !found)
		rc = cvl_fail(err, CVL_E_UNKNOWN_ID, CVL_NO_OFFSET, "%s: no event '%s'",
			      cvl_session_path(t->session), name);
	return rc;
}

static void event_free(struct cvl_table *t)
{
	struct event *e = t->own;

	free(e->json.kept);
	free(e);
}

/* Column of member @name of the scope at hand, or 0. */
static size_t column_of(const struct event *e, const char *name)
{
	char full[NAME_MAX];

	field_name(full, e->scope, name ? name : "");
	for (size_t k = 0; k < e->n; k++)
		if (!strcmp(e->field[k].name, full))
			return EVENT_COMMON + k;
	return 0;
}

static int32_t name_of(struct event *e, size_t c, const struct cvl_value *v)
{
	char number[24];

	for (uint32_t i = 0; i < v->type->n; i++) {
		const struct cvl_label *l = &v->type->label[i];

		if (v->type->elem->is_signed ?
			    v->i >= l->low && v->i <= l->high :
			    v->u >= (uint64_t)l->low && v->u <= (uint64_t)l->high)
			return table_name(e->t, c, l->name);
	}
	snprintf(number, sizeof(number), v->type->elem->is_signed ? "%lld" : "%llu",
		 (long long)v->i);
	return table_name(e->t, c, number);
}

/* A member of the event itself, in its own column @c. */
static void put_value(struct event *e, size_t c, const struct cvl_value *v)
{
	struct cvl_table *t = e->t;
	const char *text;
	size_t n;

	e->field[c - EVENT_COMMON].set = true;
	switch (t->column[c].type) {
	case CVL_COLUMN_INT: table_ints(t, c)[t->n] = v->i; return;
	case CVL_COLUMN_UINT: table_uints(t, c)[t->n] = v->u; return;
	case CVL_COLUMN_DOUBLE: table_doubles(t, c)[t->n] = v->f; return;
	case CVL_COLUMN_BOOL: table_bools(t, c)[t->n] = v->u != 0; return;
	case CVL_COLUMN_NAME:
		table_codes(t, c)[t->n] = name_of(e, c, v);
		if (table_codes(t, c)[t->n] < 0)
			e->rc = cvl_no_memory(e->err);
		return;
	default: break;
	}
	if (v->type->kind > CVL_TYPE_ENUM) {
		e->rc = table_text(t, c, v->s.text, v->s.len, e->err);
		return;
	}
	e->json.n_kept = e->json.n = 0;
	cvl_value_text(&e->json, v);
	text = text_of(&e->json, &n);
	e->rc = table_text(t, c, text, n, e->err);
}

static void json_key(struct event *e, const char *name)
{
	const unsigned at = e->depth < 63 ? e->depth : 63;

	if (e->comma[at])
		cvl_out_char(&e->json, ',');
	e->comma[at] = true;
	if (name) {
		name = cvl_plain_name(name);
		cvl_out_json(&e->json, name, strlen(name));
		cvl_out_char(&e->json, ':');
	}
}

static void on_value(void *ctx, const char *name, const struct cvl_value *v)
{
	struct event *e = ctx;
	size_t c;

	if (e->rc || (e->depth > 1 && !e->into))
		return;
	if (e->into && e->t->column[e->into].type == CVL_COLUMN_BYTES) {
		cvl_out_char(&e->json, (char)v->u);
		return;
	}
	if (e->into) {
		json_key(e, name);
		cvl_value_json(&e->json, v);
		return;
	}
	c = column_of(e, name);
	if (c && !e->field[c - EVENT_COMMON].set)
		put_value(e, c, v);
}

static void on_begin(void *ctx, const char *name, const struct cvl_type *type, uint64_t n)
{
	struct event *e = ctx;

	(void)n;
	if (!e->depth++)
		return;
	if (e->into)
		json_key(e, name);
	if (!e->into) {
		e->into = column_of(e, name);
		e->json.n_kept = e->json.n = 0;
	}
	e->comma[e->depth < 63 ? e->depth : 63] = false;
	if (!e->into || e->t->column[e->into].type != CVL_COLUMN_BYTES)
		cvl_out_char(&e->json, is_list(type) ? '[' : '{');
}

static void on_end(void *ctx, const struct cvl_type *type)
{
	struct event *e = ctx;
	const char *text;
	size_t n;

	e->depth--;
	if (!e->depth || !e->into)
		return;
	if (e->t->column[e->into].type != CVL_COLUMN_BYTES)
		cvl_out_char(&e->json, is_list(type) ? ']' : '}');
	if (e->depth > 1)
		return;
	text = text_of(&e->json, &n);
	if (!e->rc && !e->field[e->into - EVENT_COMMON].set)
		e->rc = table_text(e->t, e->into, text, n, e->err);
	e->field[e->into - EVENT_COMMON].set = true;
	e->into = 0;
}

static bool on_scope(void *ctx, enum cvl_scope scope)
{
	struct event *e = ctx;

	e->scope = scope;
	e->depth = 0;
	e->into = 0;
	return true;
}

/* What the event of the row does not have is NULL. */
static int put_rest(struct cvl_table *t, struct event *e, struct cvl_error *err)
{
	int rc = 0;

	for (size_t k = 0; k < e->n && !rc; k++) {
		const size_t c = EVENT_COMMON + k;

		if (e->field[k].set)
			continue;
		rc = t->column[c].type == CVL_COLUMN_TEXT || t->column[c].type == CVL_COLUMN_BYTES ?
			     table_text(t, c, NULL, 0, err) :
			     table_null(t, c, err);
	}
	return rc;
}

static int event_slice(struct cvl_table *t, const struct cvl_slice *sl, struct cvl_error *err)
{
	struct cvl_stream *stream = cvl_timeline_stream(t->tl, sl->stream);
	struct table_stream *s = table_stream(t, sl, err);
	const struct cvl_batch *b = sl->batch;
	struct event *e = t->own;
	const struct cvl_visitor visitor = { on_value, on_begin, on_end, on_scope, e, NULL };

	if (!s || table_room(t, sl->end - sl->begin, err))
		return CVL_E_NOMEM;
	e->err = err;
	for (size_t i = sl->begin; i < sl->end; i++) {
		int rc;

		if (b->kind[i] != CVL_EVENT || b->cls[i] >= s->n || !s->classes[b->cls[i]])
			continue;
		put_common(t, s, sl, i);
		for (size_t k = 0; k < e->n; k++)
			e->field[k].set = false;
		e->rc = 0;
		e->depth = 0;
		rc = cvl_stream_visit(stream, b, i, &visitor, err);
		rc = rc ? rc : e->rc;
		rc = rc ? rc : put_rest(t, e, err);
		if (rc)
			return rc;
		t->n++;
	}
	return 0;
}

const struct table_kind table_event = {
	.name = "event_",
	.what = "events of that name, with a column for each field",
	.event = true,
	.marked = EVENT_COMMON,
	.kinds = 1u << CVL_EVENT,
	.open = event_open,
	.slice = event_slice,
	.free = event_free,
};
