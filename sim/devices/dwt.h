/* SPDX-License-Identifier: MIT */
/**
 * The trace units of a Cortex-M3, M4 or M7 in a chip, as a program sees them: registers to read and
 * write, and a processor that runs. DWT, ITM, trace port with its line, the debug port, and of an
 * STM32 the pins and the timer that firmware/lib/swotrace uses. The truth is kept separately.
 *
 * Time is counted in cycles of the processor, from 0 on. A step of the processor is an instruction
 * or a piece of one: what it counts and does happens at its end, and counters that wrap then share
 * a packet. Nothing here knows how long an instruction takes. Sources: ARMv7-M Architecture
 * Reference Manual, C1.8 to C1.10 and appendix D4; thesis chapters 6 and 7.
 *
 * Ideal where chips differ: a packet enters the output in the cycle in which its cause happened,
 * and local timestamps are exact.
 */
#ifndef SIM_DWT_H
#define SIM_DWT_H

#include "sim/devices/swo_encode.h"

#define DWT_CHIP_COMPARATORS 15
#define DWT_CHIP_QUEUE 64  /* packets */
#define DWT_CHIP_EDGES 512 /* of the line, not yet seen by the timer */
#define DWT_CHIP_WORDS 64  /* other registers */
#define DWT_STEP_CYCLES 63 /* a step at most */

enum dwt_chip_kind { DWT_CHIP_L476, DWT_CHIP_F4 };

struct dwt_chip_config {
	enum dwt_chip_kind kind;
	uint8_t comparators, mask_bits;
	bool no_trace;    /* none of the trace units */
	bool no_counters; /* but for the cycle counter */
	bool no_packets;
	bool jtag; /* the debug port awaits JTAG: the trace pin is not the trace's */
	/*
	 * A bit takes so many cycles and the prescaler's value: 1 by the architecture, 2 in the
	 * thesis (25 ns at 80 MHz).
	 */
	uint8_t bit_cycles;
	uint8_t fifo_bytes;    /* 20 at least; more than these are lost */
	uint8_t access_cycles; /* of a register, 1 at least */
	double timer_cycles;   /* rising edges closer than this to the one before are not counted */
};

/** Four comparators of 15 bits, as in the thesis. */
extern const struct dwt_chip_config dwt_chip_l476;

/**
 * A step of the processor: what it adds to counters (CPI, EXC, SLEEP, LSU, FOLD), and what it does.
 */
struct dwt_step {
	uint8_t cycles;
	uint8_t add[5];
	bool access, write;
	uint8_t size; /* of the access: 1, 2, 4 */
	uint32_t pc, address, value;
	uint8_t action; /* enum itm_action, or 0 */
	uint16_t exception;
};

/** What really happened. */
struct dwt_truth {
	uint64_t counted[6]; /* by each counter since its event was last enabled; [5]: cycles */
	uint64_t made, lost; /* packets: of all, those that found no room */
	uint64_t kinds[ITM_KINDS]; /* of those that went out */
	uint64_t matched[DWT_CHIP_COMPARATORS];
	uint64_t rising, missed; /* edges at the timer's input while it counted; those too close */
	uint64_t unseen;         /* packets while nothing led to the pin */
};

struct dwt_queued {
	uint64_t time;
	uint8_t n, bytes[20];
};

struct dwt_chip {
	struct dwt_chip_config config;
	struct dwt_truth truth;
	uint64_t now;

	/* DWT */
	uint32_t demcr, control, cyccnt, post;
	uint8_t counter[5];
	uint32_t comp[DWT_CHIP_COMPARATORS], mask[DWT_CHIP_COMPARATORS],
		function[DWT_CHIP_COMPARATORS];
	/* ITM */
	uint32_t tcr, ter[8], page;
	bool unlocked, overflow;
	uint64_t stamped;
	/* output */
	uint32_t acpr, sppr, ffcr;
	struct dwt_queued queue[DWT_CHIP_QUEUE];
	unsigned head, queued, bytes;
	struct swo_tpiu tpiu;
	bool frames; /* a synchronisation was sent */
	struct swo_line line;
	double rising[DWT_CHIP_EDGES];
	unsigned first, edges;
	double last_rising;
	uint32_t timer;
	/* other registers, pins, debug port */
	struct {
		uint32_t address, value;
	} word[DWT_CHIP_WORDS];
	unsigned words;
	bool clock_level;
	uint8_t swj;
	uint32_t swj_ones, swj_bits, swj_shift;

	swo_edge_fn *edge; /* called for each change of the line, in cycles, maybe ahead of time */
	void *ctx;
};

/** @edge may be NULL. */
void dwt_chip_init(struct dwt_chip *c, const struct dwt_chip_config *config, swo_edge_fn *edge,
		   void *ctx);

/**
 * A load or store of the program: struct swo_bus (firmware/lib/swotrace/bus.h) takes them as they
 * are. @chip: struct dwt_chip.
 */
uint32_t dwt_chip_read(void *chip, uint32_t address);
void dwt_chip_write(void *chip, uint32_t address, uint32_t value);

void dwt_chip_step(struct dwt_chip *c, const struct dwt_step *step);

/** Does nothing for as long as the line needs to become quiet. */
void dwt_chip_rest(struct dwt_chip *c);

#endif
