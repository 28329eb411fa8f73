/* SPDX-License-Identifier: MIT */
/**
 * Energy of intervals from samples of power: the trapezoids between samples, cut at the ends of an interval.
 *
 * What this can be off by has four parts. The power may step at an end of the interval, anywhere between the two samples about
 * it: at most their difference over what of that time lies in the interval. The end's own time is known to within a bound: the
 * power there over that time. Within the interval readings are noisy, and power between two of them is not known: taking two
 * successive readings to differ by noise alone, of variance v each, (p1 - p0)^2 estimates 2 v, and an interval between two
 * adds v dt^2. Readings are rounded: half of what they are rounded to, for as long as they cover. A power that changes and
 * changes back between two samples is seen by none of this.
 */
#ifndef ANALYSIS_ENERGY_H
#define ANALYSIS_ENERGY_H

#include <stdint.h>

/** Two successive readings, t0 < t1, ns and watts. */
struct energy_pair {
	int64_t t0, t1;
	double w0, w1;
};

/** Of one interval. Begin with {0}. */
struct energy {
	double joule;
	uint32_t samples;      /* within the interval: without one nothing is known of it */
	double covered_ns;     /* of the interval, by samples on either side */
	double bound;          /* joule, of what steps at the ends can hide */
	double variance;       /* joule^2, of the readings within */
	double begin_w, end_w; /* greatest readings about the ends */
	int64_t apart;         /* ns: half-width of an end against the samples */
};

/**
 * Add what the readings @p say of the interval from @begin to @end (INT64_MIN, INT64_MAX: open there). @apart: half-width of
 * its ends against these readings.
 */
void energy_add(struct energy *e, int64_t begin, int64_t end, const struct energy_pair *p,
		int64_t apart);

/** Of some intervals. Begin with {0}. */
struct energy_sum {
	double joule, covered_ns;
	double bound, variance; /* joule, joule^2 */
};

void energy_sum_add(struct energy_sum *sum, const struct energy *e);

/** Half-width of the sum, joule: 99.9 % of the time as far as noise goes. */
double energy_half(const struct energy_sum *sum);

#endif
