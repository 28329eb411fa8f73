/* SPDX-License-Identifier: MIT */
/**
 * Which beacon belongs to which rising edge of the radio's line. Pure and pushed: no I/O, no
 * allocation.
 *
 * The line (GDO0, function 7: SWRS061I, table 41) rises when a packet with a good CRC is in the
 * FIFO and falls when its first byte is read. Its edges are seen in samples that were taken up to a
 * second before, and the FIFO is drained only then. So what a drain finds need not have made the
 * edge that led to it:
 *
 *   - of several packets only the first had an edge, since the line was high when the others came;
 *   - a packet that came during or just before a drain was read with it, and its edge comes later
 *     in the stream;
 *   - a noise pulse makes an edge without a packet, but the drain may find one that came after the
 *     pulse.
 *
 * Therefore no edge is believed by itself. Of each sender, pairs of edge and beacon are collected
 * until three agree: their ticks are as far apart as their times of sending, within what crystals
 * can do (PAIR_PPM between the clocks, PAIR_WANDER_PPM of change). From then on a beacon is paired
 * with the edge that comes where it must, whichever drain it came with, and with no other. A sender
 * that contradicts its history is followed again after as many more pairs that agree, if nothing
 * has agreed with the history meanwhile; else there are two senders with one id, and the newer is
 * refused.
 *
 * Three are enough if they follow each other and there is one sender only; else four must agree.
 *
 * The price: the first two or three beacons of a sender are not paired, nor those after its
 * restart. What cannot be seen: noise that keeps the period of a sender to within the tolerance,
 * and hides its edges besides.
 */
#ifndef DRIVERS_CC1101_PAIR_H
#define DRIVERS_CC1101_PAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <coeval/time.h>

#include "capture/drivers/cc1101/packet.h"

#define PAIR_PPM 600       /* two crystals, 300 ppm each */
#define PAIR_WANDER_PPM 20 /* how far their rates may change */
#define PAIR_SENDERS 16
#define PAIR_TRIED 6
#define PAIR_WAITING 16

struct pair_opts {
	uint64_t rate_hz;         /* ticks per second */
	uint64_t grace_period_ns; /* between two of Grace's numbers; 0: 1 s */
	uint32_t jitter_ns;       /* of one edge, either way; 0: 10 us */
	uint32_t wait_ms; /* how long a beacon waits for its edge, by the ticks of edges; 0: 3 s */
};

struct paired {
	struct beacon_heard heard;
	struct cvl_tick tick;
};

struct pair_counters {
	uint64_t rises;
	uint64_t paired;
	uint64_t bare;    /* edges without a beacon: noise, bad luck, or the first of a sender */
	uint64_t without; /* beacons without an edge */
	uint64_t implausible; /* beacons that came with another's edge */
	uint64_t ambiguous;   /* edges that fit beacons of two senders: given to neither */
	uint64_t anchored;    /* times a sender was found, or found again after a restart */
	uint64_t twins;       /* times another sender was seen to use a sender's id */
	uint64_t senders;     /* beacons of senders beyond PAIR_SENDERS: never paired */
};

/** An edge, and when the beacon that may have caused it was sent. */
struct pair_mark {
	uint64_t tick, sent_ns;
};

/** State of a sender. */
struct pair_sender {
	uint16_t id;
	bool anchored;
	/* tick of the newest time that marks agreed with each other but not with it */
	uint64_t strange_at;
	unsigned strange;              /* how often, recently */
	struct pair_mark last;         /* the newest paired one */
	uint64_t period_ns;            /* shortest time between two of its beacons; 0: unknown */
	struct pair_mark before, next; /* older ones, for the rate; @next comes after @before */
	size_t n_tried;
	struct pair_mark tried[PAIR_TRIED]; /* oldest first */
};

struct pair_waiting {
	struct beacon_heard heard;
	/* tick of the edge that led to its drain, or of the one before it was found */
	uint64_t since;
	uint64_t sent_ns;
};

struct pair {
	struct pair_opts opts;
	struct pair_counters count;
	uint64_t now;            /* newest edge */
	uint64_t clock, emptied; /* see pair_clock(); @emptied: its value at the previous drain */
	size_t n_senders, n_waiting;
	struct pair_sender sender[PAIR_SENDERS];
	struct pair_waiting waiting[PAIR_WAITING]; /* oldest first */
};

/** Defaults are filled in. @rate_hz is above 0. */
void pair_init(struct pair *p, const struct pair_opts *opts);

/**
 * The line rose at @tick, and the drain right after that edge was seen found @found, oldest first.
 * Ticks never decrease. Returns whether the beacon of this edge is known: then it is in *out.
 */
bool pair_rise(struct pair *p, struct cvl_tick tick, const struct beacon_heard *found, size_t n,
	       struct paired *out);

/**
 * Before each drain: the analyzer's clock now, as far as the host can tell, estimated early rather
 * than late. Packets found by the next drain came after this one, and so did their edges. Without
 * it, noise can begin a chain in which each edge's drain finds the packet of the next edge, of
 * another sender, and a sender that is new just then is taken for another.
 */
void pair_clock(struct pair *p, struct cvl_tick now);

/**
 * A drain without an edge (at the start, or of a watchdog) found @found. Their edges may still
 * come.
 */
void pair_found(struct pair *p, const struct beacon_heard *found, size_t n);

/** Ticks no longer continue those before, by an unknown number: all histories end. */
void pair_restart(struct pair *p);

/** At the end: beacons still waiting have no edge. */
void pair_end(struct pair *p);

#endif
