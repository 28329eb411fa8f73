/* SPDX-License-Identifier: MIT */
/**
 * Taking packets out of a tracer's ring: on another processor that sees the same memory, or on the
 * traced core itself, which then sends them somewhere. C99, nothing is allocated. What the ring
 * says of itself is checked once, and not believed again.
 *
 * There is one drain a ring. In a ring that overwrites it may be overtaken, and counts what it
 * missed.
 */
#ifndef TRACER_DRAIN_H
#define TRACER_DRAIN_H

#include "../wire/trace_ring.h"

enum tracer_drained {
	TRACER_NONE,   /* no packet is complete: look again later */
	TRACER_PACKET, /* here is one */
	TRACER_RESET,  /* the core began again, or the memory was lost: open the ring again */
	TRACER_BROKEN  /* what should be a packet, or a ring, is none */
};

struct tracer_drain {
	struct tracer_ring *ring;
	const uint8_t *data;
	/* a copy of what the ring said of itself */
	uint32_t packet_bits, packets, layout, boot;
	uint64_t rate_hz;
	enum tracer_mode mode;
	unsigned stamp_bits;
	uint16_t core;

	uint32_t at;        /* position of the next packet */
	uint64_t overtaken; /* packets that were overwritten before they were read */
};

/**
 * Find the ring that begins at @memory, of which @bytes can be seen, and go on where a drain before
 * stopped. Returns TRACER_PACKET if it is there; TRACER_NONE if the core has not begun;
 * TRACER_BROKEN if it is none that can be read.
 */
enum tracer_drained tracer_drain_open(struct tracer_drain *d, void *memory, uint64_t bytes);

/**
 * Look at the next packet, which stays where it is up to tracer_drain_pass(), unless the ring
 * overwrites. A broken one is passed over in the same way. Packets come in order: one that an event
 * is still being written to holds back those after it.
 */
enum tracer_drained tracer_drain_look(struct tracer_drain *d, const struct tracer_packet **packet);
/** Done with it. Returns 0 if it was overwritten meanwhile, and what was read is worth nothing. */
int tracer_drain_pass(struct tracer_drain *d);

/** The next packet into @out, which has room for one: packet_bits / 8 bytes, aligned to 4. */
enum tracer_drained tracer_drain_read(struct tracer_drain *d, void *out);

/** Whether @packet, of which @n bytes are there, has the header of a packet with layout @layout. */
int tracer_packet_good(const struct tracer_packet *packet, uint32_t n, uint32_t layout);

/** Events dropped since the start, as the core counts them. */
uint32_t tracer_drain_lost(const struct tracer_drain *d);

#endif
