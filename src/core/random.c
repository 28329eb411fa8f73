/* SPDX-License-Identifier: MIT */
#include "core/random.h"

#include <math.h>

uint64_t sim_u64(struct sim_random *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

double sim_uniform(struct sim_random *r)
{
	return (double)(sim_u64(r) >> 11) * 0x1p-53;
}

double sim_normal(struct sim_random *r)
{
	double u = 1 - sim_uniform(r), v = sim_uniform(r);

	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}
