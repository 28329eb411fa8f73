/* SPDX-License-Identifier: MIT */
/**
 * Asynchronous serial bytes on a line: idle high, a start bit, 5 to 8 data bits with the least
 * significant first, perhaps a parity bit, one or two stop bits. SWO in its NRZ mode is that, with
 * 8 data bits, no parity and one stop bit.
 *
 * A byte of wrong parity, or with a stop bit that is low, is broken; the next one begins at the
 * next falling edge. With a bit of 0 ticks its length is found from the first BAUD_LEARN changes,
 * which are decoded when it is.
 */
#ifndef DECODE_UART_H
#define DECODE_UART_H

#include "decode/baud.h"
#include "decode/line.h"

struct uart_opts {
	double bit;                    /* length of a bit in ticks; 0: find out */
	bool inverted;                 /* idles low */
	unsigned data_bits, stop_bits; /* 0: 8, 1 */
	char parity;                   /* 'E' even, 'O' odd; 'N' or 0: none */
};

struct uart {
	struct uart_opts opts;
	struct line_sink sink;
	struct baud baud; /* the first changes, for what their owner may want to know */
	double bit;       /* 0: not found yet */
	bool level, known, in_byte;
	uint64_t start;
	unsigned bits, data;
	unsigned frame;         /* bits from the start to the last stop bit */
	uint64_t bytes, broken; /* all of them; those of them that are broken, and of these */
	uint64_t parity_errors; /* those that are framed well */
};

void uart_init(struct uart *u, const struct uart_opts *opts, const struct line_sink *sink);
/**
 * The line shows @level from @tick on. Ticks do not fall; the first call tells the level at the
 * beginning.
 */
void uart_edge(struct uart *u, uint64_t tick, bool level);
/** Nothing is known of the line from @tick up to the next uart_edge(): a byte in hand is broken. */
void uart_hole(struct uart *u, uint64_t tick);
/** The line did not change any more up to @tick. */
void uart_end(struct uart *u, uint64_t tick);

/**
 * What the pulses say of a line that gives broken bytes. Length of a bit as they have it; 0: they
 * are multiples of nothing.
 * @inverted: whether it idles low.
 */
double uart_likely(const struct uart *u, bool *inverted);

#endif
