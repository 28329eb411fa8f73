/* SPDX-License-Identifier: MIT */
/**
 * Turns what a tracer on another processor wrote into a clock of the session, packet by packet.
 * When that processor is reset its clock restarts: what follows is a clock of its own, NAME-2,
 * since nothing tells how far apart the two are.
 */
#ifndef OBSERVER_PACKET_STREAM_H
#define OBSERVER_PACKET_STREAM_H

#include <coeval/session.h>

#include "capture/drivers/driver.h"

struct packet_stream;

/** Of one core in a capture: with more resets something is wrong. */
#define PACKET_STREAM_RESTARTS 1000

/**
 * The strings of @clock, @node, @a and @driver must outlive it. If a former capture left a clock of
 * the same program and place in the session, it is resumed, unless the first packet shows that the
 * core has restarted meanwhile.
 */
int packet_stream_open(struct packet_stream **p, struct cvl_session *session,
		       const struct driver_analyzer *a, const char *driver, const char *clock,
		       const char *node, struct cvl_error *err);

/**
 * If @packet shows that the core restarted, @p's trace ended and another began: *restarted.
 * CVL_E_IO, CVL_E_LIMIT: nothing of it is stored.
 */
int packet_stream_add(struct packet_stream *p, const struct driver_packet *packet, bool *restarted,
		      struct cvl_error *err);

int packet_stream_flush(struct packet_stream *p, struct cvl_error *err);

/** Name of the clock that receives packets now. */
const char *packet_stream_name(const struct packet_stream *p);
uint64_t packet_stream_rate(const struct packet_stream *p);
/** Ticks from the first packet to the end of the last, over all traces. */
uint64_t packet_stream_ticks(const struct packet_stream *p);

/** Finish the clock, unless its end is missing, and free. NULL is allowed. */
int packet_stream_close(struct packet_stream *p, bool complete, struct cvl_error *err);

#endif
