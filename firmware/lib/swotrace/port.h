/* SPDX-License-Identifier: MIT */
/**
 * Interface to a chip and its board. A port is a constant table; nothing in it waits without limit.
 */
#ifndef COEVAL_SWOTRACE_PORT_H
#define COEVAL_SWOTRACE_PORT_H

#include "bus.h"
#include "rules.h"

struct swo_port {
	const void *board; /* the port's own */
	uint32_t count;    /* address of a 32-bit register: rising edges of the trace line; wraps */

	/**
	 * Route the trace to its pin and let the timer count it. Off: timer and input pin are
	 * unused.
	 */
	void (*count_on)(const struct swo_port *p, const struct swo_bus *b);
	void (*count_off)(const struct swo_port *p, const struct swo_bus *b);

	/** Drive the wires to the debug port, or let go of them. NULL: there are none. */
	void (*wires)(const struct swo_port *p, const struct swo_bus *b, int drive);
	/** One clock of the debug port, which sees @bit (0 or 1) at its rising edge. */
	void (*wire_bit)(const struct swo_port *p, const struct swo_bus *b, int bit);

	/**
	 * Settings that the chip can run at, and a call that brings it to the one of index @point.
	 * Returns 0, or -1 and the setting is the one before, or a safe one.
	 */
	struct swo_device device;
	int (*set)(const struct swo_port *p, const struct swo_bus *b, uint32_t point);
};

extern const struct swo_port swo_port_stm32l476;
extern const struct swo_port swo_port_stm32f4;

#endif
