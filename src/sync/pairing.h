/* SPDX-License-Identifier: MIT */
/**
 * Which send and which receive are one message, for clocks whose offset is not yet known.
 *
 * Only unambiguous pairs become messages. A key sent by more than one clock (a forwarded packet) is
 * ignored at a receive that either may have caused. Recurring keys, such as numbers that wrap, fit
 * several shifts of one clock against the other: all are tried, and if more than one fits, none of
 * these messages counts.
 */
#ifndef SYNC_PAIRING_H
#define SYNC_PAIRING_H

#include "sync/match.h"
#include "sync/problem.h"

/** All ends of messages, in any order. Zero-initialised: none. */
struct pairing_end {
	struct match_key key;
	uint32_t rule;
	uint32_t clock; /* index in the session; the tick is its own */
	uint32_t of;    /* the clock it is an alias of, or itself (same_as) */
	uint64_t tick;  /* of a send the first possible, of a receive the last */
	int64_t x;
	bool receive;
};

struct pairing {
	struct pairing_end *end;
	size_t n, cap;
};

int pairing_add(struct pairing *p, const struct pairing_end *end, struct cvl_error *err);

/** Pair all ends into @problem's messages, and count the rest. Sorts @p. */
int pairing_solve(struct pairing *p, struct sync_problem *problem, const struct rule_set *rules,
		  struct cvl_error *err);

void pairing_free(struct pairing *p);

#endif
