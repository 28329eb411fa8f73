/* SPDX-License-Identifier: MIT */
#include "swotrace.h"

#define COUNTER_EDGES 5u   /* of a packet with one counter's bit */
#define COUNTER_UNITS 256u /* it stands for */
#define ACCESS_EDGES_4 33u /* of four packets with an address offset, on average */

static uint32_t packets(const struct swo_data *d)
{
	return d->edges / COUNTER_EDGES + (d->edges % COUNTER_EDGES > COUNTER_EDGES / 2);
}

/* The parts are divided in 32 bits: what takes 64 is a multiplication only. */
uint64_t swo_data_count(const struct swo_data *d)
{
	if (d->what == SWO_ACCESSES)
		return (d->edges / ACCESS_EDGES_4) * 4u +
		       ((d->edges % ACCESS_EDGES_4) * 4u + ACCESS_EDGES_4 / 2) / ACCESS_EDGES_4;
	return (uint64_t)(d->edges / COUNTER_EDGES) * COUNTER_UNITS +
	       ((d->edges % COUNTER_EDGES) * COUNTER_UNITS + COUNTER_EDGES / 2) / COUNTER_EDGES;
}

uint64_t swo_data_exact(const struct swo_data *d)
{
	if (d->what == SWO_ACCESSES)
		return swo_data_count(d);
	if (d->what == SWO_CYC)
		return d->cycles;
	return (uint64_t)packets(d) * COUNTER_UNITS + d->rest;
}

uint32_t swo_data_load(const struct swo_data *d)
{
	/* 2 bytes of 10 bits have 5 edges; 3 bytes 8.25 */
	uint64_t bits =
		d->what == SWO_ACCESSES ? (uint64_t)d->edges * 40u / 11u : (uint64_t)d->edges * 4u;

	return swo_per_million(bits * SWO_BIT_CYCLES(d->prescaler), d->cycles) / 1000u;
}

uint32_t swo_per_million(uint64_t count, uint32_t cycles)
{
	uint64_t million = count * 1000000u + cycles / 2;

	if (count >= (uint64_t)cycles * (UINT32_MAX / 1000000u))
		return UINT32_MAX;
	return (uint32_t)(million / cycles);
}
