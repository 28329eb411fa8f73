/* SPDX-License-Identifier: MIT */
#include "tracer.h"

#include <stddef.h>

tracer_stamp tracer_ask_clock(struct tracer *t)
{
	const struct tracer_platform *p = &t->platform;

	if (p->clock64)
		return (tracer_stamp)p->clock64(p->ctx);
	return p->clock32 ? p->clock32(p->ctx) : *p->counter;
}

/*
 * Time in 64 bits. A counter of 32 is in half period @half, or in the one after if its highest bit says so. Whoever finds it there
 * moves the count on; the count is read before and after the clock, as one who interrupts may do it in between.
 */
static uint64_t time_64(struct tracer *t, uint32_t *half)
{
	const volatile uint32_t *seen = &t->ring->half;
	uint64_t now;

	do {
		*half = *seen;
#ifdef TRACER_CLOCK
		now = TRACER_CLOCK(t);
#else
		if (t->platform.clock64)
			now = t->platform.clock64(t->platform.ctx);
		else
			now = (uint32_t)tracer_now(t);
#endif
	} while (*seen != *half);
#ifdef TRACER_CLOCK
	if (sizeof(TRACER_CLOCK(t)) > 4)
		return now;
#else
	if (t->platform.clock64)
		return now;
#endif
	return (uint64_t)((*half + ((*half ^ (uint32_t)now >> 31) & 1u)) >> 1) << 32 | now;
}

/* Returns whether it was this call that moved the count on. */
static int pass_half(struct tracer *t, uint32_t half, uint64_t time)
{
	volatile uint32_t *seen = &t->ring->half;

	if ((uint32_t)(time >> 31) == half)
		return 0;
	do
		if (port_begin(seen) != half)
			return 0;
	while (!port_end(seen, half, (uint32_t)(time >> 31)));
	return 1;
}

uint64_t tracer_time(struct tracer *t)
{
	uint32_t half;

	return time_64(t, &half);
}

void tracer_done(struct tracer *t, uint32_t end)
{
	if (t->platform.packet_done)
		t->platform.packet_done(t->platform.ctx, end);
}

static uint32_t offset_of(const struct tracer *t, uint32_t position)
{
	return (position >> 3) & t->ring_mask;
}

static struct tracer_packet *packet_at(struct tracer *t, uint32_t position)
{
	return (struct tracer_packet *)(void *)(t->data + offset_of(t, position));
}

/* Of all packets but one. */
static uint32_t others_bits(const struct tracer *t)
{
	return (t->ring_mask << 3 | 7u) - t->packet_mask;
}

/* Whether the slot of the packet that would begin at @start is there to be filled: nobody still writes to it, or has to read it. */
static int slot_free(struct tracer *t, uint32_t start)
{
	const struct tracer_ring *r = t->ring;
	uint32_t others = others_bits(t);

	if (t->commit[offset_of(t, start) >> t->shift] != start - others)
		return 0;
	if (r->mode == TRACE_STREAM && start - *(const volatile uint32_t *)&r->consumed > others)
		return 0;
	if (r->mode == TRACE_STOP && start > others)
		return 0;
	return !t->platform.full || !t->platform.full(t->platform.ctx);
}

enum want { ROOM, FLUSH };

/*
 * One step at a time, each by whoever gets to it: close the packet that is being filled, so that head stands between two; then open the
 * next. Returns 0 if no packet is free.
 */
static int turn(struct tracer *t, uint32_t bits, enum want want)
{
	struct tracer_ring *r = t->ring;
	volatile uint32_t *const lost = &r->lost;

	for (;;) {
		uint32_t head = port_begin(t->head), start = TRACER_UP(head, 32u);
		uint32_t room = -start & t->packet_mask, told = *lost, half;
		uint64_t time = time_64(t, &half);
		struct tracer_packet *p;

		if (want == ROOM && room > bits)
			return 1;
		if (want == FLUSH && told == t->told &&
		    (!room || (head & t->packet_mask) == TRACE_PACKET_HEADER_BITS))
			return 1;
		if (room) {
			if (!port_end(t->head, head, start + room))
				continue;
			pass_half(t, half, time);
			p = packet_at(t, head & ~t->packet_mask);
			p->content_size = head & t->packet_mask;
			p->timestamp_end[0] = (uint32_t)time;
			p->timestamp_end[1] = (uint32_t)(time >> 32);
			p->events_discarded = told;
			t->told = told;
			tracer_commit(t, offset_of(t, head), room);
			if (want == FLUSH)
				return 1;
			continue;
		}
		if (!slot_free(t, start))
			return 0;
		if (!port_end(t->head, head, start + TRACE_PACKET_HEADER_BITS))
			continue;
		port_barrier(); /* a drain sees that the slot is taken before it changes */
		pass_half(t, half, time);
		p = packet_at(t, start);
		p->timestamp_begin[0] = (uint32_t)time;
		p->timestamp_begin[1] = (uint32_t)(time >> 32);
		p->packet_seq_num += r->packets;
		/* its slot's count goes on from the end of the packet before to that of this one */
		tracer_commit(t, offset_of(t, start), TRACE_PACKET_HEADER_BITS + others_bits(t));
	}
}

