/* SPDX-License-Identifier: MIT */
#include "analysis/plan/edges.h"

#include <assert.h>
#include <stdbool.h>

#define ECP_HEADER 0x05
#define DTAOP_HEADER(comparator) ((uint8_t)(0x4e | (comparator) << 4))

uint64_t edges_nrz(const uint8_t *bytes, size_t n)
{
	uint64_t edges = 0;

	for (size_t i = 0; i < n; i++) {
		/* bit 0 is the start, bit 9 the stop; a one after a zero is a rise */
		unsigned line = (unsigned)bytes[i] << 1 | 1u << 9;

		edges += (unsigned)__builtin_popcount(line & ~(line << 1) & 0x3fe);
	}
	return edges;
}

uint64_t edges_manchester(const uint8_t *bytes, size_t n)
{
	bool high = false; /* before the next bit */
	uint64_t edges = 1;

	/*
	 * A zero rises in its middle and ends high; a one begins high, by a rise if the line was
	 * low, and ends low.
	 */
	for (size_t i = 0; i < 8 * n; i++) {
		bool one = bytes[i / 8] >> i % 8 & 1;

		edges += !one || !high;
		high = !one;
	}
	return n ? edges : 0;
}

uint64_t edges_ecp(edges_fn *line, unsigned bits)
{
	const uint8_t packet[EDGES_ECP_BYTES] = { ECP_HEADER, (uint8_t)bits };

	return line(packet, sizeof(packet));
}

uint64_t edges_dtaop(edges_fn *line, unsigned comparator, uint16_t offset)
{
	const uint8_t packet[EDGES_DTAOP_BYTES] = { DTAOP_HEADER(comparator), (uint8_t)offset,
						    (uint8_t)(offset >> 8) };

	return line(packet, sizeof(packet));
}

void edges_add(struct edges_count *c, uint64_t edges)
{
	assert(edges < EDGES_MAX);
	c->packets++;
	c->edges += edges;
	c->with[edges]++;
}

void edges_dtaops(struct edges_count *c, edges_fn *line, unsigned first, unsigned last,
		  unsigned step)
{
	for (unsigned k = first; k <= last; k++)
		for (unsigned offset = 0; offset <= UINT16_MAX; offset += step)
			edges_add(c, edges_dtaop(line, k, (uint16_t)offset));
}

/* @edges * @num / @den rounded to nearest, without overflow; UINT64_MAX if too large. */
static uint64_t scaled(uint64_t edges, uint64_t num, uint64_t den)
{
	uint64_t whole = edges / den, rest = edges % den, out;

	if (__builtin_mul_overflow(whole, num, &out) ||
	    __builtin_add_overflow(out, (rest * num + den / 2) / den, &out))
		return UINT64_MAX;
	return out;
}

uint64_t edges_to_cycles(uint64_t edges)
{
	return scaled(edges, EDGES_ECP_UNITS, EDGES_ECP_EDGES);
}

uint64_t edges_to_accesses(uint64_t edges)
{
	return scaled(edges, 4, 33);
}

int64_t edges_bias_ppm(unsigned first, unsigned last, unsigned step)
{
	struct edges_count c = { 0 };
	int64_t counted;

	edges_dtaops(&c, edges_nrz, first, last, step);
	counted = (int64_t)((c.edges * 4000000 + c.packets * 33 / 2) / (c.packets * 33));
	return counted - 1000000;
}
