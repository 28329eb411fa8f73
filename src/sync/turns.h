/* SPDX-License-Identifier: MIT */
/**
 * By how many whole periods the counts of several clocks differ.
 *
 * Each clock's count of a sender's pulses is right up to a whole number n of periods. All other
 * evidence says that n_a - n_b is at least some number. These are difference constraints between
 * integers: shortest paths give the exact hull of the possible values (Bellman 1958), without a
 * search.
 */
#ifndef SYNC_TURNS_H
#define SYNC_TURNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Origin of a constraint, in the order in which they give way where they contradict each other.
 */
enum turn_kind {
	TURN_CLAIM,   /* claimed start times, within their stated error */
	TURN_MESSAGE, /* messages are sent before received */
	TURN_ALIGN,   /* an edge that the user states all saw */
	TURN_BEACON,  /* numbered beacons heard by both */
	TURN_MAP,     /* both clocks' times are already known */
	TURN_KINDS
};

struct turns;

/** Of @n clocks. NULL: out of memory. */
struct turns *turns_new(size_t n);
void turns_free(struct turns *t);

/** n_@a - n_@b >= @least, which need not be an integer. Returns 0 or CVL_E_NOMEM. */
int turns_at_least(struct turns *t, size_t a, size_t b, double least, enum turn_kind kind);

/** Both ways: @low <= n_@a - n_@b <= @high. */
int turns_between(struct turns *t, size_t a, size_t b, double low, double high,
		  enum turn_kind kind);

#define TURN_UNKNOWN ((int64_t)1 << 60)

/** Result for one clock. */
struct turn {
	int64_t low, high;   /* of n against the root's; -TURN_UNKNOWN, TURN_UNKNOWN: unlimited */
	unsigned decided_by; /* 1 << enum turn_kind: without any of these it would be undecided */
	/* equal for clocks decided relative to each other; 0: the root's group */
	uint32_t group;
};

/**
 * Solve into @out, one per clock. The root is a clock of the largest group, or @root unless that is
 * SIZE_MAX. Returns the kinds left out as contradictory (1 << enum turn_kind), or CVL_E_NOMEM.
 */
int turns_solve(const struct turns *t, size_t root, struct turn *out);

/** "claimed starts, messages": the kinds of a mask. */
const char *turns_text(unsigned kinds, char *out, size_t size);

#endif
