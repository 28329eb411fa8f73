/* SPDX-License-Identifier: MIT */
/**
 * Following a session while it grows: its clocks are tied again and again, and its timeline is
 * handed out up to the watermark.
 *
 * What was handed out is never taken back: the estimator is one whose times depend on what was
 * heard before them alone, and the timeline stays behind the last marks of each clock, which may
 * yet turn out to be numbered wrongly. So what is followed is what the finished session shows,
 * synchronised the same way: the same records, with the same times.
 *
 *   while ((rc = cvl_follow_wait(f, -1, err)) > 0 && rc != CVL_FOLLOW_ENDED)
 *           while ((more = cvl_timeline_next(cvl_follow_timeline(f), &slice, err)) > 0)
 *                   ... cvl_analysis_push(a, &slice, err) ...
 *
 * One thread at a time, but for cvl_follow_cancel().
 */
#ifndef COEVAL_FOLLOW_H
#define COEVAL_FOLLOW_H

#include <stdbool.h>

#include <coeval/api.h>
#include <coeval/sync.h>
#include <coeval/timeline.h>

CVL_BEGIN_DECLS

struct cvl_follow;

struct cvl_follow_opts {
	/*
	 * How clocks are tied; copied, but not what it points to. estimator: one of those that
	 * follow (struct cvl_estimator_info); NULL: CVL_FOLLOW_ESTIMATOR. progress is left aside:
	 * looks are short.
	 */
	struct cvl_sync_opts sync;
	bool save; /* write sync.json at each look */
	/* hand out all that can be estimated by now: its times may still change in sync.json */
	bool estimated;
	int look_ms; /* between looks at the session; 0: 500 */
	const struct cvl_report *report;
};

#define CVL_FOLLOW_ESTIMATOR "kalman"

/** Nothing is opened yet. CVL_E_USAGE: the estimator is none, or none that follows. */
CVL_API int cvl_follow_open(struct cvl_follow **f, const char *path,
			    const struct cvl_follow_opts *opts, struct cvl_error *err);
CVL_API void cvl_follow_close(struct cvl_follow *f);

enum cvl_follow_news {
	CVL_FOLLOW_NOTHING, /* the time is up */
	CVL_FOLLOW_MORE,    /* the timeline goes on */
	/*
	 * clocks were added: the timeline is another one, which goes on where the one before ended
	 */
	CVL_FOLLOW_RENEWED,
	CVL_FOLLOW_ENDED, /* the session is no longer written to, and all of it was handed out */
};

/**
 * Look at the session until there is more of it, for @timeout_ms at the most (-1: for ever; 0: one
 * look). The timeline is to be read to its end before. CVL_E_CANCELLED: somebody called
 * cvl_follow_cancel(). CVL_E_NO: it ended, and too little was heard to tie its clocks.
 */
CVL_API int cvl_follow_wait(struct cvl_follow *f, int64_t timeout_ms, struct cvl_error *err);

/**
 * The timeline up to the watermark, where cvl_timeline_next() returns 0; NULL before the first
 * CVL_FOLLOW_MORE. It belongs to @f. One that was replaced lives until the next cvl_follow_wait():
 * end by then what was opened on it.
 */
CVL_API struct cvl_timeline *cvl_follow_timeline(const struct cvl_follow *f);

/**
 * Everything before that has final times; INT64_MIN ns: nothing; CVL_TIME_MAX: the session has
 * ended.
 */
CVL_API struct cvl_time cvl_follow_settled(const struct cvl_follow *f);
/** Everything before that can be estimated: what lies between is not settled yet. */
CVL_API struct cvl_time cvl_follow_estimated(const struct cvl_follow *f);

/**
 * The clock that holds up the others, since it has heard least; NULL: none does. Valid until the
 * next cvl_follow_wait().
 */
CVL_API const char *cvl_follow_waits_for(const struct cvl_follow *f);

/**
 * Make cvl_follow_wait() return, now or when it is called next. From any thread or signal handler.
 */
CVL_API void cvl_follow_cancel(struct cvl_follow *f);

CVL_END_DECLS

#endif
