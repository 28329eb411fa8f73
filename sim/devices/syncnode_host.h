/* SPDX-License-Identifier: MIT */
/**
 * The sync node's firmware (firmware/apps/syncnode, everything but the board) run on a simulated
 * timer and radio.
 *
 * Goes from event to event: an hour of beacons takes milliseconds. Simulated code takes no time;
 * what the board does in hardware (strobe at a count, capture of a pulse) happens at the count to
 * the last bit.
 */
#ifndef SIM_SYNCNODE_HOST_H
#define SIM_SYNCNODE_HOST_H

#include <stddef.h>
#include <stdint.h>

#include "syncnode/syncnode.h"

/** A line sent to the node's UART. */
struct syncnode_line {
	double t_ns;
	const char *text; /* without its end */
};

struct syncnode_world {
	struct syncnode_config config;
	uint32_t timer_hz;
	double begin_ns, duration_ns; /* true time; the node is turned on at begin_ns */

	/**
	 * Counts of its timer at true time @t_ns, not cut to 32 bits. Never falls. NULL: nominal, 0
	 * at begin_ns.
	 */
	double (*counts)(void *ctx, double t_ns);

	/**
	 * The radio's SPI: @n bytes with chip select low at true time @t_ns. Returns 0, or -1 if it
	 * does not get ready. Times never fall, and the strobe that sends a beacon comes as one
	 * byte, STX, at the exact time.
	 */
	int (*spi)(void *ctx, double t_ns, const uint8_t *out, uint8_t *in, unsigned n);

	/**
	 * True time of the first pulse at the node's input after @after_ns. Returns 0 if there are
	 * no more. NULL: none.
	 */
	int (*pulse)(void *ctx, double after_ns, double *t_ns);

	/** Output of the node's UART. NULL: discarded. */
	void (*text)(void *ctx, double t_ns, const char *bytes, unsigned n);

	/** The watchdog is fed. May be NULL. */
	void (*fed)(void *ctx, double t_ns);

	const struct syncnode_line *lines; /* in the order of time */
	size_t n_lines;
	void *ctx; /* of all functions above */
};

/**
 * Run the node. @sent gets every strobe that met a radio ready to send (FSTXON by its status byte):
 * its true time, and the packet from the length byte on. Returns 0, or -1 if the configuration is
 * refused. @end, if not NULL, is where to store the node's state at the end, to look at its
 * counters only.
 */
int syncnode_run(const struct syncnode_world *w,
		 void (*sent)(void *ctx, double t_ns, const uint8_t *packet, size_t n), void *ctx,
		 struct syncnode *end);

#endif
