/* SPDX-License-Identifier: MIT */
#include "lab/robust.h"

#include <math.h>
#include <stdlib.h>

#define LIMIT 3.5
#define LEAST 4
#define SAME 1e-6

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* @v is sorted. */
static double middle(const double *v, size_t n)
{
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

struct robust robust_of(double *v, size_t n)
{
	struct robust r = { .n = n };
	double *off, sum = 0;

	if (!n)
		return r;
	qsort(v, n, sizeof(*v), by_size);
	r.median = middle(v, n);
	r.step = SAME * fabs(r.median);
	off = malloc(n * sizeof(*off));
	if (!off)
		return r;
	for (size_t i = 0; i < n; i++) {
		off[i] = fabs(v[i] - r.median);
		sum += off[i];
	}
	qsort(off, n, sizeof(*off), by_size);
	r.spread = 1.4826 * middle(off, n);
	if (r.spread <= 0)
		r.spread = 1.2533 * sum / (double)n;
	free(off);
	return r;
}

bool robust_is_outlier(const struct robust *r, double v)
{
	double off = fabs(v - r->median);

	return r->n >= LEAST && off > r->step && off > LIMIT * r->spread;
}
