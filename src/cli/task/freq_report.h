/* SPDX-License-Identifier: MIT */
/** What `coeval task freq` tells. */
#ifndef CLI_TASK_FREQ_REPORT_H
#define CLI_TASK_FREQ_REPORT_H

#include <jansson.h>

#include "cli.h"
#include "analysis/freq/contest.h"

/** One set of tasks: where its least energies lie, what goes with what, constants. */
void freq_print_set(struct cvl_out *o, const struct freq_set *set);
json_t *freq_set_json(const struct freq_set *set);

/** The rules' scores. */
void freq_print_contest(struct cvl_out *o, const struct contest *c);
json_t *freq_contest_json(const struct contest *c);

/** For each task the best frequency, and what the learned rule chooses if it has not seen it. */
void freq_print_tasks(struct cvl_out *o, const struct freq_set *set);
json_t *freq_tasks_json(const struct freq_set *set);

/** What rules choose for tasks that lack energies or frequencies; nothing if there are none. */
void freq_print_more(struct cvl_out *o, const struct freq_set *set);
json_t *freq_more_json(const struct freq_set *set);

/** Fit the learned rule to all tasks that have what it looks at. CVL_E_MISSING: there are no two. */
int freq_learn(struct fitted *f, const struct freq_set *set, struct cvl_error *err);

/** @f of freq_learn() as C for the target: a struct swo_model (firmware/lib/swotrace/rules.h). */
void freq_write_model(struct cvl_out *o, const struct freq_set *set, const struct fitted *f);

/** What rules were not fitted to: features that no task has, and tasks of which the learned rule knows too little. */
json_t *freq_lacks_json(const struct contest *c);

/** What both tables of rules share: the cells that name a line, shares in percent, and the names of enum contest_how. */
void freq_cells(struct table *t, const struct contest_line *l);
double freq_percent(size_t part, size_t whole);
extern const char *const freq_how_names[];

/** Several seeds: means of scores, and how often the learned rule saved more. */
struct freq_tally {
	size_t seeds, won;
	double saved[CONTEST_LINES], square[CONTEST_LINES];
	double best[CONTEST_LINES], better[CONTEST_LINES], no_worse[CONTEST_LINES];
	double slower[CONTEST_LINES], could_be;
	size_t beaten
		[CONTEST_LINES]; /* seeds in which the learned rule saved more than this line */
};

void freq_tally_add(struct freq_tally *t, const struct contest *c);
/** @c: any of the contests, for the names. */
void freq_print_tally(struct cvl_out *o, const struct freq_tally *t, const struct contest *c);
json_t *freq_tally_json(const struct freq_tally *t, const struct contest *c);

#endif
