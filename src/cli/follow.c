/* SPDX-License-Identifier: MIT */
#include "follow.h"

#include "syncopts.h"

#include <limits.h>
#include <signal.h>
#include <string.h>

#define AT_ONCE_MS 300
#define PATIENCE_MS 10000 /* after which the clocks that delay the output are reported */

int follow_check(const struct verb *verb, const struct follow_options *o,
		 const struct cvl_timeline_opts *range)
{
	if (!o->on)
		return o->silent_ns ? cli_usage(verb, "--silent-after goes with --follow") : 0;
	if (range && range->nominal)
		return cli_usage(
			verb,
			"--nominal does not go with --follow: a clock is followed by how it is tied to the others");
	if (range && (range->has_from || range->has_until || range->node))
		return cli_usage(
			verb,
			"--from, --until and --node do not go with --follow, which takes the whole session");
	return 0;
}

int follow_silent_ms(const struct follow_options *o)
{
	int64_t ms = o->silent_ns / 1000000;

	if (!o->silent_ns)
		return 0; /* the default */
	return ms < 1 ? 1 : ms > INT_MAX ? INT_MAX : (int)ms;
}

/* ---- signals ---- */

static const int signals[] = { SIGINT, SIGTERM };

#define SIGNALS (sizeof(signals) / sizeof(*signals))

/* Static, since a handler has no context. */
static struct cvl_follow *followed;
static volatile sig_atomic_t interrupted;
static int64_t interrupted_ms; /* when */

/*
 * The first ends following, a later one the program. timeout(1) and others send one to the process
 * and again to its group: what comes at once is the same.
 */
static void interrupt(int sig)
{
	if (!interrupted) {
		interrupted = 1;
		interrupted_ms = cli_now_ms();
		cvl_follow_cancel(followed);
	} else if (cli_now_ms() - interrupted_ms > AT_ONCE_MS) {
		signal(sig, SIG_DFL);
		raise(sig);
	}
}

bool follow_interrupted(void)
{
	return interrupted;
}

/* What is ignored stays so. */
static void catch_signals(struct cvl_follow *f)
{
	struct sigaction now, caught = { .sa_handler = interrupt, .sa_flags = SA_RESTART };

	followed = f;
	interrupted = 0;
	sigemptyset(&caught.sa_mask);
	for (size_t i = 0; i < SIGNALS; i++)
		sigaddset(&caught.sa_mask, signals[i]);
	for (size_t i = 0; i < SIGNALS; i++)
		if (!sigaction(signals[i], NULL, &now) && now.sa_handler == SIG_DFL)
			sigaction(signals[i], &caught, NULL);
}

static void release_signals(void)
{
	struct sigaction now;

	for (size_t i = 0; i < SIGNALS; i++)
		if (!sigaction(signals[i], NULL, &now) && now.sa_handler == interrupt)
			signal(signals[i], SIG_DFL);
}

/* ---- following ---- */

struct following {
	struct cvl_follow *f;
	const struct follow_view *view;
	void *ctx;
	struct cvl_timeline *tl;
	struct cvl_time last; /* all up to here was given */
	bool begun;
};

static void tell_who_is_missing(const struct following *w)
{
	const char *who = cvl_follow_waits_for(w->f);

	if (who && !w->view->every_ms)
		fprintf(stderr, "coeval: waiting for pulses or beacons that %s hears\n", who);
}

static int begin(struct following *w, struct cvl_error *err)
{
	w->begun = true;
	return w->view->begin(w->ctx, w->tl, err);
}

static int end(struct following *w, struct cvl_error *err)
{
	return w->view->end ? w->view->end(w->ctx, w->last, err) : 0;
}

/* What was begun on the timeline that was replaced goes with it. */
static int change(struct following *w, struct cvl_timeline *tl, struct cvl_error *err)
{
	int rc = w->begun ? end(w, err) : 0;

	w->tl = tl;
	if (rc || !w->begun)
		return rc;
	if (w->view->end)
		fprintf(stderr, "coeval: a clock was added: what follows begins anew there\n");
	return begin(w, err);
}

