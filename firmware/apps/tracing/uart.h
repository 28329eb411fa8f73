/* SPDX-License-Identifier: MIT */
/**
 * A CMSDK UART (Arm DDI 0479) as a tracer's line, or as its doorbell. It sends from its transmit
 * interrupt.
 */
#ifndef TRACER_MPS2_UART_H
#define TRACER_MPS2_UART_H

#include "tracer/platform/link.h"

struct tracer_uart {
	volatile uint32_t *base;
	struct tracer_link *link; /* what it sends; NULL: nothing but bells */
};

void tracer_uart_init(struct tracer_uart *u, uintptr_t base, uint32_t divider,
		      struct tracer_link *link);
/**
 * Something may wait: send on. Not from a context that its interrupt breaks into; mask that, or
 * make it pending.
 */
void tracer_uart_kick(struct tracer_uart *u);
/** Its transmit interrupt. */
void tracer_uart_interrupt(struct tracer_uart *u);
/** Whether a byte has not left yet. */
int tracer_uart_busy(const struct tracer_uart *u);
/**
 * A byte to wake who sleeps at the other end, from any context. If one is on its way, that will do.
 */
void tracer_uart_ring(struct tracer_uart *u);

#endif
