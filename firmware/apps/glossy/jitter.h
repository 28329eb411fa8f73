/* SPDX-License-Identifier: MIT */
/**
 * The jitter filter of TraceLab (Lim et al. 2015, Sec. IV-E, equation 1) over the reference times
 * of floods:
 *
 *   T'(i) = a T(i) + (1 - a) (T'(i-1) + mean interval)
 *
 * The paper leaves M open, and whether the mean is of filtered times. Here it is that of the
 * unfiltered reference times before flood i: what the last one and the one M periods before it are
 * apart, divided by M. Periods without a flood pass too; where one of the two is missing, the
 * oldest within the M periods takes its place.
 *
 * Times are counts of the timer in 1/65536, modulo 2^64; only differences count.
 */
#ifndef COEVAL_GLOSSY_JITTER_H
#define COEVAL_GLOSSY_JITTER_H

#include <stdint.h>

#define JITTER_ONE 65536 /* a count */
#define JITTER_M_MOST 64
#define JITTER_ALPHA_ONE 1000

struct jitter {
	uint16_t alpha; /* of JITTER_ALPHA_ONE, which is no filter */
	uint8_t m;
	uint64_t period; /* nominal */

	unsigned n; /* reference times kept */
	unsigned newest;
	struct {
		uint64_t at;
		uint32_t index; /* periods since the first */
	} last[JITTER_M_MOST + 1];
	uint64_t at; /* T' of the flood of index @index */
	uint32_t index;
};

/**
 * Forget all. @m is 1 to JITTER_M_MOST, @alpha 1 to JITTER_ALPHA_ONE, @period the nominal interval.
 */
void jitter_init(struct jitter *j, uint16_t alpha, uint8_t m, uint64_t period);

/** The mean interval, or the nominal one while there are no two reference times. */
uint64_t jitter_interval(const struct jitter *j);

/** Where the flood @periods after the last T' is expected. */
uint64_t jitter_expect(const struct jitter *j, uint32_t periods);

/** A reference time, @periods (1 and up, but for the first) after the last T'. Returns T'. */
uint64_t jitter_put(struct jitter *j, uint64_t at, uint32_t periods);

/** Nothing was heard for one period: T' advances by the mean interval. Returns it. */
uint64_t jitter_miss(struct jitter *j);

#endif
