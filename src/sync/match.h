/* SPDX-License-Identifier: MIT */
/**
 * Matching: which two records are the ends of one message, by rules (sync/rules.h).
 *
 * Ends that wait for their other end are kept, PENDING_MAX of them at the most; then the half seen last stays. Of several sends
 * with one key (retransmissions) the first counts and of several receives the first, which is sound: what was received came after
 * the first sending.
 */
#ifndef SYNC_MATCH_H
#define SYNC_MATCH_H

#include <coeval/timeline.h>

#include "sync/rules.h"

struct match_end {
	uint32_t clock; /* of the session */
	uint32_t who;   /* as whoever pushed it said */
	uint64_t tick;
	int64_t ns;
};

struct match_pair {
	uint32_t rule;
	struct match_end sent, received;
	bool sent_last; /* the receive stood before the send on the timeline */
};

/** Told of both ends of a message; a negative code ends matching with it. */
typedef int match_fn(void *ctx, const struct match_pair *pair);

struct matcher;

/** @rules and @tl must outlive it. CVL_E_NOMEM. */
int matcher_open(struct matcher **m, struct cvl_timeline *tl, const struct rule_set *rules,
		 match_fn *pair, void *ctx, struct cvl_error *err);

/** Whether events of class @cls of @stream are an end by any rule. */
bool matcher_wants(const struct matcher *m, size_t stream, uint32_t cls);

/** Record @i, a CVL_EVENT, from @who. */
int matcher_see(struct matcher *m, const struct cvl_slice *slice, size_t i, uint32_t who,
		struct cvl_error *err);

/** Ends without the other one: so far, and all those that still wait. */
uint64_t matcher_unmatched(const struct matcher *m);
/** Further ends of messages whose end was seen already. */
uint64_t matcher_duplicates(const struct matcher *m);
void matcher_close(struct matcher *m);

#endif
