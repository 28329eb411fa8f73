/* SPDX-License-Identifier: MIT */
/** Bounds of records, asked for by several threads. */
#ifndef TIMELINE_BOUND_H
#define TIMELINE_BOUND_H

#include <coeval/timeline.h>

/** Where bounds of a clock were last asked for. Begin with {0}; each thread has its own. */
struct timeline_cursor {
	struct cvl_map_cursor map;
	uint64_t ticks; /* half-width of the last record, ... */
	int64_t ns;     /* ... and the same in ns */
};

/** cvl_timeline_bound() with @cursor, of the slice's clock. */
int64_t timeline_bound(const struct cvl_timeline *tl, struct timeline_cursor *cursor,
		       const struct cvl_slice *slice, size_t i);

#endif
