/* SPDX-License-Identifier: MIT */
/** Simulated worlds for the benchmarks: made, observed once, solved by several estimators. */
#ifndef BENCH_WORLDS_H
#define BENCH_WORLDS_H

#include <coeval/score.h>
#include <coeval/sync.h>

#include "bench.h"
#include "sim/happen.h"

#define WORLD_SEEDS 3

/** Errors are looked at from here on, when every estimator has heard enough to have settled. */
#define WORLD_SETTLED_NS 30000000000

/** A world that has happened. */
struct happened {
	struct world w;
	char path[BENCH_PATH_MAX];
	struct cvl_session *session;
	struct cvl_sync *truth;
	struct cvl_observations *obs;
	struct cvl_sync_opts opts; /* obs points to it */
};

/** World @name of examples/worlds with @seed, as its file has it. */
int world_named(const struct bench *b, struct world *w, const char *name, uint64_t seed);

/** Let @w happen and read its observations by @opts. Freed by world_end() in any case. */
int world_happen(const struct bench *b, struct happened *h, const struct world *w,
		 const struct cvl_sync_opts *opts);
void world_end(struct happened *h);

/** The tick that @c stores of what happens at @t: its first look that is not before. */
uint64_t world_stamp(const struct world_clock *c, const struct oscillator *o, double t);

/** Solve by @estimator. @sync is freed by the caller. */
int world_solve(const struct bench *b, const struct happened *h, const char *estimator,
		struct cvl_sync **sync);

/** From when it has settled to the end: the instants that the others are compared at. */
struct cvl_score_opts world_instants(const struct world *w);

/** Solve by @estimator and score; @degraded: how many clocks are, or NULL. */
int world_score(const struct bench *b, const struct happened *h, const char *estimator,
		const struct cvl_score_opts *at, struct cvl_score *score, unsigned *degraded);

#endif
