/* SPDX-License-Identifier: MIT */
/** Finds the length of a bit from the pulses of a line. */
#ifndef DECODE_BAUD_H
#define DECODE_BAUD_H

#include <stdbool.h>
#include <stdint.h>

/** Changes that are examined, and kept for decoding afterwards. */
#define BAUD_LEARN 1024

struct baud {
	unsigned n;
	uint64_t tick[BAUD_LEARN];
	bool level[BAUD_LEARN];
};

/**
 * Keep the level of the line from @tick on, if it changed. Returns false when there is no room for
 * another.
 */
bool baud_keep(struct baud *b, uint64_t tick, bool level);

/**
 * Length of the unit of which the pulses kept are multiples, in ticks: the shortest pulses give it
 * roughly, a least-squares fit of those up to @longest units exactly. A pulse's length is known to
 * a tick, so lines of at least three ticks per unit can be read. 0 if there are too few pulses, or
 * if they have no common unit.
 */
double baud_unit(const struct baud *b, unsigned longest);

/**
 * Level of the pulses longer than @unit x @longest: the idle level of the line. -1: none, or
 * equally many of both levels.
 */
int baud_idle(const struct baud *b, double unit, unsigned longest);

#endif
