/* SPDX-License-Identifier: MIT */
/** The length of a bit, from the pulses of a line. */
#ifndef DECODE_BAUD_H
#define DECODE_BAUD_H

#include <stdbool.h>
#include <stdint.h>

/** Changes that are looked at, and kept for those who decode them afterwards. */
#define BAUD_LEARN 1024

struct baud {
	unsigned n;
	uint64_t tick[BAUD_LEARN];
	bool level[BAUD_LEARN];
};

/**
 * Keep what the line shows from @tick on, if that is a change. Returns false when there is room for
 * no more after it.
 */
bool baud_keep(struct baud *b, uint64_t tick, bool level);

/**
 * Length of the unit of which the pulses kept are multiples, in ticks: the shortest pulses give it
 * roughly, a least-squares fit of those up to @longest units exactly. A pulse's length is known to
 * a tick, so lines of at least three ticks a unit can be read. 0 if there are too few pulses, or if
 * they are multiples of nothing.
 */
double baud_unit(const struct baud *b, unsigned longest);

/**
 * Level of the pulses that are longer than @unit x @longest: what the line idles at. -1: there are
 * none, or of both levels alike.
 */
int baud_idle(const struct baud *b, double unit, unsigned longest);

#endif
