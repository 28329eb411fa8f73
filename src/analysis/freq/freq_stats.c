/* SPDX-License-Identifier: MIT */
#include "analysis/freq/freq.h"

#include <math.h>

/*
 * Sums of pairs, for correlations and straight lines. Values are near 1, and there are thousands at
 * most.
 */
struct pairs {
	double n, x, y, xx, yy, xy;
};

static void add(struct pairs *s, double x, double y)
{
	s->n++;
	s->x += x;
	s->y += y;
	s->xx += x * x;
	s->yy += y * y;
	s->xy += x * y;
}

static double pearson(const struct pairs *s)
{
	double xx = s->xx - s->x * s->x / s->n, yy = s->yy - s->y * s->y / s->n;
	double xy = s->xy - s->x * s->y / s->n;

	/* constant up to rounding */
	if (!(s->n >= 2) || xx <= 1e-12 * s->xx || yy <= 1e-12 * s->yy)
		return (double)NAN;
	return fmax(-1, fmin(1, xy / sqrt(xx * yy)));
}

double freq_pearson(const double *x, const double *y, size_t n)
{
	struct pairs s = { 0 };

	for (size_t i = 0; i < n; i++)
		add(&s, x[i], y[i]);
	return pearson(&s);
}

static double cycles_ratio(const struct freq_case *c, uint32_t p)
{
	return (double)c->cycles[p] / (double)c->cycles[0];
}

double freq_cycles_energy(const struct freq_set *set, uint32_t p)
{
	struct pairs s = { 0 };

	for (size_t i = 0; i < set->n; i++)
		add(&s, cycles_ratio(&set->c[i], p), set->c[i].energy[p] / set->c[i].energy[0]);
	return pearson(&s);
}

double freq_counter_cycles(const struct freq_set *set, enum swo_feature f, uint32_t p)
{
	struct swo_device d = freq_device(set);
	struct pairs s = { 0 };

	for (size_t i = 0; i < set->n; i++) {
		int32_t x = swo_feature_of(f, &d, &set->c[i].task, NULL, 0);

		if (x != INT32_MIN)
			add(&s, x / 65536.0, cycles_ratio(&set->c[i], p));
	}
	return pearson(&s);
}

double freq_cpi_cycles(const struct freq_set *set, enum freq_group group, uint32_t p, size_t *n)
{
	struct pairs s = { 0 };

	for (size_t i = 0; i < set->n; i++) {
		uint64_t cpi = swo_cpi_milli(&set->c[i].task);
		bool saving = freq_best(set, &set->c[i]) != 0;

		if (cpi != SWO_UNKNOWN && (group == FREQ_ALL || saving == (group == FREQ_SAVING)))
			add(&s, (double)cpi / 1000, cycles_ratio(&set->c[i], p));
	}
	*n = (size_t)s.n;
	return pearson(&s);
}

double freq_static_w(const struct freq_set *set)
{
	struct pairs s = { 0 };
	double slope;

	for (uint32_t p = 0; p < set->n_points; p++) {
		double power = 0, mhz = set->point[p].hz * 1e-6;

		if (set->point[p].millivolt != set->point[0].millivolt)
			continue;
		for (size_t i = 0; i < set->n; i++)
			power += set->c[i].energy[p] * set->point[p].hz /
				 (double)set->c[i].cycles[p];
		add(&s, mhz, power / (double)set->n);
	}
	if (s.n < 2)
		return (double)NAN;
	slope = (s.xy - s.x * s.y / s.n) / (s.xx - s.x * s.x / s.n);
	return s.y / s.n - slope * s.x / s.n;
}

double freq_alpha_c(const struct freq_set *set, size_t skip)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < set->n; i++) {
		for (uint32_t p = 0; p < set->n_points && i != skip; p++) {
			const struct swo_point *at = &set->point[p];
			double volt = at->millivolt * 1e-3, cycles = (double)set->c[i].cycles[p];

			sum += (set->c[i].energy[p] - at->static_uw * 1e-6 * cycles / at->hz) /
			       (volt * volt * cycles);
			n++;
		}
	}
	return n ? sum / (double)n : 0;
}
