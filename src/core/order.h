/* SPDX-License-Identifier: MIT */
/** Comparisons for qsort(). */
#ifndef CORE_ORDER_H
#define CORE_ORDER_H

#include <math.h>
#include <stddef.h>

/** Doubles, the least first. */
static inline int order_doubles(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;

	return a < b ? -1 : a > b;
}

/** Doubles, the least absolute value first. */
static inline int order_sizes(const void *pa, const void *pb)
{
	double a = fabs(*(const double *)pa), b = fabs(*(const double *)pb);

	return a < b ? -1 : a > b;
}

#endif
