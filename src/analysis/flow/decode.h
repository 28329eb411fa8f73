/* SPDX-License-Identifier: MIT */
/** From pin levels to the path of a program, record by record: see coeval/flow.h. */
#ifndef ANALYSIS_FLOW_DECODE_H
#define ANALYSIS_FLOW_DECODE_H

#include "analysis/flow/flow.h"

/** Most hypotheses; beyond that the path is reported as undecided. */
#define FLOW_HELD 65536

struct flow_decoder;

/**
 * @from_start: the first change will be of the first marker after @map's start (without a graph: at
 * the beginning of some marker). @map must outlive the decoder. NULL when out of memory.
 */
struct flow_decoder *flow_decoder_new(const struct cvl_flow_map *map, bool from_start,
				      int (*emit)(void *ctx, const struct cvl_flow_item *item),
				      void *ctx);
void flow_decoder_free(struct flow_decoder *d);

/**
 * The map's pins show @levels from @stamp on. @state: they already did before, see CVL_STATE. The
 * first known levels are taken as the initial ones. Returns 0, the return value of emit(), or
 * CVL_E_NOMEM; so do the next two.
 */
int flow_decoder_levels(struct flow_decoder *d, const struct cvl_flow_stamp *stamp, uint16_t levels,
			bool state);
/** Something was lost at @stamp, or times went back there. */
int flow_decoder_gap(struct flow_decoder *d, const struct cvl_flow_stamp *stamp, enum cvl_gap why);
int flow_decoder_end(struct flow_decoder *d);

#endif
