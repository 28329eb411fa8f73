/* SPDX-License-Identifier: MIT */
/** The analysis of coeval/calls.h: shared by its files. */
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
	uint64_t loaded; /* load offset of the program relative to its file */
	char *program;
};

struct study {
	struct cvl_analysis base;
	struct cvl_timeline *tl;
	struct cvl_calls_config *own; /* used if none was given */
	const struct cvl_calls_config *config;
	char *glob; /* span whose critical path is requested; NULL: the longest */
	struct rule_set recalled;
	/* rules of the configuration, then others; their contents are borrowed */
	struct calls_rules rules;
	struct rule_set match;
	struct calls_read *read;
	const struct calls *calls;
	struct cvl_calls_kept kept;
	struct cvl_calls_sink sink; /* the caller's */
	bool has_sink;
	struct calls_find *find;
	struct calls_path critical;
	struct calls_read_opts read_opts; /* to read once more */
	bool no_memory;                   /* the sink could not store something */

	struct cvl_calls_result result;
	const char **node;
	struct cvl_calls_core *core;
	struct cvl_calls_thread *thread;
	struct cvl_calls_wait *wait;
	struct cvl_calls_chain *chain;
	struct cvl_calls_span life; /* of a thread, if its critical path is requested */
	struct cvl_calls_function *function;
	uint32_t *order, *hot;
	struct cvl_calls_finding *finding;
	size_t n_findings;
	struct cvl_calls_group *group;
	struct cvl_calls_share *share;
};

/** After all records: fill s->result. CVL_E_NOMEM. */
int study_conclude(struct study *s, struct cvl_error *err);
void study_forget(struct study *s);

/**
 * Read the timeline once more, and keep in @k all that is longer than a thousandth of @from to @to
 * and overlaps it: for the critical path, where s->kept has left out what is shorter. Numbers are
 * the same as before.
 */
int study_again(struct study *s, struct cvl_calls_kept *k, int64_t from, int64_t to,
		struct cvl_error *err);

/** Group s->finding into s->group. -1: out of memory. */
int study_group(struct study *s);
/** Describe each step of the path in words, and sum up the shares. -1: out of memory. */
int study_steps(struct study *s);

#endif
