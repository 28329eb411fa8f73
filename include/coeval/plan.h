/* SPDX-License-Identifier: MIT */
/**
 * What a target can trace of its own tasks: the speed and packet capacity of its SWO line, the
 * delay of counting, the best prescaler, and which comparators cover which addresses.
 *
 * The line's rate is Arm's f / (ACPR + 1), one bit each. Three figures of the thesis on task
 * characterization confirm it; the 40 and 26 MHz that it states for the line do not fit:
 * - A comparator's counter never passed 0.03 accesses a cycle (10.1, 10.2, 10.4.4). Prescaler 0
 *   carries a packet of 30 bits in 30 cycles: 0.0333, counted as 0.0313 when all accesses are of
 *   words. At half that rate it would have ended at 0.0167.
 * - A packet was counted at most 570 ns after its access, at 80 MHz (table 9.1): 45.6 cycles. From
 *   its first to its last edge are 29 bits, which at half that rate would be 58 cycles alone.
 * - A timer with a limit of 40 MHz lost edges at prescaler 0 (7.2.1): alternating bits of 80 Mbit/s
 * rise
 *   every 25 ns.
 * So the 25 ns "between two neighbouring flanks" were between rising ones. 26 MHz would be 80 MHz /
 * 3, which no prescaler gives, or what prescaler 0 gives at 53.3 MHz; prescaler 1 gives 20 MHz of
 * rising edges at 80 MHz.
 */
#ifndef COEVAL_PLAN_H
#define COEVAL_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <coeval/api.h>
#include <coeval/error.h>

CVL_BEGIN_DECLS

#define CVL_PLAN_PRESCALER_MAX 65535
#define CVL_PLAN_MASK_MAX 31
/** Most comparators listed individually. */
#define CVL_PLAN_BLOCKS 64
/** Counts per packet of a profiling counter. */
#define CVL_PLAN_COUNTS 256
/**
 * Passes to measure cycles per instruction (thesis, equation 4.1): CPI, EXC, SLEEP, LSU, FOLD;
 * cycles are read (10.5).
 */
#define CVL_PLAN_CPI_PASSES 5

enum cvl_plan_packet {
	CVL_PLAN_COUNTER, /* of a profiling counter that counts every cycle */
	CVL_PLAN_ACCESS,  /* of a comparator */
	CVL_PLAN_PACKETS
};

/** Addresses from the first to the last, inclusive. */
struct cvl_plan_range {
	uint32_t from, to;
};

struct cvl_plan_opts {
	uint64_t cpu_hz;   /* of the processor and its trace port, Hz; above 0 */
	uint64_t timer_hz; /* the fastest edges that the timer can count */
	uint64_t accesses; /* per second; 0: one every second cycle */
	/* this prescaler (0 to CVL_PLAN_PRESCALER_MAX), else the best for each packet: */
	bool fixed;
	uint32_t prescaler;
	const struct cvl_plan_range *range; /* to be covered by comparators */
	uint32_t n_ranges;
	uint32_t comparators; /* of the chip, at least 1 if there are ranges */
	uint32_t
		mask; /* bits of an address that a comparator can leave out, to CVL_PLAN_MASK_MAX */
};

/** The line, for packets of one kind. */
struct cvl_plan_line {
	uint32_t prescaler;
	/*
	 * some prescaler carries all packets of a counter, with edges that the timer can count;
	 * the line is fastest at:
	 */
	bool has_best;
	uint32_t best;
	double bits_per_s;
	double edges_per_s;             /* rising edges of alternating bits, the highest rate */
	unsigned bits;                  /* of a packet, with start and stop bits */
	unsigned data_bits;             /* without them */
	double edges, edges_manchester; /* rising edges of a packet, mean over all possible ones */
	double carried_per_s, come_per_s;
	double lost;                    /* share of packets lost */
	double delay_least, delay_most; /* from a packet's creation to its last edge, ns */
};

/** What one comparator matches: addresses whose bits from @mask on are those of @address. */
struct cvl_plan_block {
	uint32_t address, mask;
};

struct cvl_plan {
	struct cvl_plan_line line[CVL_PLAN_PACKETS];
	uint64_t comparators; /* fewest that cover exactly the ranges */
	uint64_t passes;      /* runs of a task, each using all of the chip's */
	struct cvl_plan_block block[CVL_PLAN_BLOCKS];
	size_t n_blocks; /* of them, as far as they fit */
};

/** CVL_E_USAGE: two ranges overlap, or one ends before it begins. */
CVL_API int cvl_plan_make(struct cvl_plan *plan, const struct cvl_plan_opts *opts,
			  struct cvl_error *err);

CVL_END_DECLS

#endif
