/* SPDX-License-Identifier: MIT */
/**
 * Keeps what a follower found: final knots are appended to one file a clock, which sync.json names.
 * Whoever opens the session meanwhile reads what is final by then.
 */
#ifndef TIMELINE_KEEP_H
#define TIMELINE_KEEP_H

#include <coeval/session.h>

#include "sync/steps.h"

struct keep;

/**
 * CVL_E_ENV: another process follows the session and keeps what it finds. CVL_E_IO and others: it
 * cannot be kept. @report is told where, if not in the session.
 */
int keep_open(struct keep **k, const struct cvl_session *session, const struct cvl_report *report,
	      struct cvl_error *err);
/** The same in @folder, and sync.json stays as it is. */
int keep_open_apart(struct keep **k, const char *folder, struct cvl_error *err);
/** What was committed stays. NULL is allowed. */
void keep_close(struct keep *k);

/** A steps_told(), with @keep as its context. */
int keep_knot(void *keep, size_t clock, const struct cvl_knot *knot, struct cvl_error *err);

/** Save what @s made final until now; at the end of the session durably. */
int keep_commit(struct keep *k, const struct cvl_session *session, const struct steps *s,
		struct cvl_error *err);

/** What is committed of a clock; *@map is NULL if nothing is. */
int keep_map(const struct keep *k, size_t clock, struct cvl_map **map, struct cvl_error *err);

#endif
