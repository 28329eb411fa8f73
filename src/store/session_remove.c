/* SPDX-License-Identifier: MIT */
/* Removes clocks from a session, with everything the session stores about them. */
#include "store/beside.h"
#include "store/maps.h"
#include "store/session_internal.h"

#include <coeval/files.h>
#include <coeval/sync.h>

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int file_of(const struct cvl_session *s, const char *name, char path[CVL_PATH_MAX],
		   struct cvl_error *err)
{
	return cvl_path_join(path, cvl_session_path(s), name) ?
		       0 :
		       cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long",
				cvl_session_path(s));
}

static int drop_file(const struct cvl_session *s, const char *name, struct cvl_error *err)
{
	char path[CVL_PATH_MAX];
	int rc = file_of(s, name, path, err);

	if (rc)
		return rc;
	return unlink(path) && errno != ENOENT ? cvl_fail_errno(err, "remove", path) :
						 cvl_sync_dir(cvl_session_path(s), err);
}

/* Whether clock @name of @s is being removed. */
static bool goes(const struct cvl_session *s, const bool *out, const char *name)
{
	for (size_t i = 0; i < cvl_session_clocks(s); i++)
		if (out[i] && !strcmp(cvl_session_clock(s, i)->name, name))
			return true;
	return false;
}

/* Drop the entries of removed clocks from @sync. Returns how many were dropped. */
static size_t leave_out(struct cvl_sync *sync, const struct cvl_session *s, const bool *out)
{
	size_t all = sync->n;

	sync->n = 0;
	for (size_t i = 0; i < all; i++) {
		struct cvl_clock_sync *c = &sync->clock[i];

		if (goes(s, out, c->clock)) {
			free(c->clock);
			cvl_map_free(c->map);
		} else {
			sync->clock[sync->n++] = *c;
		}
	}
	return all - sync->n;
}

/* Mark @c as unsynchronised until the next sync. */
static void untie(struct cvl_clock_sync *c)
{
	struct cvl_clock_sync none = { .clock = c->clock, .verdict = CVL_UNSYNCHRONISED };

	cvl_map_free(c->map);
	*c = none;
	snprintf(c->reason, sizeof(c->reason),
		 "a clock was removed from the session since it was synchronised");
}

static int forget_sync(const struct cvl_session *s, const bool *out, struct cvl_error *err)
{
	struct cvl_sync *sync;
	int rc = cvl_sync_load_settings(&sync, s, err);

	if (rc == CVL_E_NOMEM || !rc)
		return rc;
	if (rc < 0) /* a file that cannot be read is dropped too */
		return drop_file(s, "sync.json", err);
	rc = 0;
	if (leave_out(sync, s, out)) {
		for (size_t i = 0; i < sync->n; i++)
			untie(&sync->clock[i]);
		*sync->note = '\0';
		rc = cvl_sync_save(sync, s, err);
	}
	cvl_sync_free(sync);
	return rc;
}

/* An unreadable truth is reported where it is used. */
static int forget_truth(const struct cvl_session *s, const bool *out, struct cvl_error *err)
{
	struct cvl_sync *truth;
	int rc = cvl_truth_load(&truth, s, err);

	if (rc <= 0)
		return rc == CVL_E_NOMEM ? rc : 0;
	rc = leave_out(truth, s, out) ? cvl_truth_save(truth, s, err) : 0;
	cvl_sync_free(truth);
	return rc;
}

static int forget_calibration(const struct cvl_session *s, const bool *out, struct cvl_error *err)
{
	char path[CVL_PATH_MAX];
	struct cvl_calibration *cal;
	int rc = file_of(s, "calibration.json", path, err);
	size_t all;

	if (rc || !cvl_is_file(path))
		return rc;
	rc = cvl_calibration_load(&cal, path, err);
	if (rc)
		return rc == CVL_E_NOMEM ? rc : drop_file(s, "calibration.json", err);
	all = cal->n;
	cal->n = 0;
	for (size_t i = 0; i < all; i++)
		if (goes(s, out, cal->clock[i].clock))
			free(cal->clock[i].clock);
		else
			cal->clock[cal->n++] = cal->clock[i];
	if (!cal->n)
		rc = drop_file(s, "calibration.json", err);
	else if (cal->n < all)
		rc = cvl_calibration_save(cal, s, err);
	cvl_calibration_free(cal);
	return rc;
}

/* Forget the observer's anchor of the clock: a capture of that name starts anew. */
static int forget_anchor(const struct cvl_session *s, const char *name, struct cvl_error *err)
{
	static const char *const ends[] = { "json", "ballast" };

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		char path[CVL_PATH_MAX], file[400];
		int rc;

		snprintf(file, sizeof(file), "capture/%s.%s", name, ends[i]);
		rc = file_of(s, file, path, err);
		if (rc)
			return rc;
		if (unlink(path) && errno != ENOENT && errno != ENOTDIR)
			return cvl_fail_errno(err, "remove", path);
	}
	return 0;
}

/* The directory of all traces, if it is a real directory: never remove what a link leads to. */
static int traces_of(const struct cvl_session *s, char path[CVL_PATH_MAX], struct cvl_error *err)
{
	struct stat st;
	int rc = file_of(s, "traces", path, err);

	if (!rc && !lstat(path, &st) && !S_ISDIR(st.st_mode))
		rc = cvl_fail(err, CVL_E_UNSUPPORTED, CVL_NO_OFFSET, "%s: not a directory", path);
	return rc;
}

static bool is_in(const char *trace, const char *traces)
{
	size_t n = strlen(traces);

	return !strncmp(trace, traces, n) && trace[n] == '/' && trace[n + 1] != '.' &&
	       trace[n + 1] && !strchr(trace + n + 1, '/');
}

