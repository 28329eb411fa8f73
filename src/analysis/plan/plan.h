/* SPDX-License-Identifier: MIT */
/** The parts of coeval/plan.h. */
#ifndef TASK_PLAN_H
#define TASK_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLAN_ACPR_MAX 65535
/**
 * From the creation of a packet to its first edge, at most: the highest figures of table 9.1 less
 * the packet's own length.
 */
#define PLAN_FIRST_EDGE_CYCLES 20

enum plan_packet {
	PLAN_ECP,   /* of a profiling counter */
	PLAN_DTAOP, /* of a comparator */
	PLAN_PACKETS
};

struct plan_line {
	uint64_t cpu_hz;
	uint64_t timer_hz; /* the fastest input that the timer counts */
	uint32_t acpr;     /* the prescaler, 0 to PLAN_ACPR_MAX */
};

/** Bits a second. */
double plan_bit_rate(const struct plan_line *line);
/** Rising edges per second of alternating bits, the highest rate. */
double plan_edge_rate(const struct plan_line *line);

unsigned plan_bits(enum plan_packet kind); /* with start and stop bits */
unsigned plan_thesis_bits(enum plan_packet kind);

/** Packets per second that the line carries. */
double plan_carried(const struct plan_line *line, enum plan_packet kind);
/** Packets per second of one counter that counts every cycle. */
double plan_counter_rate(const struct plan_line *line);
/** Share of packets lost at @per_second. */
double plan_lost(const struct plan_line *line, enum plan_packet kind, double per_second);

/** From the creation of a packet to its last edge, ns. */
struct plan_delay {
	double least, most;
};

struct plan_delay plan_delay(const struct plan_line *line, enum plan_packet kind);

/**
 * The best prescaler: the line is fast, and its edges can be counted. A counter's packets are few:
 * no edge may be lost, so the fastest edges stay below the timer's limit (at it, edges were lost:
 * 7.2.1). Access packets exceed the capacity of any line, and lost packets cost more than lost
 * edges (7.2.2): the limit itself is allowed.
 *
 * Returns false if there is none: the counter's packets do not fit, or the timer is too slow for
 * every prescaler.
 */
bool plan_best(const struct plan_line *line, enum plan_packet kind, uint32_t *acpr);

#endif
