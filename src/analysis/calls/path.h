/* SPDX-License-Identifier: MIT */
/**
 * Critical path: what the end of a span waited for, back to its begin, across cores.
 *
 * From the end backwards: what the thread did, up to the last message it had waited for; then the
 * message's transit; then what its sender did before sending it; and so on. Each instant between
 * begin and end is in one step. Spans and times off the core shorter than a thousandth of the whole
 * are merged into what surrounds them.
 */
#ifndef ANALYSIS_CALLS_PATH_H
#define ANALYSIS_CALLS_PATH_H

#include "analysis/calls/kept.h"

#define CALLS_HOPS_MAX 10000

struct calls_path {
	struct cvl_calls_step *step; /* earliest first */
	size_t n, room;
	bool cut; /* more than CALLS_HOPS_MAX messages: it begins later */
};

/** Critical path of @thread from @from to @to. CVL_E_NOMEM. */
int calls_path_find(struct calls_path *path, const struct cvl_calls_kept *kept, uint32_t thread,
		    struct cvl_calls_time from, struct cvl_calls_time to);
void calls_path_free(struct calls_path *path);

#endif
