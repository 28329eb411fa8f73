/* SPDX-License-Identifier: MIT */
/**
 * Which mark of its sender a clock heard: pulses carry no number and get one, numbers of beacons may be wrong.
 */
#ifndef SYNC_NUMBER_H
#define SYNC_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** One mark of one source as one clock heard it. */
struct heard {
	int64_t x, number;
	uint32_t clock, source;
	bool bad; /* numbered wrongly, or no mark at all */
};

/** From mark @at on, numbers are higher by @by than the time that passed allows. */
struct number_jump {
	size_t at;
	int64_t after, next; /* number before the jump, and what would have been the one after */
	int64_t by;
};

#define NUMBER_JUMPS_MAX 32

/**
 * Give the @n marks of one source at one clock, by x, numbers of which those not bad rise with time. @period in ns.
 * Pulses (@numbered false) are counted from the one whose number is nearest to x / @period, x + @phase being where
 * periods begin. Jumps of beacons' numbers that last are told, up to NUMBER_JUMPS_MAX, and left as they are.
 */
void number_marks(struct heard *const *m, size_t n, bool numbered, int64_t period, int64_t phase,
		  struct number_jump *jump, size_t *n_jumps);

#endif
