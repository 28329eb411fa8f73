/* SPDX-License-Identifier: MIT */
/**
 * Durations: repeated measurements of the time between two events, each with its bound, and their
 * statistics. All are ns.
 */
#ifndef COEVAL_DURATIONS_H
#define COEVAL_DURATIONS_H

#include <coeval/api.h>
#include <coeval/out.h>

CVL_BEGIN_DECLS

/** A value known to lie between low and high. */
struct cvl_figure {
	int64_t value, low, high;
};

#define CVL_PERCENTILES 4
#define CVL_BINS_MAX 24

/**
 * Counted in bins of a round width. Up to 1 % at each end is left out if it would squeeze nearly
 * all others into one bin.
 */
struct cvl_bins {
	int64_t first, width;
	size_t n;
	uint64_t count[CVL_BINS_MAX];
	uint64_t most;            /* greatest count of a bin */
	uint64_t shorter, longer; /* left out */
};

struct cvl_durations {
	int64_t *ns, *bound_ns; /* each, in the order of arrival */
	size_t n;
	size_t room;     /* capacity */
	uint64_t broken; /* not counted: something was lost or did not fit in between */

	/**
	 * Unless there are none. The percentile p of n durations is the smallest that at least p n
	 * of them do not exceed. Its bound: the same percentile of all low ends, and of all high
	 * ends, since the k-th of numbers that each lie between two limits lies between the k-th of
	 * the limits.
	 */
	struct cvl_figure best, mean, worst, percentile[CVL_PERCENTILES];
	unsigned permille[CVL_PERCENTILES]; /* of the percentiles; 500: the median */
	struct cvl_bins bins;
};

/** @n histograms, one above the other, as SVG titled @title. Write errors are kept in @out. */
CVL_API void cvl_durations_svg(const char *title, const char *const *name,
			       const struct cvl_durations *const *d, size_t n, struct cvl_out *out);

CVL_END_DECLS

#endif
