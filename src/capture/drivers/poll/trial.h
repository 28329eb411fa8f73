/* SPDX-License-Identifier: MIT */
/**
 * A loop against the truth: another thread counts up a word of memory, and stamps each store by the
 * same clock, before and after. Each store must meet the bracket that the loop gave it; each value
 * that was there for longer than the loop's gaps must have been seen, or lie in a gap. The two read
 * the counters of two processors: what these differ by is measured before and behind (skew.h), and
 * counts in each comparison.
 */
#ifndef DRIVERS_POLL_TRIAL_H
#define DRIVERS_POLL_TRIAL_H

#include <stdio.h>

#include "capture/drivers/poll/loop.h"
#include "capture/drivers/poll/skew.h"

/** A store, as its writer stamped it. */
struct poll_store {
	uint64_t before, after;
};

/** By how many ticks the bracket of @seen misses the interval of @store; 0: they meet. */
uint64_t poll_store_off(const struct poll_store *store, const struct poll_seen *seen);

struct poll_trial {
	uint32_t stores;
	uint64_t pause;           /* ticks from one store to the next, at least */
	uint64_t gap_ticks;       /* of the loop */
	int loop_cpu, writer_cpu; /* -1: any */
	/*
	 * where each store that does not meet its bracket is written, as CSV without a head; or
	 * NULL
	 */
	FILE *unmet;
};

/** The head of those lines. */
#define POLL_UNMET_HEAD "value,before,after,from,to,off,slack\n"

struct poll_trial_result {
	uint64_t seen; /* stores that the loop told of */
	/*
	 * of those, whose brackets meet the writer's interval, within what the counters differ by
	 */
	uint64_t met;
	uint64_t beside; /* of those, that only met within that */
	uint64_t off;    /* by which any bracket missed its interval, at worst */
	uint64_t missed; /* the others */
	/* of those, that lie inside of a gap, or were there for no longer than one */
	uint64_t excused;
	/* of those missed, that were there for as long as the widest span: none may be */
	uint64_t claimed;
	uint64_t gaps, full;
	/* while both were at it: the writer not held up, and no gap of the loop */
	uint64_t at_work, seen_at_work; /* ticks, and stores seen in them */
	double seconds;                 /* that the writer took */
	struct poll_skew skew; /* of the processors' counters; no exchanges: there is but one */
	struct poll_stats stats;
};

/** 0, or an errno; ENOTSUP: the clocks of the processors differ. */
int poll_trial_run(const struct poll_trial *t, struct poll_trial_result *r);

#endif
