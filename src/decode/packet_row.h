/* SPDX-License-Identifier: MIT */
/**
 * Packets of one tracer, as they come over a line, by their numbers: which follow, which came
 * before already, and where the core began again. Pure.
 */
#ifndef DECODE_PACKET_ROW_H
#define DECODE_PACKET_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/trace_ring.h"

enum packet_row_is {
	PACKET_FOLLOWS,  /* what is missing in front of it its number tells */
	PACKET_REPEATED, /* its number was there: to be left out */
	/* the core began again: its clock has nothing to do with the packets before */
	PACKET_RESTARTED
};

#define PACKET_ROW_KEPT 64

/** Begin with {0}. */
struct packet_row {
	bool any;
	uint16_t boot;
	uint32_t next; /* number that should follow */
	struct {
		uint32_t number, sum;
		bool any;
	} kept[PACKET_ROW_KEPT]; /* the last ones, by number */
};

/**
 * What @p, of @n bytes, is. A core whose memory does not keep the count of its boots looks as
 * before the reset: its numbers go back to the first few, in packets that are not those of before.
 */
enum packet_row_is packet_row_put(struct packet_row *r, const struct tracer_packet *p, size_t n);

#endif
