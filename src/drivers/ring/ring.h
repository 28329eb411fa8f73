/* SPDX-License-Identifier: MIT */
/** What a host asks of rings besides what tracer/drain.h does: where they are, and what an unfinished packet holds. */
#ifndef DRIVERS_RING_RING_H
#define DRIVERS_RING_RING_H

#include <stdbool.h>
#include <stddef.h>

#include "tracer/drain.h"

/** Offset of the first ring in @n bytes of @memory from offset @from on, which is a multiple of 8; SIZE_MAX if there is none. */
size_t ring_find(const void *memory, size_t n, size_t from);

enum ring_rest {
	RING_NOTHING,
	RING_EVENTS, /* a packet that ends behind the last event */
	RING_TORN, /* one of no events, which says that one is lost: which was begun and not ended cannot be told */
};

/**
 * What stands in the packet that is being filled, when all before it were read: copied to @packet, which has room for one. Its timestamp_end
 * is to be filled in.
 */
enum ring_rest ring_rest(const struct tracer_drain *d, void *packet);

/** Whether packets behind the next one are complete and it is not. */
bool ring_waits(const struct tracer_drain *d);

/** Whether @packet, of which @n bytes are there, has the header of a packet with layout @layout. */
bool ring_good_header(const struct tracer_packet *packet, size_t n, uint32_t layout);

#endif
