/* SPDX-License-Identifier: MIT */
/**
 * Shared by tracelab_fpga.c (events and their way to SPI) and tracelab_fpga_uart.c (commands).
 */
#ifndef SIM_TRACELAB_FPGA_INTERNAL_H
#define SIM_TRACELAB_FPGA_INTERNAL_H

#include "sim/devices/tracelab_fpga.h"

#define FPGA_NEVER UINT64_MAX

/* What waits for the ring: a packet without its time's low bits, or a loss, which is three. */
struct fpga_item {
	uint32_t packet;
	bool timed;
	uint64_t time, lost; /* lost: not 0, of a loss */
};

struct fpga_queue {
	struct fpga_item *item;
	size_t max, at, n;
	uint64_t since, lost; /* dropped and not yet reported */
	unsigned number;      /* of the queue, in TL_LOSS */
};

struct fpga_act {
	uint64_t time;
	uint8_t what, lines, id;
	uint32_t width;
	bool back; /* the end of a pulse */
};

struct fpga {
	struct fpga_opts opts;
	uint64_t now, began; /* began: cycle of TL_START */
	bool running, fine;
	uint16_t mask, levels, target; /* target: lines that the world drives */
	uint8_t acts;                  /* levels of the actuation lines */
	uint64_t next_edge, drained;   /* drained: when the SRAM is free again */
	uint16_t next_levels;
	struct fpga_queue queue[2];
	uint32_t *ring;
	size_t ring_at, ring_n;
	uint64_t upper, wraps; /* of the last marker; NEVER: none */
	uint16_t sent;
	unsigned period;
	uint64_t power_at, samples; /* time of sample 0 */
	bool power_cut; /* packets of the second queue were lost: report when samples resume */
	struct fpga_act act[TL_ACT_QUEUE];
	size_t n_acts;
	uint64_t ordered, lost; /* ordered: time of the last one */
	struct {
		uint64_t at, raw;
		int32_t eighths;
	} steer;
	uint8_t in[32], out[1024];
	size_t n_in, n_out;
};

/** Queue a packet of the second queue; @timed: with the low bits of @time. */
void fpga_push(struct fpga *f, uint32_t packet, bool timed, uint64_t time);
/** Sample the lines; @anyway: report even without a change. */
void fpga_look(struct fpga *f, uint64_t cycle, bool anyway);
/** Move waiting packets to the ring, up to its free space. */
void fpga_drain(struct fpga *f);

#endif
