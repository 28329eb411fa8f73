/* SPDX-License-Identifier: MIT */
/** Filling of struct cvl_durations, which begins as {0}. */
#ifndef ANALYSIS_DURATIONS_H
#define ANALYSIS_DURATIONS_H

#include <coeval/durations.h>

/** CVL_E_NOMEM, CVL_E_LIMIT: too many to keep in memory. */
int durations_add(struct cvl_durations *d, int64_t ns, int64_t bound_ns);
/** After all were added: fill the figures and bins. CVL_E_NOMEM. */
int durations_conclude(struct cvl_durations *d);
void durations_free(struct cvl_durations *d);

#endif
