/* SPDX-License-Identifier: MIT */
/**
 * Which mark of its sender a clock heard: numbers of beacons may be wrong. Pulses carry none, see
 * count.h.
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
 * Look whether the numbers of the @n beacons of one sender at one clock, by x, fit the time that
 * passed: those that do not are bad.
 * @period in ns. Jumps of numbers that last are told, up to NUMBER_JUMPS_MAX, and left as they are.
 */
void check_numbers(struct heard *const *m, size_t n, int64_t period, struct number_jump *jump,
		   size_t *n_jumps);

#endif
