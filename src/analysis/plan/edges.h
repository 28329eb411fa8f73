/* SPDX-License-Identifier: MIT */
/**
 * Rising edges of trace packets on the SWO line, and counts from edges: for targets that count the
 * edges of their own trace output with a timer and cannot distinguish packets.
 *
 * NRZ: idle high; a byte is a start bit 0, eight bits from the least significant one, a stop bit 1.
 * Every byte begins and ends high, so bytes one after another have the edges they have apart.
 * Manchester: idle low; a one is high then low, a zero low then high; a start bit 1, then the bits
 * of all bytes without gaps, then idle.
 */
#ifndef TASK_EDGES_H
#define TASK_EDGES_H

#include <stddef.h>
#include <stdint.h>

/** Bits that bytes take on an NRZ line. */
#define EDGES_BITS_BYTE 10
#define EDGES_ECP_BYTES 2   /* event counter packet: header, counters */
#define EDGES_DTAOP_BYTES 3 /* data trace address offset packet: header, offset */
#define EDGES_ECP_PAYLOADS 64
#define EDGES_COMPARATORS 4
/** No packet of up to 5 bytes has more: five per byte in NRZ. */
#define EDGES_MAX 32

uint64_t edges_nrz(const uint8_t *bytes, size_t n);
/** One burst, with one start bit. */
uint64_t edges_manchester(const uint8_t *bytes, size_t n);

typedef uint64_t edges_fn(const uint8_t *bytes, size_t n);

/**
 * Edges of an event counter packet with counters @bits (1 to 63: CYC FOLD LSU SLEEP EXC CPI from
 * bit 5).
 */
uint64_t edges_ecp(edges_fn *line, unsigned bits);
/** Edges of a data trace address offset packet of @comparator, 0 to 3. */
uint64_t edges_dtaop(edges_fn *line, unsigned comparator, uint16_t offset);

/** How many packets have how many edges. */
struct edges_count {
	uint64_t packets, edges;
	uint64_t with[EDGES_MAX];
};

/** Count a packet of @edges, less than EDGES_MAX. */
void edges_add(struct edges_count *c, uint64_t edges);

/** Every offset that is a multiple of @step (1, 2 or 4), of comparators @first to @last. */
void edges_dtaops(struct edges_count *c, edges_fn *line, unsigned first, unsigned last,
		  unsigned step);

/*
 * Counts from edges on an NRZ line, to the nearest whole one. A profiling counter sends a packet
 * every 256; as long as no two counters wrap at once it has 5 edges. An access sends one of 8.25
 * edges on average, if every offset and comparator is as likely as another.
 */
#define EDGES_ECP_UNITS 256
#define EDGES_ECP_EDGES 5

uint64_t edges_to_cycles(uint64_t edges);
uint64_t edges_to_accesses(uint64_t edges);

/**
 * Relative error of edges_to_accesses(), in millionths, for accesses at multiples of @step (1, 2 or
 * 4) over all offsets of comparators @first to @last. Negative: too few are counted.
 */
int64_t edges_bias_ppm(unsigned first, unsigned last, unsigned step);

#endif
