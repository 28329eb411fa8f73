/* SPDX-License-Identifier: MIT */
/**
 * A loop against the truth: another thread increments a word of memory, and stamps each store with
 * the same clock, before and after. Each store must meet the bracket that the loop gave it; each
 * value that lasted longer than the loop's gaps must have been seen, or lie in a gap. The two read
 * the counters of two processors: their difference is measured before and after (skew.h), and
 * counts in each comparison.
 */
#ifndef DRIVERS_POLL_TRIAL_H
#define DRIVERS_POLL_TRIAL_H

#include <stdio.h>

#include "capture/drivers/poll/loop.h"
#include "capture/drivers/poll/skew.h"

/** A store, as stamped by its writer. */
struct poll_store {
	uint64_t before, after;
};

/** Ticks by which the bracket of @seen misses the interval of @store; 0: they meet. */
uint64_t poll_store_off(const struct poll_store *store, const struct poll_seen *seen);

struct poll_trial {
	uint32_t stores;
	uint64_t pause;           /* ticks between two stores, at least */
	uint64_t gap_ticks;       /* of the loop */
	int loop_cpu, writer_cpu; /* -1: any */
	/* where stores that miss their bracket are written, as CSV without a header; or NULL */
	FILE *unmet;
};

/** The header of those lines. */
#define POLL_UNMET_HEAD "value,before,after,from,to,off,slack\n"

struct poll_trial_result {
	uint64_t seen; /* stores the loop reported */
	/*
	 * of those: brackets that meet the writer's interval, within the difference of the counters
	 */
	uint64_t met;
	uint64_t beside; /* of those: that only met within that difference */
	uint64_t off;    /* largest distance of a bracket from its interval */
	uint64_t missed; /* the others */
	/* of those: inside a gap, or no longer than one */
	uint64_t excused;
	/* of those missed: lasted as long as the widest span; none may */
	uint64_t claimed;
	uint64_t gaps, full;
	/* while both were running: the writer not held up, and no gap of the loop */
	uint64_t at_work, seen_at_work; /* ticks, and stores seen in them */
	double seconds;                 /* that the writer took */
	struct poll_skew skew; /* of the processors' counters; no exchanges: there is only one */
	struct poll_stats stats;
};

/** 0, or an errno; ENOTSUP: the clocks of the processors differ. */
int poll_trial_run(const struct poll_trial *t, struct poll_trial_result *r);

#endif
