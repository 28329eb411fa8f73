/* SPDX-License-Identifier: MIT */
#include <coeval/follow.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/clockmap_join.h"
#include "store/stored.h"
#include "sync/steps.h"
#include "timeline/follow.h"
#include "timeline/keep.h"
#include "timeline/live.h"
#include "timeline/watch.h"

#define LOOK_MS 500
#define SILENT_MS 10000
#define ESTIMATE_PART 10 /* of the time at most is spent on estimates that will be replaced */
#define UNTOLD_MS 5000   /* what changes without being told is looked for this often */

struct cvl_follow {
	char *path;
	char *apart; /* folder in which final knots are kept, or NULL: the session's */
	struct cvl_follow_opts opts;
	struct steps *steps;
	struct keep *keep; /* or NULL: nothing is saved */
	atomic_bool cancelled;
	struct cvl_session *session; /* of the timeline */
	struct cvl_timeline *tl;
	size_t written;                  /* clocks of it that had stored something */
	struct cvl_session *old_session; /* of the timeline that was replaced */
	struct cvl_timeline *old;
	int64_t settled, estimated, limit; /* limit: of what was delivered */
	bool begun, growing;
	bool more; /* the last look took a step: another may follow */
	char waits_for[200];
	struct watch *watch;
	int64_t looked_ms;   /* when */
	int64_t estimate_ms; /* when the next estimate may be made */
	/*
	 * something was told since, or just before: a writer's lock is released after its stream
	 * is closed
	 */
	bool told, before;
};

/* ---- passes ---- */

/* A timeline of @now, which it takes over, from where the last one ended. */
static int renew(struct cvl_follow *f, struct cvl_session *now, struct cvl_error *err)
{
	const struct cvl_timeline_opts opts = {
		.has_from = f->begun && f->limit != INT64_MIN,
		.from = { f->limit },
		.strict = f->opts.sync.strict,
		.report = f->opts.report,
	};
	struct cvl_timeline *tl;
	int rc = timeline_open_live(&tl, now, &opts, err);

	if (rc)
		return rc;
	f->old = f->tl;
	f->old_session = f->session;
	f->tl = tl;
	f->session = now;
	return 0;
}

static void drop_old(struct cvl_follow *f)
{
	cvl_timeline_close(f->old);
	if (f->old_session)
		cvl_session_close(f->old_session);
	f->old = NULL;
	f->old_session = NULL;
}

static void stop_keeping(struct cvl_follow *f, struct cvl_error *why)
{
	cvl_tell(f->opts.report, why);
	keep_close(f->keep);
	f->keep = NULL;
}

/* Deliver what is final, or can be estimated. Returns what is new. @taken: @session is kept. */
static int advance(struct cvl_follow *f, struct cvl_session *session, bool *taken,
		   struct cvl_error *err)
{
	const int64_t limit = f->opts.estimated ? f->estimated : f->settled;
	const size_t written = session_written(session);
	const bool other = !f->tl || written != f->written ||
			   cvl_session_clocks(session) != cvl_session_clocks(f->session);
	struct cvl_sync *sync;
	int rc;

	if (f->begun && limit <= f->limit)
		return 0;
	rc = steps_maps(f->steps, f->opts.estimated, &sync, err);
	if (!rc && other) {
		rc = renew(f, session, err);
		*taken = !rc;
		f->written = written;
	}
	if (rc) {
		cvl_sync_free(sync);
		return rc;
	}
	rc = timeline_grow(f->tl, session, sync, limit, err);
	if (rc)
		return rc;
	f->begun = true;
	f->limit = limit;
	return f->old ? CVL_FOLLOW_RENEWED : CVL_FOLLOW_MORE;
}

/* A final knot; if it cannot be kept nothing more is, but following goes on. */
static int keep_final(void *follow, size_t clock, const struct cvl_knot *knot,
		      struct cvl_error *err)
{
	struct cvl_follow *f = follow;

	if (f->keep && keep_knot(f->keep, clock, knot, err))
		stop_keeping(f, err);
	return 0;
}

static int open_steps(struct cvl_follow *f, const struct cvl_session *session,
		      struct cvl_error *err)
{
	struct steps_opts opts = {
		.sync = f->opts.sync,
		.silent_ms = f->opts.silent_ms ? f->opts.silent_ms : SILENT_MS,
		.told = keep_final,
		.ctx = f,
	};

