/* SPDX-License-Identifier: MIT */
/**
 * What property tests share: numbers drawn from a seed that is printed, and can be given again in
 * the environment as COEVAL_SEED.
 */
#ifndef TEST_DRAW_H
#define TEST_DRAW_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tier.h"

struct draw {
	uint64_t state;
};

/** The seed of this run, printed on the first call. */
static inline uint64_t draw_seed(void)
{
	static uint64_t seed;

	if (!seed) {
		seed = seed_of_run();
		seed = seed ? seed : 1;
		printf("COEVAL_SEED=%" PRIu64 "\n", seed);
	}
	return seed;
}

/* splitmix64 (Steele, Lea, Flood 2014) */
static inline uint64_t draw_u64(struct draw *d)
{
	uint64_t z = d->state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/**
 * A generator of its own for each test: what one draws does not change another. The state is drawn
 * itself, or neighbouring seeds would give the same numbers, one later.
 */
static inline struct draw draw_begin(uint64_t test)
{
	struct draw seed = { draw_seed() };
	struct draw both = { draw_u64(&seed) + test };

	return (struct draw){ draw_u64(&both) };
}

/** 0 <= n < @limit */
static inline uint64_t draw_below(struct draw *d, uint64_t limit)
{
	return draw_u64(d) % limit;
}

/** All magnitudes up to 2^@bits - 1 alike. */
static inline uint64_t draw_size(struct draw *d, unsigned bits)
{
	unsigned n = (unsigned)draw_below(d, bits + 1);

	return n ? draw_u64(d) >> (64 - n) : 0;
}

#endif
