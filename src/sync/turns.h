/* SPDX-License-Identifier: MIT */
/**
 * By how many whole periods the counts of several clocks are apart.
 *
 * Each clock's count of a sender's pulses is right but for a whole number n of periods. Whatever
 * else is known says that n_a - n_b is not below some number. These are difference constraints
 * between integers: shortest paths give the exact hull of what is possible (Bellman 1958), without
 * a search.
 */
#ifndef SYNC_TURNS_H
#define SYNC_TURNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * What a constraint follows from. In the order in which they give way where they contradict each
 * other.
 */
enum turn_kind {
	TURN_CLAIM,   /* when the clocks claim to have been started, within what was stated */
	TURN_MESSAGE, /* sent before received */
	TURN_ALIGN,   /* an edge that the user says all saw */
	TURN_BEACON,  /* numbered beacons that both heard */
	TURN_MAP,     /* both clocks' times are known already */
	TURN_KINDS
};

struct turns;

/** Of @n clocks. NULL: out of memory. */
struct turns *turns_new(size_t n);
void turns_free(struct turns *t);

/** n_@a - n_@b >= @least, which need not be whole. Returns 0 or CVL_E_NOMEM. */
int turns_at_least(struct turns *t, size_t a, size_t b, double least, enum turn_kind kind);

/** Both ways: @low <= n_@a - n_@b <= @high. */
int turns_between(struct turns *t, size_t a, size_t b, double low, double high,
		  enum turn_kind kind);

#define TURN_UNKNOWN ((int64_t)1 << 60)

/** What came of it for a clock. */
struct turn {
	int64_t low, high; /* of n against the root's; -TURN_UNKNOWN, TURN_UNKNOWN: without limit */
	unsigned decided_by; /* 1 << enum turn_kind: without any of these it would not be decided */
	/* clocks decided against each other have the same; 0: against the root too */
	uint32_t group;
};

/**
 * Solve into @out, one a clock. The root is a clock of the largest group, or @root unless that is
 * SIZE_MAX. Returns kinds that were left out, as they contradict the others (1 << enum turn_kind),
 * or CVL_E_NOMEM.
 */
int turns_solve(const struct turns *t, size_t root, struct turn *out);

/** "claimed starts, messages": the kinds of a mask. */
const char *turns_text(unsigned kinds, char *out, size_t size);

#endif
