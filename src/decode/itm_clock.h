/* SPDX-License-Identifier: MIT */
/**
 * The timestamps of an ITM stream made into one clock: packets in, packets with the ticks between
 * which they happened out.
 *
 * Local timestamps tell how many ticks have passed since the one before; what stands between two of
 * them happened between them, and what stands right before one that is exact, at its tick. The chip
 * counts them once every so many cycles (the prescaler); it goes on counting while its buffer
 * overflows, so that an overflow loses packets and no time.
 *
 * Global timestamps tell a count of another counter, absolutely. In a stream that has them that
 * count is the clock: what stands between two of them happened between them, and local timestamps
 * tell how far between, if the ratio of both counters did not change meanwhile (ARMv7-M marks a
 * clock change). So neither a prescaler nor a lost span has to be known.
 *
 * Where bytes were lost in a stream of local timestamps alone, timestamps may have been among them:
 * a slip tells how much may be missing.
 */
#ifndef DECODE_ITM_CLOCK_H
#define DECODE_ITM_CLOCK_H

#include "decode/itm.h"

/** Packets that wait for a timestamp; more are given away with an open end. */
#define ITM_CLOCK_HOLD 4096
/** An unknown end. */
#define ITM_OPEN UINT64_MAX
/** A slip of which nothing is known. */
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
	uint64_t latest; /* value of it, told or waiting */
	uint64_t anchor, anchor_from,
		anchor_to; /* the last one; local ticks between which it was */
	bool anchored,
		/* broken: the ratio of local and global changed since, or packets were lost */
		broken;
	struct itm_held held[ITM_CLOCK_HOLD];
	size_t n, timed; /* held; those of them whose local ticks are known */
};

/** @prescaler: 1, 4, 16 or 64; 0 means 1. Not needed with @global. */
void itm_clock_init(struct itm_clock *c, bool global, unsigned prescaler,
		    const struct itm_clock_sink *sink);
/** The next packet of the stream. */
void itm_clock_put(struct itm_clock *c, const struct itm_packet *p);
/** No more come. */
void itm_clock_end(struct itm_clock *c);

#endif
