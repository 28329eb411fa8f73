/* SPDX-License-Identifier: MIT */
#include "store/ctf/tsdl_put.h"

#include <coeval/array.h>

#include "core/uuid.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX 200 /* bytes of a name of CTF 2; what is longer is cut */

static const struct tsdl_int uint32 = { 32, 8, "false", 0, NULL };

/* A struct or variant whose members are being written: those before the @n-th are visible. */
struct frame {
	const struct frame *up;
	const struct cvl_type *type;
	uint32_t n;
	enum cvl_scope scope;
};

static void put_member(struct tsdl_put *p, const struct frame *in, const char *name,
		       const struct cvl_type *t);

/* ---- parts of metadata ---- */

void tsdl_put_text(FILE *f, const char *s)
{
	fputc('"', f);
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			fputc('\\', f);
		if ((unsigned char)*s < 32 || *s == 127)
			fprintf(f, "\\%03o", (unsigned char)*s);
		else
			fputc(*s, f);
	}
	fputc('"', f);
}

void tsdl_put_int(FILE *f, const struct tsdl_int *i)
{
	fprintf(f, "integer { size = %u; align = %u;", i->size, i->align);
	if (i->is_signed)
		fprintf(f, " signed = %s;", i->is_signed);
	if (i->base)
		fprintf(f, " base = %u;", i->base);
	if (i->clock)
		fprintf(f, " map = clock.%s.value;", i->clock);
	fputs(" }", f);
}

void tsdl_put_alias(FILE *f, const char *name, const struct tsdl_int *i)
{
	fputs("typealias ", f);
	tsdl_put_int(f, i);
	fprintf(f, " := %s;\n", name);
}

void tsdl_put_trace(FILE *f, const char *name, const struct tsdl_int *extra, const uint8_t uuid[16])
{
	char text[CVL_UUID_TEXT], alias[16];

	fputs("/* CTF 1.8 */\n\n", f);
	for (unsigned bits = 8; bits <= 64; bits *= 2) {
		snprintf(alias, sizeof(alias), "uint%u_t", bits);
		tsdl_put_alias(f, alias, &(struct tsdl_int){ bits, 8, "false", 0, NULL });
		tsdl_put_alias(f, alias + 1, &(struct tsdl_int){ bits, 8, "true", 0, NULL });
	}
	tsdl_put_alias(f, name, extra);
	cvl_uuid_text(uuid, text);
	fprintf(f,
		"typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; } := double;\n\n"
		"trace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"%s\";\n\tbyte_order = le;\n"
		"\tpacket.header := struct {\n\t\tuint32_t magic;\n\t\tuint8_t uuid[16];\n"
		"\t\tuint32_t stream_id;\n\t};\n};\n\n",
		text);
}

void tsdl_put_env(FILE *f, const char *name, int number, const char *text)
{
	fprintf(f, "\t%s", name);
	if (number >= 0)
		fprintf(f, "%d", number);
	fputs(" = ", f);
	tsdl_put_text(f, text);
	fputs(";\n", f);
}

void tsdl_put_clock(FILE *f, const char *name, const char *description, uint64_t rate_hz,
		    int64_t unix_ns)
{
	int64_t s = unix_ns / 1000000000, ns = unix_ns % 1000000000;

	if (ns < 0) {
		ns += 1000000000;
		s--;
	}
	fprintf(f, "clock {\n\tname = %s;\n\tdescription = ", name);
	tsdl_put_text(f, description);
	fprintf(f,
		";\n\tfreq = %" PRIu64 ";\n\toffset_s = %" PRId64 ";\n\toffset = %" PRIu64
		";\n};\n\n",
		rate_hz, s, (uint64_t)((unsigned __int128)(uint64_t)ns * rate_hz / 1000000000u));
}

void tsdl_put_stream(FILE *f, size_t id, const char *stamp)
{
	fprintf(f,
		"stream {\n\tid = %zu;\n\tpacket.context := struct {\n\t\t%s timestamp_begin;\n"
		"\t\t%s timestamp_end;\n\t\tuint64_t content_size;\n\t\tuint64_t packet_size;\n"
		"\t\tuint64_t packet_seq_num;\n\t\tuint64_t events_discarded;\n",
		id, stamp, stamp);
}

