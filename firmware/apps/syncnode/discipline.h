/* SPDX-License-Identifier: MIT */
/**
 * The sync node's own time: counts of its timer, disciplined by a 1-PPS where there is one.
 *
 * Without pulses, own time is counts at the nominal rate. A run of pulses that agree with each
 * other locks it: own time then steps so that pulses are at whole seconds (forward, up to a second;
 * by less than STEP_BACK_NS it may go back), and follows them by a two-state Kalman filter (phase,
 * rate). Pulses that do not fit are outliers; when they agree with each other for long enough, they
 * are right and the filter is not, and it locks anew. When pulses stop, own time goes on at the
 * last rate (holdover), and its uncertainty grows by what the crystal may do at the most.
 *
 * Counts are 64 bits wide here; a caller extends those of its timer.
 */
#ifndef COEVAL_SYNCNODE_DISCIPLINE_H
#define COEVAL_SYNCNODE_DISCIPLINE_H

#include <stdint.h>

#define DISCIPLINE_UNKNOWN UINT32_MAX

/** Assumptions about crystal and pulses; the uncertainty holds as long as they do. */
struct discipline_limits {
	uint32_t crystal_ppb;  /* farthest from the nominal rate, ever */
	uint32_t wander_ppb_s; /* fastest change of the rate in a second */
	uint32_t range_ppb;    /* farthest from the last known rate */
	uint32_t pulse_ns;     /* jitter (sd) of good pulses, at least */
	uint32_t lost_ns; /* own time is no longer called disciplined beyond this uncertainty */
};

#define DISCIPLINE_LIMITS                      \
	(struct discipline_limits)             \
	{                                      \
		250000, 10, 5000, 30, 20000000 \
	}

enum discipline_state { DISCIPLINE_FREE, DISCIPLINE_LOCKED, DISCIPLINE_HOLDOVER };

struct discipline {
	struct discipline_limits limits;
	double hz;
	enum discipline_state state;

	/* own time at count @at is ns + part; a count lasts rate ns */
	uint64_t at;
	int64_t ns;
	double part, rate;
	/*
	 * variances of phase (ns^2) and rate (ns^2/s^2), their covariance, and the variance of
	 * pulses, at @at
	 */
	double pp, pr, rr, noise;
	/*
	 * how far phase (ns) and rate (ns/s) lag behind a crystal that wanders as fast as it may,
	 * one way
	 */
	double lag, lag_rate;
	double offset_ns; /* of the last accepted pulse from where it was expected */

	/* pulses that agree with each other and not (yet) with own time */
	unsigned run;
	uint64_t run_first, run_last;
	double run_step;

	uint32_t pulses, outliers, locks;
};

void discipline_init(struct discipline *d, uint32_t timer_hz,
		     const struct discipline_limits *limits);

/**
 * A pulse at count @count, not before the last one. Returns how far own time stepped, in whole ns:
 * 0 unless it locked just now.
 */
int64_t discipline_pulse(struct discipline *d, uint64_t count);

/**
 * Time has come to @count: notice that pulses stopped. To be called about once a second at least.
 */
void discipline_pass(struct discipline *d, uint64_t count);

/** Own time at @count, ns, and the count at which it is nearest to @ns. */
int64_t discipline_time(const struct discipline *d, uint64_t count);
uint64_t discipline_count(const struct discipline *d, int64_t ns);

/** Half-width in ns of own time against the pulses' at @count; DISCIPLINE_UNKNOWN if free. */
uint32_t discipline_uncertain(const struct discipline *d, uint64_t count);

/** How far the timer is from its nominal rate, ppb; positive: it runs fast. */
int32_t discipline_rate_ppb(const struct discipline *d);

#endif
