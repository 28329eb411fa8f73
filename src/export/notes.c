/* SPDX-License-Identifier: MIT */
#include "export/notes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PATH_MAX_BYTES 256
#define DEPTH_MAX 80

struct level {
	size_t path;    /* bytes of the path up to here */
	uint64_t n;     /* elements seen */
	bool is_array;  /* its elements are numbered */
	bool is_option; /* a variant: replaced by its contents */
};

struct writer {
	struct perfetto *p;
	struct notes_about *about;
	enum cvl_scope scope;
	char path[PATH_MAX_BYTES];
	size_t prefix;
	unsigned depth, deeper; /* levels kept, and those below them */
	struct level level[DEPTH_MAX];
};

/* ---- paths ---- */

/* Append the next member @name to the path, truncated if too long. Returns its length. */
static size_t extend(struct writer *w, const char *name)
{
	struct level *l = &w->level[w->depth];
	size_t at = l->path, room = sizeof(w->path) - at;
	int n = 0;

	if (l->is_array)
		n = snprintf(w->path + at, room, "[%" PRIu64 "]", l->n++);
	else if (name && !l->is_option)
		n = snprintf(w->path + at, room, "%s%s", at > w->prefix ? "." : "",
			     cvl_plain_name(name));
	else
		w->path[at] = '\0';
	return at + ((size_t)n < room ? (size_t)n : room - 1);
}

/* ---- subject of the event ---- */

static bool is_one_of(const char *name, const char *const *list)
{
	for (size_t i = 0; list[i]; i++)
		if (!strcmp(name, list[i]))
			return true;
	return false;
}

static bool is_text(const struct cvl_type *t)
{
	return t->kind > CVL_TYPE_ENUM;
}

static void keep_text(char out[NOTES_NAME], const struct cvl_value *v)
{
	size_t n = v->s.len < NOTES_NAME - 1 ? v->s.len : NOTES_NAME - 1;

	memcpy(out, v->s.text, n);
	out[n] = '\0';
}

/* FNV-1a, 64 bits (Fowler, Noll, Vo). */
static uint64_t hash(const char *s, size_t n)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)s[i]) * 0x100000001b3u;
	return h;
}

static void see_task(struct notes_about *a, const struct cvl_value *v)
{
	a->has_task = true;
	if (is_text(v->type)) {
		a->task = hash(v->s.text, v->s.len);
		keep_text(a->task_name, v);
	} else {
		a->is_numbered = true;
		a->task = v->u;
	}
}

/* Only top-level fields of a scope are about the event as a whole. */
static void see_fact(struct writer *w, const char *name, const struct cvl_value *v)
{
	static const char *const tasks[] = { "vtid", "tid", "task", "thread", NULL },
				 *const own_tasks[] = { "task", "thread", NULL },
				 *const cores[] = { "cpu_id", "cpu", "core", NULL },
				 *const own_cores[] = { "core", NULL },
				 *const names[] = { "function", "func", "name", NULL },
				 *const nexts[] = { "next_tid", "next", "to", NULL },
				 *const next_names[] = { "next_comm", "next_name", "next", "to",
							 NULL };
	struct notes_about *a = w->about;
	bool own = w->scope == CVL_SCOPE_FIELDS;

	if (v->type->kind == CVL_TYPE_FLOAT)
		return;
	if (own && is_text(v->type) && is_one_of(name, next_names)) {
		keep_text(a->next_name, v);
	} else if (own && !is_text(v->type) && is_one_of(name, nexts)) {
		a->has_next = true;
		a->next = v->u;
	}
	if (!a->has_task && is_one_of(name, own ? own_tasks : tasks)) {
		see_task(a, v);
	} else if (!a->has_core && !is_text(v->type) && is_one_of(name, own ? own_cores : cores)) {
		a->has_core = true;
		a->core = v->u;
	} else if (!strcmp(name, "procname") && is_text(v->type) && !a->task_name[0]) {
		keep_text(a->task_name, v);
	} else if (own && is_text(v->type) && is_one_of(name, names)) {
		a->name_hash = hash(v->s.text, v->s.len);
		keep_text(a->name, v);
	} else if (own && !strcmp(name, "addr") && !is_text(v->type) && !a->name[0]) {
		snprintf(a->name, sizeof(a->name), "0x%" PRIx64, v->u);
	}
}

/* ---- fields ---- */

static void put_number(struct writer *w, const struct cvl_value *v)
{
	if (v->type->is_signed)
		perfetto_note_i64(w->p, w->path, v->i);
	else
		perfetto_note_u64(w->p, w->path, v->u);
}

static void put_label(struct writer *w, const struct cvl_value *v, size_t n)
{
	const struct cvl_type *t = v->type;

	for (uint32_t i = 0; i < t->n; i++) {
		const struct cvl_label *l = &t->label[i];

		if (t->is_signed ? v->i < l->low || v->i > l->high :
				   v->u < (uint64_t)l->low || v->u > (uint64_t)l->high)
			continue;
		snprintf(w->path + n, sizeof(w->path) - n, ".label");
		perfetto_note_text(w->p, w->path, l->name, strlen(l->name));
		return;
	}
}

static void value(void *ctx, const char *name, const struct cvl_value *v)
{
	struct writer *w = ctx;
	size_t n = extend(w, name);

	if (name && w->depth == 1)
		see_fact(w, cvl_plain_name(name), v);
	switch (v->type->kind) {
	case CVL_TYPE_FLOAT: perfetto_note_double(w->p, w->path, v->f); break;
	case CVL_TYPE_INT: put_number(w, v); break;
	case CVL_TYPE_ENUM:
		put_number(w, v);
		put_label(w, v, n);
		break;
	default: perfetto_note_text(w->p, w->path, v->s.text, v->s.len);
	}
}

static void begin(void *ctx, const char *name, const struct cvl_type *t, uint64_t n)
{
	struct writer *w = ctx;
	size_t path;

	(void)n;
	if (w->depth + 1 == DEPTH_MAX) {
		w->deeper++;
		return;
	}
	/* the struct of a scope has no name of its own */
	path = w->depth ? extend(w, name) : w->prefix;
	w->level[++w->depth] = (struct level){
		.path = path,
		.is_array = t->kind == CVL_TYPE_ARRAY || t->kind == CVL_TYPE_SEQUENCE,
		.is_option = t->kind == CVL_TYPE_VARIANT,
	};
}

static void end(void *ctx, const struct cvl_type *t)
{
	struct writer *w = ctx;

	(void)t;
	if (w->deeper)
		w->deeper--;
	else
		w->depth--;
}

static bool scope(void *ctx, enum cvl_scope s)
{
	struct writer *w = ctx;

	w->scope = s;
	w->depth = w->deeper = 0;
	return true;
}

int notes_fields(struct perfetto *p, struct cvl_stream *stream, const struct cvl_batch *batch,
		 size_t i, const char *prefix, struct notes_about *about, struct cvl_error *err)
{
	struct writer w;
	const struct cvl_visitor visitor = { value, begin, end, scope, &w, NULL };

	w.p = p;
	w.about = about;
	w.depth = w.deeper = 0;
	w.prefix = strlen(prefix);
	w.level[0] = (struct level){ .path = w.prefix };
	memcpy(w.path, prefix, w.prefix + 1);
	*about = (struct notes_about){ 0 };
	return cvl_stream_visit(stream, batch, i, &visitor, err);
}
