/* SPDX-License-Identifier: MIT */
/** What several clocks of a simulated world say of the same marks, and how far they are apart. */
#ifndef BENCH_READINGS_H
#define BENCH_READINGS_H

#include "sim/happen.h"
#include "worlds.h"

/** A growing list of values. */
struct values {
	double *v;
	size_t n, capacity;
};

/** CVL_E_NOMEM. */
int values_add(struct values *l, double v);
void values_free(struct values *l);

/** Of absolute values. */
struct spread {
	size_t n;
	double mean, median, sd, max;
	double p99;
	double under; /* share that is not above the limit given */
};

/** Sorts @l's absolute values. */
struct spread values_spread(struct values *l, double limit);

/** Times of marks at some clocks; NAN where one was not heard. */
struct readings {
	size_t clocks, marks;
	double *t; /* of clock c and mark k at [c * marks + k] */
};

/**
 * Marks are the beacons of the only sender, or the rising edges of line @line, by number from 0 on.
 */
struct readings_of {
	const char *line;   /* NULL: beacons */
	const char *clocks; /* glob */
};

/** When the marks were really heard. Freed by readings_free() in any case. */
int readings_true(const struct bench *b, struct readings *r, const struct world_air *air,
		  const struct readings_of *of);

/** What the maps of @sync say of the ticks at which they were; without @sync, those ticks. */
int readings_mapped(const struct bench *b, struct readings *r, const struct happened *h,
		    const struct cvl_sync *sync, const struct readings_of *of);

void readings_free(struct readings *r);

/** From mark @from on: add to @pairs how far any two clocks are apart, and to @widest how far those
 * two are that are furthest. CVL_E_NOMEM. */
int readings_compare(const struct readings *r, size_t from, struct values *pairs,
		     struct values *widest);

#endif
