/* SPDX-License-Identifier: MIT */
/**
 * Following a session while it grows: it is synchronised in steps, each over a stretch of about the
 * last thousand marks, and its timeline is delivered up to a watermark.
 *
 * What was delivered is never revised. It lies so far behind the last marks that those to come would
 * change its times by less than 1 % of their bounds (docs/sync.md), and the bounds are those of the
 * marks that had come. A step depends on what is stored, not on when it was looked at: a session
 * that is followed once it has ended gives the same records with the same times, unless a clock was
 * taken for silent, or added meanwhile. What a silent clock stored meanwhile comes late and is marked
 * CVL_LATE.
 *
 * The time and memory for a new second do not depend on how many there were before.
 *
 *   while ((rc = cvl_follow_wait(f, -1, err)) > 0 && rc != CVL_FOLLOW_ENDED)
 *           while ((more = cvl_timeline_next(cvl_follow_timeline(f), &block, err)) > 0)
 *                   while (cvl_block_take(&block, &slice))
 *                           ... cvl_analysis_push(a, &slice, err) ...
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
	 * How clocks are tied; copied, but not what it points to. estimator: one that can follow
	 * (struct cvl_estimator_info); NULL: as cvl_sync_run() chooses by the first observations.
	 * progress is ignored: each pass is short.
	 */
	struct cvl_sync_opts sync;
	/*
	 * keep what is final in sync.json and its maps. Where that fails it is told, and following
	 * goes on; so it does if another process does so already.
	 */
	bool save;
	/* deliver all that can be estimated by now: its times in sync.json may still change */
	bool estimated;
	int look_ms; /* at least, between passes over the session; 0: 500 */
	/*
	 * a clock that stores nothing for so long, or hears too little to be tied, is not waited
	 * for; 0: 10 s; -1: for ever
	 */
	int silent_ms;
	const struct cvl_report *report;
};

/** Nothing is opened yet. CVL_E_USAGE: the estimator is unknown or cannot follow. */
CVL_API int cvl_follow_open(struct cvl_follow **f, const char *path,
			    const struct cvl_follow_opts *opts, struct cvl_error *err);
CVL_API void cvl_follow_close(struct cvl_follow *f);

enum cvl_follow_news {
	CVL_FOLLOW_NOTHING, /* timeout */
	CVL_FOLLOW_MORE,    /* the timeline has more */
	/* clocks were added: a new timeline continues where the previous one ended */
	CVL_FOLLOW_RENEWED,
	CVL_FOLLOW_ENDED, /* the session is no longer written to, and all of it was delivered */
};

/**
 * Wait until there is more of the session, up to @timeout_ms (-1: for ever; 0: one pass). Read the
 * timeline to its end before. CVL_E_CANCELLED: cvl_follow_cancel() was called. CVL_E_NO: the
 * session ended, and too little was heard to tie its clocks.
 */
CVL_API int cvl_follow_wait(struct cvl_follow *f, int64_t timeout_ms, struct cvl_error *err);

/**
 * A descriptor to poll: readable once the session has changed or was cancelled, and until the next
 * cvl_follow_wait(), which with a timeout of 0 makes one pass. Nothing is read while nothing
 * changes, but for a pass every 5 s, since not every file system tells. It belongs to @f.
 */
CVL_API int cvl_follow_fd(const struct cvl_follow *f);

/**
 * The timeline up to the watermark, where cvl_timeline_next() returns 0; NULL before the first
 * CVL_FOLLOW_MORE. It belongs to @f. One that was replaced lives until the next cvl_follow_wait();
 * close before then what was opened on it.
 */
CVL_API struct cvl_timeline *cvl_follow_timeline(const struct cvl_follow *f);

/**
 * Everything before this has final times; INT64_MIN ns: nothing; CVL_TIME_MAX: the session has
 * ended.
 */
CVL_API struct cvl_time cvl_follow_settled(const struct cvl_follow *f);
/**
 * All clocks that are not silent have stored their records before this; from the settled time on
 * times may still change.
 */
CVL_API struct cvl_time cvl_follow_estimated(const struct cvl_follow *f);

/** Whether clock @clock of the session is taken for silent. */
CVL_API bool cvl_follow_silent(const struct cvl_follow *f, size_t clock);

/**
 * The clock that holds up others whose records are there already: it has stored too little, or heard too
 * little to be tied. NULL: none.
 * Valid until the next cvl_follow_wait().
 */
CVL_API const char *cvl_follow_waits_for(const struct cvl_follow *f);

/**
 * Make cvl_follow_wait() return, now or when it is called next. From any thread or signal handler.
 */
CVL_API void cvl_follow_cancel(struct cvl_follow *f);

CVL_END_DECLS

#endif
