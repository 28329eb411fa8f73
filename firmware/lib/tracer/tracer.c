/* SPDX-License-Identifier: MIT */
#include "tracer.h"

#include <stddef.h>

/* What is seldom gone through is built small. */
#define SELDOM __attribute__((cold))

/*
 * A counter of 32 bits is in the half period that was seen last, or in the one after if its highest
 * bit says so. Whoever finds it there moves the count on; the count is read before and after the
 * clock, as one who interrupts may do it in between.
 */
SELDOM uint64_t tracer_time(struct tracer *t)
{
	const volatile uint32_t *seen = &t->ring->half;
	uint32_t half, now;

	do {
		half = *seen;
#if defined(TRACER_CLOCK) && TRACER_STAMP_BITS == 64
		return TRACER_CLOCK(t);
#elif defined(TRACER_CLOCK)
		now = TRACER_CLOCK(t);
#else
		if (t->platform.clock64)
			return t->platform.clock64(t->platform.ctx);
		now = t->platform.counter ? *t->platform.counter :
					    t->platform.clock32(t->platform.ctx);
#endif
	} while (*seen != half);
	return (uint64_t)((half + ((half ^ now >> 31) & 1u)) >> 1) << 32 | now;
}

/* Advance the count of half periods to @half, unless an interrupt has done so already. */
static SELDOM void pass_half(struct tracer *t, uint32_t half)
{
	volatile uint32_t *seen = &t->ring->half;
	uint32_t was;

	do
		was = port_begin(seen);
	while ((int32_t)(half - was) > 0 && !port_end(seen, was, half));
}

SELDOM void tracer_done(struct tracer *t, uint32_t end)
{
	if (!(end & t->packet_mask) && t->platform.packet_done)
		t->platform.packet_done(t->platform.ctx, end);
}

static uint32_t offset_of(const struct tracer *t, uint32_t position)
{
	return (position >> 3) & t->ring_mask;
}

/*
 * Whether the slot of the packet that would begin at @start is free: no event is still being
 * written to it, and no drain has to read it.
 */
static SELDOM int slot_free(struct tracer *t, uint32_t start)
{
	const struct tracer_ring *r = t->ring;

	if (t->commit[offset_of(t, start) >> t->shift] != start - t->others)
		return 0;
	if (r->mode != TRACE_OVERWRITE &&
	    start - *(const volatile uint32_t *)&r->consumed > t->others)
		return 0;
	return !t->platform.full || !t->platform.full(t->platform.ctx);
}

/* Once, as it is larger than a call. */
static SELDOM uint32_t add(volatile uint32_t *word, uint32_t n)
{
	return port_add(word, n);
}

static SELDOM void written(struct tracer *t, uint32_t offset, uint32_t bits)
{
	tracer_done(t, add(&t->commit[offset >> t->shift], bits));
}

/* Instead of a size, and no packet has room for it: close the packet. */
#define FLUSH UINT32_MAX

/*
 * One step at a time, each by whoever gets to it: close the packet that is being filled, so that
 * head stands between two; open the next; reserve. Each is a change of head, and whoever makes it
 * then writes what belongs to it.
 */
static SELDOM tracer_place turn(struct tracer *t, uint32_t size)
{
	for (;;) {
		uint32_t head = port_begin(t->head), start = TRACE_HEAD_NEXT(head);
		uint32_t room = -start & t->packet_mask;
		uint32_t told = *(volatile uint32_t *)&t->ring->lost, next;
		uint64_t time = tracer_time(t);
		uint32_t offset, *stamp;
		struct tracer_packet *p;

		if (room > TRACE_HEAD_NEXT(size)) {
			if (port_end(t->head, head, start + size))
				return TRACER_PLACE(start, (tracer_stamp)time);
			continue;
		}
		if (size == FLUSH && told == t->told &&
		    (!room || (head & t->packet_mask) == TRACE_PACKET_HEADER_BITS))
			return TRACER_PLACE(start, (tracer_stamp)time);
		if (room)
			next = start + room;
		else if (slot_free(t, start))
			next = start + TRACE_PACKET_HEADER_BITS;
		else
			return TRACER_PLACE(TRACER_LOST, (tracer_stamp)time);
		if (!port_end(t->head, head, next))
			continue;
		port_barrier(); /* a drain sees that a slot is taken before it changes */
		pass_half(t, (uint32_t)(time >> 31));
		offset = offset_of(t, start & ~t->packet_mask);
		p = (struct tracer_packet *)(void *)(t->data + offset);
		if (room) {
			p->content_size = TRACE_HEAD_END(head) & t->packet_mask;
			stamp = p->timestamp_end;
			p->events_discarded = t->told = told;
			next = room;
		} else {
			stamp = p->timestamp_begin;
			p->packet_seq_num += t->ring->packets;
			/*
			 * its slot's count goes on from the end of the packet before to that of
			 * this one
			 */
			next = TRACE_PACKET_HEADER_BITS + t->others;
		}
		stamp[0] = (uint32_t)time;
		stamp[1] = (uint32_t)(time >> 32);
		written(t, offset, next);
		if (size == FLUSH && room)
			return TRACER_PLACE(start, (tracer_stamp)time);
	}
}

