/* SPDX-License-Identifier: MIT */
/** Every estimator on the observations of one session, as a table. */
#ifndef CLI_COMPARE_H
#define CLI_COMPARE_H

#include <coeval/study.h>

#include "json.h"

/**
 * Solve by every estimator that fits, and print the results. Nothing is written to the session.
 */
int compare_print(struct cvl_out *o, struct cvl_session *session, const struct cvl_sync_opts *opts,
		  bool json, struct cvl_error *err);

/** The result of each estimator, as member "estimators". */
void compare_put(struct js *j, const struct cvl_study *study);

#endif
