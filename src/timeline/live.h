/* SPDX-License-Identifier: MIT */
/**
 * The timeline of a growing session: delivered up to a limit, which advances as more is stored and
 * synchronised.
 */
#ifndef TIMELINE_LIVE_H
#define TIMELINE_LIVE_H

#include <coeval/timeline.h>

/**
 * Like cvl_timeline_open(), but without maps: nothing is delivered before timeline_grow(). A range
 * may only have a begin.
 */
int timeline_open_live(struct cvl_timeline **tl, struct cvl_session *session,
		       const struct cvl_timeline_opts *opts, struct cvl_error *err);

/**
 * Continue with the maps of @sync, which it takes over, and with what is stored by now, up to
 * @limit (INT64_MAX: to the end): slices come up to there, then cvl_timeline_next() returns 0.
 * Every growing clock must have stored all of its records before @limit. @now: the session, opened
 * again; the timeline's clocks come first in it.
 */
int timeline_grow(struct cvl_timeline *tl, const struct cvl_session *now, struct cvl_sync *sync,
		  int64_t limit, struct cvl_error *err);

/** Like cvl_timeline_open(), with the maps of @sync, which it takes over in any case, NULL: sync.json's. */
int timeline_open_tied(struct cvl_timeline **tl, struct cvl_session *session,
		       const struct cvl_timeline_opts *opts, struct cvl_sync *sync,
		       struct cvl_error *err);

/** Answer with the maps of @sync, which it takes over, from now on. Records that are at hand keep their times. */
int timeline_tie(struct cvl_timeline *tl, struct cvl_sync *sync, struct cvl_error *err);

/** Whether all that was stored by the last timeline_grow() came in slices. */
bool timeline_ended(const struct cvl_timeline *tl);

/** All records of clock @clock before this tick came in slices; 0: none did. */
uint64_t timeline_seen(const struct cvl_timeline *tl, size_t clock);

#endif
