/* SPDX-License-Identifier: MIT */
#include "store/ctf/ctf2_put.h"

#include <inttypes.h>
#include <string.h>

#include "store/ctf/ctf2.h"

/* A struct whose members are being written: those before the @n-th are visible. */
struct frame {
	const struct frame *up;
	const struct cvl_type *type;
	uint32_t n;
};

struct put {
	struct cvl_out *o;
	const struct cvl_trace *trace;
	enum cvl_scope scope;
	const struct cvl_type *root[CVL_SCOPES]; /* of the visible scopes */
};

static void put_type(struct put *p, const struct frame *in, const char *name,
		     const struct cvl_type *t);

static void put_text(struct cvl_out *o, const char *text)
{
	cvl_out_json(o, text, strlen(text));
}

static void put_pair(struct cvl_out *o, const char *key, const char *value)
{
	cvl_out_char(o, ',');
	put_text(o, key);
	cvl_out_char(o, ':');
	put_text(o, value);
}

/*
 * The name of member @name of @t: without the underscore that is TSDL's. Where another is called so then, that one,
 * whose name told what readers use it for, is called otherwise.
 */
static void put_name(struct cvl_out *o, const struct cvl_type *t, const char *name)
{
	char text[300] = "own_";

	for (uint32_t i = 0; *name != '_' && i < t->n; i++)
		if (*t->member[i].name == '_' && !strcmp(t->member[i].name + 1, name)) {
			strncat(text, name, sizeof(text) - sizeof("own_"));
			name = text;
			break;
		}
	put_text(o, cvl_plain_name(name));
}

/* ---- references ---- */

static const struct cvl_member *member_named(const struct cvl_type *t, uint32_t n, const char *path)
{
	const size_t len = strcspn(path, ".");

	for (uint32_t i = 0; t && i < n; i++)
		if (strlen(t->member[i].name) == len && !memcmp(t->member[i].name, path, len))
			return &t->member[i];
	return NULL;
}

/* The names of @path from struct @t on, of which the options of variants are none in CTF 2. */
static void put_names(struct put *p, const struct cvl_type *t, const char *path, bool comma)
{
	while (*path && t && t->member) {
		const struct cvl_member *m = member_named(t, t->n, path);

		if (!m)
			return;
		if (t->kind == CVL_TYPE_STRUCT) {
			if (comma)
				cvl_out_char(p->o, ',');
			put_name(p->o, t, m->name);
			comma = true;
		}
		t = m->type;
		path += strcspn(path, ".");
		path += *path == '.';
	}
}

static void put_origin(struct put *p, int scope, const char *path)
{
	cvl_out_text(p->o, "\"origin\":");
	put_text(p->o, ctf2_origins[scope]);
	cvl_out_text(p->o, ",\"path\":[");
	put_names(p, p->root[scope], path, false);
	cvl_out_text(p->o, "]}");
}

static const char *const absolute[] = {
	[CVL_SCOPE_PACKET_HEADER] = "trace.packet.header.",
	[CVL_SCOPE_PACKET_CONTEXT] = "stream.packet.context.",
	[CVL_SCOPE_EVENT_HEADER] = "stream.event.header.",
	[CVL_SCOPE_STREAM_CONTEXT] = "stream.event.context.",
	[CVL_SCOPE_EVENT_CONTEXT] = "event.context.",
	[CVL_SCOPE_FIELDS] = "event.fields.",
};

/* The field that @path of TSDL means, seen from @in. */
static void put_location(struct put *p, const struct frame *in, const char *key, const char *path)
{
	unsigned up = 0;

	cvl_out_printf(p->o, ",\"%s\":{", key);
	for (int s = 0; s < CVL_SCOPES; s++)
		if (!strncmp(path, absolute[s], strlen(absolute[s]))) {
			put_origin(p, s, path + strlen(absolute[s]));
			return;
		}
	for (; in; in = in->up, up++) {
		if (!member_named(in->type, in->n, path))
			continue;
		cvl_out_text(p->o, "\"path\":[");
		for (unsigned i = 0; i < up; i++)
			cvl_out_text(p->o, i ? ",null" : "null");
		put_names(p, in->type, path, up > 0);
		cvl_out_text(p->o, "]}");
		return;
	}
	for (int s = (int)p->scope - 1; s >= 0; s--)
		if (p->root[s] && member_named(p->root[s], p->root[s]->n, path)) {
			put_origin(p, s, path);
			return;
		}
	cvl_out_char(p->o, '}');
}

/* ---- numbers ---- */

