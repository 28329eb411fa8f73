/* SPDX-License-Identifier: MIT */
/** What of this machine lets a loop look seldom: read from /proc and /sys, kept with each capture, checked by `coeval doctor`. */
#ifndef DRIVERS_POLL_FACTS_H
#define DRIVERS_POLL_FACTS_H

#include <stddef.h>

enum fact_state { FACT_GOOD, FACT_BAD, FACT_UNKNOWN };

#define FACT_TEXT 160
#define FACTS_MAX 24

struct fact {
	const char *name;
	enum fact_state state;
	char value[FACT_TEXT];
	const char *costs;  /* what it costs where it is not good */
	const char *advice; /* what to do about it */
};

const char *fact_state_name(enum fact_state state);

/**
 * All facts about processor @cpu. @root is put in front of /proc and /sys: "" for this machine; of another, permissions and device
 * files are not known. Returns how many.
 */
size_t facts_read(const char *root, unsigned cpu, struct fact facts[FACTS_MAX]);

struct poll_skew;

/**
 * What @skew says of the counters of a processor and of @other, as one more fact. It is no part of facts_read(), since to measure
 * it takes both processors for a while.
 */
void facts_counters(const struct poll_skew *skew, int other, struct fact *fact);

/**
 * The processor that suits a loop best: an isolated one that may be asked for, else the last of those that this thread may run on (or, below
 * another @root, that are online). @others: how many of these there are beside it.
 */
unsigned facts_best_cpu(const char *root, unsigned *others);

/** Whether @cpu is in a list such as "0-3,8". */
int facts_in_list(const char *list, unsigned cpu);

#endif