/* Its clocks are tied only once there are records. */
static int slice(struct following *w, const struct cvl_slice *sl, struct cvl_error *err)
{
	int rc = w->begun ? 0 : begin(w, err);

	w->last = sl->time[sl->end - 1];
	return rc ? rc : w->view->slice(w->ctx, sl, err);
}

static int flush(struct following *w, bool last, struct cvl_error *err)
{
	return w->view->flush ? w->view->flush(w->ctx, w->f, last, err) : 0;
}

/* What was not there before. */
static int take(struct following *w, struct cvl_error *err)
{
	struct cvl_timeline *tl = cvl_follow_timeline(w->f);
	struct cvl_block block;
	struct cvl_slice sl;
	int rc = tl != w->tl ? change(w, tl, err) : 0;

	while (tl && !rc && !interrupted && (rc = cvl_timeline_next(tl, &block, err)) > 0)
		for (rc = 0; !rc && !interrupted && cvl_block_take(&block, &sl);)
			rc = slice(w, &sl, err);
	if (!rc && !interrupted) {
		w->last = cvl_follow_settled(w->f);
		if (w->last.ns > INT64_MIN && w->last.ns < INT64_MAX)
			w->last.ns--; /* records before it were given */
	}
	return rc ? rc : flush(w, false, err);
}

static int go_on(struct following *w, struct cvl_error *err)
{
	const int wait_ms = w->view->every_ms ? w->view->every_ms : PATIENCE_MS;
	int news, rc = 0;

	while (!rc) {
		news = cvl_follow_wait(w->f, wait_ms, err);
		if (news == CVL_E_CANCELLED || news == CVL_FOLLOW_ENDED)
			break;
		if (news < 0)
			return news;
		if (news == CVL_FOLLOW_NOTHING)
			tell_who_is_missing(w);
		rc = take(w, err);
	}
	return rc < 0 ? rc : 0;
}

/* The session ended, or is no longer of interest. */
static int finish(struct following *w, const char *path, struct cvl_error *err)
{
	int rc = flush(w, true, err);

	if (rc < 0 || !w->view->end)
		return rc < 0 ? rc : 0;
	if (!w->begun && interrupted)
		return cvl_fail(err, CVL_E_NO, CVL_NO_OFFSET,
				"%s: interrupted before its clocks were tied", path);
	rc = w->begun ? 0 : begin(w, err); /* there are no records */
	return rc ? rc : end(w, err);
}

int follow_session(const char *path, const struct cvl_follow_opts *opts,
		   const struct follow_view *view, void *ctx, struct cvl_error *err)
{
	struct following w = { .view = view, .ctx = ctx };
	int rc = cvl_follow_open(&w.f, path, opts, err);

	if (rc)
		return rc;
	catch_signals(w.f);
	rc = go_on(&w, err);
	if (!rc)
		rc = finish(&w, path, err);
	release_signals();
	cvl_follow_close(w.f);
	return rc;
}

int follow_recalled(const char *path, const struct follow_options *o,
		    const struct cvl_timeline_opts *timeline, const struct follow_view *view,
		    void *ctx, struct cvl_error *err)
{
	struct sync_options sync = { .opts.strict = timeline->strict };
	int rc = sync_options_calibrate(&sync, path, err);

	if (!rc)
		rc = sync_options_recall_from(&sync, path, err);
	if (!rc) {
		const struct cvl_follow_opts opts = {
			.sync = sync.opts,
			.estimated = view->estimated,
			.silent_ms = follow_silent_ms(o),
			.report = timeline->report,
		};

		rc = follow_session(path, &opts, view, ctx, err);
	}
	sync_options_free(&sync);
	return rc;
}

int follow_study(const char *path, const struct follow_options *o,
		 struct cvl_timeline_opts *timeline, const struct follow_view *view, void *ctx)
{
	struct problems problems;
	struct cvl_error err;
	int rc;

	problems_init(&problems);
	timeline->report = &problems.report;
	rc = view->prepare ? view->prepare(ctx, &err) : 0;
	if (!rc)
		rc = follow_recalled(path, o, timeline, view, ctx, &err);
	return cli_end(rc, &err, &problems);
}