static void put_roles(struct put *p, const char *name, const struct cvl_type *t)
{
	static const struct {
		enum op_role role;
		const char *name;
	} roles[] = {
		{ ROLE_MAGIC, "packet-magic-number" },
		{ ROLE_STREAM_ID, "data-stream-class-id" },
		{ ROLE_PACKET_SIZE, "packet-total-length" },
		{ ROLE_CONTENT_SIZE, "packet-content-length" },
		{ ROLE_BEGIN, "default-clock-timestamp" },
		{ ROLE_PACKET_END, "packet-end-default-clock-timestamp" },
		{ ROLE_DISCARDED, "discarded-event-record-counter-snapshot" },
		{ ROLE_SEQUENCE, "packet-sequence-number" },
		{ ROLE_EVENT_ID, "event-record-class-id" },
	};
	const uint32_t its = layout_roles(p->trace, p->scope, name, t);
	const struct cvl_type *number = t->kind == CVL_TYPE_ENUM ? t->elem : t;

	if (p->scope == CVL_SCOPE_EVENT_HEADER && number->clock >= 0)
		cvl_out_text(p->o, ",\"roles\":[\"default-clock-timestamp\"]");
	for (size_t i = 0; i < sizeof(roles) / sizeof(*roles); i++)
		if (its >> roles[i].role & 1)
			cvl_out_printf(p->o, ",\"roles\":[\"%s\"]", roles[i].name);
}

static void put_bound(struct cvl_out *o, bool is_signed, int64_t v)
{
	if (is_signed)
		cvl_out_i64(o, v);
	else
		cvl_out_u64(o, (uint64_t)v);
}

/* The ranges of the labels of @t called @name, or of such an option of a variant. */
static void put_ranges(struct put *p, const struct cvl_type *t, const char *name, bool option)
{
	const char *sep = "[";

	for (uint32_t i = 0; t && i < t->n; i++) {
		const struct cvl_label *l = &t->label[i];

		if (strcmp(name, l->name) != 0 &&
		    (!option || strcmp(cvl_plain_name(name), l->name) != 0))
			continue;
		cvl_out_printf(p->o, "%s[", sep);
		put_bound(p->o, t->is_signed, l->low);
		cvl_out_char(p->o, ',');
		put_bound(p->o, t->is_signed, l->high);
		cvl_out_char(p->o, ']');
		sep = ",";
	}
	cvl_out_text(p->o, *sep == '[' ? "[]" : "]");
}

/* Labels of one name are one. */
static void put_mappings(struct put *p, const struct cvl_type *t)
{
	const char *before = "{";

	cvl_out_text(p->o, ",\"mappings\":");
	for (uint32_t i = 0; i < t->n; i++) {
		uint32_t first = 0;

		while (strcmp(t->label[first].name, t->label[i].name) != 0)
			first++;
		if (first < i)
			continue;
		cvl_out_text(p->o, before);
		before = ",";
		put_text(p->o, t->label[i].name);
		cvl_out_char(p->o, ':');
		put_ranges(p, t, t->label[i].name, false);
	}
	cvl_out_text(p->o, *before == '{' ? "{}" : "}");
}

static void put_number(struct put *p, const char *name, const struct cvl_type *t)
{
	const char *kind = t->kind == CVL_TYPE_FLOAT ? "floating-point-number" :
			   t->is_signed              ? "signed-integer" :
						       "unsigned-integer";

	cvl_out_printf(p->o,
		       "{\"type\":\"fixed-length-%s\",\"length\":%u,\"byte-order\":\"%s-endian\"",
		       kind, t->size, t->big_endian ? "big" : "little");
	if (t->align > 1)
		cvl_out_printf(p->o, ",\"alignment\":%u", t->align);
	if (t->kind != CVL_TYPE_FLOAT) {
		const unsigned base = t->kind == CVL_TYPE_ENUM ? t->elem->base : t->base;

		if (base != 10)
			cvl_out_printf(p->o, ",\"preferred-display-base\":%u", base);
		put_roles(p, name, t);
	}
	if (t->kind == CVL_TYPE_ENUM)
		put_mappings(p, t);
	cvl_out_char(p->o, '}');
}

/* ---- what consists of others ---- */

static void put_struct(struct put *p, const struct frame *up, const struct cvl_type *t)
{
	struct frame in = { up, t, 0 };

	cvl_out_text(p->o, "{\"type\":\"structure\",\"member-classes\":[");
	for (; in.n < t->n; in.n++) {
		const struct cvl_member *m = &t->member[in.n];

		cvl_out_text(p->o, in.n ? ",{\"name\":" : "{\"name\":");
		put_name(p->o, t, m->name);
		cvl_out_text(p->o, ",\"field-class\":");
		put_type(p, &in, m->name, m->type);
		cvl_out_char(p->o, '}');
	}
	cvl_out_char(p->o, ']');
	if (t->align > 1)
		cvl_out_printf(p->o, ",\"minimum-alignment\":%u", t->align);
	cvl_out_char(p->o, '}');
}

