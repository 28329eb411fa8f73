/* SPDX-License-Identifier: MIT */
/**
 * Statistics of a program's path: points and branches passed, and times between points.
 */
#ifndef ANALYSIS_FLOW_STATS_H
#define ANALYSIS_FLOW_STATS_H

#include "analysis/durations.h"
#include "analysis/flow/decode.h"

/** Statistics of one node. */
struct flow_stats {
	const struct cvl_flow_map *map;
	uint64_t *passed;    /* per point */
	uint64_t *branch;    /* per branch: point[p].next[i] is number first_branch + i */
	uint64_t unresolved; /* pairs of markers with several ways between them */
	uint64_t told[CVL_FLOW_WHATS];
	struct cvl_flow_stamp *open; /* of each pair: when its first point was passed */
	bool *is_open;
};

int flow_stats_init(struct flow_stats *s, const struct cvl_flow_map *map, size_t pairs);
void flow_stats_free(struct flow_stats *s);

/** Count an item. CVL_E_NOMEM, CVL_E_LIMIT: too many times to keep in memory. */
int flow_stats_add(struct flow_stats *s, const struct cvl_flow_item *item,
		   struct cvl_flow_times *times, size_t pairs);

#endif
