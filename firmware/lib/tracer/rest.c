/* SPDX-License-Identifier: MIT */
#include "rest.h"

#include "port.h"

int tracer_drain_waits(const struct tracer_drain *d)
{
	return port_load(&d->ring->head) - d->at > d->packet_bits;
}

enum tracer_rest tracer_drain_rest(const struct tracer_drain *d, void *packet)
{
	const uint32_t slot = d->at / d->packet_bits % d->packets, bytes = d->packet_bits / 8;
	const uint32_t *from = (const uint32_t *)(const void *)(d->data + slot * bytes);
	struct tracer_packet *p = packet;
	uint32_t head = port_load(&d->ring->head), filled = TRACE_HEAD_END(head) - d->at;
	int whole = filled < d->packet_bits &&
		    port_load(&d->ring->commit[slot]) == TRACE_HEAD_NEXT(head);

	if (port_load(&d->ring->magic) != TRACE_RING_MAGIC ||
	    port_load(&d->ring->boot) != d->boot || filled <= TRACE_PACKET_HEADER_BITS ||
	    filled > d->packets * d->packet_bits)
		return TRACER_REST_NOTHING;
	for (uint32_t i = 0; i < bytes / 4; i++)
		((uint32_t *)packet)[i] = port_load(&from[i]);
	/* while it was copied a writer may have wrapped round to it */
	if (port_load(&d->ring->head) - d->at > d->packets * d->packet_bits)
		return TRACER_REST_NOTHING;
	p->content_size = whole ? filled : TRACE_PACKET_HEADER_BITS;
	if (!tracer_packet_good(p, bytes, d->layout))
		return TRACER_REST_NOTHING;
	p->events_discarded = port_load(&d->ring->lost) + !whole;
	return whole ? TRACER_REST_EVENTS : TRACER_REST_TORN;
}
