/* SPDX-License-Identifier: MIT */
/**
 * Lets a processor count, without spending cycles on it, what a part of its own program does.
 *
 * The chip's trace unit sends a packet whenever a profiling counter overflows, or a comparator sees
 * an access; a wire leads the trace pin back to a timer, which counts the rising edges of the
 * packets. Source: T. Westphal, Design and Evaluation of a Task Characterization Model (thesis, HAW
 * Hamburg 2022), called "thesis" here: chapters 5 to 8.
 *
 * One thing is counted at a time: edges do not distinguish packets. Nothing allocates, and nothing
 * waits without limit.
 */
#ifndef COEVAL_SWOTRACE_H
#define COEVAL_SWOTRACE_H

#include "cover.h"
#include "port.h"

/**
 * Cycles of the processor that a bit on the line takes at the most: the architecture has one and
 * @prescaler, the thesis' 25 ns between edges at 80 MHz may mean two and @prescaler (docs/task.md
 * doubts it): the longer is waited for.
 */
#define SWO_BIT_CYCLES(prescaler) ((prescaler) + 2u)

/** Profiling counters, in the order of the bits of their packets. */
enum swo_counter {
	SWO_CPI,   /* cycles beyond the first of instructions, and fetch stalls */
	SWO_EXC,   /* cycles of entering and leaving exceptions */
	SWO_SLEEP, /* cycles asleep */
	SWO_LSU,   /* cycles beyond the first of loads and stores */
	SWO_FOLD,  /* instructions that took no cycle */
	SWO_CYC,   /* cycles */
	SWO_COUNTERS,
	SWO_ACCESSES = SWO_COUNTERS /* in struct swo_data: not a counter, but comparators */
};

/** Why a request was refused. */
enum swo_why {
	SWO_OK,
	SWO_NO_TRACE,       /* the trace units do not answer */
	SWO_NO_PACKETS,     /* the chip's trace unit sends none */
	SWO_NO_COUNTER,     /* it has no such counter */
	SWO_NO_COMPARATORS, /* it has none */
	SWO_NO_MASK,        /* they match single addresses only (or are of another kind: ARMv8-M) */
	SWO_BAD_RANGE,      /* ends before it begins, or overlaps another */
	SWO_TOO_MANY,       /* takes more comparators than there are: use passes */
	SWO_NO_PASS,        /* no such pass */
	SWO_NO_WIRES,       /* the board has no wires to the debug port */
	SWO_BUSY,           /* something is being counted */
	SWO_IDLE,           /* nothing is */
	SWO_WHYS
};

const char *swo_why_text(enum swo_why why);

struct swo_config {
	const struct swo_bus *bus;
	const struct swo_port *port;
	/*
	 * Of the trace clock, minus 1, while counters and while comparators are on: 1 and 0 lose
	 * least (thesis 7.2).
	 */
	uint16_t prescaler_counter, prescaler_comparator;
	/* the trace pin is JTAG's: switch the debug port over; needed once after power came */
	uint8_t switch_to_swd;
};

struct swo {
	struct swo_config config;
	/* detected features of the chip */
	uint32_t counters; /* bit n: counter n */
	uint32_t comparators, max_mask;
	/* the current measurement */
	uint8_t ready, busy, what, used; /* used: comparators */
	uint16_t prescaler;
	uint32_t mark; /* number of the task, or 0 */
	uint32_t edges, cycles;
};

/** What was counted. */
struct swo_data {
	uint32_t edges;  /* rising edges of the trace line */
	uint32_t cycles; /* of the processor, from start to stop */
	uint8_t what;    /* enum swo_counter, or SWO_ACCESSES */
	/* of CPI to FOLD: what the counter showed at the end, and no packet told of */
	uint8_t rest;
	uint8_t settled; /* the line was seen to be quiet before its edges were read */
	uint16_t prescaler;
};

/**
 * Turn the trace units on and find out what they have; switch the debug port if asked to; let the
 * timer count. After a refusal all is off again.
 */
enum swo_why swo_init(struct swo *s, const struct swo_config *config);
/** All off, to save energy. */
void swo_deinit(struct swo *s);

/**
 * Count with a profiling counter up to swo_stop(), which is to come before 2^32 cycles.
 * @mark: number of a task, which is sent at begin and end (firmware/lib/wire/swo_marks.h), outside
 * of what is counted; 0: none.
 */
enum swo_why swo_start(struct swo *s, enum swo_counter counter, uint32_t mark);

/** Count loads and stores within @range. */
enum swo_why swo_start_ranges(struct swo *s, const struct swo_range *range, uint32_t n,
			      uint32_t mark);
/**
 * The same for ranges that take more comparators than there are: run the task again for each @pass,
 * from 0 on.
 */
enum swo_why swo_start_pass(struct swo *s, const struct swo_range *range, uint32_t n, uint32_t pass,
			    uint32_t mark);
/** How many passes; 0 for invalid ranges, or if the chip can match none. */
uint32_t swo_passes(const struct swo *s, const struct swo_range *range, uint32_t n);

/** Stop counting, and wait until the trace line is quiet. */
enum swo_why swo_stop(struct swo *s, struct swo_data *data);

/**
 * Counts from edges: cycles (instructions for FOLD), or accesses. 256 a packet of 5 edges; an
 * access a packet of 8.25 on average over all addresses and comparators (thesis 7.3 and table 8.2).
 * Rounded.
 */
uint64_t swo_data_count(const struct swo_data *data);
/**
 * The same with the rest that was left in the counter: to the unit, as long as no packet and no
 * edge was lost. Of cycles, what their counter says itself.
 */
uint64_t swo_data_exact(const struct swo_data *data);
/**
 * Thousandths of the time that the trace line was busy, at the slower of the rates that chips have.
 * Packets that find no room are dropped, and edges do not tell: from 500 on bursts may have been
 * cut, and a count is what there was at the least; near 1000 they have been.
 */
uint32_t swo_data_load(const struct swo_data *data);
/**
 * Normalised (thesis, equation 8.1): counts in a million cycles, rounded; UINT32_MAX if that or
 * more, or without cycles.
 */
uint32_t swo_per_million(uint64_t count, uint32_t cycles);

#endif
