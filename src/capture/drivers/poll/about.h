/* SPDX-License-Identifier: MIT */
/** Facts about the machine that are kept with a capture. */
#ifndef DRIVERS_POLL_ABOUT_H
#define DRIVERS_POLL_ABOUT_H

#include "capture/drivers/poll/skew.h"
#include "capture/drivers/poll/source.h"
#include "capture/drivers/poll/records.h"

/**
 * Report the source, the system, the clock's rate (and how far it may be off, in parts of 1e9),
 * each fact of facts.h, and the counter compared with that of processor @other.
 */
int about_machine(struct poll_records *t, const struct poll_source *s, uint64_t rate_hz,
		  uint64_t off_ppb, const struct poll_skew *skew, int other, struct cvl_error *err);

/** What is known of the counters so far. */
int about_counters(struct poll_records *t, const struct poll_skew *skew, int other,
		   struct cvl_error *err);

#endif