void tsdl_put_event(FILE *f, size_t stream, uint32_t id, const char *name)
{
	fputs("event {\n\tname = ", f);
	tsdl_put_text(f, name);
	fprintf(f, ";\n\tid = %" PRIu32 ";\n\tstream_id = %zu;\n", id, stream);
}

/* ---- references ---- */

static bool is_text(const struct cvl_type *t)
{
	return t->kind == CVL_TYPE_STRING ||
	       ((t->kind == CVL_TYPE_ARRAY || t->kind == CVL_TYPE_SEQUENCE) && t->text);
}

/*
 * Whether one of the first @n members of @t has the name that @path begins with. @shown: it is
 * copied.
 */
static bool has_member(const struct tsdl_put *p, enum cvl_scope scope, const struct cvl_type *t,
		       uint32_t n, const char *path, bool *shown)
{
	size_t len = strcspn(path, ".");

	for (uint32_t i = 0; t && i < n; i++) {
		const char *name = t->member[i].name;

		if (strlen(name) != len || memcmp(name, path, len))
			continue;
		*shown = cvl_trace_shows(p->trace, scope, name, t->member[i].type);
		return true;
	}
	return false;
}

static bool in_scope(const struct tsdl_put *p, enum cvl_scope scope, const char *path, bool *shown)
{
	const struct cvl_type *t = p->event->type[scope];

	return has_member(p, scope, t, t ? t->n : 0, path, shown);
}

/* Whether the target of @path, seen from @in, is copied and found by the same path. */
static bool is_copied(const struct tsdl_put *p, const struct frame *in, const char *path)
{
	static const struct {
		const char *prefix;
		enum cvl_scope scope;
	} absolute[] = {
		{ "stream.packet.context.", CVL_SCOPE_PACKET_CONTEXT },
		{ "stream.event.context.", CVL_SCOPE_STREAM_CONTEXT },
		{ "event.context.", CVL_SCOPE_EVENT_CONTEXT },
		{ "event.fields.", CVL_SCOPE_FIELDS },
	};
	const enum cvl_scope scope = in->scope;
	bool shown = false;

	for (size_t i = 0; i < sizeof(absolute) / sizeof(*absolute); i++)
		if (!strncmp(path, absolute[i].prefix, strlen(absolute[i].prefix)))
			return in_scope(p, absolute[i].scope, path + strlen(absolute[i].prefix),
					&shown) &&
			       shown;
	for (; in; in = in->up)
		if (has_member(p, scope, in->type, in->n, path, &shown))
			return shown;
	for (int s = (int)scope - 1; s >= CVL_SCOPE_STREAM_CONTEXT; s--)
		if (in_scope(p, (enum cvl_scope)s, path, &shown))
			return shown;
	/* the headers of the copy have members of these names */
	if (!strcmp(path, "id") || !strcmp(path, "timestamp") ||
	    (scope > CVL_SCOPE_EVENT_HEADER && in_scope(p, CVL_SCOPE_EVENT_HEADER, path, &shown)))
		return false;
	return scope > CVL_SCOPE_PACKET_CONTEXT &&
	       in_scope(p, CVL_SCOPE_PACKET_CONTEXT, path, &shown) && shown;
}

bool tsdl_is_own(const struct tsdl_put *p, const struct cvl_type *t)
{
	for (size_t i = 0; i < p->n_own; i++)
		if (p->own[i] == t)
			return true;
	return false;
}

/* The same, deciding it the first time. */
static bool make_own(struct tsdl_put *p, const struct frame *in, const struct cvl_type *t)
{
	if ((t->kind != CVL_TYPE_SEQUENCE && t->kind != CVL_TYPE_VARIANT &&
	     t->kind != CVL_TYPE_OPTIONAL) ||
	    is_text(t))
		return false;
	if (tsdl_is_own(p, t))
		return true;
	if (!t->location && is_copied(p, in, t->ref))
		return false;
	if (cvl_room(&p->own, p->n_own, &p->room, sizeof(*p->own)))
		p->no_memory = true;
	else
		p->own[p->n_own++] = t;
	return true;
}

/* ---- types ---- */

static void put_int(FILE *f, const struct cvl_type *t)
{
	tsdl_put_int(f, &(struct tsdl_int){ t->size, 8, t->is_signed ? "true" : "false", t->base,
					    NULL });
}