/* Traces can only be removed whole. */
static int check(const struct cvl_session *s, const bool *out, struct cvl_error *err)
{
	char traces[CVL_PATH_MAX];
	int rc = traces_of(s, traces, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < cvl_session_clocks(s); i++) {
		const struct cvl_clock *c = cvl_session_clock(s, i);

		if (!out[i])
			continue;
		if (c->growing)
			return cvl_fail(
				err, CVL_E_ENV, CVL_NO_OFFSET,
				"%s: clock %s is still being captured; stop the capture first",
				cvl_session_path(s), c->name);
		if (!is_in(c->trace, traces))
			return cvl_fail(err, CVL_E_UNSUPPORTED, CVL_NO_OFFSET,
					"%s: the trace of clock %s is not in %s",
					cvl_session_path(s), c->name, traces);
		for (size_t k = 0; k < cvl_session_clocks(s); k++) {
			const struct cvl_clock *other = cvl_session_clock(s, k);

			if (!out[k] && !strcmp(other->trace, c->trace))
				return cvl_fail(
					err, CVL_E_USAGE, CVL_NO_OFFSET,
					"%s: clocks %s and %s are in one trace; remove both",
					cvl_session_path(s), c->name, other->name);
		}
	}
	return 0;
}

static bool has_trace(const struct cvl_session *s, const char *trace)
{
	for (size_t i = 0; i < s->n; i++)
		if (!strcmp(s->clock[i].trace, trace))
			return true;
	return false;
}

int session_take_out(struct cvl_session *s, const bool *out, struct cvl_error *err)
{
	struct session_entry *gone = malloc((s->n + 1) * sizeof(*gone));
	size_t all = s->n, n_gone = 0;
	struct stat st;
	int rc;

	if (!gone)
		return cvl_no_memory(err);
	s->n = 0;
	for (size_t i = 0; i < all; i++)
		if (out[i])
			gone[n_gone++] = s->clock[i];
		else
			s->clock[s->n++] = s->clock[i];
	session_relate(s);
	s->made = false; /* it had clocks */
	rc = session_save(s, err);
	for (size_t i = 0; i < n_gone; i++) {
		if (!rc && !has_trace(s, gone[i].trace) && !lstat(gone[i].trace, &st))
			rc = cvl_remove_tree(gone[i].trace, err);
		session_entry_free(&gone[i]);
	}
	free(gone);
	return rc;
}

int cvl_session_remove(struct cvl_session *s, const size_t *clocks, size_t n, struct cvl_error *err)
{
	bool *out = calloc(cvl_session_clocks(s) + 1, sizeof(*out));
	int rc = out ? 0 : cvl_no_memory(err);

	for (size_t i = 0; i < n && !rc; i++)
		out[clocks[i]] = true;
	rc = rc ? rc : check(s, out, err);
	rc = rc ? rc : forget_sync(s, out, err);
	rc = rc ? rc : forget_calibration(s, out, err);
	rc = rc ? rc : forget_truth(s, out, err);
	for (size_t i = 0; i < cvl_session_clocks(s) && !rc; i++)
		if (out[i])
			rc = forget_anchor(s, cvl_session_clock(s, i)->name, err);
	rc = rc ? rc : session_take_out(s, out, err);
	free(out);
	return rc;
}

/* ---- unreferenced traces ---- */

/* Whether some clock's trace is at or below @path, however session.json spells that. */
static bool is_named(const struct cvl_session *s, const char *path)
{
	struct stat it, st;

	if (lstat(path, &it))
		return true;
	for (size_t i = 0; i < cvl_session_clocks(s); i++) {
		char up[CVL_PATH_MAX];

		snprintf(up, sizeof(up), "%s", cvl_session_clock(s, i)->trace);
		do {
			if (!lstat(up, &st) && st.st_dev == it.st_dev && st.st_ino == it.st_ino)
				return true;
			*(strrchr(up, '/') ? strrchr(up, '/') : up) = '\0';
		} while (strlen(up) > strlen(cvl_session_path(s)));
	}
	return false;
}

int session_clean_traces(const struct cvl_session *s, bool (*see)(void *ctx, const char *path),
			 void *ctx, struct cvl_error *err)
{
	char traces[CVL_PATH_MAX], path[CVL_PATH_MAX];
	const struct dirent *d;
	int rc = traces_of(s, traces, err);
	DIR *dir = rc ? NULL : opendir(traces);

	while (!rc && dir && (d = readdir(dir)))
		if (d->d_name[0] != '.' && cvl_path_join(path, traces, d->d_name) &&
		    !is_named(s, path) && see(ctx, path))
			rc = cvl_remove_tree(path, err);
	if (dir)
		closedir(dir);
	return rc;
}

int cvl_session_clean(struct cvl_session *s, bool (*see)(void *ctx, const char *path), void *ctx,
		      struct cvl_error *err)
{
	static const char *const files[] = { "session.json.new", "sync.json.new",
					     "calibration.json.new", "truth.json.new",
					     "annotations.json.new" };
	char path[CVL_PATH_MAX];
	int rc = session_clean_traces(s, see, ctx, err);

	rc = rc ? rc : maps_clean_session(s, see, ctx, err);
	rc = rc ? rc : session_clean_beside(s, see, ctx, err);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files) && !rc; i++) {
		rc = file_of(s, files[i], path, err);
		if (!rc && cvl_is_file(path) && see(ctx, path) && unlink(path))
			rc = cvl_fail_errno(err, "remove", path);
	}
	return rc;
}
