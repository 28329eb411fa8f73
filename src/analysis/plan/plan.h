/* SPDX-License-Identifier: MIT */
/** What coeval/plan.h tells, piece by piece. */
#ifndef TASK_PLAN_H
#define TASK_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLAN_ACPR_MAX 65535
/**
 * From a packet's making to its first edge, at most: what table 9.1's highest figures leave beside
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
/** Rising edges a second of alternating bits, the fastest there are. */
double plan_edge_rate(const struct plan_line *line);

unsigned plan_bits(enum plan_packet kind); /* with start and stop bits */
unsigned plan_thesis_bits(enum plan_packet kind);

/** Packets a second that the line carries. */
double plan_carried(const struct plan_line *line, enum plan_packet kind);
/** Packets a second of one counter that counts every cycle. */
double plan_counter_rate(const struct plan_line *line);
/** Share of packets that come at @per_second and find no room. */
double plan_lost(const struct plan_line *line, enum plan_packet kind, double per_second);

/** From a packet's making to its last edge, ns. */
struct plan_delay {
	double least, most;
};

struct plan_delay plan_delay(const struct plan_line *line, enum plan_packet kind);

/**
 * The best prescaler: the line is fast, and its edges can be counted. A counter's packets are few:
 * no edge may be lost, so the fastest edges stay below the timer's limit (at it, edges were lost:
 * 7.2.1). An access's are more than any line carries, and packets that find no room cost more than
 * lost edges do (7.2.2): the limit itself is allowed.
 *
 * Returns false if there is none: the counter's packets do not fit, or the timer is too slow for
 * every prescaler.
 */
bool plan_best(const struct plan_line *line, enum plan_packet kind, uint32_t *acpr);

#endif
