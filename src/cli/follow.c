/* SPDX-License-Identifier: MIT */
/*
 * Each look reads the observations anew. That is simple, and what kalman says of a time follows from the marks before
 * it, so that every look finds the same; only the last few marks of each clock may still turn out to be numbered wrongly,
 * so the printing stays that far behind.
 */
#include "follow.h"

#include "cli.h"
#include "show.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOLD_MARKS 6
#define FIRST_MARKS 20 /* before a clock has heard so many nothing is printed */
#define LOOK_US 500000
#define PATIENCE_S 10 /* after which it is told who keeps everybody waiting */

struct follower {
	const char *path;
	struct cvl_sync_opts *opts;
	struct problems problems;
	struct show *show;
	char sender[100]; /* the timeline is its time, from the first look on */
	bool printed;
	int64_t until;    /* all before that was printed */
	unsigned waiting; /* looks without anything new */
	struct cvl_error *err;
};

/* Up to when all growing clocks are settled. @who: the one that is settled least. */
static bool find_horizon(const struct follower *f, const struct cvl_session *session,
			 const struct cvl_observations *obs, const struct cvl_sync *sync,
			 int64_t *horizon, const char **who)
{
	*horizon = INT64_MAX;
	for (size_t i = 0; i < sync->n; i++) {
		const struct cvl_clock *c = cvl_session_clock(session, i);
		struct cvl_tick tick;
		int64_t t;

		if (!c->growing)
			continue;
		*who = *horizon == INT64_MAX ? c->name : *who;
		if (!sync->clock[i].map ||
		    (!f->printed && !cvl_observations_mark(obs, i, FIRST_MARKS, &tick)) ||
		    !cvl_observations_mark(obs, i, HOLD_MARKS, &tick)) {
			*who = c->name;
			return false;
		}
		t = cvl_map_time(sync->clock[i].map, tick, NULL).ns;
		if (t < *horizon) {
			*horizon = t;
			*who = c->name;
		}
	}
	return true;
}

static int show_until(struct follower *f, struct cvl_session *session, int64_t horizon)
{
	struct cvl_timeline_opts opts = { .report = &f->problems.report };
	int rc;

	if (f->printed && horizon <= f->until)
		return 0;
	opts.has_from = f->printed;
	opts.from.ns = f->until;
	opts.has_until = horizon != INT64_MAX;
	opts.until.ns = horizon - 1;
	rc = show_records(f->show, session, &opts, f->err);
	f->printed = true;
	f->until = horizon;
	f->waiting = 0;
	return rc;
}

static int solve_and_show(struct follower *f, struct cvl_session *session,
			  const struct cvl_observations *obs)
{
	struct cvl_sync *sync;
	const char *who = NULL;
	int64_t horizon;
	int rc = cvl_sync_solve(&sync, obs, "kalman", f->err);

	if (rc == CVL_E_NO)
		return 0; /* nothing was heard yet */
	if (rc)
		return rc;
	if (find_horizon(f, session, obs, sync, &horizon, &who)) {
		if (!f->sender[0] && !f->opts->reference) {
			snprintf(f->sender, sizeof(f->sender), "%s", sync->reference);
			f->opts->sender = f->sender;
		}
		rc = cvl_sync_save(sync, session, f->err);
		if (!rc)
			rc = show_until(f, session, horizon);
	}
	if (++f->waiting == PATIENCE_S * (1000000 / LOOK_US) && who)
		fprintf(stderr, "coeval: waiting for pulses or beacons that %s hears\n", who);
	cvl_sync_free(sync);
	return rc;
}

static int look(struct follower *f, bool *growing)
{
	struct cvl_observations *obs;
	struct cvl_session *session;
	int rc = cvl_session_open(&session, f->path, &f->problems.report, f->err);

	if (rc)
		return rc;
	*growing = false;
	for (size_t i = 0; i < cvl_session_clocks(session); i++)
		*growing = *growing || cvl_session_clock(session, i)->growing;
	rc = cvl_observe(&obs, session, f->opts, f->err);
	if (!rc) {
		rc = solve_and_show(f, session, obs);
		cvl_observations_free(obs);
	}
	cvl_session_close(session);
	return rc;
}

int follow_session(const char *path, struct cvl_sync_opts *opts, bool json, struct cvl_error *err)
{
	struct show_style style = { .bounds = true, .json = json };
	struct follower f = { .path = path, .opts = opts, .err = err };
	bool growing = true;
	int rc = 0;

	problems_init(&f.problems);
	opts->report = &f.problems.report;
	f.show = show_new(&style);
	if (!f.show)
		return cvl_no_memory(err);
	while (!rc && growing && !show_is_over(f.show)) {
		rc = look(&f, &growing);
		if (growing)
			usleep(LOOK_US);
	}
	if (!rc && !f.printed && !show_is_over(f.show))
		rc = cvl_fail(err, CVL_E_NO, CVL_NO_OFFSET,
			      "too few pulses and beacons were heard to tie these clocks");
	show_free(f.show);
	return rc;
}
