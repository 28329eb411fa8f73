/* SPDX-License-Identifier: MIT */
/**
 * One flood as one node sees it (Ferrari, Zimmerling, Thiele, Saukh: Efficient network flooding and
 * time synchronization with Glossy, IPSN 2011).
 *
 * Time is cut into slots of a fixed length, the first beginning at the reference time, when the
 * initiator's first bit leaves. A packet tells its slot by the relay counter. A node that hears one
 * sends it in the next slot with the counter incremented, up to the configured number of times;
 * neighbours send the same bits at the same time. Each packet heard gives the reference time: its
 * time of reception, minus the reception delay, minus as many slots as its counter says. The
 * estimate is the mean over the first few of a flood.
 *
 * Times are counts in 1/65536 (JITTER_ONE).
 */
#ifndef COEVAL_GLOSSY_FLOOD_H
#define COEVAL_GLOSSY_FLOOD_H

#include "hal.h"

struct flood_rules {
	uint64_t slot; /* length */
	/* from a slot's beginning to the end of the sync word as a receiver stamps it */
	uint64_t heard;
	uint8_t transmissions; /* of each node, 1 and up */
	uint8_t slots;         /* of a flood: none is sent in a later one */
	uint8_t stamps;        /* packets that the estimate uses, 1 and up */
};

struct flood {
	int running;
	int initiated; /* by this node: the reference time is known */
	struct flood_packet packet;
	uint64_t reference; /* by the first packet, or as the initiator set it */
	int64_t sum;        /* of the other packets' times, relative to @reference */
	unsigned stamps, heard, sent;
	uint8_t first; /* relay counter of the first packet heard: hops less one */
};

/** This node begins a flood, at @reference. */
void flood_begin(struct flood *f, const struct flood_packet *p, uint64_t reference);

/**
 * @p was heard, its sync word at @at. One of another flood begins it. Returns 1 if @answer is to be
 *    sent in the next slot, else 0.
 */
int flood_heard(struct flood *f, const struct flood_rules *r, const struct flood_packet *p,
		uint64_t at, struct flood_packet *answer);

/** The reference time as estimated so far. */
uint64_t flood_reference(const struct flood *f);

/** When the flood is over everywhere. */
uint64_t flood_end(const struct flood *f, const struct flood_rules *r);

#endif
