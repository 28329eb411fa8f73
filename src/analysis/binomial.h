/* SPDX-License-Identifier: MIT */
/** Confidence interval of a sampled proportion. */
#ifndef ANALYSIS_BINOMIAL_H
#define ANALYSIS_BINOMIAL_H

#include <stdint.h>

/**
 * 99.9 % confidence interval of the probability of something observed @k times in @n independent
 * samples: Clopper and Pearson 1934, by the incomplete beta function. For @n = 0: from 0 to 1.
 */
void binomial_999(uint64_t k, uint64_t n, double *low, double *high);

#endif
