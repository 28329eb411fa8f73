/* SPDX-License-Identifier: MIT */
#include "capture/drivers/ring/source.h"

#include <stdio.h>
#include <string.h>

#define STUCK_NS 1000000000
#define PACKETS_A_TURN 64
#define OVERTAKEN_MAX 16 /* attempts to copy a packet before it is overwritten */
#define RESETS_MAX 100   /* without a packet in between: no core does that */

static void say(struct source *q, bool *once, const char *text)
{
	char line[400];

	if (*once)
		return;
	*once = true;
	snprintf(line, sizeof(line), "%s: %s", q->name, text);
	q->sink->tell(q->sink->ctx, SIZE_MAX, true, line);
}

static int hand_on(struct source *q, struct cvl_error *err)
{
	const struct tracer_packet *p = q->packet;
	const struct driver_packet packet = {
		.bytes = q->packet,
		.n = p->packet_size / 8,
		.begin = (uint64_t)p->timestamp_begin[1] << 32 | p->timestamp_begin[0],
		.end = (uint64_t)p->timestamp_end[1] << 32 | p->timestamp_end[0],
		.restarted = q->restarted,
	};

	q->last = *p;
	q->restarted = false;
	q->any = true;
	q->resets = 0;
	return q->sink->packet(q->sink->ctx, q->index, &packet, err);
}

/* Its file may have been truncated or replaced. */
void source_check_memory(struct source *q)
{
	enum memory_state state = memory_look(q->memory);

	if (state == MEMORY_CUT && !q->gone) {
		q->gone = true;
		say(q, &(bool){ false }, "its memory was cut short; what was read is kept");
	}
	if (state == MEMORY_REPLACED)
		say(q, &q->told_replaced,
		    "its memory's file was removed, or another put in its place; capture again to read that");
}

/* The core restarted, or is about to. Its ring may be another one now. */
static void begin_again(struct source *q)
{
	struct tracer_drain d;
	enum tracer_drained state = tracer_drain_open(&d, q->ring.ring, q->bytes);

	if (state == TRACER_NONE) {
		source_check_memory(q);
		return;
	}
	if (state == TRACER_PACKET && d.layout == q->ring.layout &&
	    d.packet_bits == q->ring.packet_bits && ++q->resets < RESETS_MAX) {
		q->ring = d;
		q->restarted = true;
		return;
	}
	q->gone = true;
	say(q, &(bool){ false },
	    q->resets < RESETS_MAX ?
		    "its ring is gone, or belongs to another program now; what was read is kept" :
		    "its control block makes no sense: something else writes to it; what was read is kept");
}

/* An event that was begun but not ended blocks the packets after its own. */
static void look_stuck(struct source *q)
{
	if (!tracer_drain_waits(&q->ring))
		q->waits = 0;
	else if (!q->waits)
		q->waits = driver_monotonic_ns();
	else if (driver_monotonic_ns() - q->waits > STUCK_NS)
		say(q, &q->told_stuck,
		    "an event was begun and not ended; until it is, nothing behind it can be read");
}

/*
 * Copy the next packet, then check it: others may write to the memory at any time. Its slot is kept
 * until it is stored, so that nothing is lost if we are killed; one that may be overwritten is
 * released at once, to learn whether it was.
 */
static enum tracer_drained read_packet(struct source *q)
{
	const uint32_t bytes = q->ring.packet_bits / 8;

	for (int k = 0; k < OVERTAKEN_MAX; k++) {
		const struct tracer_packet *there = NULL;
		enum tracer_drained got = tracer_drain_look(&q->ring, &there);

		if (got == TRACER_NONE || got == TRACER_RESET)
			return got;
		if (got == TRACER_PACKET)
			memcpy(q->packet, there, bytes);
		if (q->ring.mode == TRACE_OVERWRITE && !tracer_drain_pass(&q->ring))
			continue;
		return got == TRACER_PACKET &&
				       tracer_packet_good(q->packet, bytes, q->ring.layout) ?
			       TRACER_PACKET :
			       TRACER_BROKEN;
	}
	return TRACER_NONE;
}

/* Drain available packets; returns 1 if there may be more. */
int source_drain(struct source *q, struct cvl_error *err)
{
	for (int k = 0; k < PACKETS_A_TURN && !q->gone; k++) {
		enum tracer_drained state = read_packet(q);
		int rc = 0;

		if (state == TRACER_NONE) {
			look_stuck(q);
			return 0;
		}
		if (state == TRACER_RESET) {
			begin_again(q);
			return 0;
		}
		if (state == TRACER_BROKEN)
			say(q, &q->told_damage,
			    "something else writes to its ring: packets without a good header are left out");
		else
			rc = hand_on(q, err);
		if (rc)
			return rc;
		if (q->ring.mode != TRACE_OVERWRITE)
			tracer_drain_pass(&q->ring);
	}
	return !q->gone;
}

/*
 * Events were dropped since the last packet, and no later packet will report it: an empty one does.
 */
static int tell_lost(struct source *q, struct cvl_error *err)
{
	struct tracer_packet *p = q->packet;
	uint32_t lost = tracer_drain_lost(&q->ring);

	if (!q->any || q->gone || q->last.events_discarded == lost)
		return 0;
	*p = q->last; /* the contents may have been refused */
	p->content_size = TRACE_PACKET_HEADER_BITS;
	p->timestamp_begin[0] = p->timestamp_end[0];
	p->timestamp_begin[1] = p->timestamp_end[1];
	p->events_discarded = lost;
	p->packet_seq_num++;
	return hand_on(q, err);
}

/* Skip packets that block others: their events will never be completed. */
static int drain_behind(struct source *q, struct cvl_error *err)
{
	int rc = 0;

	for (uint32_t k = 0; k < q->ring.packets && !q->gone && tracer_drain_waits(&q->ring); k++) {
		say(q, &q->told_stuck,
		    "an event was begun and not ended: the packet that it is in is left out");
		tracer_drain_pass(&q->ring);
		while ((rc = source_drain(q, err)) > 0 && driver_monotonic_ns() < q->until)
			;
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Read the packet that was being filled. */
int source_end(struct source *q, struct cvl_error *err)
{
	enum tracer_rest rest = TRACER_REST_NOTHING;
	int rc = drain_behind(q, err);

	if (!rc && !q->gone)
		rest = tracer_drain_rest(&q->ring, q->packet);
	if (rc)
		return rc;
	if (rest == TRACER_REST_TORN)
		say(q, &q->told_stuck,
		    "it stopped in the middle of an event: the packet that it was filling is left out");
	if (rest != TRACER_REST_NOTHING) {
		tsdl_set_end(q->tsdl, q->packet, q->ring.packet_bits / 8);
		return hand_on(q, err);
	}
	if (!q->any)
		say(q, &(bool){ false }, "nothing of it was there to read");
	return tell_lost(q, err);
}
