/* SPDX-License-Identifier: MIT */
/** Middle and spread of a few numbers, some of which may be wrong. Pure. */
#ifndef LAB_ROBUST_H
#define LAB_ROBUST_H

#include <stdbool.h>
#include <stddef.h>

struct robust {
	size_t n;
	double median;
	/* estimates a standard deviation: 1.4826 times the median distance from the median */
	double spread;
	double step; /* the least distance that counts */
};

/** Of @n numbers in @v, which are sorted. @n 0: all zeros. */
struct robust robust_of(double *v, size_t n);

/**
 * Whether @v is an outlier: by more than 3.5 spreads off the median, as Iglewicz and Hoaglin (1993)
 * advise. Fewer than four numbers have none. When more than half of the numbers are equal, the
 * spread is 0, and 1.2533 times the mean distance is used instead, as they do; a deviation of a
 * millionth or less never is one.
 */
bool robust_is_outlier(const struct robust *r, double v);

#endif
