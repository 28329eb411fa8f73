/* SPDX-License-Identifier: MIT */
/**
 * A simulated network of nodes that run firmware/apps/glossy (everything but the board and the
 * radio chip), with its truth.
 *
 * Each node has a crystal, a 32-bit timer, a radio and, to compare with, a GPS receiver. True time
 * is in ns; second k is at k * 10^9.
 *
 * What errs:
 *   a crystal is off by a fixed part and walks, a step every second;
 *   the radio's and the timer's clock are one: a sync word is noticed at the next tick, and the
 *   answer leaves a whole number of ticks after it; each reception is off by a normal error
 *   (hop_ns), which models the whole demodulator; a pulse of a GPS receiver is off
 *   by a normal error (gps_ns).
 *
 * Who hears whom: path loss by distance, a fade drawn for each packet and link, a threshold. Of
 * several that send the same within half a symbol the strongest is heard and sets the time (the
 * others do not disturb it); another that is not 3 dB weaker ruins the packet.
 */
#ifndef SIM_GLOSSY_NET_H
#define SIM_GLOSSY_NET_H

#include <stdbool.h>
#include <stdint.h>

#include "glossy/glossy.h"

#define GLOSSY_NET_MOST 64
#define GLOSSY_NET_OFFICE 31

struct glossy_net_place {
	double x, y; /* m */
};

struct glossy_net_config {
	uint64_t seed;
	unsigned nodes;
	const struct glossy_net_place *place;
	/* of all; id is the place in the list and one, initiator as @initiators says */
	struct glossy_config node;
	uint64_t initiators;  /* a bit each */
	uint64_t deaf_pulses; /* initiators whose receiver gives no pulses, a bit each */
	uint32_t timer_hz;
	uint32_t seconds; /* to simulate */

	double range_m, fade_db; /* where one of two packets is heard; sd */
	double loss;             /* share of packets lost besides */
	double hop_ns, gps_ns;   /* sd */
	double crystal_ppm;      /* sd of the fixed part */
	double walk_ppb;         /* sd of a second's step */
	const double *ppm;       /* the fixed part, node by node; or NULL */

	/** To lose a packet on its way: true if it is not to be heard. May be NULL. */
	bool (*lose)(void *ctx, uint32_t second, unsigned from, unsigned to,
		     const struct flood_packet *p);
	void *ctx;
};

/** A node's result for one second. */
struct glossy_net_heard {
	bool flood;       /* it took part in one, and has a reference time */
	uint8_t hops;     /* 0: it was its own */
	double reference; /* counts from its own receiver's pulse, captured in whole counts */
	double filtered;  /* likewise */
	bool pps;
	double pps_ns; /* true time of its pulse, from the second on */
};

/**
 * Delays of air and chip between a slot's beginning and its stamp, and the length of a slot, for a
 * node's configuration.
 */
uint32_t glossy_net_heard_ns(void);
uint32_t glossy_net_slot_ns(void);

/**
 * 31 nodes up to four hops from the first, as chosen: rings about it, closed at one and two hops.
 */
extern const struct glossy_net_place glossy_net_office[GLOSSY_NET_OFFICE];

/**
 * The paper's network for its 6 h: 13 MHz, a flood a second, alpha 0.1, GPS receivers of 30 ns. The
 * error of a reception and the walk of crystals are fitted to the two standard deviations of node 3
 * in Table III, one hop from the initiator, and to nothing else. What the paper leaves open (M,
 * number of packets, places) is chosen; see docs/glossy.md.
 */
struct glossy_net_config glossy_net_paper(uint64_t seed);

/**
 * Run it. @second is called after each second with the results of all nodes. Returns NULL, or an
 * error in the configuration. @end, if not NULL, gets the nodes' states, to look at their
 * counters only.
 */
const char *glossy_net_run(const struct glossy_net_config *c,
			   void (*second)(void *ctx, uint32_t k, const struct glossy_net_heard *h),
			   void *ctx, struct glossy *end);

#endif
