/* SPDX-License-Identifier: MIT */
/** The runs that a configuration asks for. Pure. */
#ifndef LAB_PLAN_H
#define LAB_PLAN_H

#include "lab/config.h"
#include "lab/fill.h"

/**
 * One cell of the results. Repetitions are outermost: an interrupted bench has a few of everything.
 */
struct lab_step {
	const struct lab_experiment *experiment;
	const struct lab_workload *workload;
	const struct lab_counter *counter; /* of a trace, or NULL */
	enum quantity quantity;
	struct results_key key;
};

struct lab_plan {
	struct lab_step *step;
	size_t n;
};

/**
 * CVL_E_LIMIT for more than a million runs, CVL_E_USAGE if two ask for the same cell. Free it with
 * lab_plan_free(), whatever is returned.
 */
int lab_plan_make(struct lab_plan *p, const struct lab_config *c, struct cvl_error *err);
void lab_plan_free(struct lab_plan *p);

#define LAB_COMMAND 512

/** The command that sets the target for @s. */
int lab_set_command(const struct lab_config *c, const struct lab_step *s, char out[LAB_COMMAND],
		    struct cvl_error *err);

/** The command that runs @s with @iterations; @pass of traces that take several. */
int lab_run_command(const struct lab_config *c, const struct lab_step *s, uint64_t iterations,
		    uint64_t pass, char out[LAB_COMMAND], struct cvl_error *err);

/** "reg-add at 80 MHz, fast-flash, cycles, repetition 3", for people. Returns @out. */
char *lab_step_name(const struct lab_step *s, char *out, size_t size);

#endif
