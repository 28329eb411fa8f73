/* SPDX-License-Identifier: MIT */
#include "store/annotations.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <coeval/array.h>
#include <coeval/files.h>

#include "store/jsonfile.h"
#include "store/maps.h"

#define KIND "coeval_annotations"

static int path_of(const struct cvl_session *s, const char *name, char path[CVL_PATH_MAX],
		   struct cvl_error *err)
{
	return cvl_path_join(path, cvl_session_path(s), name) ?
		       0 :
		       cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long",
				cvl_session_path(s));
}

static void free_one(struct cvl_annotation *a)
{
	free(a->text);
	free(a->clock);
	free(a->look);
}

void cvl_annotations_free(struct cvl_annotations *all)
{
	for (size_t i = 0; i < all->n; i++)
		free_one(&all->list[i]);
	free(all->list);
	*all = (struct cvl_annotations){ 0 };
}

static int append(struct cvl_annotations *all, const struct cvl_annotation *a,
		  struct cvl_error *err)
{
	struct cvl_annotation copy = *a;

	if (all->n >= CVL_ANNOTATIONS_MAX)
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "more than %d notes",
				CVL_ANNOTATIONS_MAX);
	if (cvl_room(&all->list, all->n, &all->room, sizeof(*all->list)))
		return cvl_no_memory(err);
	copy.text = strdup(a->text);
	copy.clock = strdup(a->clock);
	copy.look = strdup(a->look);
	if (!copy.text || !copy.clock || !copy.look) {
		free_one(&copy);
		return cvl_no_memory(err);
	}
	all->list[all->n++] = copy;
	return 0;
}

/* ---- the file ---- */

/* Ticks do not fit into JSON's numbers. */
static bool tick_of(const json_t *note, const char *key, struct cvl_tick *tick)
{
	const char *text = json_string_value(json_object_get(note, key));
	char *end;

	if (!text || *text < '0' || *text > '9')
		return false;
	tick->count = strtoull(text, &end, 10);
	return !*end;
}

static int read_note(struct cvl_annotations *all, const json_t *note, const char *path,
		     struct cvl_error *err)
{
	struct cvl_annotation a = {
		.id = (uint64_t)json_integer_value(json_object_get(note, "id")),
		.text = (char *)(uintptr_t)json_string_value(json_object_get(note, "text")),
		.clock = (char *)(uintptr_t)json_string_value(json_object_get(note, "clock")),
		.look = (char *)(uintptr_t)json_string_value(json_object_get(note, "look")),
	};

	if (!a.id || !a.text || !a.clock || !a.look || !tick_of(note, "begin", &a.begin) ||
	    !tick_of(note, "end", &a.end))
		return cvl_fail(err, CVL_E_SYNTAX, 0, "%s: malformed note %zu", path, all->n + 1);
	return append(all, &a, err);
}

int cvl_annotations_load(struct cvl_annotations *all, const struct cvl_session *s,
			 struct cvl_error *err)
{
	char path[CVL_PATH_MAX];
	json_t *root, *list, *note;
	size_t i;
	int rc = path_of(s, ANNOTATIONS, path, err);

	*all = (struct cvl_annotations){ 0 };
	if (rc || !cvl_is_file(path))
		return rc;
	root = jsonfile_read(path, KIND, JSONFILE_ANNOTATIONS, err);
	if (!root)
		return (int)err->code;
	list = json_object_get(root, "annotations");
	if (!json_is_array(list))
		rc = cvl_fail(err, CVL_E_SYNTAX, 0, "%s: no list of annotations", path);
	json_array_foreach(list, i, note) rc = rc ? rc : read_note(all, note, path, err);
	json_decref(root);
	if (rc)
		cvl_annotations_free(all);
	return rc;
}

static int save(const struct cvl_annotations *all, const struct cvl_session *s,
		struct cvl_error *err)
{
	json_t *list = json_array(), *root;
	char path[CVL_PATH_MAX];
	int rc = path_of(s, ANNOTATIONS, path, err);

