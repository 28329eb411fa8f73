/* SPDX-License-Identifier: MIT */
/**
 * The disciplined clock of a TraceLab observer in paper mode (gateware/rtl/tl_clock.v), event by
 * event, so that hours of PPS take little time. A test compares it with the gateware,
 * tick for tick and packet
 * for packet.
 *
 * Time here is the observer's own, in cycles of nominally 10 ns from the start; an edge's cycle is
 * that in which the synchronised line is first seen high. firmware/lib/wire/tracelab_wire.h (enum
 * tl_clock) has the rules.
 */
#ifndef SIM_TRACELAB_CLOCK_H
#define SIM_TRACELAB_CLOCK_H

#include <stdint.h>

/**
 * Length of a second, in ticks; what counts as near its begin, in cycles; when the divider is set,
 * in ticks.
 */
struct tracelab_clock_size {
	int64_t second, window, steer_tick;
};

/** The gateware's. */
extern const struct tracelab_clock_size tracelab_clock_usual;

/**
 * Reports of the clock: kind is of enum tl_clock, without TL_CLOCK_PPS. value is the offset in
 * cycles, the steering value, or for STEER_AT and ALIGN the tick that begins; 0 for REJECTED.
 * cycle: when.
 */
typedef void tracelab_clock_tell(void *ctx, int kind, int64_t cycle, int64_t value);

struct tracelab_clock {
	struct tracelab_clock_size size;
	tracelab_clock_tell *tell; /* or NULL */
	void *ctx;

	/* Divider: tick `tick` begins at `cycle`, and from there on `steer` holds. */
	int64_t tick, cycle, steer, next_steer;

	/* Seconds. */
	int64_t begin;   /* the tick with which this one began */
	int64_t handled; /* ticks up to this one are handled */
	int64_t align;   /* the tick that begins a second by alignment, or -1 */
	int64_t begun;   /* the cycle in which this second began, or -1: none has */
	int64_t waiting; /* cycle of an edge that may be the next second's, or -1 */
	int64_t edge;    /* of the last edge that was no echo, or -1 */
	int aligned, met, missing;
	int64_t offset;

	/* Controller. */
	int64_t good[9]; /* cycles of the last good edges, newest first */
	int row, whole;
	int64_t rate;

	uint32_t n_good, n_rejected;
};

void tracelab_clock_init(struct tracelab_clock *clock, const struct tracelab_clock_size *size,
			 tracelab_clock_tell *tell, void *ctx);

/** Advance to @cycle. Cycles of this and of edges never go back. */
void tracelab_clock_advance(struct tracelab_clock *clock, int64_t cycle);

/** A rising edge of the PPS at @cycle. */
void tracelab_clock_edge(struct tracelab_clock *clock, int64_t cycle);

/**
 * The cycle in which @tick begins, as far as is known now: right for ticks from the last STEER_AT
 * to the next, which comes a second later.
 */
int64_t tracelab_clock_begin(const struct tracelab_clock *clock, int64_t tick);

#endif
