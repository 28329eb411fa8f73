/* SPDX-License-Identifier: MIT */
/** Shared functions for flow maps: see coeval/flow.h. */
#ifndef ANALYSIS_FLOW_H
#define ANALYSIS_FLOW_H

#include <coeval/flow.h>

/**
 * Marked points that may follow @point (CVL_FLOW_NONE: the first of all), in code order.
 */
const uint32_t *flow_map_follow(const struct cvl_flow_map *map, uint32_t point, size_t *n);

/** "a", "a+b" of the pins in @symbol; "none". */
void flow_symbol_put(const struct cvl_flow_map *map, uint16_t symbol, struct cvl_out *o);

/**
 * Derive and check everything that follows from the points: for maps not made by
 * cvl_flow_map_parse().
 */
int flow_map_finish(struct cvl_flow_map *map, bool program, struct cvl_error *err);

/**
 * Two different paths with the same symbols after a common point, as the points after it.
 */
struct flow_ambiguity {
	/* CVL_FLOW_NONE: they begin with the program, or (without a graph) anywhere */
	uint32_t from;
	uint32_t *path[2];
	size_t n[2];
};

/**
 * Whether @map (with visible codes and `follow` filled) is ambiguous: 1 and @found filled, to be
 * freed; 0 if not; CVL_E_LIMIT or CVL_E_NOMEM. Sardinas and Patterson (1953), extended from codes
 * to paths in a graph: docs/flow.md.
 */
int flow_ambiguous(const struct cvl_flow_map *map, struct flow_ambiguity *found,
		   struct cvl_error *err);
void flow_ambiguity_free(struct flow_ambiguity *a);

#endif
