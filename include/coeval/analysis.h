/* SPDX-License-Identifier: MIT */
/**
 * Analyses: questions asked of a timeline. Each is opened by a function of its own header
 * (coeval/check.h, coeval/calls.h, ...) on a timeline, receives slices, is ended, and then holds a
 * result as plain structs, which another function of that header returns.
 *
 * Several can run in one pass, and each on a session that is still growing: whatever has slices
 * pushes them. One thread at a time.
 */
#ifndef COEVAL_ANALYSIS_H
#define COEVAL_ANALYSIS_H

#include <coeval/api.h>
#include <coeval/timeline.h>

CVL_BEGIN_DECLS

struct cvl_analysis;

/**
 * What an analysis is made of, for authors of one. Functions return 0 or a negative code with
 * @err filled.
 */
struct cvl_analysis_kind {
	const char *name;
	/**
	 * What it needs of stream @stream; @pick is all zeros before, and what it points to lives
	 * as long as the analysis. NULL: everything. It may be given more than it asked for.
	 */
	void (*want)(struct cvl_analysis *a, size_t stream, struct cvl_pick *pick);
	int (*push)(struct cvl_analysis *a, const struct cvl_slice *slice, struct cvl_error *err);
	/** @last: end of the requested range; CVL_TIME_MAX: the timeline has none. */
	int (*end)(struct cvl_analysis *a, struct cvl_time last, struct cvl_error *err);
	void (*free)(struct cvl_analysis *a);
};

/** First member of each analysis' own struct. */
struct cvl_analysis {
	const struct cvl_analysis_kind *kind;
};

/**
 * The next slice of the timeline that @a was opened on. After an error only cvl_analysis_free() may
 * follow.
 */
CVL_API int cvl_analysis_push(struct cvl_analysis *a, const struct cvl_slice *slice,
			      struct cvl_error *err);

/**
 * The last slice was pushed. @last: end of the requested range; CVL_TIME_MAX: the timeline has
 * none.
 */
CVL_API int cvl_analysis_end(struct cvl_analysis *a, struct cvl_time last, struct cvl_error *err);

/** NULL is allowed. Results belong to the analysis and are freed with it. */
CVL_API void cvl_analysis_free(struct cvl_analysis *a);

/**
 * Read @tl to its end and push all of it to each of the @n analyses, which were opened on it; then
 * end them. What none of them needs is left out before streams are merged. @tl is at its start. The
 * first error ends all; progress is reported, and cancelled, through the timeline's options.
 */
CVL_API int cvl_analyse(struct cvl_timeline *tl, struct cvl_analysis *const *analyses, size_t n,
			struct cvl_error *err);

CVL_END_DECLS

#endif
