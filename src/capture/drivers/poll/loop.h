/* SPDX-License-Identifier: MIT */
/**
 * A loop that reads lines as often as it can, knows between which two readings of the clock each
 * change happened, and measures itself.
 *
 * The clock is read once between two readings of the lines. A change seen now happened behind the
 * clock that was read before the last reading, and ahead of the one behind this: its bracket is two
 * steps long, whatever a step takes. So a slow step widens its own events and no others. Two
 * changes closer together than that may be seen as one, or as none.
 *
 * What it sees goes into a ring that one other thread empties. If that is full the loop goes on and
 * counts what it could not tell.
 */
#ifndef DRIVERS_POLL_LOOP_H
#define DRIVERS_POLL_LOOP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Where lines are read. */
struct poll_lines {
	const volatile void *at; /* in memory, of @width bytes, aligned; or NULL: */
	unsigned width;          /* 1, 2, 4 or 8 */
	uint16_t port;           /* of the I/O space, a byte */
	uint64_t mask;           /* bits that are lines */
};

enum poll_kind {
	POLL_LEVELS, /* what the lines show at the start */
	POLL_CHANGE,
	POLL_GAP,  /* not observed: pulses within may be missing */
	POLL_FULL, /* changes were seen and could not be told, @lost of them */
};

struct poll_seen {
	uint64_t from, to; /* as the clock counts */
	uint64_t levels, changed;
	uint64_t lost;
	enum poll_kind kind;
	/* of a gap, how often since the one before, where that was asked for: */
	bool asked;
	uint32_t preempted, slept, faults;
	bool moved; /* to another processor */
};

/**
 * Numbers counted into bins: of their own up to 63, then 32 for each doubling, so that a bin is not
 * wider than 1/32 of what it holds.
 */
#define POLL_FINE 32u
#define POLL_BINS (60u * POLL_FINE)

struct poll_bin {
	uint64_t count, ticks; /* how many, and their sum */
};

static inline unsigned poll_bin_of(uint64_t v)
{
	unsigned e = 58u - (unsigned)__builtin_clzll(v | POLL_FINE);

	return e * POLL_FINE + (unsigned)(v >> e);
}

/** Least number in bin @i; that of bin POLL_BINS is beyond all. */
uint64_t poll_bin_low(unsigned i);

/** What the loop did. */
struct poll_stats {
	struct poll_bin step[POLL_BINS]; /* from one reading of the clock to the next */
	struct poll_bin
		span[POLL_BINS];  /* two of them: the bracket of an event, had there been one */
	uint64_t longest, widest; /* step and span; rather too long, as bins are, than too short */
	uint64_t first, last;     /* readings of the clock: steps lie from the one to the other */
};

struct poll_loop {
	struct poll_lines lines;
	uint64_t gap_ticks;   /* spans beyond this are gaps */
	uint64_t asked_ticks; /* and in gaps of this the kernel is asked why */
	uint64_t part_ticks;  /* gaps that touch are told in parts of this; 0: as one */
	struct poll_seen *ring;
	size_t size; /* of it, a power of two */

	_Alignas(64) _Atomic uint64_t head; /* what was put in; written by the loop */
	_Atomic uint64_t
		safe; /* nothing that comes will be from before this reading of the clock */
	_Alignas(64) _Atomic uint64_t tail; /* what was taken; written by the other thread */
	_Alignas(64) _Atomic bool stop;
	_Alignas(64) struct poll_stats stats; /* the loop's, until it returns */
	_Atomic bool ran_back; /* it was moved to a processor whose clock is behind, and ended */
};

/** Loop until @l->stop, or until the clock runs back: from there on no bracket would hold. */
void poll_loop_run(struct poll_loop *l);

/** Put @seen into the ring as the loop does; false: full. For sources that have no loop. */
bool poll_put(struct poll_loop *l, const struct poll_seen *seen);

/** Take what is next; false: nothing is there. */
bool poll_take(struct poll_loop *l, struct poll_seen *seen);

#endif