/* The struct that @path begins in, seen from @in, and the rest of the path; NULL: there is none. */
static const struct cvl_type *path_root(const struct put *p, const struct frame *in,
					const char **path)
{
	for (int s = 0; s < CVL_SCOPES; s++)
		if (!strncmp(*path, absolute[s], strlen(absolute[s]))) {
			*path += strlen(absolute[s]);
			return p->root[s];
		}
	for (; in; in = in->up)
		if (member_named(in->type, in->n, *path))
			return in->type;
	for (int s = (int)p->scope - 1; s >= 0; s--)
		if (p->root[s] && member_named(p->root[s], p->root[s]->n, *path))
			return p->root[s];
	return NULL;
}

/* The enumeration that a variant's tag is, or NULL. */
static const struct cvl_type *tag_of(const struct put *p, const struct frame *in, const char *path)
{
	const struct cvl_type *t = path_root(p, in, &path);

	while (t && *path) {
		const struct cvl_member *m = t->member ? member_named(t, t->n, path) : NULL;

		t = m ? m->type : NULL;
		path += strcspn(path, ".");
		path += *path == '.';
	}
	return t && t->kind == CVL_TYPE_ENUM ? t : NULL;
}

/* Whether a value of @tag chooses the option called @name. */
static bool is_chosen(const struct cvl_type *tag, const char *name)
{
	for (uint32_t i = 0; tag && i < tag->n; i++)
		if (!strcmp(name, tag->label[i].name) ||
		    !strcmp(cvl_plain_name(name), tag->label[i].name))
			return true;
	return false;
}

static void put_variant(struct put *p, const struct frame *in, const struct cvl_type *t)
{
	const struct cvl_type *tag = tag_of(p, in, t->ref);
	unsigned n = 0;

	cvl_out_text(p->o, "{\"type\":\"variant\",\"options\":[");
	for (uint32_t i = 0; i < t->n; i++) {
		const char *name = t->member[i].name;

		if (!is_chosen(tag, name))
			continue;
		cvl_out_text(p->o, n++ ? ",{\"name\":" : "{\"name\":");
		put_name(p->o, t, name);
		cvl_out_text(p->o, ",\"selector-field-ranges\":");
		put_ranges(p, tag, name, true);
		cvl_out_text(p->o, ",\"field-class\":");
		put_type(p, in, name, t->member[i].type);
		cvl_out_char(p->o, '}');
	}
	cvl_out_char(p->o, ']');
	put_location(p, in, "selector-field-location", t->ref);
	cvl_out_char(p->o, '}');
}

static void put_array(struct put *p, const struct frame *in, const char *name,
		      const struct cvl_type *t)
{
	const bool by_field = t->kind == CVL_TYPE_SEQUENCE;
	const bool is_uuid = p->scope == CVL_SCOPE_PACKET_HEADER && name && !strcmp(name, "uuid") &&
			     !by_field && t->length == 16 && t->elem->size == 8;

	cvl_out_printf(p->o, "{\"type\":\"%s-length-%s\"", by_field ? "dynamic" : "static",
		       is_uuid ? "blob" :
		       t->text ? "string" :
				 "array");
	if (is_uuid)
		cvl_out_text(p->o, ",\"roles\":[\"metadata-stream-uuid\"]");
	if (!t->text && !is_uuid) {
		cvl_out_text(p->o, ",\"element-field-class\":");
		put_type(p, in, NULL, t->elem);
	}
	if (by_field)
		put_location(p, in, "length-field-location", t->ref);
	else
		cvl_out_printf(p->o, ",\"length\":%" PRIu64, t->length);
	cvl_out_char(p->o, '}');
}

static void put_type(struct put *p, const struct frame *in, const char *name,
		     const struct cvl_type *t)
{
	switch (t->kind) {
	case CVL_TYPE_INT:
	case CVL_TYPE_ENUM:
	case CVL_TYPE_FLOAT: put_number(p, name, t); break;
	case CVL_TYPE_STRING: cvl_out_text(p->o, "{\"type\":\"null-terminated-string\"}"); break;
	case CVL_TYPE_STRUCT: put_struct(p, in, t); break;
	case CVL_TYPE_VARIANT: put_variant(p, in, t); break;
	case CVL_TYPE_ARRAY:
	case CVL_TYPE_SEQUENCE: put_array(p, in, name, t); break;
	case CVL_TYPE_OPTIONAL: break; /* there is none in TSDL */
	}
}

/* ---- fragments ---- */

