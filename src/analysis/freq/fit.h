/* SPDX-License-Identifier: MIT */
/**
 * Rules that choose a frequency, as given or as fitted to tasks. A rule is fitted to the measured
 * energies of all tasks of a set but one, so that it can be judged by a task that it has not seen
 * (leave-one-out).
 *
 * Thresholds and frequencies minimise the sum over tasks of energy at the chosen frequency over
 * energy at the highest; linear rules are regressions of that ratio, and the estimate's alpha * C
 * is the mean by equation 10.5.
 */
#ifndef TASK_FIT_H
#define TASK_FIT_H

#include "analysis/freq/freq.h"

#define FIT_NONE SIZE_MAX /* no task is left out */

enum fit_kind {
	FIT_CONSTANT, /* always the same point */
	FIT_RULE,     /* a rule of the thesis */
	FIT_STEP,     /* one threshold on one feature: a point on either side of it */
	/*
	 * energy over that at point 0 as a linear function of features, by ridge regression:
	 * SWO_RULE_LEARNED
	 */
	FIT_LINEAR,
};

struct fit_rule {
	const char *name;
	enum fit_kind kind;
	enum swo_rule rule; /* FIT_RULE */
	uint8_t n_features; /* FIT_STEP: 1; FIT_LINEAR: up to SWO_MODEL_FEATURES */
	uint8_t feature[SWO_MODEL_FEATURES];
};

/** A rule with its numbers. */
struct fitted {
	enum fit_kind kind;
	enum swo_rule rule;
	uint32_t point;          /* FIT_CONSTANT */
	struct swo_thresholds t; /* FIT_RULE */
	uint32_t otherwise;      /* point if the rule does not decide */
	uint32_t alpha_c_ff;     /* for SWO_RULE_ENERGY; 0: the device's */
	uint8_t feature;         /* FIT_STEP */
	int32_t step;            /* threshold of the feature, 2^-16 */
	uint32_t below, above;
	struct swo_model model; /* FIT_LINEAR */
	size_t tasks;           /* FIT_LINEAR: tasks fitted to: those that have all features */
};

/** The rules compared, besides the constant ones. */
extern const struct fit_rule fit_rules[];
extern const size_t fit_rules_n;

/**
 * Bits (1 << enum swo_feature) of features that no task of @set has, such as an empty column.
 */
uint32_t fit_lacks(const struct freq_set *set);

/**
 * @rule as far as usable for @set, in *@out: a linear rule without the features in @lacks. False:
 * no
 *       feature is left, or it requires one of them.
 */
bool fit_usable(const struct fit_rule *rule, uint32_t lacks, struct fit_rule *out);

/**
 * The rule as given, with the thesis's thresholds. Only FIT_CONSTANT (@point) and FIT_RULE.
 */
struct fitted fit_given(const struct fit_rule *rule, uint32_t point);

/** Fit @rule to @set without task @skip (or FIT_NONE). */
struct fitted fit_make(const struct fit_rule *rule, const struct freq_set *set, size_t skip);

/** The chosen point; -1: undecided, also if something was not measured. */
int fit_choose(const struct fitted *f, const struct freq_set *set, const struct freq_case *c);

/** swo_rule_needs() of a rule. */
uint32_t fit_needs(const struct fit_rule *rule);

/**
 * Runs of a task needed to measure @needs at the highest frequency, one quantity at a time (6.4);
 * cycles are read and take no run of their own, and 1 MB of flash memory takes 8 (6.3.1). A second
 * frequency takes one more run, not counted here.
 */
unsigned fit_passes(uint32_t needs);

/**
 * Score of a rule on every task of @set: fitted to all tasks, or for each task to the others
 * (@leave_out).
 */
void fit_score(const struct fit_rule *rule, const struct freq_set *set, bool leave_out,
	       struct cvl_freq_score *out);
/** The same for a given rule. */
void fit_score_given(const struct fitted *f, const struct freq_set *set,
		     struct cvl_freq_score *out);

#endif
