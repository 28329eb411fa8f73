/* SPDX-License-Identifier: MIT */
/**
 * The length of a bit, from the pulses of a line.
 */
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

/** Keep a change. Returns false when there is room for no more. */
bool baud_keep(struct baud *b, uint64_t tick, bool level);

/**
 * Length of the unit of which all pulses kept are multiples, in ticks: the shortest pulses give it roughly, a fit of all that are up to @longest units
 * exactly. 0 if there are too few pulses, or if they are multiples of nothing. Ticks tell when a change was seen first: a pulse's length is known
 * to a tick.
 */
double baud_unit(const struct baud *b, unsigned longest);

#endif
