/* SPDX-License-Identifier: MIT */
/**
 * Counting pulses, which carry no number: how many periods passed from one to the next, whatever is
 * missing, extra or noise.
 *
 * The count never follows the pulses by a rate of their own: it is held to how far the clock's rate
 * can be off. So a burst of noise is a gap, and nothing in it counts.
 */
#ifndef SYNC_COUNT_H
#define SYNC_COUNT_H

#include <coeval/error.h>

#include "sync/number.h"

enum pulse_finding {
	PULSES_COUNTED,
	PULSES_OTHER,  /* they are period_ns apart, not what was stated */
	PULSES_RANDOM, /* they come at no period at all */
};

/** What the pulses of one sender at one clock turned out to be. */
struct pulse_count {
	enum pulse_finding finding;
	double period_ns; /* of PULSES_OTHER: as the clock sees it */
	double jitter_ns; /* robust sd about the count's own course */
	double rate_ppm;  /* how far the clock is off by these pulses. Positive: it runs fast */
	bool too_fast;    /* they fit only if it is off by more than was stated */
	/* pulses behind (or before) a pause so long that the number missed is unknown */
	size_t aside;
	double pause_ns; /* the shortest of these pauses */
};

/**
 * Number the @n pulses @m of one sender at one clock, by x; those that count get numbers that rise,
 * from where the clock itself puts the first of them (x + @grid being where periods begin); the
 * others become bad.
 *
 * @period     ns, as stated
 * @drift_ppm  how far the clock's rate can be off
 *
 * Returns 0 or CVL_E_NOMEM. With a finding other than PULSES_COUNTED all are bad.
 */
int count_pulses(struct heard *const *m, size_t n, int64_t period, int64_t grid, double drift_ppm,
		 struct pulse_count *found);

#endif
