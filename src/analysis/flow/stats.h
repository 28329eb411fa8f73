/* SPDX-License-Identifier: MIT */
/**
 * What the path of a program comes to: points and branches passed, and times between points.
 */
#ifndef ANALYSIS_FLOW_STATS_H
#define ANALYSIS_FLOW_STATS_H

#include "analysis/flow/decode.h"

/** From the latest passing of a marked point to the next one of another, or of itself. */
struct flow_pair {
	uint32_t from, to;
};

/** Times of one pair, of all nodes. */
struct flow_times {
	struct flow_pair pair;
	int64_t *ns, *bound_ns;
	size_t n, room;
	uint64_t broken; /* not counted: something was lost, or did not fit, in between */
};

/** What one node did. */
struct flow_stats {
	const struct flow_map *map;
	uint64_t *passed;    /* each point */
	uint64_t *branch;    /* each branch: point[p].next[i] is number first_branch + i */
	uint64_t unresolved; /* markers between which several ways lead */
	uint64_t told[FLOW_WHATS], changes[FLOW_WHATS];
	struct flow_stamp *open; /* of each pair: when its first point was passed */
	bool *is_open;
};

int flow_stats_init(struct flow_stats *s, const struct flow_map *map, size_t pairs);
void flow_stats_free(struct flow_stats *s);

/** Count an item. CVL_E_NOMEM, CVL_E_LIMIT: more times than memory is spent on. */
int flow_stats_add(struct flow_stats *s, const struct flow_item *item, struct flow_times *times,
		   size_t pairs);

/** A figure that lies from low to high, ns. */
struct flow_figure {
	int64_t value, low, high;
};

#define FLOW_PERCENTILES 4
extern const unsigned flow_permille[FLOW_PERCENTILES]; /* 500: the median */

/**
 * The percentile p of n times is the smallest that at least p n of them do not exceed. Its bound: as many of the low ends, and of
 * the high ends, of all times, since the k-th of numbers that each lie between two limits lies between the k-th of
 * the limits.
 */
struct flow_sum {
	struct flow_figure best, mean, worst, percentile[FLOW_PERCENTILES];
};

/** CVL_E_NOMEM, CVL_E_LIMIT: more than memory is spent on. */
int flow_times_add(struct flow_times *t, int64_t ns, int64_t bound_ns);

/** CVL_E_NOMEM; @t has at least one time. */
int flow_times_sum(const struct flow_times *t, struct flow_sum *sum);
void flow_times_free(struct flow_times *t);

#endif
