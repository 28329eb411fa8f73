/* SPDX-License-Identifier: MIT */
/** Why a loop did not look for a while, as far as the machine tells. */
#ifndef DRIVERS_POLL_CAUSE_H
#define DRIVERS_POLL_CAUSE_H

#include "capture/drivers/poll/loop.h"

#define POLL_DETAIL 256

/** Of a processor, so far; 0 where it is not told. */
struct poll_counts {
	uint64_t smi;         /* system management interrupts */
	uint64_t steal;       /* what the host took from it, units of sysconf(_SC_CLK_TCK) */
	uint64_t transitions; /* changes of its frequency that the kernel made */
	uint64_t khz;         /* its frequency now */
};

/** What is counted, to see what rose. */
struct poll_watch {
	const char *root; /* in front of /proc and /sys */
	unsigned cpu;
	int msr; /* of its model-specific registers, or -1 */
	struct poll_counts last;
};

/** @root is "" for this machine, and outlives @w. */
void poll_watch_open(struct poll_watch *w, const char *root, unsigned cpu);
void poll_watch_close(struct poll_watch *w);

/**
 * "migration", "page fault", "preempted", "stopped", "smi", "steal", "frequency" or "unknown";
 * @detail gets a sentence. What is counted of the processor is asked when this is called, soon
 * behind the gap.
 */
const char *poll_cause(struct poll_watch *w, const struct poll_seen *gap, char detail[POLL_DETAIL]);

#endif
