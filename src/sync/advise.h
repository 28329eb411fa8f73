/* SPDX-License-Identifier: MIT */
/** How fewer or more messages would change the bounds: see cvl_sync_advise(). */
#ifndef SYNC_ADVISE_H
#define SYNC_ADVISE_H

#include "sync/problem.h"

/**
 * Advice for the messages of @p with @e, an estimator for messages. @wanted_ns: the bound to find a
 * rate for, or 0. CVL_E_NO if there is no advice for any clock.
 */
int advise(struct cvl_advice **advice, const struct sync_problem *p, const struct estimator *e,
	   double wanted_ns, struct cvl_error *err);

#endif
