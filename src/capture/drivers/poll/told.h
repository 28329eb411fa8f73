/* SPDX-License-Identifier: MIT */
/** What a loop saw, as records of a driver: see formats/loop_events.h. */
#ifndef DRIVERS_POLL_TOLD_H
#define DRIVERS_POLL_TOLD_H

#include "capture/drivers/driver.h"
#include "capture/drivers/poll/cause.h"
#include "capture/drivers/poll/loop.h"

enum { TOLD_LOOP, TOLD_STEP, TOLD_SPAN, TOLD_GAP, TOLD_FACT, TOLD_COUNTER, TOLD_CLASSES };
extern const struct driver_event told_events[TOLD_CLASSES];

#define TOLD_BATCH 1024
#define TOLD_HELD 32

struct told {
	const struct driver_sink *sink;
	struct poll_watch *watch;
	uint64_t origin; /* what the clock showed at tick 0 */
	uint64_t
		step; /* in which the clock advances: it shows what ends a bracket for so long; 0: not at all */
	uint64_t last; /* tick of the last change */
	bool unknown; /* changes were lost: what lines showed before the next one is only told there */
	uint64_t changes, gaps, full;
	uint64_t ones; /* lines that were ever high */
	uint64_t zeros;
	/* records that may come behind others which are not known yet, in the order of their ticks */
	size_t n_held;
	struct told_held {
		struct driver_record record;
		char detail[POLL_DETAIL]; /* of a TOLD_GAP */
	} held[TOLD_HELD];
	size_t n;
	struct driver_record record[TOLD_BATCH];
};

/** Hand on what @seen says, sooner or later. */
int told_seen(struct told *t, const struct poll_seen *seen, struct cvl_error *err);
/** Up to @now of the clock nothing else has happened. */
int told_until(struct told *t, uint64_t now, struct cvl_error *err);
/** An event about the capture itself, handed on at once: field @cls of told_events. */
int told_about(struct told *t, unsigned cls, const union cvl_store_value *values,
	       struct cvl_error *err);
/** What was held goes out: nothing more comes. */
int told_rest(struct told *t, struct cvl_error *err);
/** How the loop did. */
int told_stats(struct told *t, const struct poll_loop *l, struct cvl_error *err);

#endif
