/* SPDX-License-Identifier: MIT */
/**
 * Finds edges in sample streams: where neighbouring samples differ.
 *
 * cvl_scan_plain is the reference, one sample a step; the others are tested against it. All read
 * @n samples of @unit bytes (1, 2, 4 or 8, little-endian), compare each with the one before it (the
 * first with *@last), and store up to @max edges: the index of the sample added to @base, and its
 * value masked by @mask. They return how many edges were stored; *@used is how many samples were
 * consumed (less than @n only when @max was reached), *@last the last consumed sample, masked.
 */
#ifndef SCAN_H
#define SCAN_H

#include <stddef.h>
#include <stdint.h>

#include <coeval/time.h>

struct cvl_scan_out {
	struct cvl_tick *tick;
	uint64_t *level;
	size_t max;
};

typedef size_t cvl_scan_fn(const void *samples, size_t n, unsigned unit, uint64_t mask,
			   uint64_t base, uint64_t *last, struct cvl_scan_out out, size_t *used);

cvl_scan_fn cvl_scan_plain;

/**
 * The fastest scan this processor has; @name (may be NULL) gets "avx2", "sse2", "neon" or "plain".
 */
cvl_scan_fn *cvl_scan_best(const char **name);

/**
 * Every scan this processor can run, for tests and benchmarks: fills @fns and @names, returns how
 * many.
 */
size_t cvl_scan_all(cvl_scan_fn **fns, const char **names, size_t max);

#endif