SELDOM tracer_place tracer_reserve(struct tracer *t, uint32_t size)
{
	if (size + TRACE_PACKET_HEADER_BITS <= t->packet_mask) {
		tracer_place place = turn(t, size);

		if (TRACER_PLACE_START(place) != TRACER_LOST)
			return place;
	}
	add(&t->ring->lost, 1);
	return TRACER_PLACE(TRACER_LOST, 0);
}

SELDOM void tracer_flush(struct tracer *t)
{
	turn(t, FLUSH);
}

SELDOM void tracer_keep_time(struct tracer *t)
{
	const uint32_t bits = TRACER_UP(TRACER_HEADER_BITS, 32u) + 32u;
	const uint64_t time = tracer_time(t);
	const uint32_t half = (uint32_t)(time >> 31);
	tracer_place place;

	add(&t->ring->heartbeat, 1);
	if ((int32_t)(half - *(volatile uint32_t *)&t->ring->half) <= 0)
		return;
	/*
	 * The event first: whoever interrupts this for long finds the count where it was, and
	 * writes another. Where there is no room for it, what follows begins with the whole time,
	 * and it is not counted as lost.
	 */
	if (TRACER_STAMP_BITS == 32) {
		place = turn(t, bits);
		if (TRACER_PLACE_START(place) != TRACER_LOST) {
			uint32_t offset = offset_of(t, TRACER_PLACE_START(place));
			tracer_u32 *at = (tracer_u32 *)(void *)(t->data + offset);

			at[0] = (uint32_t)TRACER_PLACE_NOW(place);
			at[1] = TRACE_ID_CLOCK;
			at[2] = (uint32_t)(time >> 32);
			written(t, offset, bits);
		}
	}
	pass_half(t, half);
}

#ifdef TRACER_SMALL
int tracer_begin(struct tracer *t, uint32_t bits, unsigned id, struct tracer_slot *s)
{
	return tracer_begin_here(t, bits, id, s);
}

void tracer_end(struct tracer *t, const struct tracer_slot *s, uint32_t bits)
{
	tracer_end_here(t, s, bits);
}
#endif

/* ---- beginning ---- */

SELDOM void tracer_start(struct tracer *t, void *memory, const struct tracer_config *config,
			 uint32_t layout)
{
	struct tracer_ring *r = memory;
	struct tracer_packet *p;
	const uint8_t log2 = config->packet_log2;
	const uint32_t packet = 8u << log2;
	uint32_t boot = config->boot;

	if (!boot)
		boot = r->magic == TRACE_RING_MAGIC ? r->boot + 1u : 1u;
	*(volatile uint32_t *)&r->magic = 0;
	port_barrier();

	r->version = TRACE_RING_VERSION;
	r->core = config->core;
	r->layout = layout;
	r->boot = boot;
	r->mode = (uint8_t)config->mode;
	r->packet_log2 = log2;
	r->stamp_bits = TRACER_STAMP_BITS;
	r->reserved = 0;
	r->packets = config->packets;
	r->data = TRACER_RING_DATA(config->packets);
	r->rate_hz[0] = (uint32_t)config->rate_hz;
	r->rate_hz[1] = (uint32_t)(config->rate_hz >> 32);
	r->head = r->lost = r->half = r->heartbeat = r->consumed = 0;

	t->ring = r;
	t->head = &r->head;
	t->commit = r->commit;
	t->data = (uint8_t *)memory + r->data;
	t->packet_mask = t->quick_mask = packet - 1u;
	t->others = (config->packets - 1u) * packet;
	t->ring_mask = (t->others + packet) / 8u - 1u;
	t->shift = log2;
	t->told = 0;
	t->platform = config->platform;
	t->counter = config->platform.counter;
#ifndef TRACER_CLOCK
	/* what a clock that is called says is not in memory */
	if (config->platform.clock64 || !t->counter || TRACER_STAMP_BITS == 64) {
		t->counter = t->head;
		t->quick_mask = 0;
	}
#endif
	for (unsigned i = 0; i < TRACER_SWITCHES; i++)
		t->on[i] = 1;
	/* a counter that begins in its upper half has not passed the lower one */
	r->half = (uint32_t)(tracer_time(t) >> 31);
	p = (struct tracer_packet *)(void *)t->data;
	/* each slot's count is at the end of a packet before its first */
	for (uint32_t i = 0, end = -t->others; i < config->packets; i++, end += packet) {
		p->magic = TRACE_PACKET_MAGIC;
		p->layout = layout;
		p->packet_size = packet;
		p->packet_seq_num = i - config->packets;
		p->core = r->core;
		p->boot = (uint16_t)boot;
		p = (struct tracer_packet *)(void *)((uint8_t *)p + packet / 8u);
		r->commit[i] = end;
	}
	port_barrier();
	*(volatile uint32_t *)&r->magic = TRACE_RING_MAGIC;
}
