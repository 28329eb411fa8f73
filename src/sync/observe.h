/* SPDX-License-Identifier: MIT */
/** From a session's records to the observations that tie its clocks. */
#ifndef SYNC_OBSERVE_H
#define SYNC_OBSERVE_H

#include "sync/problem.h"
#include "sync/rules.h"

/**
 * Read all streams of @session once and fill @p's messages, marks, sources, and what is observed of
 * its clocks, which must be set up.
 */
int observe(struct sync_problem *p, struct cvl_session *session, const struct cvl_sync_opts *opts,
	    const struct rule_set *rules, struct cvl_error *err);

#endif
