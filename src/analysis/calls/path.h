/* SPDX-License-Identifier: MIT */
/**
 * Critical path: what the end of a span waited for, back to its begin, across cores.
 *
 * From the end backwards: what the thread did, up to the last message it had waited for; then the
 * message's transit; then what its sender did before sending it; and so on. While it was blocked
 * until another thread woke it: what that one did meanwhile, likewise. Before it was born: what the
 * thread did that made it. Each instant between begin and end is in one step. Spans and times off the core shorter than a thousandth of the whole
 * are merged into what surrounds them.
 */
#ifndef ANALYSIS_CALLS_PATH_H
#define ANALYSIS_CALLS_PATH_H

#include "analysis/calls/kept.h"

#define CALLS_HOPS_MAX 10000
/** Threads that wait for each other, one within the other; then "blocked" is all that is said. */
#define CALLS_NESTED_WAITS 100

struct calls_path {
	struct cvl_calls_step *step; /* earliest first */
	size_t n, room;
	bool cut; /* more than CALLS_HOPS_MAX threads: beyond them it does not lead on */
};

/** Critical path of @thread of @threads from @from to @to. CVL_E_NOMEM. */
int calls_path_find(struct calls_path *path, const struct cvl_calls_kept *kept,
		    const struct cvl_calls_thread *threads, uint32_t thread,
		    struct cvl_calls_time from, struct cvl_calls_time to);
void calls_path_free(struct calls_path *path);

#endif
