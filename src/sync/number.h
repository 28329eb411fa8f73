/* SPDX-License-Identifier: MIT */
/**
 * Which mark of its sender a clock heard: numbers of beacons may be wrong. For pulses, which carry
 * none, see count.h.
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
	bool bad; /* wrongly numbered, or not a mark at all */
};

/** From mark @at on, numbers are higher by @by than the elapsed time allows. */
struct number_jump {
	size_t at;
	int64_t after, next; /* number before the jump, and the one expected after it */
	int64_t by;
};

#define NUMBER_JUMPS_MAX 32

/**
 * Check whether the numbers of the @n beacons of one sender at one clock, by x, fit the elapsed
 * time; those that do not become bad. @period in ns. Lasting jumps are reported, up to
 * NUMBER_JUMPS_MAX, and left as they are. @rest, or NULL, is called now and then: the beacons before
 * are no longer used.
 */
void check_numbers(struct heard *const *m, size_t n, int64_t period, struct number_jump *jump,
		   size_t *n_jumps, void (*rest)(const void *ctx), const void *ctx);

#endif
