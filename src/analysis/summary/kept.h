/* SPDX-License-Identifier: MIT */
/**
 * Counts of a session kept from one reading to the next, in its folder of what can be made again.
 * They hold as long as the files of its streams have the sizes and times of change that they had.
 */
#ifndef SUMMARY_KEPT_H
#define SUMMARY_KEPT_H

#include <coeval/summary.h>

/** What is counted of a clock besides struct cvl_summary_clock. */
struct kept_ticks {
	uint64_t first, last; /* of its records, if there are any */
};

/** By class of event, of one stream. */
struct kept_events {
	uint64_t *count;
	size_t n;
};

/**
 * Fill the counts of @sum, all zero, with those kept: of each clock, and @ticks; of each stream its
 * clock, its statistics and @events. False: none are kept, or they are not of these files.
 */
bool kept_load(const struct cvl_timeline *tl, struct cvl_summary *sum, struct kept_ticks *ticks,
	       struct kept_events *events);

/** Keep them. Failing that costs time alone. */
void kept_save(const struct cvl_timeline *tl, const struct cvl_summary *sum,
	       const struct kept_ticks *ticks, const struct kept_events *events);

#endif
