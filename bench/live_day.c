/* SPDX-License-Identifier: MIT */
/* Long sessions of many clocks. */
#include "live.h"

#include <coeval/follow.h>
#include <coeval/session.h>

#include <stdio.h>

#include "tests/tier.h"

/*
 * The world of examples/worlds/nominal.yaml for some hours and with some clocks: 100 of them hear
 * 8.6 million beacons in a day. What its programs do is left out, which would only make it larger.
 */
static const char world_text[] =
	"name: day\n"
	"duration: %dh\n"
	"clocks:\n"
	"  - {name: node, count: %d, rate: 8 MHz, start: 300ms, distance_m: 20,\n"
	"     oscillator: {offset_sd_ppm: 150, walk_ppb: 3, sine_ppm: 1, sine_period: 20m}}\n"
	"beacons:\n"
	"  - {id: 1, period: 1s, oscillator: {offset_ppm: 7.1, walk_ppb: 0.3}, missed: 0.02,\n"
	"     receiver: {normal_ns: 487, outliers: 0.01, outlier_min_ns: 1000,\n"
	"                outlier_max_ns: 3200, outliers_late: 0.8}}\n";

#define HOUR ((int64_t)3600 * 1000000000)

/* All of @tl that can be read now, as a digest. */
static int digest(struct cvl_timeline *tl, uint64_t *hash, struct cvl_error *err)
{
	struct cvl_block block;
	struct cvl_slice sl;
	int rc;

	while ((rc = cvl_timeline_next(tl, &block, err)) > 0)
		while (cvl_block_take(&block, &sl))
			for (size_t i = sl.begin; i < sl.end; i++) {
				*hash = (*hash ^ sl.batch->tick[i].count) * 0x9e3779b97f4a7c15u;
				*hash = (*hash ^ (uint64_t)sl.time[i].ns ^ sl.clock) *
					0x9e3779b97f4a7c15u;
				*hash ^= *hash >> 29;
			}
	return rc;
}

/* The same of the session as the follower left it. */
static int digest_after(const char *path, uint64_t *hash, struct cvl_error *err)
{
	struct cvl_timeline *tl = NULL;
	struct cvl_session *s;
	int rc = cvl_session_open(&s, path, NULL, err);

	if (rc)
		return rc;
	rc = cvl_timeline_open(&tl, s, NULL, err);
	rc = rc ? rc : digest(tl, hash, err);
	cvl_timeline_close(tl);
	cvl_session_close(s);
	return rc;
}

/*
 * Following the day as if it grew: each step takes what the one before left. The CPU time of late
 * hours against that of early ones; several, since noise is learned anew some three times an hour.
 */
static int follow_day(const struct bench *b, const char *session)
{
	const struct cvl_follow_opts opts = { .save = true };
	struct bench_row row = { .name = "following a day of 100 clocks: hours 20 to 23: 2 to 5",
				 .unit = "s",
				 .less_is_better = true,
				 .goal = 0.9 };
	struct bench_figure figure = { .name = "following it: CPU time for a second of it",
				       .unit = "ms",
				       .less_is_better = true,
				       .goal = 5,
				       .real = true };
	double at[26] = { 0 }, start = bench_cpu(), last;
	uint64_t seen = 0, after = 0;
	struct cvl_follow *f;
	struct cvl_error err;
	int hour = 0, rc = cvl_follow_open(&f, session, &opts, &err);

	if (rc)
		return bench_fail(b, rc, "%s", err.text);
	bench_doing(b, "following");
	while (!rc && (rc = cvl_follow_wait(f, -1, &err)) > 0 && rc != CVL_FOLLOW_ENDED) {
		rc = digest(cvl_follow_timeline(f), &seen, &err);
		while (hour < 25 && cvl_follow_settled(f).ns >= hour * HOUR)
			at[hour++] = bench_cpu();
	}
	last = bench_cpu();
	cvl_follow_close(f);
	rc = rc < 0 ? rc : digest_after(session, &after, &err);
	if (!rc && seen != after)
		rc = cvl_fail(&err, CVL_E_MISMATCH, CVL_NO_OFFSET,
			      "what was followed is not what the session holds afterwards");
	if (rc)
		return bench_fail(b, rc, "%s", err.text);
	bench_add(&row.ours, at[23] - at[19]);
	bench_add(&row.reference, at[5] - at[1]);
	bench_put(b, &row);
	bench_add(&figure.measured, (last - start) / 86400 * 1e3);
	bench_figure_heads(b);
	bench_figure_put(b, &figure);
	return 0;
}

/* @clocks of it for @hours at @session, by the simulator. @what: "a day of 100 clocks". */
static int simulate(const struct bench *b, int clocks, int hours, const char *what,
		    const char *session)
{
	char world[BENCH_PATH_MAX], name[100];
	const char *const sim[] = { b->coeval, "sim", world, "-o", session, NULL };
	FILE *f;
	int rc;

	bench_path(b, world, "live.yaml");
	snprintf(name, sizeof(name), "sim of %s", what);
	f = fopen(world, "w");
	if (!f || fprintf(f, world_text, hours, clocks) < 0 || fclose(f))
		return bench_fail(b, CVL_E_IO, "%s: cannot be written", world);
	rc = live_measure(b, sim, name, 0, 64);
	bench_remove(world);
	return rc;
}

static int day(const struct bench *b)
{
	char session[BENCH_PATH_MAX];
	const char *const sync[] = { b->coeval, "sync", session, NULL };
	const char *const info[] = { b->coeval, "info", session, NULL };
	const char *const show[] = { b->coeval, "show",    session,     "--from",
				     "80000",   "--until", "80000.001", NULL };
	int rc;

	bench_path(b, session, "day");
	rc = simulate(b, 100, 24, "a day of 100 clocks", session);
	rc = rc ? rc : live_measure(b, sync, "sync of it", 12000, 64);
	rc = rc ? rc : live_measure(b, show, "show of 1 ms of it", 50, 32);
	rc = rc ? rc :
		  bench_run(b, &(struct bench_command){ .argv = info },
			    &(struct bench_usage){ 0 }); /* counts records */
	rc = rc ? rc : live_measure(b, info, "info of it, asked again", 50, 32);
	rc = rc ? rc : follow_day(b, session);
	bench_remove(session);
	return rc;
}

/* A report runs every estimator. */
static int report(const struct bench *b)
{
	char session[BENCH_PATH_MAX], page[BENCH_PATH_MAX];
	const char *const make[] = { b->coeval, "report", session, "-o", page, NULL };
	int rc;

	bench_path(b, session, "hours");
	bench_path(b, page, "hours.html");
	rc = simulate(b, 64, 4, "4 h of 64 clocks", session);
	rc = rc ? rc : live_measure(b, make, "report of it", 0, 64);
	bench_remove(session);
	bench_remove(page);
	return rc;
}

static int month(const struct bench *b)
{
	char session[BENCH_PATH_MAX];
	const char *const sync[] = { b->coeval, "sync", session, NULL };
	int rc;

	bench_path(b, session, "month");
	rc = simulate(b, 100, 720, "30 days of 100 clocks", session);
	rc = rc ? rc : live_measure(b, sync, "sync of it", 0, 64);
	bench_remove(session);
	return rc;
}

int live_day(const struct bench *b)
{
	int rc;

	bench_figure_heads(b);
	rc = day(b);
	if (!rc) {
		bench_figure_heads(b);
		rc = report(b);
	}
	return rc || !tier(0, 0, 1) ? rc : month(b);
}
