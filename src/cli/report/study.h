/* SPDX-License-Identifier: MIT */
/**
 * One session seen by every estimator that can use its observations, and in depth by one of them: the numbers
 * that a report tells and draws.
 */
#ifndef CLI_REPORT_STUDY_H
#define CLI_REPORT_STUDY_H

#include <coeval/score.h>
#include <coeval/session.h>
#include <coeval/sync.h>

#define STUDY_QUANTILES 201
#define STUDY_POINTS 300
#define STUDY_ESTIMATORS 32
/** Instants after the start that do not count in scores: clocks of captures settle in it. */
#define STUDY_SETTLE_NS 30000000000

/** What one estimator made of the observations. */
struct study_result {
	const struct cvl_estimator_info *info;
	size_t index;          /* in the table of estimators */
	struct cvl_sync *sync; /* NULL: it failed, and */
	char why[CVL_ERROR_TEXT];
	size_t tied, degraded;
	uint64_t residuals;                  /* 0: it does not see pulses or beacons */
	double residual_sd, residual_median; /* ns; the median is of absolute values */
	double median_bound;                 /* of a clock, ns; below 0: none is known */
	struct cvl_score score;              /* n is 0 where nothing is known */
	double quantile[STUDY_QUANTILES];    /* of absolute errors, ns, if score.n */
};

/** Course of one clock. Times are seconds from the study's begin; values that are not there are NaN. */
struct study_clock {
	const struct cvl_clock_sync *sync;
	double usual_rate; /* ppm, the median of the points below */
	double t[STUDY_POINTS], rate[STUDY_POINTS],
		truth[STUDY_POINTS]; /* ppm against the median */
	double bound[STUDY_POINTS];  /* ns */
	double *mark_t, *residual;   /* ns; in the order of time */
	size_t n_marks;
};

struct study {
	const struct cvl_session *session;
	struct cvl_sync *truth; /* NULL: not known */
	double settled_s;       /* scores count from this long after the start */
	size_t instants;        /* of the scores */
	struct study_result result[STUDY_ESTIMATORS];
	size_t n;
	size_t main;               /* result that is looked at in depth */
	struct study_clock *clock; /* one for each of main's */
	size_t n_clocks;
	double length_s;  /* the courses lie in 0..length_s */
	double *error;    /* of pairs by main, ns, by size */
	double *residual; /* all of main's, by size */
	size_t n_residuals;
};

/**
 * Make it. @estimator: the one to look at in depth; NULL, or one that these observations do not fit: the default.
 * Returns 0, or what keeps every estimator from it: CVL_E_NO when nothing ties the clocks.
 */
int study_make(struct study *s, struct cvl_session *session, const struct cvl_sync_opts *opts,
	       const char *estimator, struct cvl_error *err);

/** After study_make(), failed or not. */
void study_free(struct study *s);

#endif
