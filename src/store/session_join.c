/* SPDX-License-Identifier: MIT */
/* Traces added to a session unchanged, from directories or other sessions. */
#include "store/session_internal.h"

#include "store/annotations.h"
#include "store/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int session_new_place(const struct cvl_session *s, const char *wanted, char place[CVL_PATH_MAX],
		      struct cvl_error *err)
{
	char traces[CVL_PATH_MAX], name[300], clean[256];
	struct stat st;

	snprintf(clean, sizeof(clean), "%s", wanted);
	cvl_path_clean(clean);
	if (!cvl_path_join(traces, s->path, "traces"))
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long", s->path);
	if (mkdir(traces, 0777) && errno != EEXIST)
		return cvl_fail_errno(err, "make the directory", traces);
	snprintf(name, sizeof(name), "%s", clean);
	for (unsigned k = 2;; k++) {
		if (!cvl_path_join(place, traces, name))
			return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long",
					s->path);
		if (lstat(place, &st))
			return 0;
		snprintf(name, sizeof(name), "%s-%u", clean, k);
	}
}

bool session_tell_moved(void *ctx, uint64_t done, uint64_t total)
{
	struct session_moving *m = ctx;

	(void)total;
	m->before += done < m->now ? m->now : 0;
	m->now = done;
	return !cvl_progress_tell(m->progress, m->before + done, 0, NULL);
}

int session_place_trace(struct cvl_session *s, const char *path, const char *node, bool link,
			const struct cvl_progress *progress, char place[CVL_PATH_MAX],
			struct cvl_error *err)
{
	char *real;
	int rc = session_new_place(s, node, place, err);

	if (rc)
		return rc;
	if (!link) {
		rc = cvl_copy_tree(path, place, progress, err);
		if (rc)
			cvl_remove_tree(place, NULL);
		return rc;
	}
	real = realpath(path, NULL);
	if (!real || symlink(real, place))
		rc = cvl_fail_errno(err, "link", path);
	free(real);
	return rc;
}

static int set_hash(struct session_entry *e, const char *hash, struct cvl_error *err)
{
	char *copy = strdup(hash);

	if (!copy)
		return cvl_no_memory(err);
	free(e->hash);
	e->hash = copy;
	e->pub.hash = copy;
	return 0;
}

void session_tell_again(const struct cvl_session *s, size_t n, const char *origin, const char *hash,
			const struct cvl_report *report)
{
	struct cvl_error again;

	for (size_t i = 0; i < n; i++) {
		if (strcmp(s->clock[i].hash, hash) != 0)
			continue;
		cvl_fail(&again, CVL_E_MISMATCH, CVL_NO_OFFSET,
			 "%s: seems to be in the session already: clock %s, imported from %s",
			 origin, s->clock[i].name, s->clock[i].origin);
		cvl_tell(report, &again);
		return;
	}
}

int session_source(struct cvl_session *s, size_t first, const char *digest,
		   const struct cvl_report *report, struct cvl_error *err)
{
	int rc = 0;

	if (first >= s->n)
		return 0;
	session_tell_again(s, first, s->clock[first].origin, digest, report);
	for (size_t i = first; i < s->n && !rc; i++)
		rc = set_hash(&s->clock[i], digest, err);
	return rc ? rc : session_save(s, err);
}

int session_seal(struct session_entry *e, const struct cvl_progress *progress,
		 struct cvl_error *err)
{
	char hash[CVL_HASH_TEXT];
	int rc = cvl_hash_tree(e->trace, hash, progress, err);

	if (!rc)
		rc = stored_look(&e->stored, e->trace, err);
	return rc ? rc : set_hash(e, hash, err);
}

int session_placed_with(const struct cvl_session *from, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (!strcmp(from->clock[k].trace, from->clock[i].trace))
			return (int)k;
	return -1;
}

void session_take_back(struct cvl_session *s, size_t first)
{
	while (s->n > first) {
		cvl_remove_tree(s->clock[--s->n].trace, NULL);
		session_entry_free(&s->clock[s->n]);
	}
}

/* A name for clock @i of @from, whose clocks are those from @first on: an epoch's follows its clock's. */
static void join_name(const struct cvl_session *s, size_t first, const struct cvl_session *from,
		      size_t i, struct cvl_clock *c, char *name, size_t size)
{
	if (c->epoch > 1 && c->first_epoch >= 0 && (size_t)c->first_epoch < i) {
		c->clock = s->clock[first + (size_t)c->first_epoch].name;
		snprintf(name, size, "%s#%u", c->clock, c->epoch);
		return;
	}
	c->epoch = 1;
	session_unique_name(s, name, size, from->clock[i].name);
}

int cvl_session_join(struct cvl_session *s, const struct cvl_session *from, bool link,
		     const struct cvl_progress *progress, struct cvl_error *err)
{
	struct session_moving moving = { .progress = progress };
	const struct cvl_progress each = { session_tell_moved, &moving };
	int64_t epoch = s->epoch;
	size_t first = s->n;
	int rc = 0;

	for (size_t i = 0; i < from->n && !rc; i++) {
		struct cvl_clock c = from->clock[i].pub;
		char name[300], place[CVL_PATH_MAX];
		int with = session_placed_with(from, i);
		struct session_entry *e;

		if (c.growing)
			rc = cvl_fail(
				err, CVL_E_ENV, CVL_NO_OFFSET,
				"%s: clock %s is still being captured; stop the capture first",
				from->path, c.name);
		else
			rc = session_has_room(s, err);
		if (rc)
			break;
		join_name(s, first, from, i, &c, name, sizeof(name));
		if (with >= 0)
			snprintf(place, sizeof(place), "%s", s->clock[first + (size_t)with].trace);
		else
			rc = session_place_trace(s, c.trace, name, link, &each, place, err);
		if (rc)
			break;
		c.name = name;
		c.trace = place;
		session_set_epoch(s, session_wall_clock(&c));
		e = session_add_entry(s, &c, from->clock[i].uuid);
		if (!e || stored_copy(&e->stored, &from->clock[i].stored))
			rc = cvl_no_memory(err);
		else if (c.foreign && !*c.hash && !c.unfinished)
			rc = session_seal(e, &each, err);
	}
	rc = rc ? rc : session_save(s, err);
	if (!rc)
		return annotations_join(s, from, first, err);
	session_take_back(s, first);
	s->epoch = epoch;
	return rc;
}
