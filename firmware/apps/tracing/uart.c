/* SPDX-License-Identifier: MIT */
#include "tracing/uart.h"

enum { DATA, STATE, CTRL, CLEAR, BAUDDIV }; /* words from its base */

#define TX_FULL 1u
#define TX_ON 1u
#define TX_INTERRUPT 4u
#define CLEAR_TX 1u

void tracer_uart_init(struct tracer_uart *u, uintptr_t base, uint32_t divider,
		      struct tracer_link *link)
{
	u->base = (volatile uint32_t *)base;
	u->link = link;
	u->base[BAUDDIV] = divider;
	u->base[CTRL] = TX_ON | (link ? TX_INTERRUPT : 0);
}

void tracer_uart_kick(struct tracer_uart *u)
{
	/*
	 * the interrupt comes when a byte has left: as long as one is there, it sends on by itself
	 */
	while (!(u->base[STATE] & TX_FULL)) {
		int byte = tracer_link_byte(u->link);

		if (byte < 0)
			return;
		u->base[DATA] = (uint32_t)byte;
	}
}

void tracer_uart_interrupt(struct tracer_uart *u)
{
	u->base[CLEAR] = CLEAR_TX;
	tracer_uart_kick(u);
}

int tracer_uart_busy(const struct tracer_uart *u)
{
	return (u->base[STATE] & TX_FULL) != 0;
}

void tracer_uart_ring(struct tracer_uart *u)
{
	if (!(u->base[STATE] & TX_FULL))
		u->base[DATA] = '!';
}
