/* SPDX-License-Identifier: MIT */
/** Why a loop did not look for a while, as far as the machine tells. */
#ifndef DRIVERS_POLL_CAUSE_H
#define DRIVERS_POLL_CAUSE_H

#include "drivers/poll/loop.h"

#define POLL_DETAIL 200

/** What is counted of a processor, to see what rose. */
struct poll_watch {
	unsigned cpu;
	int msr;        /* of its model-specific registers, or -1 */
	uint64_t smi;   /* system management interrupts so far */
	uint64_t steal; /* what the host took from it, units of sysconf(_SC_CLK_TCK) */
};

void poll_watch_open(struct poll_watch *w, unsigned cpu);
void poll_watch_close(struct poll_watch *w);

/** "migration", "page fault", "preempted", "smi", "steal" or "unknown"; @detail gets a sentence. */
const char *poll_cause(struct poll_watch *w, const struct poll_seen *gap, char detail[POLL_DETAIL]);

#endif
