/* SPDX-License-Identifier: MIT */
/** Flow maps against a session: the path of each node that has the map's pins. */
#ifndef ANALYSIS_FLOW_STUDY_H
#define ANALYSIS_FLOW_STUDY_H

#include "analysis/flow/stats.h"

struct flow_node {
	const char *name; /* of its clock; belongs to the session */
	bool has;         /* the pins, and edges */
	uint8_t bit[FLOW_PINS_MAX];
	bool dark; /* the level of one of these is unknown */
	struct flow_decoder *decoder;
	struct flow_stats stats;
	struct flow_study *study;
};

struct flow_study {
	const struct flow_map *map;
	bool from_start;
	struct flow_times *times;
	size_t pairs;
	/** Told of each item as it is found, if not NULL. */
	int (*item)(void *ctx, const struct flow_node *node, const struct flow_item *item);
	void *ctx;

	struct flow_node *node; /* of each stream of the timeline */
	size_t n;
};

/**
 * Read @tl and fill node[]. CVL_E_UNKNOWN_ID: nothing was recorded, no clock has the pins, or one has some of them; CVL_E_LIMIT, CVL_E_NOMEM; what
 * item() returned.
 */
int flow_study_run(struct flow_study *s, struct cvl_timeline *tl, struct cvl_error *err);
void flow_study_free(struct flow_study *s);

#endif
