/* SPDX-License-Identifier: MIT */
/** How sure a share is that was found by sampling. */
#ifndef ANALYSIS_BINOMIAL_H
#define ANALYSIS_BINOMIAL_H

#include <stdint.h>

/**
 * Interval that holds the probability of what was seen @k times in @n independent samples, at the
 * least 99.9 % of the time: Clopper and Pearson 1934, by the incomplete beta function. @n of 0:
 * from 0 to 1.
 */
void binomial_999(uint64_t k, uint64_t n, double *low, double *high);

#endif
