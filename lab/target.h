/* SPDX-License-Identifier: MIT */
/** The target of a bench: rebooting, configuring and running it, and recovery when it hangs. */
#ifndef LAB_TARGET_H
#define LAB_TARGET_H

#include "lab/plan.h"
#include "lab/shell.h"

struct target {
	const struct lab_config *config;
	int stop_fd;
	void (*note)(void *ctx, bool problem, const char *text);
	void *ctx;
	struct channel channel;
	struct shell shell;
};

/** Results of one run of a workload. */
struct target_run {
	double seconds;
	uint64_t count;  /* of a trace */
	uint64_t passes; /* that its ranges take */
};

/**
 * Open its port and find its prompt, running its `reset_program` if necessary. All of @t but
 * channel and shell is filled in; it must be closed also after an error. CVL_E_ENV.
 */
int target_open(struct target *t, struct cvl_error *err);
void target_close(struct target *t);

/**
 * Reset a target that does not answer by the program that the config names; without one there is
 * only the port to try. The result says whether there is a port, not whether the target is alive:
 * CVL_E_ENV, CVL_E_NO if stopped.
 */
int target_revive(struct target *t, struct cvl_error *err);

/**
 * A clean target at the setting of @s: rebooted if the experiment wants that. CVL_E_MISMATCH if it
 * refuses, or takes another frequency.
 */
int target_prepare(struct target *t, const struct lab_step *s, struct cvl_error *err);

/**
 * Have it run @s with @iterations. Its answer must match the request: otherwise CVL_E_MISMATCH;
 * CVL_E_MISSING if something is missing; errors of shell_ask() and answer_read().
 */
int target_work(struct target *t, const struct lab_step *s, uint64_t iterations, uint64_t pass,
		struct target_run *run, struct cvl_error *err);

#endif
