/* SPDX-License-Identifier: MIT */
/**
 * Asynchronous serial bytes on a line: idle high, a start bit, 8 data bits with the least significant first, a stop bit.
 * SWO in its NRZ mode is that.
 *
 * With a rate of 0 the rate is found from the shortest pulses among the first UART_LEARN changes, which are kept until then.
 */
#ifndef DECODE_UART_H
#define DECODE_UART_H

#include "decode/baud.h"
#include "decode/line.h"

struct uart_opts {
	double bit;    /* length of a bit in ticks; 0: find out */
	bool inverted; /* idles low */
};

struct uart {
	struct uart_opts opts;
	struct line_sink sink;
	struct baud baud;
	bool level, known, in_byte, waiting; /* waiting: for the line to be idle long enough */
	uint64_t start, last;
	unsigned bits, data;
	uint64_t bytes, broken;
};

void uart_init(struct uart *u, const struct uart_opts *opts, const struct line_sink *sink);
/** The line shows @level from @tick on. Ticks do not fall; the first call tells the level at the beginning. */
void uart_edge(struct uart *u, uint64_t tick, bool level);
/** Nothing is known of the line from here up to the next uart_edge(): what is in hand is a broken byte. */
void uart_hole(struct uart *u, uint64_t tick);
/** The line did not change any more up to @tick. */
void uart_end(struct uart *u, uint64_t tick);

#endif
