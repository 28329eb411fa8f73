/* SPDX-License-Identifier: MIT */
/**
 * How noisy marks are at some place, against what they are elsewhere: from innovations, each
 * against what was expected of it.
 *
 * The mean of the squared median of three neighbours (Andersen, Dobrev, Schaumburg: Jump-robust
 * volatility estimation using nearest neighbor truncation, J. Econometrics 169, 2012) over
 * LOCAL_NEAR and LOCAL_FAR marks, whichever is more. An outlier alone does not show in it; a burst
 * does. Where no more than chance is seen, 1 comes of it.
 */
#ifndef SYNC_LOCAL_H
#define SYNC_LOCAL_H

#include <math.h>

#define LOCAL_NEAR 30 /* marks; to either side, where both are known */
#define LOCAL_FAR 80
#define LOCAL_PRIOR 4  /* marks as usual that are thought to be there too */
#define LOCAL_MAX 900  /* of one mark */
#define LOCAL_LUCK 1.5 /* sd of that mean which are luck */

/** Squared median of the sizes of three innovations, whose mean is 1 for normal ones. */
static inline double local_square(double a, double b, double c)
{
	double m = fmax(fmin(a, b), fmin(fmax(a, b), c));

	return fmin(1.4194 * m * m, LOCAL_MAX); /* pi / (6 - 4 sqrt(3) + pi) */
}

/**
 * Of @n such squares with the sum @sum; @luck: sd of their mean (3 / n of normal ones) that count
 * for nothing.
 */
static inline double local_mean(double sum, double n, double luck)
{
	return (LOCAL_PRIOR + sum) / (LOCAL_PRIOR + n) / (1 + luck * sqrt(3 / fmax(n, 1)));
}

/** For one who only knows the past: sums that fade. */
struct local_noise {
	double sum[2], n[2], before[2], luck;
};

static inline void local_noise_add(struct local_noise *l, double u)
{
	double square = local_square(fabs(u), l->before[0], l->before[1]);

	l->sum[0] += square - l->sum[0] / LOCAL_NEAR;
	l->n[0] += 1 - l->n[0] / LOCAL_NEAR;
	l->sum[1] += square - l->sum[1] / LOCAL_FAR;
	l->n[1] += 1 - l->n[1] / LOCAL_FAR;
	l->before[1] = l->before[0];
	l->before[0] = fabs(u);
}

static inline double local_noise_now(const struct local_noise *l)
{
	return fmax(1, fmax(local_mean(l->sum[0], l->n[0], l->luck),
			    local_mean(l->sum[1], l->n[1], l->luck)));
}

#endif
