/* SPDX-License-Identifier: MIT */
#include "drivers/ring/ring.h"

#include <string.h>

static uint32_t look(const void *word)
{
	return __atomic_load_n((const uint32_t *)word, __ATOMIC_ACQUIRE);
}

size_t ring_find(const void *memory, size_t n, size_t from)
{
	const uint8_t *m = memory;

	for (; n >= sizeof(struct tracer_ring) && from <= n - sizeof(struct tracer_ring); from += 8)
		if (look(m + from) == TRACE_RING_MAGIC &&
		    look(m + from + offsetof(struct tracer_ring, packets)))
			return from;
	return SIZE_MAX;
}

bool ring_good_header(const struct tracer_packet *p, size_t n, uint32_t layout)
{
	return n >= sizeof(*p) && p->magic == TRACE_PACKET_MAGIC && p->layout == layout &&
	       p->packet_size <= 8ull * n && !(p->packet_size & 7) &&
	       p->content_size <= p->packet_size && p->content_size >= TRACE_PACKET_HEADER_BITS;
}

bool ring_waits(const struct tracer_drain *d)
{
	return look(&d->ring->head) - d->at > d->packet_bits;
}

enum ring_rest ring_rest(const struct tracer_drain *d, void *packet)
{
	const uint32_t slot = d->at / d->packet_bits % d->packets, bytes = d->packet_bits / 8;
	struct tracer_packet *p = packet;
	uint32_t head = look(&d->ring->head), filled = TRACE_HEAD_END(head) - d->at;
	bool whole =
		filled < d->packet_bits && look(&d->ring->commit[slot]) == TRACE_HEAD_NEXT(head);

	if (look(&d->ring->magic) != TRACE_RING_MAGIC || look(&d->ring->boot) != d->boot ||
	    filled <= TRACE_PACKET_HEADER_BITS || filled > d->packets * d->packet_bits)
		return RING_NOTHING;
	memcpy(p, d->data + (size_t)slot * bytes, bytes);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	/* while it was copied somebody may have gone round to it */
	if (look(&d->ring->head) - d->at > d->packets * d->packet_bits)
		return RING_NOTHING;
	p->content_size = whole ? filled : TRACE_PACKET_HEADER_BITS;
	if (!ring_good_header(p, bytes, d->layout))
		return RING_NOTHING;
	p->events_discarded = look(&d->ring->lost) + !whole;
	return whole ? RING_EVENTS : RING_TORN;
}
