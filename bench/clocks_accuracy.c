/* SPDX-License-Identifier: MIT */
#include "clocks.h"

#include <coeval/error.h>

#include <stdio.h>

#include "oracle.h"
#include "worlds.h"

static void note_degraded(struct bench_figure *f, const unsigned degraded[WORLD_SEEDS],
			  size_t clocks)
{
	snprintf(f->note, sizeof(f->note), "degraded: %u, %u, %u of %zu clocks", degraded[0],
		 degraded[1], degraded[2], clocks);
}

/* ---- nominal ---- */

enum nominal_row {
	SMOOTH_GRACE,
	SMOOTH_BEST,
	KALMAN_GRACE,
	KALMAN_BEST,
	COVERED,
	BOUND,
	NOMINAL_ROWS
};

static int nominal_seed(const struct bench *b, uint64_t seed, struct bench_figure *f)
{
	const struct cvl_sync_opts opts = { 0 };
	struct cvl_score smooth, kalman, grace;
	struct cvl_score_opts at;
	struct cvl_error err;
	struct oracle best;
	struct happened h = { 0 };
	struct world w;
	int rc = world_named(b, &w, "nominal", seed);

	if (rc)
		return rc;
	at = world_instants(&w);
	rc = world_happen(b, &h, &w, &opts);
	if (!rc)
		rc = world_score(b, &h, "smooth", &at, &smooth, NULL);
	if (!rc)
		rc = world_score(b, &h, "kalman", &at, &kalman, NULL);
	if (!rc)
		rc = world_score(b, &h, "grace", &at, &grace, NULL);
	world_end(&h);
	if (!rc && oracle_score(&best, &w, &at, &err))
		rc = bench_fail(b, (int)err.code, "world %s: %s", w.name, err.text);
	if (rc)
		return rc;
	bench_add(&f[SMOOTH_GRACE].measured, grace.mean_abs / smooth.mean_abs);
	bench_add(&f[SMOOTH_BEST].measured, smooth.mean_abs / best.offline);
	bench_add(&f[KALMAN_GRACE].measured, grace.mean_abs / kalman.mean_abs);
	bench_add(&f[KALMAN_BEST].measured, kalman.mean_abs / best.online);
	bench_add(&f[COVERED].measured, 100 * smooth.coverage);
	bench_add(&f[BOUND].measured, (double)smooth.median_bound);
	if (seed == 1) {
		snprintf(f[SMOOTH_GRACE].note, sizeof(f->note), "seed 1: %.1f against %.0f ns",
			 smooth.mean_abs, grace.mean_abs);
		snprintf(f[SMOOTH_BEST].note, sizeof(f->note), "seed 1: %.1f against %.1f ns",
			 smooth.mean_abs, best.offline);
		snprintf(f[KALMAN_GRACE].note, sizeof(f->note), "seed 1: %.1f against %.0f ns",
			 kalman.mean_abs, grace.mean_abs);
		snprintf(f[KALMAN_BEST].note, sizeof(f->note), "seed 1: %.1f against %.1f ns",
			 kalman.mean_abs, best.online);
	}
	return 0;
}

static int nominal(const struct bench *b)
{
	struct bench_figure f[NOMINAL_ROWS] = {
		[SMOOTH_GRACE] = { .name = "nominal: smooth's mean error, times better than Grace's clock",
				   .unit = "x",
				   .less_is_better = false,
				   .goal = 8 },
		[SMOOTH_BEST] = { .name = "nominal: smooth against the best possible, offline",
				  .unit = "x",
				  .less_is_better = true,
				  .goal = 1.10 },
		[KALMAN_GRACE] = { .name = "nominal: kalman's mean error, times better than Grace's clock",
				   .unit = "x",
				   .less_is_better = false,
				   .goal = 3.8 },
		[KALMAN_BEST] = { .name = "nominal: kalman against the best possible, online",
				  .unit = "x",
				  .less_is_better = true,
				  .goal = 1.25 },
		[COVERED] = { .name = "nominal: errors of pairs within smooth's bound",
			      .unit = "%",
			      .less_is_better = false,
			      .goal = 99.9 },
		[BOUND] = { .name = "nominal: median bound of a pair, smooth",
			    .unit = "ns",
			    .less_is_better = true,
			    .goal = 600 },
	};
	int rc = 0;

	for (uint64_t seed = 1; seed <= WORLD_SEEDS && !rc; seed++)
		rc = nominal_seed(b, seed, f);
	for (size_t i = 0; i < NOMINAL_ROWS && !rc; i++)
		bench_figure_put(b, &f[i]);
	return rc;
}

/* ---- quiet, correlated ---- */

static int coverage(const struct bench *b, const char *world, struct bench_figure *f)
{
	const struct cvl_sync_opts opts = { 0 };
	unsigned degraded[WORLD_SEEDS] = { 0 };
	size_t clocks = 0;
	int rc = 0;

	for (uint64_t seed = 1; seed <= WORLD_SEEDS && !rc; seed++) {
		struct happened h = { 0 };
		struct cvl_score_opts at;
		struct cvl_score score;
		struct world w;

		rc = world_named(b, &w, world, seed);
		if (rc)
			return rc;
		at = world_instants(&w);
		rc = world_happen(b, &h, &w, &opts);
		if (!rc)
			rc = world_score(b, &h, "smooth", &at, &score, &degraded[seed - 1]);
		clocks = rc ? 0 : cvl_session_clocks(h.session);
		world_end(&h);
		if (!rc)
			bench_add(&f->measured, 100 * score.coverage);
	}
	if (rc)
		return rc;
	note_degraded(f, degraded, clocks);
	bench_figure_put(b, f);
	return 0;
}

