/* SPDX-License-Identifier: MIT */
/**
 * The tightest bounds that messages and a drift limit allow, for comparison with the estimator
 * "interval".
 *
 * Unknown are the offsets theta = T - x of all clocks at the ends of all messages and at the
 * instants asked for. Each message says that it was sent before it was received; between successive
 * points of one clock theta changes by at most the drift limit times their distance. To find the
 * least and the greatest theta at an instant is a linear programme, but one of differences only:
 * theta_a - theta_b <= w. The greatest theta_a is then the length of the shortest path from the
 * reference (whose theta is 0) to a, in the graph that has an edge of length w from b to a, so that
 * no solver of linear programmes is needed (Cormen et al.: Introduction to Algorithms, "Difference
 * constraints and shortest paths"); the least is minus the one in the graph with its edges turned
 * round.
 */
#ifndef BENCH_CAUSAL_H
#define BENCH_CAUSAL_H

#include "worlds.h"

/** One look at a clock. */
struct causal_instant {
	size_t clock; /* in the order of the world; 0 is the reference */
	uint64_t tick;
	double low, high; /* filled in: theta, ns; infinite where nothing bounds it */
};

/**
 * @drift_ppm: limit of each clock. Returns 0, or fails with CVL_E_NOMEM or CVL_E_NO: the messages
 * contradict each other.
 */
int causal_bounds(const struct bench *b, const struct happened *h, double drift_ppm,
		  struct causal_instant *at, size_t n);

#endif
