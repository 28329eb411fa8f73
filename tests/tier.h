/* SPDX-License-Identifier: MIT */
/**
 * What a run of the tests is given: COEVAL_TIER, how much of a test is run (`make check` is quick,
 * FULL=1 what CI runs, `make soak` takes hours); COEVAL_SEED, so that a run can be repeated.
 */
#ifndef TESTS_TIER_H
#define TESTS_TIER_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/** Without COEVAL_TIER: @full. */
static inline unsigned tier(unsigned quick, unsigned full, unsigned soak)
{
	const char *t = getenv("COEVAL_TIER");

	return t && !strcmp(t, "quick") ? quick : t && !strcmp(t, "soak") ? soak : full;
}

/** COEVAL_SEED, or drawn from the clock and printed with how to repeat it. */
static inline uint64_t seed_of_run(void)
{
	static uint64_t seed;
	const char *given = getenv("COEVAL_SEED");

	if (given)
		return strtoull(given, NULL, 0);
	if (!seed) {
		seed = (uint64_t)time(NULL);
		printf("run again with COEVAL_SEED=%llu\n", (unsigned long long)seed);
	}
	return seed;
}

#endif
