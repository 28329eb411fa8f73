/* SPDX-License-Identifier: MIT */
/**
 * Bounds of the distance of two records, and which clocks are identical.
 */
#ifndef ANALYSIS_CLOCKS_H
#define ANALYSIS_CLOCKS_H

#include <coeval/timeline.h>

/**
 * For each clock of @session the first that is identical to it. To be freed; NULL: out of memory.
 */
uint32_t *clocks_roots(const struct cvl_session *session);

/**
 * Half-width of the difference of two times, ns; @same: of one clock, where the map's error is
 * common.
 */
int64_t clocks_pair(bool same, struct cvl_bound a, struct cvl_bound b);

/**
 * Half-width of the @ns between two records of one clock. The map's error is common to both except
 * for the rate, which is within the limit on both sides: of the map and of the truth.
 */
int64_t clocks_duration(int64_t ns, struct cvl_bound begin, struct cvl_bound end);

/**
 * Number of the @what ("line", "channel") of @trace named @name (for lines see cvl_trace_line());
 * negative: none, or @name is NULL.
 */
int clocks_find(const struct cvl_trace *trace, const char *what, const char *name);

/** Name of a span at its begin or end. */
struct clocks_span {
	char text[200];
};

/** The span's name of record @i, a CVL_BEGIN or CVL_END. False: it has none. */
bool clocks_span_name(struct clocks_span *name, struct cvl_stream *stream,
		      const struct cvl_batch *batch, size_t i);

#endif
