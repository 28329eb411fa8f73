/* SPDX-License-Identifier: MIT */
/** What fewer or more messages would do to bounds: see cvl_sync_advise(). */
#ifndef SYNC_ADVISE_H
#define SYNC_ADVISE_H

#include "sync/problem.h"

/**
 * Of the messages of @p, by @e, which works on messages. @wanted_ns: 0 or a bound to find a rate
 * for. CVL_E_NO where nothing can be said of any clock.
 */
int advise(struct cvl_advice **advice, const struct sync_problem *p, const struct estimator *e,
	   double wanted_ns, struct cvl_error *err);

#endif
