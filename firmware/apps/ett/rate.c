/* SPDX-License-Identifier: MIT */
#include "rate.h"

/* a * b / c with the product in 64 bits: a is cut into whole c and the rest. b * c below 2^64. */
static uint64_t scale(uint64_t a, uint64_t b, uint64_t c)
{
	return a / c * b + a % c * b / c;
}

struct ett_rate ett_rate(const struct ett_reading *a, const struct ett_reading *b, uint64_t hz)
{
	struct ett_rate r = { 0, 0, 0 };
	uint64_t counts = b->count - a->count, least, most;

	if (b->count <= a->count + 1 || b->before <= a->after ||
	    b->after - a->before > UINT64_C(1) << 40)
		return r;
	least = b->before - a->after;
	most = b->after - a->before;
	r.least = scale(least, hz, counts + 1);
	r.most = scale(most, hz, counts - 1) + 1;
	r.hz = scale((least + most) / 2, hz, counts);
	return r;
}

uint64_t ett_rate_cpuid(const uint32_t leaf15[4], const uint32_t leaf16[4])
{
	if (leaf15[0] && leaf15[1] && leaf15[2])
		return (uint64_t)leaf15[2] * leaf15[1] / leaf15[0];
	return (uint64_t)(leaf16[0] & 0xffff) * 1000000;
}

uint64_t ett_ns(uint64_t ticks, uint64_t hz)
{
	return hz ? scale(ticks, 1000000000, hz) : 0;
}

uint64_t ett_ticks(uint64_t us, uint64_t hz)
{
	return scale(us, hz, 1000000);
}
