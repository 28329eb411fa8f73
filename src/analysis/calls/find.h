/* SPDX-License-Identifier: MIT */
/**
 * Findings: spans that took much longer than others of their name, and why.
 *
 * A sample of each function's spans is kept (all, up to CALLS_SAMPLE), and the CALLS_LONGEST
 * longest. A span that took more than 1.5 times the median, and exceeds it by at least a thousandth
 * of the capture, is explained by the part (calls.h) that exceeds its usual value by most: who ran
 * instead, or who was waited for. Nested spans of one thread that are prolonged by the same cause
 * are one finding: of the outermost that is usually shorter.
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

/* As a sink. CVL_E_NOMEM. */
int calls_find_span(struct calls_find *f, const struct cvl_calls_span *s);
int calls_find_away(struct calls_find *f, const struct cvl_calls_away *a);
int calls_find_message(struct calls_find *f, const struct cvl_calls_message *m);

/**
 * All findings, largest loss first; to be freed. @capture_ns: length of the whole capture. NULL
 * with *n 0: none; with *n 1: out of memory.
 */
struct cvl_calls_finding *calls_find_all(const struct calls_find *f, int64_t capture_ns, size_t *n);

/**
 * Median of the whole spans of @function so far; of up to CALLS_SAMPLE of them. INT64_MIN: none.
 */
int64_t calls_find_median(const struct calls_find *f, uint32_t function);

#endif