/* ---- harsh ---- */

enum harsh_row { HARSH_SMOOTH, HARSH_KALMAN, HARSH_COVERED, HARSH_ROWS };

static int harsh(const struct bench *b)
{
	const struct cvl_sync_opts opts = { 0 };
	struct bench_figure f[HARSH_ROWS] = {
		[HARSH_SMOOTH] = { .name = "harsh: smooth's mean error",
				   .unit = "ns",
				   .less_is_better = true,
				   .goal = 160 },
		[HARSH_KALMAN] = { .name = "harsh: kalman's mean error",
				   .unit = "ns",
				   .less_is_better = true,
				   .goal = 320 },
		[HARSH_COVERED] = { .name = "harsh: errors of pairs within smooth's bound",
				    .unit = "%",
				    .less_is_better = false,
				    .goal = 99.5 },
	};
	unsigned degraded[WORLD_SEEDS] = { 0 };
	size_t clocks = 0;
	int rc = 0;

	for (uint64_t seed = 1; seed <= WORLD_SEEDS && !rc; seed++) {
		struct happened h = { 0 };
		struct cvl_score smooth, kalman;
		struct cvl_score_opts at;
		struct cvl_error err;
		struct oracle best;
		struct world w;

		rc = world_named(b, &w, "harsh", seed);
		if (rc)
			return rc;
		at = world_instants(&w);
		rc = world_happen(b, &h, &w, &opts);
		if (!rc)
			rc = world_score(b, &h, "smooth", &at, &smooth, &degraded[seed - 1]);
		if (!rc)
			rc = world_score(b, &h, "kalman", &at, &kalman, NULL);
		clocks = rc ? 0 : cvl_session_clocks(h.session);
		world_end(&h);
		if (!rc && oracle_score(&best, &w, &at, &err))
			rc = bench_fail(b, (int)err.code, "world %s: %s", w.name, err.text);
		if (rc)
			return rc;
		bench_add(&f[HARSH_SMOOTH].measured, smooth.mean_abs);
		bench_add(&f[HARSH_KALMAN].measured, kalman.mean_abs);
		bench_add(&f[HARSH_COVERED].measured, 100 * smooth.coverage);
		if (seed == 1) {
			snprintf(f[HARSH_SMOOTH].note, sizeof(f->note),
				 "best possible, seed 1: %.1f ns", best.offline);
			snprintf(f[HARSH_KALMAN].note, sizeof(f->note),
				 "best possible, seed 1: %.1f ns", best.online);
		}
	}
	note_degraded(&f[HARSH_COVERED], degraded, clocks);
	for (size_t i = 0; i < HARSH_ROWS && !rc; i++)
		bench_figure_put(b, &f[i]);
	return rc;
}

/* ---- outage ---- */

static int outage(const struct bench *b)
{
	static const char *const estimator[] = { "smooth", "kalman" };
	const struct cvl_sync_opts opts = { 0 };
	struct bench_figure f[] = {
		{ .name = "60 s without beacons: smooth's mean error in them",
		  .unit = "us",
		  .less_is_better = true,
		  .goal = 0.3 },
		{ .name = "60 s without beacons: kalman's mean error in them",
		  .unit = "us",
		  .less_is_better = true,
		  .goal = 1.6 },
	};
	int rc = 0;

	for (uint64_t seed = 1; seed <= WORLD_SEEDS && !rc; seed++) {
		struct happened h = { 0 };
		struct cvl_score_opts at;
		struct cvl_score score;
		struct world w;

		rc = world_named(b, &w, "outage", seed);
		if (!rc && (!w.n_faults || w.fault[0].kind != WORLD_OUTAGE))
			rc = bench_fail(b, CVL_E_MISSING, "world outage has none");
		if (rc)
			return rc;
		at = world_instants(&w);
		at.from.ns = w.fault[0].at_ns;
		at.until.ns = w.fault[0].at_ns + w.fault[0].for_ns;
		rc = world_happen(b, &h, &w, &opts);
		for (int i = 0; i < 2 && !rc; i++) {
			rc = world_score(b, &h, estimator[i], &at, &score, NULL);
			if (!rc)
				bench_add(&f[i].measured, score.mean_abs * 1e-3);
		}
		world_end(&h);
	}
	for (int i = 0; i < 2 && !rc; i++)
		bench_figure_put(b, &f[i]);
	return rc;
}

int clocks_accuracy(const struct bench *b)
{
	struct bench_figure quiet = { .name = "quiet: errors of pairs within smooth's bound",
				      .unit = "%",
				      .less_is_better = false,
				      .goal = 99.9 },
			    correlated = {
				    .name = "correlated: errors of pairs within smooth's bound",
				    .unit = "%",
				    .less_is_better = false,
				    .goal = 99.5
			    };
	int rc = nominal(b);

	rc = rc ? rc : coverage(b, "quiet", &quiet);
	rc = rc ? rc : harsh(b);
	rc = rc ? rc : coverage(b, "correlated", &correlated);
	return rc ? rc : outage(b);
}
