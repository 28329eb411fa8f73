/* SPDX-License-Identifier: MIT */
/**
 * What is kept of a capture for drawing and for the critical path: everything, up to a limit; then
 * repeatedly the longer half of each kind. What was dropped is shorter than @shortest of its kind,
 * and counted.
 */
#ifndef ANALYSIS_CALLS_KEPT_H
#define ANALYSIS_CALLS_KEPT_H

#include "analysis/calls/calls.h"

/** @most of each kind. */
void calls_kept_init(struct cvl_calls_kept *k, size_t most);
void calls_kept_free(struct cvl_calls_kept *k);

void calls_kept_span(struct cvl_calls_kept *k, const struct cvl_calls_span *s);
void calls_kept_slice(struct cvl_calls_kept *k, const struct cvl_calls_slice *s);
void calls_kept_away(struct cvl_calls_kept *k, const struct cvl_calls_away *a);
/** Whether it would be kept, as it is now. */
bool calls_kept_takes_away(const struct cvl_calls_kept *k, const struct cvl_calls_away *a);
void calls_kept_message(struct cvl_calls_kept *k, const struct cvl_calls_message *m);
void calls_kept_gap(struct cvl_calls_kept *k, const struct cvl_calls_gap *g);

#endif
