/* SPDX-License-Identifier: MIT */
/**
 * What of this machine lets a loop look seldom: read from /proc and /sys, kept with each capture,
 * checked by `coeval doctor`.
 */
#ifndef DRIVERS_POLL_FACTS_H
#define DRIVERS_POLL_FACTS_H

#include <stddef.h>

#include <coeval/capture.h>

/**
 * All facts about processor @cpu. @root is put in front of /proc and /sys: "" for this machine; of
 * another, permissions and device files are not known. Returns how many.
 */
size_t facts_read(const char *root, unsigned cpu, struct cvl_host_fact facts[CVL_HOST_FACTS]);

struct poll_skew;

/**
 * What @skew says of the counters of a processor and of @other, as one more fact. It is no part of
 * facts_read(), since to measure it takes both processors for a while.
 */
void facts_counters(const struct poll_skew *skew, int other, struct cvl_host_fact *fact);

/**
 * The processor that suits a loop best: an isolated one that may be asked for, else the last of
 * those that this thread may run on (or, below another @root, that are online). @others: how many
 * of these there are beside it.
 */
unsigned facts_best_cpu(const char *root, unsigned *others);

/** Whether @cpu is in a list such as "0-3,8". */
int facts_in_list(const char *list, unsigned cpu);

#endif
