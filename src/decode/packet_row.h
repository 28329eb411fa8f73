/* SPDX-License-Identifier: MIT */
/**
 * Classifies packets of one tracer received over a line by their numbers: which follow, which are
 * repeated, and where the core restarted. Pure.
 */
#ifndef DECODE_PACKET_ROW_H
#define DECODE_PACKET_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/trace_ring.h"

enum packet_row_is {
	PACKET_FOLLOWS,  /* its number tells what is missing before it */
	PACKET_REPEATED, /* repeated number: to be left out */
	/* the core restarted: its clock is unrelated to earlier packets */
	PACKET_RESTARTED
};

#define PACKET_ROW_KEPT 64

/** Begin with {0}. */
struct packet_row {
	bool any;
	uint16_t boot;
	uint32_t next; /* next number expected */
	struct {
		uint32_t number, sum;
		bool any;
	} kept[PACKET_ROW_KEPT]; /* the last ones, by number */
};

/**
 * Classify @p, of @n bytes. A core whose memory does not keep its boot count looks the same after a
 * reset: its numbers restart at the first few, in packets that differ from earlier ones.
 */
enum packet_row_is packet_row_put(struct packet_row *r, const struct tracer_packet *p, size_t n);

#endif
