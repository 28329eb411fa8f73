/* SPDX-License-Identifier: MIT */
/** How times between two points are shown: percentiles with their bounds, and a histogram. */
#ifndef CLI_FLOW_TIMES_H
#define CLI_FLOW_TIMES_H

#include <jansson.h>
#include <stdio.h>

#include "analysis/flow/stats.h"
#include <coeval/out.h>

/** Tables of @t. CVL_E_NOMEM. */
int flow_times_text(struct cvl_out *o, const struct flow_times *t);

/** An object of its own. */
json_t *flow_times_json(const struct flow_times *t, const char *from, const char *to);

#define FLOW_BINS_MAX 24

/** Times counted into bins of a round width. A hundredth at each end that would leave nearly all the others in one bin is left out. */
struct flow_bins {
	int64_t first, width; /* ns */
	size_t n;
	uint64_t count[FLOW_BINS_MAX];
	uint64_t most;            /* in one of them */
	uint64_t shorter, longer; /* left out */
};

/** The histogram of @t, so far down in a figure, and how far one is above the next. */
void flow_times_draw(struct cvl_out *o, const char *title, const struct flow_times *t, double top);
#define FLOW_PLOT_STRIDE 230.0

/** @t has at least one time. */
void flow_bins_fill(struct flow_bins *bins, const struct flow_times *t);

#endif
