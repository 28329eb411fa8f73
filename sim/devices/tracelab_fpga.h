/* SPDX-License-Identifier: MIT */
/**
 * Model of a TraceLab observer as seen at SPI and UART: firmware/lib/wire/tracelab_wire.h without
 * the gateware. Events, samples and actuations go through two queues and a ring to SPI; what does
 * not fit is counted, and reported when there is room.
 *
 * Time is counted in cycles of its clock from fpga_new() on, and advances by fpga_run() only. In
 * paper mode the divider gets the settings that the caller draws by fpga_steer(); the controller
 * itself is in tracelab_clock.h.
 */
#ifndef SIM_TRACELAB_FPGA_H
#define SIM_TRACELAB_FPGA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/tracelab_wire.h"

struct fpga;

struct fpga_opts {
	/**
	 * The next change of target lines and PPS after cycle @after (of the model): its cycle and
	 * *levels; UINT64_MAX: none.
	 */
	uint64_t (*next)(void *ctx, uint64_t after, uint16_t *levels);
	/** Reading number @n. Bit 16: the ADC's frame is bad. */
	uint32_t (*sample)(void *ctx, uint64_t n);
	void *ctx;
	size_t ring; /* packets; 0: 262144, 1 MiB */
};

/** NULL: out of memory. */
struct fpga *fpga_new(const struct fpga_opts *opts);
void fpga_free(struct fpga *f);

/** Advance time to @cycle. */
void fpga_run(struct fpga *f, uint64_t cycle);

/** What the host's UART sends, and what it gets: *n of at most @max bytes. */
void fpga_uart_in(struct fpga *f, const uint8_t *bytes, size_t n);
size_t fpga_uart_out(struct fpga *f, uint8_t *bytes, size_t max);

/** A transaction of @n bytes. */
void fpga_spi(struct fpga *f, uint8_t *bytes, size_t n);

/** Packets that wait. */
size_t fpga_waiting(const struct fpga *f);

/** Paper mode: set the divider from tick @time on. In the order of time, not before now. */
void fpga_steer(struct fpga *f, uint64_t time, int32_t eighths);

/** The observer's time at @cycle, since TL_START. */
uint64_t fpga_time(const struct fpga *f, uint64_t cycle);

#endif
