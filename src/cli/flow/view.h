/* SPDX-License-Identifier: MIT */
/** How `coeval flow` shows what it found. */
#ifndef CLI_FLOW_VIEW_H
#define CLI_FLOW_VIEW_H

#include "analysis/flow/study.h"
#include "cli.h"
#include "flow/times.h"

/** What did not fit, as far as it is kept for the summary. */
#define FLOW_MISFITS_SHOWN 20

struct flow_misfit {
	const struct flow_node *node;
	struct flow_item item;
	uint16_t symbol[FLOW_SYMBOLS_TOLD];
};

struct flow_view {
	const char *path; /* of the session */
	const struct flow_map *map;
	struct flow_study study;
	struct flow_stats all; /* what any node passed */
	size_t nodes;
	struct flow_misfit misfit[FLOW_MISFITS_SHOWN];
	size_t n_misfits;
	uint64_t misfits;
	struct cvl_out *out;
	bool json, begun; /* something of the summary is printed */
};

/** Print an item of the path: a line of text, or of JSON. */
void flow_view_item(struct flow_view *v, const struct flow_node *node,
		    const struct flow_item *item);
/** Keep it for the summary, if it did not fit. */
void flow_view_keep(struct flow_view *v, const struct flow_node *node,
		    const struct flow_item *item);

/** The summary. CVL_E_NOMEM. */
int flow_view_text(struct flow_view *v, struct cvl_error *err);
int flow_view_json(struct flow_view *v, struct cvl_error *err);
/** Histograms of all pairs, one above the other. */
int flow_view_svg(const struct flow_view *v, const char *path, struct cvl_error *err);

#endif
