/* SPDX-License-Identifier: MIT */
/** What the files of the room share of maps: see coeval/flow.h. */
#ifndef ANALYSIS_FLOW_H
#define ANALYSIS_FLOW_H

#include <coeval/flow.h>

/**
 * Marked points that may be the next one after @point (CVL_FLOW_NONE: the first of all), in the
 * order of their codes.
 */
const uint32_t *flow_map_follow(const struct cvl_flow_map *map, uint32_t point, size_t *n);

/** "a", "a+b" of the pins in @symbol; "none". */
void flow_symbol_put(const struct cvl_flow_map *map, uint16_t symbol, struct cvl_out *o);

/**
 * Work out and check what follows from the points: for who made them otherwise than by
 * cvl_flow_map_parse().
 */
int flow_map_finish(struct cvl_flow_map *map, bool program, struct cvl_error *err);

/**
 * Two different paths that begin alike and make the same symbols, as the points after their common
 * one.
 */
struct flow_ambiguity {
	/* CVL_FLOW_NONE: they begin with the program, or (without a graph) anywhere */
	uint32_t from;
	uint32_t *path[2];
	size_t n[2];
};

/**
 * Whether @map (of codes that are seen, with follow made) is ambiguous: 1 and @found filled, to be
 * freed; 0 if not; CVL_E_LIMIT or CVL_E_NOMEM. Sardinas and Patterson (1953), carried from codes to
 * paths in a graph: docs/flow.md.
 */
int flow_ambiguous(const struct cvl_flow_map *map, struct flow_ambiguity *found,
		   struct cvl_error *err);
void flow_ambiguity_free(struct flow_ambiguity *a);

#endif
