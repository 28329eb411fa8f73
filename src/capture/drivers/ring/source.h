/* SPDX-License-Identifier: MIT */
/** One ring in shared memory while it is drained: its packets, resets, torn events and its end. */
#ifndef DRIVERS_RING_SOURCE_H
#define DRIVERS_RING_SOURCE_H

#include "store/ctf/tracer_tsdl.h"
#include "capture/drivers/driver.h"
#include "capture/drivers/ring/memory.h"
#include "tracer/rest.h"

struct source {
	const struct driver_sink *sink;
	size_t index;  /* of the analyzer */
	int64_t until; /* end of the capture: read no longer than this */
	struct tracer_drain ring;
	size_t bytes; /* from the ring's control block to the end of the memory */
	const struct memory *memory;
	const struct tsdl *tsdl;
	char name[120];
	void *packet;
	unsigned resets; /* since the last packet */
	/* since when the next packet blocks others, driver_monotonic_ns(); 0: it does not */
	int64_t waits;
	struct tracer_packet last; /* header of the last one passed on, if any */
	bool restarted, any, gone, told_damage, told_stuck, told_replaced;
};

/**
 * Pass on available packets, up to one turn's worth. Returns 1 if there may be more, 0 if not, or
 * the sink's error.
 */
int source_drain(struct source *q, struct cvl_error *err);

/** The capture ends: pass on the rest. source_drain() has returned 0, or until has passed. */
int source_end(struct source *q, struct cvl_error *err);

/** Check whether its file was truncated or replaced, and report that. */
void source_check_memory(struct source *q);

#endif
