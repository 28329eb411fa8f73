/* SPDX-License-Identifier: MIT */
/** From symbols to points: the part of decode.h that is independent of pins and times. */
#ifndef ANALYSIS_FLOW_SEARCH_H
#define ANALYSIS_FLOW_SEARCH_H

#include "analysis/flow/decode.h"

/* A hypothesis: the last symbol was number `offset` (from 1) of the code of `point`. */
struct flow_entry {
	uint32_t point, back; /* back: its predecessor in the previous step */
	uint16_t offset;
};

/* A pending symbol. */
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
	uint32_t last;   /* the last point emitted, to report what preceded an item */
	bool at_start, joined;
	bool doubt;      /* something did not fit: a match must be confirmed by what follows it */
	uint32_t *place; /* per (point, offset): its entry in this step */
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
 * No more symbols for the hypotheses: emit what they have in common, and the rest as @rest.
 */
int flow_search_flush(struct flow_search *d, enum cvl_flow_what rest);

/** Something was lost: the next symbol follows nothing. */
void flow_search_forget(struct flow_search *d);

#endif
