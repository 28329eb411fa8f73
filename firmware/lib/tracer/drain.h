/* SPDX-License-Identifier: MIT */
/**
 * Taking packets out of a tracer's ring: on another processor that sees the same memory, or on the
 * traced core itself, which then sends them somewhere. C99, nothing is allocated. The ring's
 * control block is checked once, copied, and not read again.
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
	TRACER_RESET,  /* the core restarted, or the memory was lost: open the ring again */
	TRACER_BROKEN  /* not a valid packet or ring */
};

struct tracer_drain {
	struct tracer_ring *ring;
	const uint8_t *data;
	/* a copy of the ring's control block */
	uint32_t packet_bits, packets, layout, boot;
	uint64_t rate_hz;
	enum tracer_mode mode;
	unsigned stamp_bits;
	uint16_t core;

	uint32_t at;        /* position of the next packet */
	uint64_t overtaken; /* packets that were overwritten before they were read */
};

/**
 * Find the ring that begins at @memory, @bytes of which are visible, and continue where an earlier
 * drain stopped. Returns TRACER_PACKET if it is there; TRACER_NONE if the core has not started;
 * TRACER_BROKEN if it is not a readable ring.
 */
enum tracer_drained tracer_drain_open(struct tracer_drain *d, void *memory, uint64_t bytes);

/**
 * Look at the next packet, which stays where it is until tracer_drain_pass(), unless the ring
 * overwrites. A broken one is skipped in the same way. Packets come in order: one with an
 * unfinished event holds back those after it.
 */
enum tracer_drained tracer_drain_look(struct tracer_drain *d, const struct tracer_packet **packet);
/** Done with it. Returns 0 if it was overwritten meanwhile, so that its data is invalid. */
int tracer_drain_pass(struct tracer_drain *d);

/** The next packet into @out, which has room for one: packet_bits / 8 bytes, aligned to 4. */
enum tracer_drained tracer_drain_read(struct tracer_drain *d, void *out);

/** Whether @packet, a buffer of @n bytes, has the header of a packet with layout @layout. */
int tracer_packet_good(const struct tracer_packet *packet, uint32_t n, uint32_t layout);

/** Events dropped since the start, as the core counts them. */
uint32_t tracer_drain_lost(const struct tracer_drain *d);

#endif
