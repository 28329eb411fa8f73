/* SPDX-License-Identifier: MIT */
/**
 * The likelihoods of several noises of a clock, from one pass of filters side by side over the same
 * readings. A filter of three states waits for its own results nearly all of the time; eight take
 * little longer than one.
 */
#ifndef SYNC_SMOOTH_LANES_H
#define SYNC_SMOOTH_LANES_H

#include <stdbool.h>
#include <stddef.h>

#include "sync/kalman.h"

#define LANES 8

/** What is filtered: see struct point. */
struct lane_reading {
	double dt;
	double jump, kick; /* variance added to offset and rate */
	double z, var;
	double by_weight; /* 1 / weight; 0: nothing is read */
	bool counted;     /* in the likelihood */
};

/** A noise without wander or correlated errors, and what came of it. */
struct lane {
	double rate, drift, jitter2;
	double likelihood; /* its logarithm */
};

/**
 * Filter @n readings, from @start, with each of the @lanes noises (at most LANES). The squared
 * normalised innovations of those counted go to @u, LANES for each; returns how many.
 */
size_t lanes_weigh(const struct lane_reading *r, size_t n, const struct kalman *start,
		   struct lane *lane, size_t lanes, double *u);

/** The same with instructions that every machine has: what the other must equal. */
size_t lanes_weigh_plain(const struct lane_reading *r, size_t n, const struct kalman *start,
			 struct lane *lane, size_t lanes, double *u);

#endif
