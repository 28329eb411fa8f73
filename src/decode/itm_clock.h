/* SPDX-License-Identifier: MIT */
/**
 * Makes the timestamps of an ITM stream into one clock: packets in, packets with the ticks between
 * which they happened out.
 *
 * Local timestamps give the ticks since the previous one; packets between two of them happened
 * between them, and packets right before an exact one at its tick. The chip counts them once per
 * prescaler cycles; it keeps counting while its buffer overflows, so an overflow loses packets but
 * no time.
 *
 * Global timestamps give the absolute count of another counter. In a stream that has them that
 * count is the clock: packets between two of them happened between them, and local timestamps tell
 * where, if the ratio of both counters did not change meanwhile (ARMv7-M marks a clock change). So
 * neither the prescaler nor a lost span need be known.
 *
 * Bytes lost in a stream with only local timestamps may have included timestamps: a slip states how
 * much may be missing.
 */
#ifndef DECODE_ITM_CLOCK_H
#define DECODE_ITM_CLOCK_H

#include "decode/itm.h"

/** Packets held for a timestamp; more are output with an open end. */
#define ITM_CLOCK_HOLD 4096
/** An unknown end. */
#define ITM_OPEN UINT64_MAX
/** A slip of unknown size. */
#define ITM_SLIP_UNKNOWN ((uint64_t)INT64_MAX)

/** Ticks between which something happened, both included. */
struct itm_when {
	uint64_t from, to;
};

struct itm_clock_sink {
	void (*packet)(void *ctx, const struct itm_packet *p, struct itm_when when);
	/** From here on ticks may be too small by up to @ticks. */
	void (*slip)(void *ctx, uint64_t at, uint64_t ticks);
	void *ctx;
};

struct itm_held {
	struct itm_packet p;
	uint64_t from, to; /* local ticks; to may be ITM_OPEN */
	uint64_t global;   /* of an anchor */
	bool anchor;
};

struct itm_clock {
	struct itm_clock_sink sink;
	bool global;        /* the stream has global timestamps */
	uint64_t prescaler; /* cycles a local timestamp counts */
	uint64_t local;     /* at the last local timestamp, in cycles */
	uint64_t low, high; /* of the global timestamp */
	uint64_t shift;     /* added to it, because it was set back */
	bool low_known, wrapping;
	uint64_t latest; /* its latest value, output or held */
	uint64_t anchor, anchor_from,
		anchor_to; /* the last one; local ticks between which it was */
	bool anchored,
		/*
		 * broken: the ratio of local and global ticks has changed since, or packets were
		 * lost
		 */
		broken;
	struct itm_held held[ITM_CLOCK_HOLD];
	size_t n, timed; /* held; those of them whose local ticks are known */
};

/** @prescaler: 1, 4, 16 or 64; 0 means 1. Not needed with @global. */
void itm_clock_init(struct itm_clock *c, bool global, unsigned prescaler,
		    const struct itm_clock_sink *sink);
/** The next packet of the stream. */
void itm_clock_put(struct itm_clock *c, const struct itm_packet *p);
/** End of stream. */
void itm_clock_end(struct itm_clock *c);

#endif
