/* SPDX-License-Identifier: MIT */
/**
 * By how many ticks the TSC of another processor is ahead of ours, by exchanges, each of which
 * proves limits.
 */
#ifndef ETT_APART_H
#define ETT_APART_H

#include <stdbool.h>
#include <stdint.h>

struct ett_apart {
	int64_t least, most;
};

/** Nothing is known yet. */
void ett_apart_open(struct ett_apart *a);
/** It read @stamp, after we had read @ahead and before we read @behind. */
void ett_apart_add(struct ett_apart *a, uint64_t ahead, uint64_t stamp, uint64_t behind);
/**
 * Whether they are two clocks: a difference of zero is not within all the limits. This includes
 * limits that no difference satisfies, as for clocks of two rates compared twice with some time in
 * between.
 */
bool ett_apart_is(const struct ett_apart *a);

#endif
