/* SPDX-License-Identifier: MIT */
/** What cvl_observe() returns, also made by other means. */
#ifndef SYNC_OBSERVATIONS_H
#define SYNC_OBSERVATIONS_H

#include "sync/problem.h"
#include "sync/rules.h"

struct cvl_observations {
	struct sync_problem p;
	struct rule_set rules;
	struct cvl_sync_opts opts;
	const struct cvl_session *session;
};

/** Rules and clocks of @session, nothing observed yet. To be freed by cvl_observations_free(). */
int observations_new(struct cvl_observations **obs, struct cvl_session *session,
		     const struct cvl_sync_opts *opts, struct cvl_error *err);

/** Marks and messages are all there. */
void observations_complete(struct cvl_observations *obs);

/** What is found beside the maps. */
struct observations_found {
	/* so long before their end, further ones will change times by less than 1 % of the bounds */
	int64_t horizon_ns;
	struct track_noise *noise; /* [clock], filled in, or NULL */
};

/** As cvl_sync_solve(). */
int observations_solve(struct cvl_sync **sync, const struct cvl_observations *obs,
		       const char *estimator, struct observations_found *found,
		       struct cvl_error *err);

#endif
