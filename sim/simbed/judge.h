/* SPDX-License-Identifier: MIT */
/**
 * The results of a test bed, compared with the truth: every stored edge must be one that was
 * there, every one that was there must be stored or lie in a gap, and slips must be as wide as they
 * say.
 */
#ifndef SIMBED_JUDGE_H
#define SIMBED_JUDGE_H

#include <coeval/session.h>
#include <coeval/sync.h>

#include "sim/devices/bed.h"

struct judgement {
	uint64_t ticks;    /* stored */
	uint64_t edges;    /* of the pins, that are stored and were there */
	uint64_t invented; /* stored and not there */
	uint64_t missing;  /* there, not stored, and in no gap */
	uint64_t in_gaps;  /* there, and in a gap */
	uint64_t beacons;
	uint64_t wrong_beacons; /* with an edge that is not theirs */
	unsigned gaps, slips;
	unsigned narrow;   /* slips that are off by more than they say */
	double worst_slip; /* of its half-width */
};

/**
 * Judge clock @clock of @session, which was captured on @course; @log is what node_run() wrote.
 * @truth gets its true map.
 */
int judge_clock(struct judgement *j, struct cvl_clock_sync *truth,
		const struct cvl_session *session, size_t clock, const struct bed_course *course,
		const char *log, struct cvl_error *err);

#endif
