/* SPDX-License-Identifier: MIT */
/**
 * By how much the counters of two processors differ, and the step in which they advance: what a
 * stamp of the one is worth beside one of the other.
 *
 * In an exchange one processor reads its counter, asks, is answered, and reads it again; the other
 * reads its own in between. So the answer lies within the two readings, if both are one clock.
 * Where it lies outside, the counters differ by that much at least. What is hidden by the time that
 * an exchange takes no exchange can show: it is within the limits.
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
		 * between which the other counter is ahead, if by always as much; least > most: it
		 * is not
		 */
		most;
	uint64_t apart; /* by how many ticks they were shown to differ, at worst */
	uint64_t trip;  /* shortest exchange */
	uint64_t step;  /* in which the counters advance, at least 1; 0: not known */
};

/** Nothing is known yet. */
void poll_skew_open(struct poll_skew *s);

/** The other processor read @stamp, after this one had read @ahead and before it read @behind. */
void poll_skew_add(struct poll_skew *s, uint64_t ahead, uint64_t stamp, uint64_t behind);

/** What was measured at another time holds as well. */
void poll_skew_join(struct poll_skew *s, const struct poll_skew *other);

/**
 * How many ticks a stamp of the one counts beside those of the other: what they were shown to
 * differ by, and a step.
 */
uint64_t poll_skew_slack(const struct poll_skew *s);

/**
 * By how many ticks they may differ at most, as the exchanges prove; UINT64_MAX: there were none.
 */
uint64_t poll_skew_limit(const struct poll_skew *s);

/**
 * The step of a counter, from @n readings one after the other: what all differences are multiples
 * of, but for one tick, as where a counter is scaled from another. At least 1.
 */
uint64_t poll_skew_step(const uint64_t *reading, size_t n);

/** A counter as it is read on one of two processors, @side 0 or 1. */
typedef uint64_t poll_counter(void *ctx, unsigned side);

struct poll_skew_opts {
	int cpu[2];         /* -1: any */
	unsigned exchanges; /* as many as that, if @ms suffice */
	unsigned ms;
	poll_counter *read; /* NULL: the processor's own */
	void *ctx;
};

/**
 * Measure. 0; ETIMEDOUT: not one exchange came about; or another errno, such as EINVAL of a
 * processor that is not there.
 */
int poll_skew_measure(struct poll_skew *s, const struct poll_skew_opts *opts);

/** Another processor than @cpu that this thread may run on, or -1. */
int poll_skew_other(int cpu);

#endif