int tracer_turn(struct tracer *t, uint32_t bits, unsigned id)
{
	bits = TRACER_UP(bits, 32u);
	if (bits < t->packet_mask + 1u - TRACE_PACKET_HEADER_BITS && turn(t, bits, ROOM))
		return 1;
	port_add(&t->ring->lost, id != TRACE_ID_CLOCK);
	return 0;
}

void tracer_flush(struct tracer *t)
{
	turn(t, 0, FLUSH);
}

void tracer_keep_time(struct tracer *t)
{
	const uint32_t bits = TRACER_UP(TRACER_HEADER_BITS, 32u) + 32u;
	struct tracer_slot s;
	uint32_t half;
	uint64_t time = time_64(t, &half);

	port_add(&t->ring->heartbeat, 1);
	if (!pass_half(t, half, time) || TRACER_STAMP_BITS == 64)
		return;
	if (tracer_begin(t, bits, TRACE_ID_CLOCK, &s)) {
		*(tracer_u32 *)(void *)(s.at + bits / 8 - 4) = (uint32_t)(time >> 32);
		tracer_end(t, &s, bits);
	}
}

/* ---- beginning ---- */

static int power_of_two(uint32_t n)
{
	return n && !(n & (n - 1));
}

static enum tracer_refusal check(const void *memory, uint32_t bytes, const struct tracer_config *c,
				 const struct tracer_layout *layout)
{
	if ((uintptr_t)memory & 7u || c->packet_log2 < TRACE_PACKET_LOG2_MIN ||
	    c->packet_log2 > TRACE_PACKET_LOG2_MAX || !power_of_two(c->packets) ||
	    c->packets < TRACE_PACKETS_MIN || c->packets > (1u << 27) >> c->packet_log2 ||
	    bytes < TRACER_RING_BYTES(c->packet_log2, c->packets))
		return TRACER_BAD_SIZES;
	if ((unsigned)c->mode >= TRACE_MODES)
		return TRACER_BAD_MODE;
#ifndef TRACER_CLOCK
	if (!c->platform.counter && !c->platform.clock32 && !c->platform.clock64)
		return TRACER_NO_CLOCK;
#endif
	if (TRACER_UP(layout->bytes, 4u) >=
	    (1u << c->packet_log2) - (uint32_t)sizeof(struct tracer_packet))
		return TRACER_TOO_LARGE;
	return TRACER_OK;
}

enum tracer_refusal tracer_init(struct tracer *t, void *memory, uint32_t bytes,
				const struct tracer_config *config,
				const struct tracer_layout *layout)
{
	enum tracer_refusal refusal = check(memory, bytes, config, layout);
	struct tracer_ring *r = memory;
	const uint32_t packet = 8u << config->packet_log2;
	uint32_t boot = config->boot;

	if (refusal)
		return refusal;
	if (!boot)
		boot = r->magic == TRACE_RING_MAGIC ? r->boot + 1u : 1u;
	*(volatile uint32_t *)&r->magic = 0;
	port_barrier();

	t->ring = r;
	t->head = &r->head;
	t->commit = r->commit;
	t->data = (uint8_t *)memory + TRACER_RING_DATA(config->packets);
	t->packet_mask = packet - 1u;
	t->ring_mask = (config->packets << config->packet_log2) - 1u;
	t->counter = config->platform.clock64 ? NULL : config->platform.counter;
	t->shift = config->packet_log2;
	t->told = 0;
	t->platform = config->platform;
	for (unsigned i = 0; i < TRACER_SWITCHES; i++)
		t->on[i] = 1;

	r->version = TRACE_RING_VERSION;
	r->core = config->core;
	r->layout = layout->number;
	r->boot = boot;
	r->mode = (uint8_t)config->mode;
	r->packet_log2 = config->packet_log2;
	r->stamp_bits = TRACER_STAMP_BITS;
	r->reserved = 0;
	r->packets = config->packets;
	r->data = TRACER_RING_DATA(config->packets);
	r->rate_hz[0] = (uint32_t)config->rate_hz;
	r->rate_hz[1] = (uint32_t)(config->rate_hz >> 32);
	r->head = r->lost = r->heartbeat = r->consumed = 0;
	/* a counter that begins in its upper half has not passed the lower one */
	r->half = 0;
	r->half = (uint32_t)(tracer_time(t) >> 31);
	for (uint32_t i = 0; i < config->packets; i++) {
		struct tracer_packet *p = packet_at(t, i * packet);

		*p = (struct tracer_packet){ .magic = TRACE_PACKET_MAGIC,
					     .layout = layout->number,
					     .packet_size = packet,
					     .packet_seq_num = i - config->packets,
					     .core = config->core,
					     .boot = (uint16_t)boot };
		/* the end of a packet before the first in this slot */
		r->commit[i] = (i + 1u - config->packets) * packet;
	}
	port_barrier();
	*(volatile uint32_t *)&r->magic = TRACE_RING_MAGIC;
	return TRACER_OK;
}
