/* SPDX-License-Identifier: MIT */
/**
 * Durations: times between two things that happened again and again, each with its bound, and what
 * they come to. All are ns.
 */
#ifndef COEVAL_DURATIONS_H
#define COEVAL_DURATIONS_H

#include <coeval/api.h>
#include <coeval/out.h>

CVL_BEGIN_DECLS

/** A figure that lies from low to high. */
struct cvl_figure {
	int64_t value, low, high;
};

#define CVL_PERCENTILES 4
#define CVL_BINS_MAX 24

/**
 * Counted into bins of a round width. A hundredth at each end that would leave nearly all the
 * others in one bin is left out.
 */
struct cvl_bins {
	int64_t first, width;
	size_t n;
	uint64_t count[CVL_BINS_MAX];
	uint64_t most;            /* in one of them */
	uint64_t shorter, longer; /* left out */
};

struct cvl_durations {
	int64_t *ns, *bound_ns; /* each, as it came */
	size_t n;
	size_t room;     /* of who fills it */
	uint64_t broken; /* not counted: something was lost, or did not fit, in between */

	/**
	 * If there are any. The percentile p of n durations is the smallest that at least p n of
	 * them do not exceed. Its bound: as many of the low ends, and of the high ends, of all,
	 * since the k-th of numbers that each lie between two limits lies between the k-th of the
	 * limits.
	 */
	struct cvl_figure best, mean, worst, percentile[CVL_PERCENTILES];
	unsigned permille[CVL_PERCENTILES]; /* of the percentiles; 500: the median */
	struct cvl_bins bins;
};

/**
 * @n histograms, one above the other, as SVG; @title of the whole. Errors of writing are kept in
 * @out.
 */
CVL_API void cvl_durations_svg(const char *title, const char *const *name,
			       const struct cvl_durations *const *d, size_t n, struct cvl_out *out);

CVL_END_DECLS

#endif
