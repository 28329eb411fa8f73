/* SPDX-License-Identifier: MIT */
/** All rules compared on one set of tasks. */
#ifndef TASK_CONTEST_H
#define TASK_CONTEST_H

#include "analysis/freq/fit.h"

enum contest_how {
	CONTEST_GIVEN,    /* a constant frequency, or a rule with the thesis's thresholds */
	CONTEST_FITTED,   /* to the tasks it is judged by: optimistic */
	CONTEST_LEFT_OUT, /* for each task to all others */
};

struct contest_line {
	char name[32];
	enum contest_how how;
	enum fit_kind kind;
	uint32_t needs; /* SWO_NEED_... */
	struct cvl_freq_score score;
};

#define CONTEST_LINES 64

struct contest {
	struct contest_line line[CONTEST_LINES];
	size_t n,
		/* learned: the line of the learned rule, left out; SIZE_MAX: none */
		learned;
	uint32_t lacks; /* features that no task has; rules that need them have no line */
	const char *unusable[CONTEST_LINES]; /* names of such rules */
	size_t n_unusable;
	size_t learned_from; /* tasks that have all features of the learned rule */
};

/** The proposed rule: the last of fit_rules, from saved cycles and counters. */
#define CONTEST_LEARNED (fit_rules_n - 1)

void contest_make(struct contest *c, const struct freq_set *set);

/** The learned rule restricted to features that @set has; false: it has none. */
bool contest_learned(const struct freq_set *set, struct fit_rule *rule);

/**
 * Whether line @i competes with the learned rule: not those fitted to the tasks they are judged by,
 * nor linear ones.
 */
bool contest_rival(const struct contest *c, size_t i);

/** Whether the learned rule saves more than every rival. @closest: the rival that saves most. */
bool contest_won(const struct contest *c, size_t *closest);

#endif
