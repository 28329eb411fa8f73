/* SPDX-License-Identifier: MIT */
/**
 * Which send and which receive are one message, for clocks of which it is not yet known how far
 * they are apart.
 *
 * Only what cannot be otherwise becomes a message. A key that more than one clock sends (a packet
 * that is forwarded) says nothing to a receive that both may have caused. Keys that come again,
 * such as numbers that wrap, fit several shifts of one clock against the other: all are tried, and
 * if more than one fits, none of these messages counts.
 */
#ifndef SYNC_PAIRING_H
#define SYNC_PAIRING_H

#include "sync/match.h"
#include "sync/problem.h"

/** All ends of messages, as they come. Zero-initialised: none. */
struct pairing_end {
	struct match_key key;
	uint32_t rule;
	uint32_t clock; /* of the session, that the tick is of */
	uint32_t of;    /* the clock that it is (same_as) */
	uint64_t tick;  /* of a send the first possible, of a receive the last */
	int64_t x;
	bool receive;
};

struct pairing {
	struct pairing_end *end;
	size_t n, cap;
};

int pairing_add(struct pairing *p, const struct pairing_end *end, struct cvl_error *err);

/** Pair all ends into @problem's messages, and count what was not. @p is sorted. */
int pairing_solve(struct pairing *p, struct sync_problem *problem, const struct rule_set *rules,
		  struct cvl_error *err);

void pairing_free(struct pairing *p);

#endif