	opts.sync.report = NULL; /* the timeline tells what is wrong with the streams */
	if (f->apart) {
		int rc = keep_open_apart(&f->keep, f->apart, err);

		if (rc)
			return rc;
	} else if (f->opts.save && keep_open(&f->keep, session, f->opts.report, err)) {
		stop_keeping(f, err);
	}
	return steps_open(&f->steps, f->path, &opts, err);
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Times beyond the last step, as they are best known now. @step: one was just taken. */
static int estimate(struct cvl_follow *f, bool step, struct cvl_error *err)
{
	const int64_t begin = now_ms();
	int rc;

	if (!f->opts.estimated || (!step && begin < f->estimate_ms))
		return 0;
	rc = steps_estimate(f->steps, err);
	f->estimate_ms = begin + ESTIMATE_PART * (now_ms() - begin);
	return rc;
}

static int look(struct cvl_follow *f, struct cvl_error *err)
{
	struct cvl_session *session;
	bool taken = false;
	int rc = cvl_session_open(&session, f->path, f->opts.report, err);

	if (rc)
		return rc;
	watch_session(f->watch, session);
	f->growing = false;
	for (size_t i = 0; i < cvl_session_clocks(session); i++)
		f->growing = f->growing || cvl_session_clock(session, i)->growing;
	rc = f->steps ? 0 : open_steps(f, session, err);
	rc = rc ? rc : steps_next(f->steps, session, err);
	f->more = rc > 0;
	if (rc > 0 && f->keep && keep_commit(f->keep, session, f->steps, err))
		stop_keeping(f, err);
	if (rc >= 0)
		rc = estimate(f, f->more, err);
	if (rc >= 0) {
		const char *who = steps_wait_for(f->steps);

		snprintf(f->waits_for, sizeof(f->waits_for), "%s", who ? who : "");
		f->settled = steps_final(f->steps);
		f->estimated = steps_stored(f->steps);
		if (f->estimated < f->settled || !f->growing)
			f->estimated = f->settled;
		rc = f->settled > INT64_MIN || f->opts.estimated ?
			     advance(f, session, &taken, err) :
			     0;
	}
	if (!taken)
		cvl_session_close(session);
	return rc;
}

/* ---- waiting ---- */

/* When to look next, if nothing else is told until then. */
static int64_t next_look(const struct cvl_follow *f)
{
	const int64_t every = f->opts.look_ms ? f->opts.look_ms : LOOK_MS;

	if (f->told || f->before || !watch_works(f->watch))
		return f->looked_ms + every;
	return f->looked_ms + (every > UNTOLD_MS ? every : UNTOLD_MS);
}

int cvl_follow_wait(struct cvl_follow *f, int64_t timeout_ms, struct cvl_error *err)
{
	const int64_t begin = now_ms();

	drop_old(f);
	for (;;) {
		int64_t now = now_ms(), left = INT64_MAX, next;

		if (atomic_load(&f->cancelled))
			return cvl_fail(err, CVL_E_CANCELLED, CVL_NO_OFFSET, "cancelled");
		if (!f->growing && !f->more)
			return f->begun ?
				       CVL_FOLLOW_ENDED :
				       cvl_fail(
					       err, CVL_E_NO, CVL_NO_OFFSET,
					       "too few pulses and beacons were heard to tie these clocks");
		f->told = watch_changed(f->watch) || f->told;
		if (now >= next_look(f) || f->more || !timeout_ms) {
			int rc;

			f->before = f->told;
			f->told = false;
			rc = look(f, err);
			f->looked_ms = now_ms();
			if (rc)
				return rc;
			now = f->looked_ms;
		}
		if (timeout_ms >= 0)
			left = begin + timeout_ms - now;
		if (left <= 0)
			return CVL_FOLLOW_NOTHING;
		if (!f->growing || f->more)
			continue;
		next = next_look(f) - now;
		if (next > 0)
			watch_wait(f->watch, !f->told && !f->before, next < left ? next : left);
	}
}

/* ---- begin and end ---- */

static int check_estimator(const char *name, struct cvl_error *err)
{
	const struct cvl_estimator_info *e;
	char names[200] = "";
	size_t n = 0;

	for (size_t i = 0; (e = cvl_sync_estimator(i)); i++) {
		if (!e->follows)
			continue;
		if (!strcmp(e->name, name))
			return 0;
		if (n < sizeof(names))
			n += (size_t)snprintf(names + n, sizeof(names) - n, "%s%s", n ? ", " : "",
					      e->name);
	}
	return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
			"estimator '%.40s' cannot follow a session that grows; those that can: %s",
			name, names);
}

