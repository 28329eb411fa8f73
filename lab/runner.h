/* SPDX-License-Identifier: MIT */
/**
 * Makes the runs of a plan: before each the target is rebooted (thesis section 8.1.1) and
 * configured; its answers and the instruments' go into the results, which are saved after each run.
 * Runs already in the results are not repeated.
 */
#ifndef LAB_RUNNER_H
#define LAB_RUNNER_H

#include "lab/plan.h"

struct runner_opts {
	const char *output; /* CSV */
	int stop_fd;        /* readable: stop after saving what is there; -1: none */
	/** A message: a run that failed, a retry. */
	void (*note)(void *ctx, bool problem, const char *text);
	/** Runs made, of the total. */
	struct cvl_progress progress;
	void *ctx;
};

struct runner_result {
	size_t made, there, failed; /* runs: made now, in the results before, given up */
	size_t left;                /* not tried, because it was stopped or gave up */
	size_t retries;
	bool stopped;
	char identity[2][128]; /* of the first two instruments used */
};

/**
 * Make the runs of @p that @r lacks. Returns 0 also if runs failed; CVL_E_ENV if the target or
 * an instrument is not there or `give_up_after` runs failed in a row, CVL_E_IO if the results
 * cannot be saved. In any case all measurements are in @r and, except for CVL_E_IO, saved.
 */
int runner_run(const struct lab_config *c, const struct lab_plan *p, struct results *r,
	       const struct runner_opts *o, struct runner_result *result, struct cvl_error *err);

#endif
