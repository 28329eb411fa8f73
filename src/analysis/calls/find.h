/* SPDX-License-Identifier: MIT */
/**
 * Findings: spans that took much longer than others of their name, and why.
 *
 * Of each function a sample of its spans is kept (all, up to CALLS_SAMPLE), and the CALLS_LONGEST
 * longest. One that took more than 1.5 times the median, and at least a thousandth of the capture
 * longer, is explained by the part (calls.h) that exceeds what is usual of that part by most: who
 * ran instead, or who was waited for. Spans in each other, of one thread, that are prolonged by the
 * same are one finding: of the outermost that is usually shorter.
 */
#ifndef ANALYSIS_CALLS_FIND_H
#define ANALYSIS_CALLS_FIND_H

#include "analysis/calls/calls.h"

#define CALLS_SAMPLE 255
#define CALLS_LONGEST 16

struct calls_find;

/** NULL: out of memory. */
struct calls_find *calls_find_new(void);
void calls_find_free(struct calls_find *f);

/* As a sink tells. CVL_E_NOMEM. */
int calls_find_span(struct calls_find *f, const struct cvl_calls_span *s);
int calls_find_away(struct calls_find *f, const struct cvl_calls_away *a);
int calls_find_message(struct calls_find *f, const struct cvl_calls_message *m);

/**
 * All findings, what was lost most first; to be freed. @capture_ns: length of the whole. NULL with
 * *n 0: none; with *n 1: out of memory.
 */
struct cvl_calls_finding *calls_find_all(const struct calls_find *f, int64_t capture_ns, size_t *n);

/**
 * Median of the whole spans of @function so far; of up to CALLS_SAMPLE of them. INT64_MIN: there
 * are none.
 */
int64_t calls_find_median(const struct calls_find *f, uint32_t function);

#endif
