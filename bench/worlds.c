/* SPDX-License-Identifier: MIT */
#include "worlds.h"

#include <math.h>
#include <stdio.h>

int world_named(const struct bench *b, struct world *w, const char *name, uint64_t seed)
{
	char path[BENCH_PATH_MAX];
	struct cvl_error err;
	int rc;

	if (snprintf(path, sizeof(path), "%s/%s.yaml", b->worlds, name) >= (int)sizeof(path))
		return bench_fail(b, CVL_E_USAGE, "%s: too long", b->worlds);
	rc = world_load(w, path, &err);
	if (rc)
		return bench_fail(b, rc, "%s", err.text);
	w->seed = seed;
	return 0;
}

int world_happen(const struct bench *b, struct happened *h, const struct world *w,
		 const struct cvl_sync_opts *opts)
{
	struct cvl_error err;
	int rc;

	*h = (struct happened){ .w = *w, .opts = *opts };
	if (bench_stopped())
		return CVL_E_NO;
	bench_doing(b, "world %s, seed %llu", w->name, (unsigned long long)w->seed);
	bench_path(b, h->path, "world");
	bench_remove(h->path);
	rc = world_run(&h->w, h->path, NULL, &err);
	if (!rc)
		rc = cvl_session_open(&h->session, h->path, NULL, &err);
	if (!rc)
		rc = cvl_truth_load(&h->truth, h->session, &err) < 0 ? (int)err.code : 0;
	if (!rc)
		rc = cvl_observe(&h->obs, h->session, &h->opts, &err);
	return rc ? bench_fail(b, rc, "world %s: %s", w->name, err.text) : 0;
}

void world_end(struct happened *h)
{
	cvl_observations_free(h->obs);
	cvl_sync_free(h->truth);
	cvl_session_close(h->session);
	if (h->path[0])
		bench_remove(h->path);
	*h = (struct happened){ 0 };
}

uint64_t world_stamp(const struct world_clock *c, const struct oscillator *o, double t)
{
	double step = (double)c->group->resolution;
	double ticks = (oscillator_x(o, t) - oscillator_x(o, c->start)) *
		       ((double)c->group->rate_hz * 1e-9);

	return ticks <= 0 ? 0 : (uint64_t)(ceil(ticks / step) * step);
}

int world_solve(const struct bench *b, const struct happened *h, const char *estimator,
		struct cvl_sync **sync)
{
	struct cvl_error err;
	int rc;

	if (bench_stopped())
		return CVL_E_NO;
	bench_doing(b, "world %s, seed %llu, by %s", h->w.name, (unsigned long long)h->w.seed,
		    estimator ? estimator : "the default");
	rc = cvl_sync_solve(sync, h->obs, estimator, &err);
	return rc ? bench_fail(b, rc, "world %s: %s", h->w.name, err.text) : 0;
}

struct cvl_score_opts world_instants(const struct world *w)
{
	return (struct cvl_score_opts){ .seed = w->seed,
					.has_from = true,
					.has_until = true,
					.from = { WORLD_SETTLED_NS },
					.until = { w->duration_ns } };
}

int world_score(const struct bench *b, const struct happened *h, const char *estimator,
		const struct cvl_score_opts *at, struct cvl_score *score, unsigned *degraded)
{
	struct cvl_sync *sync;
	struct cvl_error err;
	int rc = world_solve(b, h, estimator, &sync);

	if (rc)
		return rc;
	for (size_t i = 0; degraded && i < sync->n; i++)
		*degraded += sync->clock[i].verdict == CVL_DEGRADED;
	rc = cvl_score(score, sync, h->truth, h->session, at, NULL, &err);
	cvl_sync_free(sync);
	return rc ? bench_fail(b, rc, "world %s: %s", h->w.name, err.text) : 0;
}