static void put_enum(FILE *f, const struct cvl_type *t)
{
	fputs("enum : ", f);
	put_int(f, t->elem);
	fputs(" {", f);
	for (uint32_t i = 0; i < t->n; i++) {
		const struct cvl_label *l = &t->label[i];

		fputc(' ', f);
		tsdl_put_text(f, l->name);
		if (t->is_signed)
			fprintf(f, " = %" PRId64 " ... %" PRId64 ",", l->low, l->high);
		else
			fprintf(f, " = %" PRIu64 " ... %" PRIu64 ",", (uint64_t)l->low,
				(uint64_t)l->high);
	}
	fputs(" }", f);
}

/*
 * Renames a field of the packet context that is shown because it is signed, but has the name of one
 * of the copy's own.
 */
static const char *free_name(enum cvl_scope scope, const char *name)
{
	static const char *const taken[] = { "_timestamp_begin", "_timestamp_end",
					     "_content_size",    "_packet_size",
					     "_packet_seq_num",  "_events_discarded" };

	for (size_t i = 0; scope == CVL_SCOPE_PACKET_CONTEXT && i < sizeof(taken) / sizeof(*taken);
	     i++)
		if (!strcmp(name, taken[i] + 1))
			return taken[i];
	return name;
}

/*
 * Member number @i as TSDL can call it. CTF 2 has names of any characters, which may be words of TSDL: all get the
 * underscore that readers leave away, and its number if something in it had to be replaced.
 */
static const char *member_name(struct tsdl_put *p, const char *name, uint32_t i,
			       char text[NAME_MAX])
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
	const size_t n = strlen(name);

	if (!p->trace || !trace_is_json(p->trace))
		return name;
	if (*name && strspn(name, letters) == n && n < NAME_MAX - 2) {
		snprintf(text, NAME_MAX, "%s%s", *name == '_' ? "" : "_", name);
		return text;
	}
	snprintf(text, NAME_MAX - 20, "_%s", name);
	for (char *c = text; *c; c++)
		if (!strchr(letters, *c))
			*c = '_';
	snprintf(text + strlen(text), 20, "_%u_ctf2", i);
	return text;
}

/* The members that a visitor is shown. */
static void put_members(struct tsdl_put *p, const struct frame *up, enum cvl_scope scope,
			const struct cvl_type *t)
{
	struct frame frame = { up, t, 0, scope };
	char text[NAME_MAX];

	for (; frame.n < t->n; frame.n++)
		if (cvl_trace_shows(p->trace, scope, t->member[frame.n].name,
				    t->member[frame.n].type))
			put_member(p, &frame,
				   free_name(scope, member_name(p, t->member[frame.n].name, frame.n,
								text)),
				   t->member[frame.n].type);
}

static void put_options(struct tsdl_put *p, const struct frame *up, const struct cvl_type *t)
{
	struct frame frame = { up, t, 0, up->scope };

	fputc('{', p->f);
	for (; frame.n < t->n; frame.n++) {
		const struct cvl_member *m = &t->member[frame.n];
		char text[NAME_MAX];
		const char *name = member_name(p, m->name, frame.n, text);

		if (make_own(p, &frame, m->type)) { /* more than one member: in a struct */
			fputs(" struct {", p->f);
			put_member(p, &frame, TSDL_OWN "value", m->type);
			fprintf(p->f, " } %s;", name);
		} else {
			put_member(p, &frame, name, m->type);
		}
	}
	fputs(" }", p->f);
}

/* The part before a declarator. Lengths of arrays follow it: see put_lengths(). */
static void put_type(struct tsdl_put *p, const struct frame *in, const struct cvl_type *t)
{
	if (is_text(t)) {
		fputs("string", p->f);
		return;
	}
	switch (t->kind) {
	case CVL_TYPE_INT: put_int(p->f, t); break;
	case CVL_TYPE_FLOAT:
		fprintf(p->f, "floating_point { exp_dig = %d; mant_dig = %d; align = 8; }",
			t->size == 32 ? 8 : 11, t->size == 32 ? 24 : 53);
		break;
	case CVL_TYPE_ENUM: put_enum(p->f, t); break;
	case CVL_TYPE_STRUCT:
		fputs("struct {", p->f);
		put_members(p, in, in->scope, t);
		fputs(" }", p->f);
		break;
	case CVL_TYPE_VARIANT:
		fprintf(p->f, "variant <%s> ", t->ref);
		put_options(p, in, t);
		break;
	default:
		if (make_own(p, in, t->elem)) {
			fputs("struct {", p->f);
			put_member(p, in, TSDL_OWN "value", t->elem);
			fputs(" }", p->f);
		} else {
			put_type(p, in, t->elem);
		}
	}
}

