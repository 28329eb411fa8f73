/* SPDX-License-Identifier: MIT */
/** Student's t distribution, for intervals from few observations. */
#ifndef SYNC_STUDENT_H
#define SYNC_STUDENT_H

/**
 * Two-sided quantile: |t| is below it with probability 99.9 %, @dof degrees of freedom (at least
 * 1). From a table up to 10, rounded down between its entries; beyond by the expansion of Cornish
 * and Fisher (Abramowitz and Stegun 26.7.5), good to 0.1 %.
 */
double student_999(double dof);

#endif
