/* SPDX-License-Identifier: MIT */
/**
 * Settings of this machine that slow a polling loop down: read from /proc and /sys, kept with each
 * capture, checked by `coeval doctor`.
 */
#ifndef DRIVERS_POLL_FACTS_H
#define DRIVERS_POLL_FACTS_H

#include <stddef.h>

#include <coeval/capture.h>

/**
 * All facts about processor @cpu. @root is prefixed to /proc and /sys: "" for this machine; of
 * another machine, permissions and device files are unknown. Returns their number.
 */
size_t facts_read(const char *root, unsigned cpu, struct cvl_host_fact facts[CVL_HOST_FACTS]);

struct poll_skew;

/**
 * What @skew says of the counters of a processor and of @other, as one more fact. Not part of
 * facts_read(), since measuring it occupies both processors for a while.
 */
void facts_counters(const struct poll_skew *skew, int other, struct cvl_host_fact *fact);

/**
 * The processor that suits a loop best: an isolated one that may be requested, else the last of
 * those this thread may run on (or, below another @root, that are online). @others: how many more
 * there are.
 */
unsigned facts_best_cpu(const char *root, unsigned *others);

/** Whether @cpu is in a list such as "0-3,8". */
int facts_in_list(const char *list, unsigned cpu);

#endif
