/* SPDX-License-Identifier: MIT */
/* The guaranteed bounds: that they hold, and how much wider they are than they must be. */
#include <coeval/error.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "causal.h"
#include "clocks.h"
#include "core/random.h"
#include "worlds.h"

#define SLOW_HZ 32768
#define HOSTS 3
#define SHORT_NS 60000000000
#define LOOKS 30        /* of each clock */
#define DRIFT_PPM 200.0 /* the default */

/* How a simulated node's messages are matched. */
static int write_rule(const struct bench *b, char path[BENCH_PATH_MAX])
{
	FILE *f;

	bench_path(b, path, "radio.yaml");
	f = fopen(path, "w");
	if (f)
		fputs("name: radio\nsend: { event: radio_send, key: [seq] }\n"
		      "receive: { event: radio_receive, key: [seq] }\n",
		      f);
	if (!f || fclose(f))
		return bench_fail(b, CVL_E_IO, "%s: %s", path, strerror(errno));
	return 0;
}

static int hold(const struct bench *b, const struct cvl_sync_opts *opts, uint64_t rate_hz)
{
	struct bench_figure f = { .name = "messages: errors of pairs within interval's bound",
				  .unit = "%",
				  .goal = 100,
				  .every = true };
	int rc = 0;

	if (rate_hz)
		f.name = "the same, clocks of 32768 Hz";
	for (uint64_t seed = 1; seed <= WORLD_SEEDS && !rc; seed++) {
		const struct cvl_score_opts at = { .seed = seed };
		struct happened h = { 0 };
		struct cvl_score score;
		struct world w;

		rc = world_named(b, &w, "messages-only", seed);
		if (rc)
			return rc;
		w.clocks[0].rate_hz = rate_hz ? rate_hz : w.clocks[0].rate_hz;
		rc = world_happen(b, &h, &w, opts);
		if (!rc)
			rc = world_score(b, &h, "interval", &at, &score, NULL);
		world_end(&h);
		if (rc)
			return rc;
		/* a single error outside must not be rounded away */
		bench_add(&f.measured, score.coverage < 1 ? fmin(100 * score.coverage, 99.9999) :
							    100 * score.coverage);
		if (seed == 1)
			snprintf(f.note, sizeof(f.note),
				 "seed 1: median bound of a pair %.1f us, largest error %.1f us",
				 (double)score.median_bound * 1e-3, score.max * 1e-3);
	}
	bench_figure_put(b, &f);
	return rc;
}

/* Random instants of all clocks but the reference. */
static size_t choose(const struct happened *h, struct causal_instant at[(HOSTS - 1) * LOOKS])
{
	struct sim_random r = { h->w.seed };
	size_t n = 0;

	for (size_t c = 1; c < HOSTS; c++)
		for (size_t i = 0; i < LOOKS; i++) {
			int64_t from = h->w.clocks[0].start_ns, span = h->w.duration_ns - from;
			struct cvl_time t = { from + (int64_t)(sim_uniform(&r) * (double)span) };

			at[n++] = (struct causal_instant){
				.clock = c,
				.tick = cvl_map_tick(h->truth->clock[c].map, t).count,
			};
		}
	return n;
}

static int compare(const struct bench *b, const struct happened *h, double *worst, double *best)
{
	struct causal_instant at[(HOSTS - 1) * LOOKS];
	struct cvl_sync *sync;
	size_t n = choose(h, at);
	int rc = causal_bounds(b, h, DRIFT_PPM, at, n);

	if (!rc)
		rc = world_solve(b, h, "interval", &sync);
	if (rc)
		return rc;
	*worst = 0;
	*best = INFINITY;
	for (size_t i = 0; i < n && !rc; i++) {
		const struct cvl_map *map = sync->clock[at[i].clock].map;
		int64_t bound;

		if (!map) {
			rc = bench_fail(b, CVL_E_NO, "%s: %s", sync->clock[at[i].clock].clock,
					sync->clock[at[i].clock].reason);
			break;
		}
		cvl_map_time(map, (struct cvl_tick){ at[i].tick }, &bound);
		*worst = fmax(*worst, 2 * (double)bound / (at[i].high - at[i].low));
		*best = fmin(*best, 2 * (double)bound / (at[i].high - at[i].low));
	}
	cvl_sync_free(sync);
	/* tighter than can be: then one of the two has not seen the same messages */
	if (!rc && *best < 0.999)
		rc = bench_fail(b, CVL_E_MISMATCH, "interval is tighter than can be: %g", *best);
	return rc;
}

static int widths(const struct bench *b, const struct cvl_sync_opts *opts, uint64_t rate_hz)
{
	struct bench_figure f = {
		.name = "messages, 60 s: interval's widest against the exact optimum",
		.unit = "x",
		.less_is_better = true,
		.goal = 1.5
	};
	int rc = 0;

	if (rate_hz)
		f.name = "the same, clocks of 32768 Hz";
	for (uint64_t seed = 1; seed <= WORLD_SEEDS && !rc; seed++) {
		struct happened h = { 0 };
		double worst, best;
		struct world w;

		rc = world_named(b, &w, "messages-only", seed);
		if (rc)
			return rc;
		w.clocks[0].count = HOSTS;
		w.duration_ns = SHORT_NS;
		w.clocks[0].rate_hz = rate_hz ? rate_hz : w.clocks[0].rate_hz;
		rc = world_happen(b, &h, &w, opts);
		if (!rc)
			rc = compare(b, &h, &worst, &best);
		world_end(&h);
		if (rc)
			return rc;
		bench_add(&f.measured, worst);
		snprintf(f.note, sizeof(f.note),
			 "%d hosts, %d instants each; the narrowest: %.4g x", HOSTS, LOOKS, best);
	}
	bench_figure_put(b, &f);
	return rc;
}

int clocks_messages(const struct bench *b)
{
	char rule[BENCH_PATH_MAX];
	const char *const match[] = { rule };
	const struct cvl_sync_opts opts = { .match = match,
					    .n_match = 1,
					    .max_drift_ppm = DRIFT_PPM };
	int rc = write_rule(b, rule);

	rc = rc ? rc : hold(b, &opts, 0);
	rc = rc ? rc : hold(b, &opts, SLOW_HZ);
	rc = rc ? rc : widths(b, &opts, 0);
	return rc ? rc : widths(b, &opts, SLOW_HZ);
}
