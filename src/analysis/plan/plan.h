/* SPDX-License-Identifier: MIT */
/**
 * What a target can trace of its own tasks: how fast its SWO line is, how many packets it carries, how late they are counted,
 * which prescaler is best, and which comparators cover which addresses.
 *
 * The line's rate is Arm's f / (ACPR + 1), a bit each. Three figures of the thesis on task characterization bear it out, where
 * the 40 and 26 MHz that it gives for the line do not:
 * - A comparator's counter never passed 0.03 accesses a cycle (10.1, 10.2, 10.4.4). Prescaler 0 carries a packet of 30 bits in 30 cycles:
 *   0.0333, counted as 0.0313 when all accesses are of words. At half that rate it would have ended at 0.0167.
 * - A packet was counted 570 ns after its access at most, at 80 MHz (table 9.1): 45.6 cycles. From its first to its last edge
 *   are 29 bits, which at half that rate would be 58 cycles alone.
 * - A timer that takes 40 MHz lost edges at prescaler 0 (7.2.1): alternating bits of 80 Mbit/s rise every 25 ns.
 * So the 25 ns "between two neighbouring flanks" were between rising ones. 26 MHz would be 80 MHz / 3, which no prescaler
 * gives, or what prescaler 0 gives at 53.3 MHz; prescaler 1 gives 20 MHz of rising edges at 80 MHz.
 */
#ifndef TASK_PLAN_H
#define TASK_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLAN_ACPR_MAX 65535
/** From a packet's making to its first edge, at most: what table 9.1's highest figures leave beside the packet's own length. */
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
 * The best prescaler: the line is fast, and its edges can be counted. A counter's packets are few: no edge may be lost, so the
 * fastest edges stay below the timer's limit (at it, edges were lost: 7.2.1). An access's are more than any line carries, and
 * packets that find no room cost more than lost edges do (7.2.2): the limit itself is allowed.
 *
 * Returns false if there is none: the counter's packets do not fit, or the timer is too slow for every prescaler.
 */
bool plan_best(const struct plan_line *line, enum plan_packet kind, uint32_t *acpr);

/** Passes to measure cycles an instruction (equation 4.1): CPI, EXC, SLEEP, LSU, FOLD; the cycle counter can be read (10.5). */
#define PLAN_CPI_PASSES 5

#endif