static void put_lengths(struct tsdl_put *p, const struct cvl_type *t)
{
	for (; (t->kind == CVL_TYPE_ARRAY || t->kind == CVL_TYPE_SEQUENCE) && !is_text(t);
	     t = t->elem) {
		if (t->kind == CVL_TYPE_ARRAY)
			fprintf(p->f, "[%" PRIu64 "]", t->length);
		else
			fprintf(p->f, "[%s]", t->ref);
		if (tsdl_is_own(p, t->elem))
			break;
	}
}

static void put_own_variant(struct tsdl_put *p, const struct frame *in, const char *name,
			    const struct cvl_type *t)
{
	const char *plain = cvl_plain_name(name);

	fputs(" enum : ", p->f);
	tsdl_put_int(p->f, &uint32);
	fputs(" {", p->f);
	for (uint32_t i = 0; i < t->n; i++) {
		char text[NAME_MAX];

		fputc(' ', p->f);
		tsdl_put_text(p->f, member_name(p, t->member[i].name, i, text));
		fprintf(p->f, " = %u,", i);
	}
	fprintf(p->f, " } " TSDL_OWN "tag_of_%s; variant <" TSDL_OWN "tag_of_%s> ", plain, plain);
	put_options(p, in, t);
	fprintf(p->f, " %s;", name);
}

/* A variant of nothing, and the field. */
static void put_own_optional(struct tsdl_put *p, const struct frame *in, const char *name,
			     const struct cvl_type *t)
{
	const char *plain = cvl_plain_name(name);

	fputs(" enum : ", p->f);
	tsdl_put_int(p->f, &uint32);
	fprintf(p->f,
		" { \"none\" = 0, \"there\" = 1 } " TSDL_OWN "tag_of_%s; variant <" TSDL_OWN
		"tag_of_%s> { struct { } none;",
		plain, plain);
	if (make_own(p, in, t->elem)) {
		fputs(" struct {", p->f);
		put_member(p, in, TSDL_OWN "value", t->elem);
		fputs(" } there;", p->f);
	} else {
		put_member(p, in, "there", t->elem);
	}
	fprintf(p->f, " } %s;", name);
}

static void put_own_sequence(struct tsdl_put *p, const struct frame *in, const char *name,
			     const struct cvl_type *t)
{
	const char *plain = cvl_plain_name(name);

	fputc(' ', p->f);
	tsdl_put_int(p->f, &uint32);
	fprintf(p->f, " " TSDL_OWN "length_of_%s; ", plain);
	put_type(p, in, t);
	fprintf(p->f, " %s[" TSDL_OWN "length_of_%s]", name, plain);
	if (!tsdl_is_own(p, t->elem))
		put_lengths(p, t->elem);
	fputc(';', p->f);
}

static void put_member(struct tsdl_put *p, const struct frame *in, const char *name,
		       const struct cvl_type *t)
{
	if (make_own(p, in, t)) {
		if (t->kind == CVL_TYPE_VARIANT)
			put_own_variant(p, in, name, t);
		else if (t->kind == CVL_TYPE_OPTIONAL)
			put_own_optional(p, in, name, t);
		else
			put_own_sequence(p, in, name, t);
		return;
	}
	fputc(' ', p->f);
	put_type(p, in, t);
	fprintf(p->f, " %s", name);
	put_lengths(p, t);
	fputc(';', p->f);
}

/* ---- scopes ---- */

void tsdl_put_scope(struct tsdl_put *p, enum cvl_scope scope)
{
	const struct cvl_type *t = p->event ? p->event->type[scope] : NULL;

	if (t)
		put_members(p, NULL, scope, t);
}

bool tsdl_has_scope(const struct tsdl_put *p, enum cvl_scope scope)
{
	const struct cvl_type *t = p->event ? p->event->type[scope] : NULL;

	for (uint32_t i = 0; t && i < t->n; i++)
		if (cvl_trace_shows(p->trace, scope, t->member[i].name, t->member[i].type))
			return true;
	return false;
}

void tsdl_put_free(struct tsdl_put *p)
{
	free(p->own);
	p->own = NULL;
	p->n_own = p->room = 0;
}
