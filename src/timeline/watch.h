/* SPDX-License-Identifier: MIT */
/** Notices that a session's files change, without looking at them again and again. */
#ifndef TIMELINE_WATCH_H
#define TIMELINE_WATCH_H

#include <coeval/session.h>

struct watch;

/** CVL_E_ENV if there are no descriptors left. */
int watch_open(struct watch **w, struct cvl_error *err);
void watch_close(struct watch *w);

/** Watch session.json and the streams of @session from now on, beside what was watched before. */
void watch_session(struct watch *w, const struct cvl_session *session);

/**
 * Whether the system tells of changes at all. If not (its limit of watches was reached), only time
 * passes.
 */
bool watch_works(const struct watch *w);

/** Readable once something has changed, or after watch_wake(). */
int watch_fd(const struct watch *w);

/** Whether something has changed since the last call. */
bool watch_changed(struct watch *w);

/** Wait for @ms (-1: for ever), for a change if @for_changes, or until watch_wake(). */
void watch_wait(const struct watch *w, bool for_changes, int64_t ms);

/** End this watch_wait() and all later ones. From any thread or signal handler. */
void watch_wake(const struct watch *w);

#endif
