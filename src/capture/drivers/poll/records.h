/* SPDX-License-Identifier: MIT */
/** Turns what a loop saw into records of a driver: see store/loop_events.h. */
#ifndef DRIVERS_POLL_RECORDS_H
#define DRIVERS_POLL_RECORDS_H

#include "capture/drivers/driver.h"
#include "capture/drivers/poll/cause.h"
#include "capture/drivers/poll/loop.h"

enum {
	POLL_RECORD_LOOP,
	POLL_RECORD_STEP,
	POLL_RECORD_SPAN,
	POLL_RECORD_GAP,
	POLL_RECORD_FACT,
	POLL_RECORD_COUNTER,
	POLL_RECORD_CLASSES
};
extern const struct driver_event poll_records_events[POLL_RECORD_CLASSES];

#define POLL_RECORD_BATCH 1024
#define POLL_RECORD_HELD 32

struct poll_records {
	const struct driver_sink *sink;
	struct poll_watch *watch;
	uint64_t origin; /* reading of the clock at tick 0 */
	/* step of the clock: what ends a bracket shows for this long; 0: does not apply */
	uint64_t step;
	uint64_t last; /* tick of the last change */
	/* changes were lost: the levels before the next one are only known there */
	bool unknown;
	uint64_t changes, gaps, full;
	uint64_t ones; /* lines that were ever high */
	uint64_t zeros;
	/* records that may follow others which are not known yet, in the order of their ticks */
	size_t n_held;
	struct poll_records_held {
		struct driver_record record;
		char detail[POLL_DETAIL]; /* of a POLL_RECORD_GAP */
	} held[POLL_RECORD_HELD];
	size_t n;
	struct driver_record record[POLL_RECORD_BATCH];
};

/** Pass on what @seen says, sooner or later. */
int poll_records_seen(struct poll_records *t, const struct poll_seen *seen, struct cvl_error *err);
/** Nothing else happened up to @now of the clock. */
int poll_records_until(struct poll_records *t, uint64_t now, struct cvl_error *err);
/** An event about the capture itself, passed on at once: field @cls of poll_records_events. */
int poll_records_about(struct poll_records *t, unsigned cls, const union cvl_store_value *values,
		       struct cvl_error *err);
/** Pass on held records: nothing more comes. */
int poll_records_rest(struct poll_records *t, struct cvl_error *err);
/** Statistics of the loop, as an event. */
int poll_records_stats(struct poll_records *t, const struct poll_loop *l, struct cvl_error *err);

#endif
