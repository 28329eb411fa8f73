/* SPDX-License-Identifier: MIT */
#include "analysis/energy.h"

#include <math.h>

#include <coeval/time.h>

/* Of a normal distribution, two-sided 99.9 %. */
#define Z_999 3.2905267314919255

/* Power at @t on the straight line between two readings. */
static double watt_at(const struct energy_pair *p, int64_t t)
{
	return p->w0 + (p->w1 - p->w0) * (double)(t - p->t0) / (double)(p->t1 - p->t0);
}

void energy_add(struct cvl_energy *e, int64_t begin, int64_t end, const struct energy_pair *p,
		int64_t apart)
{
	int64_t from = begin > p->t0 ? begin : p->t0, to = end < p->t1 ? end : p->t1;
	double most = fmax(fabs(p->w0), fabs(p->w1)), dt;

	if (p->t0 <= cvl_add_sat(begin, apart) && p->t1 >= cvl_add_sat(begin, -apart))
		e->begin_w = fmax(e->begin_w, most);
	if (p->t0 <= cvl_add_sat(end, apart) && p->t1 >= cvl_add_sat(end, -apart))
		e->end_w = fmax(e->end_w, most);
	if (apart > e->apart)
		e->apart = apart;
	if (from >= to)
		return;
	dt = (double)(to - from);
	e->samples += p->t1 < end;
	e->joule += 0.5 * (watt_at(p, from) + watt_at(p, to)) * dt * 1e-9;
	e->covered_ns += dt;
	if (from > p->t0 || to < p->t1)
		e->bound += fabs(p->w1 - p->w0) * dt * 1e-9;
	else
		e->variance += 0.5 * (p->w1 - p->w0) * (p->w1 - p->w0) * dt * dt * 1e-18;
}

void energy_sum_add(struct cvl_energy_sum *sum, const struct cvl_energy *e)
{
	sum->joule += e->joule;
	sum->covered_ns += e->covered_ns;
	sum->bound += e->bound + (e->begin_w + e->end_w) * (double)e->apart * 1e-9;
	sum->variance += e->variance;
}

double energy_half(const struct cvl_energy_sum *sum)
{
	return sum->bound + Z_999 * sqrt(sum->variance);
}