int cvl_follow_open(struct cvl_follow **out, const char *path, const struct cvl_follow_opts *opts,
		    struct cvl_error *err)
{
	struct cvl_follow *f;
	int rc = opts->sync.estimator ? check_estimator(opts->sync.estimator, err) : 0;

	*out = NULL;
	if (rc)
		return rc;
	f = calloc(1, sizeof(*f));
	if (f)
		f->path = strdup(path);
	if (!f || !f->path) {
		free(f);
		return cvl_no_memory(err);
	}
	f->opts = *opts;
	f->opts.sync.report = opts->report;
	f->opts.sync.progress = (struct cvl_progress){ 0 };
	rc = watch_open(&f->watch, err);
	if (rc) {
		free(f->path);
		free(f);
		return rc;
	}
	f->settled = f->estimated = f->limit = INT64_MIN;
	f->looked_ms = INT64_MIN / 2;
	f->growing = f->more = true;
	*out = f;
	return 0;
}

void cvl_follow_close(struct cvl_follow *f)
{
	if (!f)
		return;
	drop_old(f);
	cvl_timeline_close(f->tl);
	if (f->session)
		cvl_session_close(f->session);
	watch_close(f->watch);
	steps_free(f->steps);
	keep_close(f->keep);
	free(f->apart);
	free(f->path);
	free(f);
}

int follow_open_apart(struct cvl_follow **out, const char *path, const char *folder,
		      const struct cvl_follow_opts *opts, struct cvl_error *err)
{
	int rc = cvl_follow_open(out, path, opts, err);

	if (rc)
		return rc;
	(*out)->apart = strdup(folder);
	if ((*out)->apart)
		return 0;
	cvl_follow_close(*out);
	*out = NULL;
	return cvl_no_memory(err);
}

/* What is final of a clock, kept, and beyond it what is known by now. */
static int join(const struct cvl_follow *f, size_t clock, struct cvl_map *map,
		struct cvl_error *err)
{
	struct cvl_map *past;
	int rc = keep_map(f->keep, clock, &past, err);

	if (rc || !past)
		return rc;
	rc = map_join(map, past, err);
	if (rc)
		cvl_map_free(past);
	return rc;
}

int follow_maps(const struct cvl_follow *f, struct cvl_sync **sync, struct cvl_error *err)
{
	int rc = f->steps ? steps_maps(f->steps, true, sync, err) : 0;

	if (!f->steps)
		*sync = NULL;
	for (size_t i = 0; f->keep && !rc && *sync && i < (*sync)->n; i++)
		if ((*sync)->clock[i].map)
			rc = join(f, i, (*sync)->clock[i].map, err);
	if (rc) {
		cvl_sync_free(*sync);
		*sync = NULL;
	}
	return rc;
}

int cvl_follow_fd(const struct cvl_follow *f)
{
	return watch_fd(f->watch);
}

struct cvl_timeline *cvl_follow_timeline(const struct cvl_follow *f)
{
	return f->tl;
}

struct cvl_time cvl_follow_settled(const struct cvl_follow *f)
{
	return (struct cvl_time){ f->settled };
}

struct cvl_time cvl_follow_estimated(const struct cvl_follow *f)
{
	return (struct cvl_time){ f->estimated };
}

bool cvl_follow_silent(const struct cvl_follow *f, size_t clock)
{
	return f->steps && steps_silent(f->steps, clock);
}

const char *cvl_follow_waits_for(const struct cvl_follow *f)
{
	return f->waits_for[0] ? f->waits_for : NULL;
}

void cvl_follow_cancel(struct cvl_follow *f)
{
	atomic_store(&f->cancelled, true);
	watch_wake(f->watch);
}
