/* SPDX-License-Identifier: MIT */
/**
 * What a tracer on another processor wrote, packet by packet, becomes a clock of the session. When
 * that processor is reset its clock begins again: what follows is a clock of its own, NAME-2, as
 * nothing says how far apart the two are.
 */
#ifndef OBSERVER_PACKET_STREAM_H
#define OBSERVER_PACKET_STREAM_H

#include <coeval/session.h>

#include "capture/drivers/driver.h"

struct packet_stream;

/** Of one core in a capture: what is reset more often is no core. */
#define PACKET_STREAM_RESTARTS 1000

/**
 * Strings of @clock, @node, @a and @driver outlive it. If the session has such a clock, of the same
 * program and place, which another capture left, it is resumed, unless the first packet shows
 * that the core began again meanwhile.
 */
int packet_stream_open(struct packet_stream **p, struct cvl_session *session,
		       const struct driver_analyzer *a, const char *driver, const char *clock,
		       const char *node, struct cvl_error *err);

/**
 * @p's trace ended and another began if @packet says so: *restarted. CVL_E_IO, CVL_E_LIMIT: nothing
 * of it is stored.
 */
int packet_stream_add(struct packet_stream *p, const struct driver_packet *packet, bool *restarted,
		      struct cvl_error *err);

int packet_stream_flush(struct packet_stream *p, struct cvl_error *err);

/** Name of the clock that packets go to now. */
const char *packet_stream_name(const struct packet_stream *p);
uint64_t packet_stream_rate(const struct packet_stream *p);
/** Ticks from the first packet to the last one's end, over all traces. */
uint64_t packet_stream_ticks(const struct packet_stream *p);

/** Finish the clock, unless something is missing at its end, and free. NULL is allowed. */
int packet_stream_close(struct packet_stream *p, bool complete, struct cvl_error *err);

#endif
