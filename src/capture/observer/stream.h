/* SPDX-License-Identifier: MIT */
/**
 * One analyzer of an observer: its samples become a stored clock, and losses become gaps. A stream
 * that can no longer be written stops by itself, with a gap, and leaves the others alone.
 */
#ifndef OBSERVER_STREAM_H
#define OBSERVER_STREAM_H

#include <coeval/session.h>

#include "capture/drivers/driver.h"
#include "capture/observer/radio.h"

/** Counters for status reports. */
struct stream_counters {
	uint64_t samples; /* ticks so far, without missing ones */
	uint64_t bytes;
	uint64_t edges, gaps;
	uint64_t packets; /* of a tracer */
	uint64_t lost;    /* samples, as far as known */
	uint64_t beacons;
	double cpu_s; /* spent on them */
};

struct stream_opts {
	const char *clock, *node;
	const char *names;   /* of the lines, "a,b,c", or NULL */
	unsigned radio_line; /* bit */
	struct radio *radio; /* or NULL */
	int64_t start_unix_ns;
	int64_t duration_ns; /* of its own clock, from its start on; 0: no end */
	void (*tell)(void *ctx, bool problem, const char *text);
	void *ctx;
};

struct stream;

/**
 * Add a clock for @a to @session, or resume the one of that name. Strings of @opts must outlive the
 * stream. CVL_E_USAGE if that clock has other lines or another rate.
 */
int stream_open(struct stream **s, struct cvl_session *session, const struct driver_analyzer *a,
		const struct driver *driver, const struct stream_opts *opts, struct cvl_error *err);

/** Its first sample was taken between two readings of driver_boottime_ns(). */
int stream_started(struct stream *s, int64_t early, int64_t late, struct cvl_error *err);

/** @n more bytes; returns 0 also if the stream has stopped. */
int stream_samples(struct stream *s, const void *bytes, size_t n, struct cvl_error *err);
/** A record with a timestamp of its own. */
int stream_records(struct stream *s, const struct driver_record *r, size_t n,
		   struct cvl_error *err);
/** A packet of the trace its analyzer writes. */
int stream_packet(struct stream *s, const struct driver_packet *packet, struct cvl_error *err);
int stream_lost(struct stream *s, const struct driver_loss *loss, struct cvl_error *err);

/** Sync to disk, so that a crash costs no more than what came since the last call. */
int stream_flush(struct stream *s, struct cvl_error *err);

/** It accepts no more: it has reached its stop tick, or could not be written. */
bool stream_ended(const struct stream *s);
/** It could not be written. */
bool stream_failed(const struct stream *s);

const char *stream_name(const struct stream *s);
uint64_t stream_rate(const struct stream *s);
struct stream_counters stream_counters(const struct stream *s);
struct radio_counters stream_radio_counters(const struct stream *s);

/** Finish the clock and free. NULL is allowed. */
int stream_close(struct stream *s, struct cvl_error *err);

#endif
