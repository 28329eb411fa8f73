/* SPDX-License-Identifier: MIT */
/**
 * Asynchronous serial bytes on a line: idle high, a start bit, 5 to 8 data bits with the least
 * significant first, perhaps a parity bit, one or two stop bits. SWO in its NRZ mode is that, with
 * 8 data bits, no parity and one stop bit.
 *
 * A byte with wrong parity or a low stop bit is broken; the next one begins at the next falling
 * edge. If the bit is 0 ticks its length is found from the first BAUD_LEARN changes, which are then
 * decoded.
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
	struct baud baud; /* the first changes, available to the owner */
	double bit;       /* 0: not found yet */
	bool level, known, in_byte;
	uint64_t start;
	unsigned bits, data;
	unsigned frame;         /* bits from the start to the last stop bit */
	uint64_t bytes, broken; /* all; the broken ones, and of these */
	uint64_t parity_errors; /* those with correct framing */
};

void uart_init(struct uart *u, const struct uart_opts *opts, const struct line_sink *sink);
/**
 * The line is at @level from @tick on. Ticks must not decrease; the first call gives the initial
 * level.
 */
void uart_edge(struct uart *u, uint64_t tick, bool level);
/** The line is unknown from @tick to the next uart_edge(): the current byte is broken. */
void uart_hole(struct uart *u, uint64_t tick);
/** The line did not change again up to @tick. */
void uart_end(struct uart *u, uint64_t tick);

/**
 * Length of a bit judging by the pulses of a line with broken bytes; 0: they have no common unit.
 * @inverted: whether it idles low.
 */
double uart_likely(const struct uart *u, bool *inverted);

#endif
