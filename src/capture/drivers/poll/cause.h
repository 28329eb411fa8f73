/* SPDX-License-Identifier: MIT */
/** Why a loop did not run for a while, as far as the machine tells. */
#ifndef DRIVERS_POLL_CAUSE_H
#define DRIVERS_POLL_CAUSE_H

#include "capture/drivers/poll/loop.h"

#define POLL_DETAIL 256

/** Counters of a processor; 0 if unknown. */
struct poll_counts {
	uint64_t smi;         /* system management interrupts */
	uint64_t steal;       /* time taken by the host, units of sysconf(_SC_CLK_TCK) */
	uint64_t transitions; /* frequency changes made by the kernel */
	uint64_t khz;         /* its frequency now */
};

/** The last counts, to see which increased. */
struct poll_watch {
	const char *root; /* prefix of /proc and /sys */
	unsigned cpu;
	int msr; /* of its model-specific registers, or -1 */
	struct poll_counts last;
};

/** @root is "" for this machine, and must outlive @w. */
void poll_watch_open(struct poll_watch *w, const char *root, unsigned cpu);
void poll_watch_close(struct poll_watch *w);

/**
 * "migration", "page fault", "preempted", "stopped", "smi", "steal", "frequency" or "unknown";
 * @detail gets a sentence. Counters of the processor are read when this is called, soon after the
 * gap.
 */
const char *poll_cause(struct poll_watch *w, const struct poll_seen *gap, char detail[POLL_DETAIL]);

#endif
