/* SPDX-License-Identifier: MIT */
/**
 * Local noise of marks relative to elsewhere, from normalised innovations.
 *
 * The mean of the squared median of three neighbours (Andersen, Dobrev, Schaumburg: Jump-robust
 * volatility estimation using nearest neighbor truncation, J. Econometrics 169, 2012) over
 * LOCAL_NEAR and LOCAL_FAR marks, whichever is greater. A single outlier does not affect it; a
 * burst does. If it does not exceed chance, the result is 1.
 */
#ifndef SYNC_LOCAL_H
#define SYNC_LOCAL_H

#include <math.h>

#include "sync/middle.h"

#define LOCAL_NEAR 30 /* marks; on either side, if both are known */
#define LOCAL_FAR 80
#define LOCAL_PRIOR 4  /* weight of the prior, in marks with usual noise */
#define LOCAL_MAX 900  /* limit for one mark */
#define LOCAL_LUCK 1.5 /* sd of that mean attributed to chance */

/** Squared median of the sizes of three innovations, whose mean is 1 for normal ones. */
static inline double local_square(double a, double b, double c)
{
	double m = middle(a, b, c);

	return lesser(1.4194 * m * m, LOCAL_MAX); /* pi / (6 - 4 sqrt(3) + pi) */
}

/**
 * Mean of @n such squares with sum @sum; @luck: how many sd (3 / n for normal ones) of it are
 * ignored.
 */
static inline double local_mean(double sum, double n, double luck)
{
	return (LOCAL_PRIOR + sum) / (LOCAL_PRIOR + n) / (1 + luck * sqrt(3 / greater(n, 1)));
}

/** For online estimators: decaying sums. */
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
