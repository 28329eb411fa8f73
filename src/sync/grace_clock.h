/* SPDX-License-Identifier: MIT */
/**
 * The clock of Grace: a time that is stepped at every sample and steered by beacons, one a second.
 *
 * Algorithms 1 (tick) and 2 (beacon) and equation 1 of Harms, Richter, Landsiedel, "Grace: Low-Cost
 * Time-Synchronized GPIO Tracing for IoT Testbeds" (DCOSS 2022), with its constants: the
 * accumulator counts 2^-60 s, a new frequency has weight 0.9. Fields have the names of the
 * paper. Order within one sample: the beacon if there is one, then the time of whatever changed,
 * then the tick.
 *
 * Points that the paper leaves open:
 *
 * - Until the first factor the frequency is nominal. At the first beacon the accumulator is zero.
 * - freq_nominal * factor is 2^60 (seconds_ref - seconds_previous) / ticks_actual; this and WEIGHT
 *   are computed as exact fractions. Only results are rounded, to the nearest whole number:
 *   freq_adj (halves up), offset_adj (halves away from zero). The clock therefore drifts up to
 *   rate / 2^61: 3.5 ps/s at 8 MHz.
 * - freq_adj is held in 0 ... 2^58, a quarter of a second a sample: a clock may stand still, but
 *   its frequency never goes back, and a tick cannot pass more than one second.
 * - A beacon with ticks_actual = 0, a second one in the same sample, has no factor: frequency and
 *   state stay what they are (lines 6 to 12 are left out). The rest is done.
 * - If seconds_ref is neither seconds nor seconds + 1, then seconds is set to it and the
 *   accumulator stays; the phase is not corrected (offset and error_remaining are 0).
 * - seconds and ticks_actual wrap around at 2^64.
 *
 * It follows, for any beacons, that -2^58 < accumulator <= 2^60 between calls, and nothing
 * overflows. Time can go back: while a phase is corrected by more than the frequency (a step of 0
 * or less), and at beacons that set the seconds.
 *
 * No call fails, allocates or keeps anything outside the struct.
 */
#ifndef SYNC_GRACE_CLOCK_H
#define SYNC_GRACE_CLOCK_H

#include <stdint.h>

/** TICKS_PER_SECOND of the paper: the accumulator at a full second. */
#define GRACE_SECOND ((int64_t)1 << 60)

/** Supported rates. */
#define GRACE_RATE_MIN 8
#define GRACE_RATE_MAX UINT64_C(10000000000)

enum grace_state {
	GRACE_WAIT,   /* no beacon yet; the clock reads 0 */
	GRACE_OFFSET, /* one beacon: seconds are right, frequency nominal */
	GRACE_FREQ,   /* steered; from here on the paper gives events a time */
};

struct grace_clock {
	enum grace_state state;
	uint64_t ticks_nominal;    /* samples a second */
	uint64_t ticks_actual;     /* samples since the last beacon */
	uint64_t seconds;          /* of the sender's time */
	uint64_t seconds_previous; /* what the last beacon said */
	int64_t accumulator;       /* since seconds, in 2^-60 s */
	int64_t freq_adj;          /* added each tick, in 2^-60 s */
	int64_t offset_adj;        /* taken away each tick while the phase is corrected */
	int64_t error_remaining;   /* phase still to be corrected, in 2^-60 s */
};

/** @rate_hz  GRACE_RATE_MIN ... GRACE_RATE_MAX; the caller has checked it */
void grace_init(struct grace_clock *g, uint64_t rate_hz);

/** Algorithm 1: one sample passes. Plain reference for grace_run(). */
void grace_tick(struct grace_clock *g);

/** The same as @ticks times grace_tick(), in constant time. */
void grace_run(struct grace_clock *g, uint64_t ticks);

/** Algorithm 2: the current sample is that of a beacon carrying @seconds_ref. */
void grace_beacon(struct grace_clock *g, uint64_t seconds_ref);

/**
 * Equation 1: time of the current sample, in ns of the sender's time.
 *
 * @frac  where to store the remainder, in 2^-32 ns, or NULL
 *
 * Rounded down; beyond INT64_MAX ns (292 years) it stays there.
 */
int64_t grace_time_ns(const struct grace_clock *g, uint32_t *frac);

/** Ticks until the phase correction ends, 0 if none: until then the rate stays the same. */
uint64_t grace_correction_left(const struct grace_clock *g);

#endif
