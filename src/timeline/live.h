/* SPDX-License-Identifier: MIT */
/**
 * A timeline of a session that grows: handed out up to a limit, which moves on as more is stored
 * and tied.
 */
#ifndef TIMELINE_LIVE_H
#define TIMELINE_LIVE_H

#include <coeval/timeline.h>

/**
 * As cvl_timeline_open(), without maps: nothing is handed out before timeline_grow(). Ranges have a
 * begin at the most.
 */
int timeline_open_live(struct cvl_timeline **tl, struct cvl_session *session,
		       const struct cvl_timeline_opts *opts, struct cvl_error *err);

/**
 * Go on by the maps of @sync, which is taken, with what is stored by now, up to @limit: slices come
 * up to there, then cvl_timeline_next() returns 0. Every clock that grows has to have stored all of
 * its records earlier than that. @now: the session as it is, opened anew; the first of its clocks
 * are those of the timeline's. INT64_MAX: to the end.
 */
int timeline_grow(struct cvl_timeline *tl, const struct cvl_session *now, struct cvl_sync *sync,
		  int64_t limit, struct cvl_error *err);

#endif
