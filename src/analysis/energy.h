/* SPDX-License-Identifier: MIT */
/** Energy of intervals from samples of power: see coeval/power.h. */
#ifndef ANALYSIS_ENERGY_H
#define ANALYSIS_ENERGY_H

#include <coeval/power.h>

/** Two successive readings, t0 < t1, ns and watts. */
struct energy_pair {
	int64_t t0, t1;
	double w0, w1;
};

/**
 * Add what the readings @p contribute to the interval from @begin to @end (INT64_MIN, INT64_MAX:
 * open). @apart: half-width of its ends relative to these readings.
 */
void energy_add(struct cvl_energy *e, int64_t begin, int64_t end, const struct energy_pair *p,
		int64_t apart);

void energy_sum_add(struct cvl_energy_sum *sum, const struct cvl_energy *e);

/** Half-width of the sum, joule; the noise part at 99.9 %. */
double energy_half(const struct cvl_energy_sum *sum);

#endif
