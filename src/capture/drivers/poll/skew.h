/* SPDX-License-Identifier: MIT */
/**
 * How far the counters of two processors differ, and the step in which they advance: what a stamp
 * of one is worth beside a stamp of the other.
 *
 * In an exchange one processor reads its counter, asks, is answered, and reads it again; the other
 * reads its own in between. So if both are one clock the answer lies within the two readings. If it
 * lies outside, the counters differ by at least that much. A difference hidden by the duration of
 * an exchange cannot be shown by any exchange: it is within the limits.
 */
#ifndef DRIVERS_POLL_SKEW_H
#define DRIVERS_POLL_SKEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct poll_skew {
	uint64_t exchanges;
	int64_t least,
		/*
		 * the other counter is ahead by a constant between these; least > most: not
		 * constant
		 */
		most;
	uint64_t apart; /* ticks they were shown to differ by, at worst */
	uint64_t trip;  /* shortest exchange */
	uint64_t step;  /* step of the counters, at least 1; 0: unknown */
};

/** Reset: nothing is known yet. */
void poll_skew_open(struct poll_skew *s);

/** The other processor read @stamp, after this one had read @ahead and before it read @behind. */
void poll_skew_add(struct poll_skew *s, uint64_t ahead, uint64_t stamp, uint64_t behind);

/** Merge what was measured at another time. */
void poll_skew_join(struct poll_skew *s, const struct poll_skew *other);

/** Ticks a stamp of one may be off relative to the other: the shown difference, and a step. */
uint64_t poll_skew_slack(const struct poll_skew *s);

/** The most ticks they may differ by, as the exchanges prove; UINT64_MAX: there were none. */
uint64_t poll_skew_limit(const struct poll_skew *s);

/**
 * The step of a counter, from @n readings in a row: the common divisor of all differences, give or
 * take one tick, as of a counter scaled from another. At least 1.
 */
uint64_t poll_skew_step(const uint64_t *reading, size_t n);

/** A counter as read on one of two processors, @side 0 or 1. */
typedef uint64_t poll_counter(void *ctx, unsigned side);

struct poll_skew_opts {
	int cpu[2];         /* -1: any */
	unsigned exchanges; /* as many as that, if @ms suffice */
	unsigned ms;
	poll_counter *read; /* NULL: the processor's own */
	void *ctx;
};

/**
 * Measure. 0; ETIMEDOUT: no exchange succeeded; or another errno, such as EINVAL for a missing
 * processor.
 */
int poll_skew_measure(struct poll_skew *s, const struct poll_skew_opts *opts);

/** Another processor than @cpu on which this thread may run, or -1. */
int poll_skew_other(int cpu);

#endif
