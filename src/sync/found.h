/* SPDX-License-Identifier: MIT */
/**
 * What was observed in a session's records, kept in its folder of what can be made again, so that
 * they are read once: marks, ends of messages, edges to align by, slips, and where each clock begins
 * and ends. It holds as long as the rules, the streams' files and the clocks' facts are what they were.
 * Format: docs/session.md.
 */
#ifndef SYNC_FOUND_H
#define SYNC_FOUND_H

#include <coeval/timeline.h>

#include "sync/pairing.h"
#include "sync/problem.h"
#include "sync/rules.h"

#define FOUND_KEY 65

/**
 * What the observations depend on, as a digest. False: they are not to be kept, as the session is not
 * complete.
 */
bool found_key(char key[FOUND_KEY], const struct cvl_timeline *tl, const struct cvl_sync_opts *opts,
	       const struct rule_set *rules);

/**
 * @n_rules: of messages. Fill @p and @ends, for which nothing was observed yet, with what was kept under @key, and
 * *unmatched. False: nothing was, or it is damaged; then both are as before.
 */
bool found_load(struct sync_problem *p, struct pairing *ends, size_t n_rules, uint64_t *unmatched,
		const struct cvl_session *session, const char *key);

/**
 * Keep it, in place of what was kept before. Failing that, or if it takes more than @most bytes,
 * costs time alone.
 */
void found_save(const struct sync_problem *p, const struct pairing *ends, uint64_t unmatched,
		const struct cvl_session *session, const char *key, uint64_t most);

#endif
