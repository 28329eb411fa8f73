/* SPDX-License-Identifier: MIT */
/**
 * Counting pulses, which carry no number: how many periods passed from one to the next, despite
 * missing and extra pulses and noise.
 *
 * The count never follows a rate of the pulses themselves: it is held to the limit of the clock's
 * rate. A burst of noise becomes a gap in which nothing counts.
 */
#ifndef SYNC_COUNT_H
#define SYNC_COUNT_H

#include <coeval/error.h>

#include "sync/number.h"

enum pulse_finding {
	PULSES_COUNTED,
	PULSES_OTHER,  /* period_ns apart, not as stated */
	PULSES_RANDOM, /* not periodic */
};

/** Result of counting the pulses of one sender at one clock. */
struct pulse_count {
	enum pulse_finding finding;
	double period_ns; /* with PULSES_OTHER: by the clock's own time */
	double jitter_ns; /* robust sd about the tracked phase */
	double rate_ppm;  /* rate error of the clock by these pulses; positive: fast */
	bool too_fast;    /* they fit only beyond the stated drift limit */
	/* pulses after (or before) a pause too long to know how many were missed */
	size_t aside;
	double pause_ns; /* the shortest of these pauses */
};

/**
 * Number the @n pulses @m of one sender at one clock, by x. Those that count get rising numbers;
 * the first is numbered by the clock's own time (x + @grid is where periods begin). The others
 * become bad.
 *
 * @period     ns, as stated
 * @drift_ppm  limit of the clock's rate error
 *
 * Returns 0 or CVL_E_NOMEM. With any finding but PULSES_COUNTED all are bad.
 */
int count_pulses(struct heard *const *m, size_t n, int64_t period, int64_t grid, double drift_ppm,
		 struct pulse_count *found);

#endif
