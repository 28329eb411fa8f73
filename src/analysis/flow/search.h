/* SPDX-License-Identifier: MIT */
/** From symbols to points: the half of decode.h that knows nothing of pins and times. */
#ifndef ANALYSIS_FLOW_SEARCH_H
#define ANALYSIS_FLOW_SEARCH_H

#include "analysis/flow/decode.h"

/* A hypothesis: the last symbol was number `offset` (from 1) of the code of `point`. */
struct flow_entry {
	uint32_t point, back; /* back: the entry of the step before that it comes of */
	uint16_t offset;
};

/* A symbol that is in hand. */
struct flow_step {
	struct cvl_flow_stamp stamp;
	size_t first; /* its entries; they end where the next step's begin */
	uint16_t symbol;
};

struct flow_search {
	const struct cvl_flow_map *map;
	int (*emit)(void *ctx, const struct cvl_flow_item *item);
	void *ctx;
	struct flow_step *step;
	struct flow_entry *entry;
	size_t steps, entries, room_steps, room_entries;
	uint32_t locked; /* the last point, when there are no steps; CVL_FLOW_NONE: anywhere */
	uint32_t last;   /* the last point told, for those who ask after what something happened */
	bool at_start, joined;
	bool doubt; /* something did not fit: what fits now must be borne out by what follows it */
	uint32_t *place; /* of each (point, offset): its entry in this step */
	uint32_t *made;  /* and in which round */
	uint32_t round;
};

/** CVL_E_NOMEM; to be freed in any case. */
int flow_search_init(struct flow_search *d, const struct cvl_flow_map *map, bool from_start,
		     int (*emit)(void *ctx, const struct cvl_flow_item *item), void *ctx);
void flow_search_free(struct flow_search *d);

/** The next symbol. */
int flow_search_take(struct flow_search *d, uint16_t symbol, const struct cvl_flow_stamp *stamp);

/**
 * Nothing more will come of the hypotheses: tell what they have in common, and the rest as @rest.
 */
int flow_search_flush(struct flow_search *d, enum cvl_flow_what rest);

/** Something was lost: what comes now follows nothing. */
void flow_search_forget(struct flow_search *d);

#endif
