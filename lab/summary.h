/* SPDX-License-Identifier: MIT */
/** Results over their repetitions: medians, spreads, outliers. Pure. */
#ifndef LAB_SUMMARY_H
#define LAB_SUMMARY_H

#include "lab/results.h"
#include "lab/robust.h"

/** All repetitions of one task at one setting. */
struct summary_group {
	struct results_key key; /* its repetition means nothing */
	struct robust of[QUANTITIES];
	size_t outliers[QUANTITIES];
	double mean[QUANTITIES]; /* of those that are no outliers */
};

struct summary {
	struct summary_group *group;
	size_t n, outliers;
};

/** Mark the outliers in @r, and sum it up: by task, then falling frequency. CVL_E_NOMEM. */
int summary_make(struct summary *s, struct results *r, struct cvl_error *err);
void summary_free(struct summary *s);

/**
 * The medians as a table for `coeval task freq`. Energies are those of all iterations together.
 * CVL_E_IO.
 */
int summary_save_table(const struct summary *s, const char *path, struct cvl_error *err);

#endif
