/* SPDX-License-Identifier: MIT */
#include "analysis/binomial.h"

#include <math.h>

#define TAIL 0.0005
#define TERMS_MAX 2000

/*
 * Continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8), by the method
 * of Lentz.
 */
static double fraction(double a, double b, double x)
{
	double c = 1, d = 1 - (a + b) * x / (a + 1), h;

	d = 1 / (fabs(d) < 1e-300 ? 1e-300 : d);
	h = d;
	for (int m = 1; m < TERMS_MAX; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)), step;

		for (int half = 0; half < 2; half++) {
			double term = half ? odd : even;

			d = 1 + term * d;
			d = 1 / (fabs(d) < 1e-300 ? 1e-300 : d);
			c = 1 + term / c;
			c = fabs(c) < 1e-300 ? 1e-300 : c;
			step = c * d;
			h *= step;
		}
		if (fabs(step - 1) < 1e-12)
			break;
	}
	return h;
}

/* I_x(a, b) */
static double beta(double x, double a, double b)
{
	double front;

	if (x <= 0 || x >= 1)
		return x > 0;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	return x < (a + 1) / (a + b + 2) ? front * fraction(a, b, x) / a :
					   1 - front * fraction(b, a, 1 - x) / b;
}

/* x at which I_x(a, b) is @p */
static double quantile(double p, double a, double b)
{
	double low = 0, high = 1;

	for (int i = 0; i < 60; i++) {
		double mid = 0.5 * (low + high);

		if (beta(mid, a, b) < p)
			low = mid;
		else
			high = mid;
	}
	return 0.5 * (low + high);
}

void binomial_999(uint64_t k, uint64_t n, double *low, double *high)
{
	*low = k && k <= n ? quantile(TAIL, (double)k, (double)(n - k) + 1) : 0;
	*high = k < n ? quantile(1 - TAIL, (double)k + 1, (double)(n - k)) : 1;
}
