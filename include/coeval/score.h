/* SPDX-License-Identifier: MIT */
/** Accuracy of clock maps where the truth is known. */
#ifndef COEVAL_SCORE_H
#define COEVAL_SCORE_H

#include <coeval/api.h>
#include <coeval/session.h>
#include <coeval/sync.h>

CVL_BEGIN_DECLS

struct cvl_score_opts {
	uint64_t seed;   /* of the instants */
	size_t instants; /* 0: 2000 */
	bool has_from, has_until;
	struct cvl_time from, until; /* range of true times */
};

/** Errors of the differences between all pairs of clocks, ns. */
struct cvl_score {
	uint64_t n; /* differences sampled; 0: no two clocks have maps and truth */
	double mean, mean_abs, sd, p999, max; /* p999, max: of absolute values */
	double rms;
	double coverage;      /* share of errors within the bound of the pair */
	int64_t median_bound; /* of a pair */
};

/**
 * At random instants an event is stamped by every clock as its capture would (the first tick that
 * is not before it), and the times that @sync's maps give to those ticks are compared pair by pair.
 * The bound of a pair is cvl_bound_pair() of the clocks' bounds, each including the capture's
 * resolution. Instants where @truth itself has a bound are skipped. @errors: receives the
 * differences, to be freed by the caller; or NULL. CVL_E_NOMEM.
 */
CVL_API int cvl_score(struct cvl_score *score, const struct cvl_sync *sync,
		      const struct cvl_sync *truth, const struct cvl_session *session,
		      const struct cvl_score_opts *opts, double **errors, struct cvl_error *err);

CVL_END_DECLS

#endif
