/* SPDX-License-Identifier: MIT */
/**
 * The world of a test bed: its first sender is the real firmware of a sync node, run on a simulated
 * timer and radio, and the content of its beacons is kept. An analyzer on one of its nodes sees a
 * course: edges by tick, and packets by time.
 *
 * Lines of the analyzer: bits 0 to 6 are the node's pins, bit 7 is the radio's.
 */
#ifndef SIM_BED_H
#define SIM_BED_H

#include "radio/cc1101_config.h"
#include "sim/happen.h"

#define BED_RADIO_LINE 7

struct bed_packet {
	uint64_t number; /* the beacon's */
	uint8_t bytes[CC1101_FIFO_BYTES];
	size_t n;
};

struct bed {
	const struct world *w;
	struct world_air air;
	struct cc1101_config radio; /* of all radios */
	struct bed_packet *packet;  /* by number, from packet[0].number on without holes */
	size_t n_packets, cap_packets;
	int rc; /* of the run of the sync node */
};

/**
 * Run the sync node for the world @w (checked; outlives it), whose first sender defines the errors
 * of its oscillator and radio. Fails with CVL_E_NOMEM, or CVL_E_USAGE if there is no sender, or its
 * period is not possible for a sync node. Freed by bed_free() in any case.
 */
int bed_make(struct bed *b, const struct world *w, struct cvl_error *err);
void bed_free(struct bed *b);

struct bed_edge {
	uint64_t tick;
	uint8_t pins; /* from it on, bits 0 to 6 */
};

struct bed_heard {
	int64_t start_ns; /* true time at which its first bit arrives */
	double end_ns;    /* and its last one: then the radio's line rises */
	const struct bed_packet *packet;
};

struct bed_course {
	const struct world_clock *clock;
	struct oscillator osc;
	struct bed_edge *edge; /* ticks strictly rise */
	size_t n_edges;
	struct bed_heard *heard; /* by time */
	size_t n_heard;
};

/** What node @i sees. CVL_E_NOMEM; freed by bed_course_free() in any case. */
int bed_course_make(struct bed_course *c, const struct bed *b, size_t i, struct cvl_error *err);
void bed_course_free(struct bed_course *c);

/** True time at which the clock came to count @tick, ns. */
double bed_time(const struct bed_course *c, uint64_t tick);

#endif
