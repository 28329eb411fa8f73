/* SPDX-License-Identifier: MIT */
/**
 * SWO in its Manchester mode: idle low; a one is a high half and a low half, a zero a low half and a high half. A start bit (a one),
 * bytes with the least significant bit first, and an end: no edge where a bit would have one in its middle.
 * Source: CoreSight Components TRM, the serial wire output; the convention is the one that gives 15 rising edges for an event counter packet.
 *
 * With a rate of 0 the rate is found from the shortest pulses, as in decode/uart.h.
 */
#ifndef DECODE_MANCHESTER_H
#define DECODE_MANCHESTER_H

#include "decode/baud.h"
#include "decode/line.h"

struct manchester_opts {
	double bit;    /* length of a bit (two halves) in ticks; 0: find out */
	bool inverted; /* idles high */
};

struct manchester {
	struct manchester_opts opts;
	struct line_sink sink;
	struct baud baud;
	bool level, known, in_packet;
	uint64_t last, start, mid; /* mid: the last edge in the middle of a bit */
	unsigned bits, data;
	uint64_t bytes, broken;
};

void manchester_init(struct manchester *m, const struct manchester_opts *opts,
		     const struct line_sink *sink);
void manchester_edge(struct manchester *m, uint64_t tick, bool level);
void manchester_hole(struct manchester *m, uint64_t tick);
void manchester_end(struct manchester *m, uint64_t tick);

#endif
