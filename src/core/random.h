/* SPDX-License-Identifier: MIT */
/** Seeded random numbers for simulations: the same seed gives the same world everywhere. */
#ifndef CORE_RANDOM_H
#define CORE_RANDOM_H

#include <stdint.h>

/** State: any value seeds it. SplitMix64 (Steele, Lea, Flood 2014). */
struct sim_random {
	uint64_t state;
};

uint64_t sim_u64(struct sim_random *r);
/** Uniform in [0, 1). */
double sim_uniform(struct sim_random *r);
/** Standard normal (Box and Muller 1958). */
double sim_normal(struct sim_random *r);

#endif
