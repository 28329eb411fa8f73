/* SPDX-License-Identifier: MIT */
/**
 * One session solved by every estimator that can use its observations, and one of them in depth:
 * how estimators compare, and the data of a report (coeval/report.h).
 */
#ifndef COEVAL_STUDY_H
#define COEVAL_STUDY_H

#include <coeval/api.h>
#include <coeval/score.h>
#include <coeval/session.h>
#include <coeval/sync.h>

CVL_BEGIN_DECLS

#define CVL_STUDY_QUANTILES 201
#define CVL_STUDY_POINTS 300
#define CVL_STUDY_ESTIMATORS 32
/**
 * Instants this soon after the start do not count in scores: captured clocks are still settling.
 */
#define CVL_STUDY_SETTLE_NS 30000000000

/** The result of one estimator. */
struct cvl_study_result {
	const struct cvl_estimator_info *info;
	size_t index; /* in the table of estimators */
	/* without maps, but for the main one; NULL: it failed, and */
	struct cvl_sync *sync;
	char why[CVL_ERROR_TEXT];             /* this is why */
	size_t tied, degraded;                /* clocks */
	uint64_t residuals;                   /* 0: it does not use pulses or beacons */
	double residual_sd;                   /* ns */
	double residual_median;               /* of absolute values, ns */
	double median_bound;                  /* of a clock, ns; below 0: unknown */
	struct cvl_score score;               /* n is 0 if the truth is unknown */
	double quantile[CVL_STUDY_QUANTILES]; /* of absolute errors, ns, if score.n */
};

/** Course of one clock. Times are seconds from the study's begin; missing values are NaN. */
struct cvl_study_clock {
	const struct cvl_clock_sync *sync;
	double usual_rate; /* ppm, the median of the points below */
	double t[CVL_STUDY_POINTS];
	double rate[CVL_STUDY_POINTS];  /* ppm against the median */
	double truth[CVL_STUDY_POINTS]; /* the same of the true rate */
	double bound[CVL_STUDY_POINTS]; /* ns */
	/*
	 * of each mark it heard, ns, in order of time; of more than 8192, of one in 2, 4, 8, ...
	 */
	double *mark_t, *residual;
	size_t n_marks;
};

struct cvl_study {
	const struct cvl_session *session;
	struct cvl_sync *truth; /* NULL: unknown */
	double settled_s;       /* scores count from this long after the start */
	size_t instants;        /* of the scores */
	struct cvl_study_result result[CVL_STUDY_ESTIMATORS];
	size_t n;
	size_t main;                   /* index of the result examined in depth */
	struct cvl_study_clock *clock; /* one for each of main's */
	size_t n_clocks;
	double length_s;  /* the courses span 0..length_s */
	double *error;    /* of pairs by main, ns, sorted; score.n of them */
	double *residual; /* those of main's clocks, sorted */
	size_t n_residuals;
};

/**
 * Make the study of @session, which must outlive it; its sync.json stays as it is. Observations are read as
 * @opts say. With truth.json beside the session each estimator is scored as well.
 *
 * @estimator  the one to examine in depth; NULL, or one that cannot use these observations: the
 *             default
 *
 * Returns 0, or why no estimator can run: CVL_E_NO when nothing ties the clocks; what
 * cvl_observe() and cvl_truth_load() say. Free it by cvl_study_free(). One thread at a time.
 */
CVL_API int cvl_study_make(struct cvl_study **study, struct cvl_session *session,
			   const struct cvl_sync_opts *opts, const char *estimator,
			   struct cvl_error *err);

/** NULL is allowed. */
CVL_API void cvl_study_free(struct cvl_study *study);

CVL_END_DECLS

#endif