static void put_scope(struct put *p, const char *key, enum cvl_scope scope,
		      const struct cvl_type *t)
{
	p->scope = scope;
	p->root[scope] = t;
	if (!t)
		return;
	cvl_out_printf(p->o, ",\"%s-field-class\":", key);
	put_struct(p, NULL, t);
}

static void begin(struct put *p, const char *type)
{
	cvl_out_printf(p->o, "%c{\"type\":\"%s\"", CTF2_BEGIN, type);
}

static void end(struct put *p)
{
	cvl_out_text(p->o, "}\n");
}

static void put_preamble(struct put *p)
{
	begin(p, "preamble");
	cvl_out_text(p->o, ",\"version\":2");
	for (unsigned i = 0; i < 16 && p->trace->has_uuid; i++)
		cvl_out_printf(p->o, "%s%u%s", i ? "," : ",\"uuid\":[", p->trace->uuid[i],
			       i == 15 ? "]" : "");
	end(p);
}

static void put_clock(struct put *p, const struct cvl_clock_class *c)
{
	const __int128 cycles =
		(__int128)c->offset_s * (__int128)c->rate_hz + (__int128)(int64_t)c->offset;
	__int128 s = cycles / (__int128)c->rate_hz, rest = cycles % (__int128)c->rate_hz;

	if (rest < 0) {
		rest += (__int128)c->rate_hz;
		s--;
	}
	begin(p, "clock-class");
	put_pair(p->o, "id", c->name);
	put_pair(p->o, "name", c->name);
	if (c->uuid)
		put_pair(p->o, "uid", c->uuid);
	if (c->description)
		put_pair(p->o, "description", c->description);
	if (!c->no_epoch)
		put_pair(p->o, "origin", "unix-epoch");
	cvl_out_printf(p->o,
		       ",\"frequency\":%" PRIu64 ",\"offset-from-origin\":{\"seconds\":%" PRId64
		       ",\"cycles\":%" PRIu64 "}",
		       c->rate_hz, (int64_t)s, (uint64_t)rest);
	end(p);
}

static void put_environment(struct put *p, const struct env_entry *e)
{
	if (!e)
		return;
	put_environment(p, e->next); /* the last comes first */
	if (e->next)
		cvl_out_char(p->o, ',');
	put_text(p->o, e->name);
	cvl_out_char(p->o, ':');
	put_text(p->o, e->value);
}

static void put_stream(struct put *p, const struct stream_class *s)
{
	begin(p, "data-stream-class");
	cvl_out_printf(p->o, ",\"id\":%" PRIu64, s->id);
	if (s->clock >= 0)
		put_pair(p->o, "default-clock-class-id", p->trace->clock[s->clock].name);
	put_scope(p, "packet-context", CVL_SCOPE_PACKET_CONTEXT, s->packet_context);
	put_scope(p, "event-record-header", CVL_SCOPE_EVENT_HEADER, s->event_header);
	put_scope(p, "event-record-common-context", CVL_SCOPE_STREAM_CONTEXT, s->event_context);
	end(p);
}

static void put_event(struct put *p, const struct event_class *e)
{
	for (int scope = 0; scope < CVL_SCOPES; scope++)
		p->root[scope] = e->pub.type[scope];
	begin(p, "event-record-class");
	cvl_out_printf(p->o, ",\"id\":%" PRIu64 ",\"data-stream-class-id\":%" PRIu64, e->pub.id,
		       e->stream->id);
	put_pair(p->o, "name", e->pub.name);
	put_scope(p, "specific-context", CVL_SCOPE_EVENT_CONTEXT,
		  e->pub.type[CVL_SCOPE_EVENT_CONTEXT]);
	put_scope(p, "payload", CVL_SCOPE_FIELDS, e->pub.type[CVL_SCOPE_FIELDS]);
	end(p);
}

void ctf2_put(struct cvl_out *o, const struct cvl_trace *trace)
{
	struct put p = { .o = o, .trace = trace };

	put_preamble(&p);
	for (uint32_t i = 0; i < trace->n_clocks; i++)
		put_clock(&p, &trace->clock[i]);
	begin(&p, "trace-class");
	if (trace->env) {
		cvl_out_text(o, ",\"environment\":{");
		put_environment(&p, trace->env);
		cvl_out_char(o, '}');
	}
	put_scope(&p, "packet-header", CVL_SCOPE_PACKET_HEADER, trace->packet_header);
	end(&p);
	if (!trace->streams) /* there must be one */
		put_stream(&p, &(struct stream_class){ .clock = -1 });
	for (const struct stream_class *s = trace->streams; s; s = s->next)
		put_stream(&p, s);
	for (uint32_t i = 0; i < trace->n_events; i++)
		put_event(&p, trace->event[i]);
}
