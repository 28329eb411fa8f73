/* SPDX-License-Identifier: MIT */
/**
 * A loop that reads lines as often as it can, knows between which two readings of the clock each
 * change happened, and measures itself.
 *
 * The clock is read once between two readings of the lines. A change seen now happened after the
 * clock reading before the last look at the lines, and before the clock reading after this one: its
 * bracket is two steps long, however long a step takes. So a slow step widens its own events and no
 * others. Two changes closer together than that may be seen as one, or not at all.
 *
 * Records go into a ring that one other thread empties. If it is full the loop continues and counts
 * what it could not store.
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
	POLL_LEVELS, /* levels of the lines at the start */
	POLL_CHANGE,
	POLL_GAP,  /* not observed: pulses within may be missing */
	POLL_FULL, /* changes were seen but not stored, @lost of them */
};

struct poll_seen {
	uint64_t from, to; /* as the clock counts */
	uint64_t levels, changed;
	uint64_t lost;
	enum poll_kind kind;
	/* of a gap: counts since the one before, if requested: */
	bool asked;
	uint32_t preempted, slept, faults;
	bool moved; /* to another processor */
};

/**
 * Numbers counted into bins: one each up to 63, then 32 for each doubling, so that a bin is no
 * wider than 1/32 of its contents.
 */
#define POLL_FINE 32u
#define POLL_BINS (60u * POLL_FINE)

struct poll_bin {
	uint64_t count, ticks; /* count and sum */
};

static inline unsigned poll_bin_of(uint64_t v)
{
	unsigned e = 58u - (unsigned)__builtin_clzll(v | POLL_FINE);

	return e * POLL_FINE + (unsigned)(v >> e);
}

/** Least number in bin @i; that of bin POLL_BINS exceeds all. */
uint64_t poll_bin_low(unsigned i);

/** Statistics of the loop. */
struct poll_stats {
	struct poll_bin step[POLL_BINS]; /* between two readings of the clock */
	struct poll_bin
		span[POLL_BINS];  /* two steps: the bracket of an event, had there been one */
	uint64_t longest, widest; /* step and span; rounded up, as bins are */
	uint64_t first, last;     /* readings of the clock: steps lie from the one to the other */
};

struct poll_loop {
	struct poll_lines lines;
	uint64_t gap_ticks;   /* longer spans are gaps */
	uint64_t asked_ticks; /* and for gaps of this length the kernel is asked why */
	uint64_t part_ticks;  /* adjacent gaps are reported in parts of this; 0: as one */
	struct poll_seen *ring;
	size_t size; /* its size, a power of two */

	_Alignas(64) _Atomic uint64_t head; /* records written; by the loop */
	_Atomic uint64_t safe; /* later records are not from before this reading of the clock */
	_Alignas(64) _Atomic uint64_t tail; /* records taken; by the other thread */
	_Alignas(64) _Atomic bool stop;
	_Alignas(64) struct poll_stats stats; /* the loop's, until it returns */
	_Atomic bool ran_back; /* it was moved to a processor whose clock is behind, and ended */
};

/** Loop until @l->stop, or until the clock runs backwards: from there on no bracket would hold. */
void poll_loop_run(struct poll_loop *l);

/** Put @seen into the ring as the loop does; false: full. For sources without a loop. */
bool poll_put(struct poll_loop *l, const struct poll_seen *seen);

/** Take the next record; false: the ring is empty. */
bool poll_take(struct poll_loop *l, struct poll_seen *seen);

#endif
