/* SPDX-License-Identifier: MIT */
/**
 * Edges at known times: what a second processor drives through the port's latch while the first one
 * captures, and whether what was captured agrees with it.
 */
#ifndef ETT_SELFTEST_H
#define ETT_SELFTEST_H

#include <stdint.h>

#include <wire/ett_image.h>

struct ett_edges {
	uint64_t random; /* state; not 0 */
	unsigned bits;
	uint64_t dwell; /* ticks for which a value is held, at the most */
};

/** What to show after @before: another value, of no code 0 where that would end the capture. */
uint8_t ett_edges_next(struct ett_edges *e, uint8_t before);
/** How long to hold it, ticks: as many short as long ones. */
uint64_t ett_edges_hold(struct ett_edges *e);

struct ett_verdict {
	uint64_t stores, seen;
	uint64_t apart; /* records whose bracket overlaps no store of their code */
	/* stores held for longer than the shortest pulse that cannot be missed, and not seen */
	uint64_t missed;
	uint64_t shorter; /* other stores not seen */
};

/**
 * Compare @n records with @m stores. @pulse: ticks that a value has to be held to be surely seen:
 * two reads are never further apart than two steps of the loop, from the TSC ahead of the one to
 * the TSC behind the other. @end: tick of the last read.
 */
struct ett_verdict ett_judge(const struct ett_record *record, uint64_t n,
			     const struct ett_record *store, uint64_t m, uint64_t pulse,
			     uint64_t end);

#endif
