/* SPDX-License-Identifier: MIT */
/** From a session's records to the observations that tie its clocks. */
#ifndef SYNC_OBSERVE_H
#define SYNC_OBSERVE_H

#include "sync/pairing.h"
#include "sync/problem.h"
#include "sync/rules.h"

/**
 * Read all streams of @session once and fill @p's messages, marks, sources, and what is observed of
 * its clocks, which must be set up.
 */
int observe(struct sync_problem *p, struct cvl_session *session, const struct cvl_sync_opts *opts,
	    const struct rule_set *rules, struct cvl_error *err);

/** The same of a session that grows, in parts. */
struct observer;

/**
 * Marks are appended to @p in no particular order of clocks, ends of messages to @ends; observed()
 * is left to the caller. All arguments must outlive it.
 */
int observer_new(struct observer **o, struct sync_problem *p, struct pairing *ends,
		 struct cvl_session *session, const struct cvl_sync_opts *opts,
		 const struct rule_set *rules, struct cvl_error *err);
/** NULL is allowed. */
void observer_free(struct observer *o);

/**
 * Read what was stored since, up to @limit on the timeline of @maps, which it takes over; NULL: by
 * the nominal times. @now: the session, opened again, with the same clocks. @enough may be NULL; it
 * is asked after each block, and true leaves the rest for later.
 */
int observer_grow(struct observer *o, const struct cvl_session *now, struct cvl_sync *maps,
		  int64_t limit, bool (*enough)(void *ctx), void *ctx, struct cvl_error *err);

/** Whether all that is stored was read. */
bool observer_ended(const struct observer *o);

/** All records of clock @clock before this tick were read; 0: none. */
uint64_t observer_seen(const struct observer *o, size_t clock);

/**
 * When all marks of @p and all @ends are there: leave out what is less precise than others, and
 * pair messages.
 */
int observed(struct sync_problem *p, struct pairing *ends, const struct rule_set *rules,
	     struct cvl_error *err);

#endif
