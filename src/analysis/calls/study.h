/* SPDX-License-Identifier: MIT */
/** The analysis of coeval/calls.h: what its files share. */
#ifndef ANALYSIS_CALLS_STUDY_H
#define ANALYSIS_CALLS_STUDY_H

#include <coeval/calls.h>

#include "analysis/calls/find.h"
#include "analysis/calls/kept.h"
#include "analysis/calls/path.h"
#include "analysis/calls/read.h"

struct cvl_calls_config {
	struct calls_rules rules, builtin;
	struct calls_names names;
	struct rule_set match;
	struct symbols *symbols;
	uint64_t loaded; /* where the program was, beside the addresses in its file */
	char *program;
};

struct study {
	struct cvl_analysis base;
	struct cvl_timeline *tl;
	struct cvl_calls_config *own; /* where none was given */
	const struct cvl_calls_config *config;
	char *glob; /* whose critical path is asked for; NULL: the longest */
	struct rule_set recalled;
	/* those of the configuration and others, one behind the other; what is in them is theirs */
	struct calls_rules rules;
	struct rule_set match;
	struct calls_read *read;
	const struct calls *calls;
	struct cvl_calls_kept kept;
	struct calls_find *find;
	struct calls_path critical;
	bool no_memory; /* what the sink is told could not be kept */

	struct cvl_calls_result result;
	const char **node;
	struct cvl_calls_core *core;
	struct cvl_calls_thread *thread;
	struct cvl_calls_function *function;
	uint32_t *order, *hot;
	struct cvl_calls_finding *finding;
	size_t n_findings;
	struct cvl_calls_group *group;
	struct cvl_calls_share *share;
};

/** All records went by: fill s->result. CVL_E_NOMEM. */
int study_conclude(struct study *s, struct cvl_error *err);
void study_forget(struct study *s);

/** s->finding to s->group. -1: out of memory. */
int study_group(struct study *s);
/** What goes on in each step of the path, in words, and what comes of that. -1: out of memory. */
int study_steps(struct study *s);

#endif
