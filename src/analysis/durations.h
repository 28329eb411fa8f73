/* SPDX-License-Identifier: MIT */
/** Filling of struct cvl_durations, which begins as {0}. */
#ifndef ANALYSIS_DURATIONS_H
#define ANALYSIS_DURATIONS_H

#include <coeval/durations.h>

/** CVL_E_NOMEM, CVL_E_LIMIT: more than memory is spent on. */
int durations_add(struct cvl_durations *d, int64_t ns, int64_t bound_ns);
/** All came: fill the figures and the bins. CVL_E_NOMEM. */
int durations_conclude(struct cvl_durations *d);
void durations_free(struct cvl_durations *d);

#endif
