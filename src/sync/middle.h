/* SPDX-License-Identifier: MIT */
/**
 * The lesser, greater and middle one of numbers that are none of them NaN. fmin() and fmax() must
 * heed that, and are calls.
 */
#ifndef SYNC_MIDDLE_H
#define SYNC_MIDDLE_H

static inline double lesser(double a, double b)
{
	return a < b ? a : b;
}

static inline double greater(double a, double b)
{
	return a > b ? a : b;
}

static inline double middle(double a, double b, double c)
{
	return greater(lesser(a, b), lesser(greater(a, b), c));
}

#endif
