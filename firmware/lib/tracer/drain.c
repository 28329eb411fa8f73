/* SPDX-License-Identifier: MIT */
#include "drain.h"

#include "port.h"

/* Bits from the packet of the drain to the end of the one that is being filled. */
static uint32_t ahead(const struct tracer_drain *d, uint32_t head)
{
	return ((head + d->packet_bits - 1u) & ~(d->packet_bits - 1u)) - d->at;
}

enum tracer_drained tracer_drain_open(struct tracer_drain *d, void *memory, uint64_t bytes)
{
	struct tracer_ring *r = memory;
	struct tracer_ring copy;
	uint32_t size;

	if (bytes < sizeof(*r) || (uintptr_t)memory & 7u)
		return TRACER_BROKEN;
	if (!port_load(&r->magic))
		return TRACER_NONE;
	copy = *(const volatile struct tracer_ring *)r;
	if (copy.magic != TRACE_RING_MAGIC || copy.version != TRACE_RING_VERSION ||
	    copy.mode >= TRACE_MODES || copy.packet_log2 < TRACE_PACKET_LOG2_MIN ||
	    copy.packet_log2 > TRACE_PACKET_LOG2_MAX ||
	    (copy.stamp_bits != 32 && copy.stamp_bits != 64))
		return TRACER_BROKEN;
	size = copy.packets << copy.packet_log2;
	if (copy.packets < TRACE_PACKETS_MIN || copy.packets & (copy.packets - 1u) ||
	    copy.packets > TRACE_BYTES_MAX >> copy.packet_log2 || copy.data & 7u ||
	    copy.data < sizeof(*r) + 4u * (uint64_t)copy.packets ||
	    copy.data + (uint64_t)size > bytes)
		return TRACER_BROKEN;
	*d = (struct tracer_drain){ .ring = r,
				    .data = (const uint8_t *)memory + copy.data,
				    .packet_bits = 8u << copy.packet_log2,
				    .packets = copy.packets,
				    .layout = copy.layout,
				    .boot = copy.boot,
				    .rate_hz = (uint64_t)copy.rate_hz[1] << 32 | copy.rate_hz[0],
				    .mode = (enum tracer_mode)copy.mode,
				    .stamp_bits = copy.stamp_bits,
				    .core = copy.core,
				    .at = copy.consumed & ~((8u << copy.packet_log2) - 1u) };
	return TRACER_PACKET;
}

/* Whether the packet of the drain is, or may be, no longer in its slot. */
static int is_overtaken(const struct tracer_drain *d)
{
	return ahead(d, port_load(&d->ring->head)) > d->packets * d->packet_bits;
}

int tracer_packet_good(const struct tracer_packet *p, uint32_t n, uint32_t layout)
{
	return n >= sizeof(*p) && p->magic == TRACE_PACKET_MAGIC && p->layout == layout &&
	       p->packet_size / 8 <= n && !(p->packet_size & 7) &&
	       p->content_size <= p->packet_size && p->content_size >= TRACE_PACKET_HEADER_BITS;
}

static int is_packet(const struct tracer_drain *d, const struct tracer_packet *p)
{
	return tracer_packet_good(p, d->packet_bits / 8, d->layout) &&
	       p->packet_size == d->packet_bits;
}

enum tracer_drained tracer_drain_look(struct tracer_drain *d, const struct tracer_packet **packet)
{
	const uint32_t ring_bits = d->packets * d->packet_bits;
	uint32_t slot, head = port_load(&d->ring->head);

	if (port_load(&d->ring->magic) != TRACE_RING_MAGIC || port_load(&d->ring->boot) != d->boot)
		return TRACER_RESET;
	if (ahead(d, head) > ring_bits) {
		/* a ring that keeps what was not read does not get there: this is another one */
		if (d->mode != TRACE_OVERWRITE)
			return TRACER_RESET;
		d->overtaken += (ahead(d, head) - ring_bits) / d->packet_bits;
		d->at += ahead(d, head) - ring_bits;
	}
	slot = d->at / d->packet_bits % d->packets;
	if (head - d->at < d->packet_bits ||
	    port_load(&d->ring->commit[slot]) != d->at + d->packet_bits)
		return TRACER_NONE;
	*packet =
		(const struct tracer_packet *)(const void *)(d->data + slot * (d->packet_bits / 8));
	return is_packet(d, *packet) ? TRACER_PACKET : TRACER_BROKEN;
}

int tracer_drain_pass(struct tracer_drain *d)
{
	int overtaken;

	port_barrier();
	overtaken = d->mode == TRACE_OVERWRITE && is_overtaken(d);
	d->overtaken += (unsigned)overtaken;
	d->at += d->packet_bits;
	if (d->mode != TRACE_STOP) /* where nothing gets free by it */
		*(volatile uint32_t *)&d->ring->consumed = d->at;
	return !overtaken;
}

enum tracer_drained tracer_drain_read(struct tracer_drain *d, void *out)
{
	for (;;) {
		const struct tracer_packet *packet = 0;
		enum tracer_drained got = tracer_drain_look(d, &packet);
		const volatile uint32_t *from = (const volatile uint32_t *)(const void *)packet;
		uint32_t *to = out;

		if (got == TRACER_NONE || got == TRACER_RESET)
			return got;
		for (uint32_t i = 0; got == TRACER_PACKET && i < d->packet_bits / 32; i++)
			to[i] = from[i];
		if (tracer_drain_pass(d))
			return got;
	}
}

uint32_t tracer_drain_lost(const struct tracer_drain *d)
{
	return port_load(&d->ring->lost);
}
