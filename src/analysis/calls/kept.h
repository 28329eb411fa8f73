/* SPDX-License-Identifier: MIT */
/**
 * What is kept of a capture to be drawn, or followed: everything, as long as there is not too much of it; then the longer half of each
 * kind, again and again. What was left out is shorter than @shortest of its kind, and counted.
 */
#ifndef ANALYSIS_CALLS_KEPT_H
#define ANALYSIS_CALLS_KEPT_H

#include "analysis/calls/calls.h"

struct calls_list {
	size_t n, room, most;
	uint64_t left_out;
	int64_t shortest; /* ns; shorter ones are left out */
};

struct calls_kept {
	struct calls_span *span;
	struct calls_slice *slice;
	struct calls_away *away;
	struct calls_message *message; /* how long each was waited for counts */
	struct calls_gap *gap;
	struct calls_list spans, slices, aways, messages, gaps;
	bool no_memory;
};

/** @most of each kind. */
void calls_kept_init(struct calls_kept *k, size_t most);
void calls_kept_free(struct calls_kept *k);

void calls_kept_span(struct calls_kept *k, const struct calls_span *s);
void calls_kept_slice(struct calls_kept *k, const struct calls_slice *s);
void calls_kept_away(struct calls_kept *k, const struct calls_away *a);
void calls_kept_message(struct calls_kept *k, const struct calls_message *m);
void calls_kept_gap(struct calls_kept *k, const struct calls_gap *g);

#endif
