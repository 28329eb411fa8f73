/* SPDX-License-Identifier: MIT */
/**
 * SWO in its Manchester mode: idle low; a one is a high half and a low half, a zero a low half and
 * a high half. A start bit (a one), bytes with the least significant bit first, and an end: no edge
 * where a bit would have one in its middle. Source: CoreSight Components TRM, serial wire output;
 * which half is which follows from the 15 rising edges of an event counter packet that were
 * measured (Westphal 2022, 7.1).
 *
 * A packet begins only after an idle line. If the bit is 0 ticks its length is found as in
 * decode/uart.h.
 */
#ifndef DECODE_MANCHESTER_H
#define DECODE_MANCHESTER_H

#include "decode/baud.h"
#include "decode/line.h"

struct manchester_opts {
	double bit;    /* length of a bit, two halves, in ticks; 0: find out */
	bool inverted; /* idles high */
};

struct manchester {
	struct manchester_opts opts;
	struct line_sink sink;
	struct baud baud;
	double bit;
	bool level, known;
	uint8_t state;
	uint64_t last;  /* edge */
	uint64_t mid;   /* edge in the middle of a bit, or where the start bit began */
	uint64_t start; /* of the current byte */
	unsigned bits, data;
	uint64_t bytes, broken, packets;
};

void manchester_init(struct manchester *m, const struct manchester_opts *opts,
		     const struct line_sink *sink);
/** As for uart_edge(), uart_hole(), uart_end() and uart_likely(). */
void manchester_edge(struct manchester *m, uint64_t tick, bool level);
void manchester_hole(struct manchester *m, uint64_t tick);
void manchester_end(struct manchester *m, uint64_t tick);
double manchester_likely(const struct manchester *m, bool *inverted);

#endif
