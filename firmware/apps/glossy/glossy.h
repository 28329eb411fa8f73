/* SPDX-License-Identifier: MIT */
/**
 * A node that makes a 1-PPS from floods, as TraceLab's observers do (Lim et al. 2015, Sec. IV-E).
 *
 * One node, the initiator, has a GPS receiver, whose pulse comes early: @early_ns before the
 * second. With each it begins a flood,
 * @lead_ns after the pulse. All nodes, itself too, estimate the flood's reference time, filter it
 *          (jitter.h), and raise their pin @early_ns - @lead_ns after it: at the second. When no
 *          flood comes, the pin continues at the mean interval, for the configured time.
 *
 * Where several nodes have a receiver, the one of lowest id that is heard is the initiator, and the
 * others relay for it.
 */
#ifndef COEVAL_GLOSSY_H
#define COEVAL_GLOSSY_H

#include "flood.h"
#include "jitter.h"

#define GLOSSY_PERIOD_S 1
#define GLOSSY_MARGIN_NS 1000000 /* from a flood's end to the second, at least */

struct glossy_config {
	uint16_t id;                          /* 1 and up */
	uint8_t initiator;                    /* 1: has a receiver, and begins floods */
	uint8_t transmissions, slots, stamps; /* see struct flood_rules */
	uint32_t slot_ns, heard_ns;
	uint32_t early_ns, lead_ns;
	uint16_t alpha_pm; /* 1000: no filter */
	uint8_t average;   /* M */
	uint16_t holdover; /* seconds that the pin continues without a flood */
	/*
	 * a reference time farther from where it is expected is odd, and three of them begin anew
	 */
	uint32_t odd_ns;
};

struct glossy {
	const struct glossy_hal *hal;
	struct glossy_config config;
	struct flood_rules rules;
	struct jitter jitter;
	struct flood flood;
	uint64_t count;        /* now, 64 bits */
	uint64_t late;         /* 1/65536: when the next flood is given up */
	uint64_t slot, offset; /* nominal: a slot; from a reference time to its second, 1/65536 */
	uint64_t raised;       /* count of the last 1-PPS */
	uint64_t status_due;
	int pulsed;         /* there was one */
	uint32_t sequence;  /* of the next flood of ours */
	uint16_t following; /* initiator; 0: none */
	uint64_t followed;  /* count when it was last heard */
	unsigned odd;       /* references in a row */
	unsigned missed_run;

	/* the last flood, to be looked at */
	uint64_t reference, filtered; /* 1/65536 */
	uint8_t hops;                 /* 0: it was ours */

	uint32_t floods, missed, pps, no_pps, odds, restarts, wrong, unsent, lines_lost;
};

/** Starts. The configuration is copied. Returns NULL, or what is wrong with it. */
const char *glossy_init(struct glossy *g, const struct glossy_hal *hal,
			const struct glossy_config *config);

/**
 * Do what is to be done now; to be called at once when a packet came. Returns the count (64 bits)
 * at which it wants to be called again at the latest, at most an eighth of the timer's range ahead.
 */
uint64_t glossy_poll(struct glossy *g);

/** The count (64 bits) nearest to time @q, in 1/65536, not farther from now than 2^47 counts. */
uint64_t glossy_count(const struct glossy *g, uint64_t q);

/** One line of status on the UART. */
void glossy_status(struct glossy *g);

#endif
