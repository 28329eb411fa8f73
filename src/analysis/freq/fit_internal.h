/* SPDX-License-Identifier: MIT */
/** Shared by the fits of thresholds and of linear models. */
#ifndef TASK_FIT_INTERNAL_H
#define TASK_FIT_INTERNAL_H

#include "analysis/freq/fit.h"

/** A feature of a task, 2^-16; INT32_MIN if it was not measured. */
int32_t fit_feature(const struct freq_set *set, const struct freq_case *c, uint8_t feature);

/**
 * Ridge regression of each point's energy ratio on @rule's features; returns the number of tasks
 * used. If 0, each ratio is 1.
 */
size_t fit_linear(struct swo_model *m, const struct fit_rule *rule, const struct freq_set *set,
		  size_t skip);

#endif