	for (size_t i = 0; i < all->n && !rc; i++) {
		const struct cvl_annotation *a = &all->list[i];
		char begin[24], end[24];

		snprintf(begin, sizeof(begin), "%" PRIu64, a->begin.count);
		snprintf(end, sizeof(end), "%" PRIu64, a->end.count);
		if (json_array_append_new(list, json_pack("{s:I, s:s, s:s, s:s, s:s, s:s}", "id",
							  (json_int_t)a->id, "text", a->text,
							  "clock", a->clock, "begin", begin, "end",
							  end, "look", a->look)))
			rc = cvl_no_memory(err);
	}
	if (rc) {
		json_decref(list);
		return rc;
	}
	root = json_pack("{s:i, s:o}", KIND, JSONFILE_ANNOTATIONS, "annotations", list);
	return jsonfile_write(path, root, 0, err);
}

/* ---- changes, one at a time ---- */

/* What is changed in @all, of all that there are. */
typedef int change_fn(struct cvl_annotations *all, void *ctx, struct cvl_error *err);

static int change(const struct cvl_session *s, change_fn *what, void *ctx, struct cvl_error *err)
{
	struct cvl_annotations all = { 0 };
	char path[CVL_PATH_MAX], derived[CVL_PATH_MAX];
	int lock, rc = path_of(s, "session.json", path, err);

	rc = rc ? rc : path_of(s, "derived", derived, err);
	if (!rc && !cvl_is_file(path))
		rc = cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET,
			      "%s is a trace and no session: notes have no place in it",
			      cvl_session_path(s));
	if (rc)
		return rc;
	lock = maps_lock(derived, true); /* the session's own may be a capture's */
	rc = cvl_annotations_load(&all, s, err);
	rc = rc ? rc : what(&all, ctx, err);
	rc = rc ? rc : save(&all, s, err);
	maps_unlock(lock);
	cvl_annotations_free(&all);
	return rc;
}

static int add(struct cvl_annotations *all, void *ctx, struct cvl_error *err)
{
	struct cvl_annotation *note = ctx;

	note->id = all->n ? all->list[all->n - 1].id + 1 : 1;
	return append(all, note, err);
}

int cvl_annotations_add(const struct cvl_session *s, struct cvl_annotation *note,
			struct cvl_error *err)
{
	if (strlen(note->text) > CVL_ANNOTATION_TEXT || strlen(note->look) > CVL_ANNOTATION_TEXT)
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET,
				"a note of more than %d bytes is too long", CVL_ANNOTATION_TEXT);
	return change(s, add, note, err);
}

static int drop(struct cvl_annotations *all, void *ctx, struct cvl_error *err)
{
	const uint64_t id = *(const uint64_t *)ctx;

	for (size_t i = 0; i < all->n; i++) {
		if (all->list[i].id != id)
			continue;
		free_one(&all->list[i]);
		memmove(&all->list[i], &all->list[i + 1], (--all->n - i) * sizeof(*all->list));
		return 0;
	}
	return cvl_fail(err, CVL_E_MISSING, CVL_NO_OFFSET, "no such note");
}

int cvl_annotations_drop(const struct cvl_session *s, uint64_t id, struct cvl_error *err)
{
	return change(s, drop, &id, err);
}

/* ---- join ---- */

struct joined {
	const struct cvl_session *to, *from;
	struct cvl_annotations notes;
	size_t first;
};

static int add_all(struct cvl_annotations *all, void *ctx, struct cvl_error *err)
{
	const struct joined *j = ctx;
	int rc = 0;

	for (size_t i = 0; i < j->notes.n && !rc; i++) {
		struct cvl_annotation a = j->notes.list[i];
		const int clock = cvl_session_find(j->from, a.clock);

		if (clock >= 0) /* it may have got another name */
			a.clock = (char *)(uintptr_t)cvl_session_clock(j->to,
								       j->first + (size_t)clock)
					  ->name;
		rc = add(all, &a, err);
	}
	return rc;
}

int annotations_join(const struct cvl_session *s, const struct cvl_session *from, size_t first,
		     struct cvl_error *err)
{
	struct joined j = { .to = s, .from = from, .first = first };
	int rc = cvl_annotations_load(&j.notes, from, err);

	if (!rc && j.notes.n)
		rc = change(s, add_all, &j, err);
	cvl_annotations_free(&j.notes);
	return rc;
}
