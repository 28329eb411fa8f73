/* SPDX-License-Identifier: MIT */
#include "store/beside.h"

#include "store/session_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int folder_of(const struct cvl_session *s, char path[CVL_PATH_MAX], struct cvl_error *err)
{
	return cvl_path_join(path, s->path, SESSION_IMPORTING) ?
		       0 :
		       cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long", s->path);
}

int session_open_beside(struct cvl_session **out, const struct cvl_session *s, size_t i,
			struct cvl_error *err)
{
	char folder[CVL_PATH_MAX], path[CVL_PATH_MAX], number[24];
	int rc = folder_of(s, folder, err);

	*out = NULL;
	if (rc)
		return rc;
	snprintf(number, sizeof(number), "%zu", i + 1);
	if (!cvl_path_join(path, folder, number))
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long", folder);
	if ((mkdir(folder, 0777) && errno != EEXIST) || mkdir(path, 0777))
		return cvl_fail_errno(err, "make the directory", path);
	*out = session_new(path);
	if (!*out)
		return cvl_no_memory(err);
	(*out)->beside = true;
	return 0;
}

void session_close_beside(struct cvl_session *beside)
{
	if (!beside)
		return;
	cvl_remove_tree(beside->path, NULL);
	cvl_session_close(beside);
}

bool session_is_beside(const struct cvl_session *s)
{
	return s->beside;
}

/* Whether one of the first @n clocks of @s has the name of @c, or came from the same bytes. */
static bool has_like(const struct cvl_session *s, size_t n, const struct cvl_clock *c)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(s->clock[i].name, c->name) ||
		    (*c->hash && !strcmp(s->clock[i].hash, c->hash)))
			return true;
	return false;
}

/* Move the trace at @path to where it would be had it been made in @s. */
static int move(const struct cvl_session *s, const char *path, char place[CVL_PATH_MAX],
		struct cvl_error *err)
{
	char wanted[CVL_PATH_MAX], got[CVL_PATH_MAX];
	int rc = session_new_place(s, strrchr(path, '/') + 1, place, err);

	if (rc)
		return rc;
	cvl_path_base(wanted, sizeof(wanted), path);
	cvl_path_base(got, sizeof(got), place);
	if (strcmp(wanted, got) != 0)
		return CVL_E_MISMATCH;
	return rename(path, place) ? cvl_fail_errno(err, "move", path) : 0;
}

static int take_one(struct cvl_session *s, size_t first, struct cvl_session *beside, size_t i,
		    struct cvl_error *err)
{
	struct session_entry *from = &beside->clock[i], *e;
	const int with = session_placed_with(beside, i);
	struct cvl_clock c = from->pub;
	char place[CVL_PATH_MAX];
	int rc = has_like(s, first, &c) ? CVL_E_MISMATCH : session_has_room(s, err);

	if (!rc && with >= 0)
		snprintf(place, sizeof(place), "%s", s->clock[first + (size_t)with].trace);
	else if (!rc)
		rc = move(s, c.trace, place, err);
	if (rc)
		return rc;
	c.trace = place;
	e = session_add_entry(s, &c, from->uuid);
	if (!e) {
		rename(place, from->trace);
		return cvl_no_memory(err);
	}
	e->stored = from->stored;
	from->stored = (struct stored){ 0 };
	return 0;
}

int session_take_in(struct cvl_session *s, struct cvl_session *beside, struct cvl_error *err)
{
	const bool had_epoch = s->has_epoch;
	const int64_t epoch = s->epoch;
	const size_t first = s->n;
	char traces[CVL_PATH_MAX];
	int rc = 0;

	for (size_t i = 0; i < beside->n && !rc; i++)
		rc = take_one(s, first, beside, i, err);
	session_set_epoch(s, beside->epoch);
	if (!rc && beside->n && cvl_path_join(traces, s->path, "traces"))
		rc = cvl_sync_dir(traces, err);
	rc = rc ? rc : session_save(s, err);
	if (!rc)
		return 0;
	session_take_back(s, first);
	s->epoch = epoch;
	s->has_epoch = had_epoch;
	return rc;
}

int session_clean_beside(const struct cvl_session *s, bool (*see)(void *ctx, const char *path),
			 void *ctx, struct cvl_error *err)
{
	char folder[CVL_PATH_MAX];
	struct stat st;
	int rc = folder_of(s, folder, err);

	if (rc || lstat(folder, &st) || (see && !see(ctx, folder)))
		return rc;
	return cvl_remove_tree(folder, err);
}
