/* SPDX-License-Identifier: MIT */
/*
 * What costs only what it shows: a range anywhere in a long capture, bounds, many streams; and a long
 * session of many clocks.
 */
#include "bench.h"

#include <coeval/clockmap.h>
#include <coeval/follow.h>
#include <coeval/session.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define RUNS 5
#define EDGES 40000000u
#define AT_ONCE 4096
#define TICKS_PER_EDGE 1000 /* of a clock of 1 GHz: 40 s */
#define STREAMS 10000
#define EVENTS_PER_STREAM 100

static const struct cvl_origin origin = { .format = "bench", .path = "-" };

static int write_edges(struct cvl_writer *w, struct cvl_error *err)
{
	static struct cvl_tick tick[AT_ONCE];
	static uint64_t levels[AT_ONCE];
	uint64_t now = 0;
	int rc = 0;

	for (unsigned done = 0; done < EDGES && !rc; done += AT_ONCE) {
		for (unsigned i = 0; i < AT_ONCE; i++) {
			tick[i].count = now += TICKS_PER_EDGE;
			levels[i] = i & 1;
		}
		rc = cvl_writer_edges(w, tick, levels, AT_ONCE, err);
	}
	return rc;
}

static int write_session(const struct bench *b, const char *path)
{
	const struct cvl_store_desc desc = {
		.clock = "c", .rate_hz = 1000000000, .lines = (const char *[]){ "x" }, .n_lines = 1
	};
	struct cvl_session *s;
	struct cvl_writer *w;
	struct cvl_error err;
	int rc = cvl_session_create(&s, path, &err);

	bench_doing(b, "making %s", path);
	if (!rc)
		rc = cvl_session_add(s, &desc, &origin, &w, &err);
	if (!rc)
		rc = write_edges(w, &err);
	if (!rc)
		rc = cvl_session_finish(s, w, (struct cvl_tick){ (uint64_t)EDGES * TICKS_PER_EDGE },
					&err);
	cvl_session_close(s);
	return rc ? bench_fail(b, rc, "%s", err.text) : 0;
}

/* A millisecond at the end, against the same at the beginning, where nothing is to be skipped. */
static int seek(const struct bench *b)
{
	struct bench_row row = { .name = "show of 1 ms at the end of 40 M edges: at the beginning",
				 .goal = 0.7 };
	char session[BENCH_PATH_MAX];
	const char *const ours[] = { b->coeval, "show",    session,  "--from",
				     "39.99",   "--until", "39.991", NULL };
	const char *const first[] = { b->coeval, "show",    session, "--from",
				      "0.01",    "--until", "0.011", NULL };
	int rc;

	bench_path(b, session, "live");
	rc = write_session(b, session);
	if (!rc)
		rc = bench_compare(b, &row, RUNS, &(struct bench_command){ .argv = ours },
				   &(struct bench_command){ .argv = first });
	bench_remove(session);
	return rc;
}

/* One trace of many streams, as a tracer with a buffer a processor or thread leaves. */
static int write_streams(const char *trace)
{
	char path[BENCH_PATH_MAX + 20];
	FILE *f;

	if (mkdir(trace, 0777))
		return CVL_E_IO;
	snprintf(path, sizeof(path), "%s/metadata", trace);
	f = fopen(path, "w");
	if (!f)
		return CVL_E_IO;
	fputs("/* CTF 1.8 */\n"
	      "trace { major = 1; minor = 8; byte_order = le; };\n"
	      "clock { name = c; freq = 1000000000; };\n"
	      "typealias integer { size = 64; align = 8; map = clock.c.value; } := stamp;\n"
	      "stream { event.header := struct { stamp timestamp; }; };\n"
	      "event { name = e; fields := struct { integer { size = 32; align = 8; } n; }; };\n",
	      f);
	if (fclose(f))
		return CVL_E_IO;
	for (unsigned i = 0; i < STREAMS; i++) {
		snprintf(path, sizeof(path), "%s/stream%u", trace, i);
		f = fopen(path, "w");
		if (!f)
			return CVL_E_IO;
		for (uint32_t k = 0; k < EVENTS_PER_STREAM; k++) {
			uint64_t stamp = (uint64_t)k * 1000000 + i;

			fwrite(&stamp, sizeof(stamp), 1, f);
			fwrite(&k, sizeof(k), 1, f);
		}
		if (fclose(f))
			return CVL_E_IO;
	}
	return 0;
}

static int streams(const struct bench *b)
{
	struct bench_figure figure = { .name = "10,000 streams: peak memory of show",
				       .unit = "MiB",
				       .less_is_better = true,
				       .goal = 64,
				       .real = true };
	char trace[BENCH_PATH_MAX], session[BENCH_PATH_MAX];
	const char *const import[] = { b->coeval, "import", trace, "-o", session, NULL };
	const char *const show[] = { b->coeval, "show", session, NULL };
	const struct bench_command made = { .argv = import }, shown = { .argv = show };
	struct bench_usage usage = { .watch_memory = true };
	int rc;

	bench_path(b, trace, "streams");
	bench_path(b, session, "streams-session");
	bench_doing(b, "making %s", trace);
	rc = write_streams(trace);
	if (rc)
		return bench_fail(b, rc, "%s: cannot be written", trace);
	rc = bench_run(b, &made, &(struct bench_usage){ 0 });
	if (!rc)
		rc = bench_run(b, &shown, &usage);
	bench_add(&figure.measured, usage.resident_mib);
	bench_figure_heads(b);
	if (!rc)
		bench_figure_put(b, &figure);
	bench_remove(trace);
	bench_remove(session);
	return rc;
}

/* Of a day of a clock with a knot a second, for records 10 us apart. */
static int bounds(const struct bench *b)
{
	enum { KNOTS = 86400, RECORDS = 1 << 22 };
	struct bench_row row = { .name = "4 M bounds in bulk: one by one",
				 .unit = "s",
				 .less_is_better = true,
				 .goal = 15 };
	struct cvl_knot *knot = calloc(KNOTS, sizeof(*knot));
	struct cvl_tick *tick = calloc(RECORDS, sizeof(*tick));
	int64_t *bulk = calloc(RECORDS, sizeof(*bulk)), *single = calloc(RECORDS, sizeof(*single));
	struct cvl_map_spec spec = {
		.rate_hz = 1000000000, .knots = knot, .n = KNOTS, .kind = CVL_BOUND_STATISTICAL
	};
	struct cvl_map *map = NULL;
	struct cvl_error err = { .text = "out of memory" };
	int rc = knot && tick && bulk && single ? 0 : CVL_E_NOMEM;

	for (size_t i = 0; !rc && i < KNOTS; i++)
		knot[i] = (struct cvl_knot){ { i * 1000000000 + i % 7919 },
					     { (int64_t)i * 1000000000 },
					     0,
					     300 + (int64_t)(i * 7919 % 211) };
	for (size_t i = 0; !rc && i < RECORDS; i++)
		tick[i].count = 40000000000000 + i * 10000;
	rc = rc ? rc : cvl_map_new(&map, &spec, &err);
	for (int run = 0; !rc && run < RUNS; run++) {
		double begin = bench_cpu();

		cvl_map_bounds(map, NULL, tick, RECORDS, bulk);
		bench_add(&row.ours, bench_cpu() - begin);
		begin = bench_cpu();
		for (size_t i = 0; i < RECORDS; i++)
			cvl_map_time(map, tick[i], &single[i]);
		bench_add(&row.reference, bench_cpu() - begin);
		if (memcmp(bulk, single, RECORDS * sizeof(*bulk)) != 0)
			rc = cvl_fail(&err, CVL_E_MISMATCH, CVL_NO_OFFSET, "bounds differ");
	}
	if (rc)
		rc = bench_fail(b, rc, "%s", err.text);
	else
		bench_put(b, &row);
	cvl_map_free(map);
	free(knot);
	free(tick);
	free(bulk);
	free(single);
	return rc;
}

/*
 * The world of examples/worlds/nominal.yaml with 100 clocks, for a day: 8.6 million beacons heard.
 * What its programs do is left out, which would only make it larger.
 */
static const char day_world[] =
	"name: day\n"
	"duration: 24h\n"
	"clocks:\n"
	"  - {name: node, count: 100, rate: 8 MHz, start: 300ms, distance_m: 20,\n"
	"     oscillator: {offset_sd_ppm: 150, walk_ppb: 3, sine_ppm: 1, sine_period: 20m}}\n"
	"beacons:\n"
	"  - {id: 1, period: 1s, oscillator: {offset_ppm: 7.1, walk_ppb: 0.3}, missed: 0.02,\n"
	"     receiver: {normal_ns: 487, outliers: 0.01, outlier_min_ns: 1000,\n"
	"                outlier_max_ns: 3200, outliers_late: 0.8}}\n";

/* Run @argv and print its peak memory. */
static int measure(const struct bench *b, const char *const *argv, const char *name, double goal)
{
	struct bench_figure figure = {
		.name = name, .unit = "MiB", .less_is_better = true, .goal = goal, .real = true
	};
	struct bench_usage usage = { .watch_memory = true };
	int rc;

	bench_doing(b, "%s", name);
	rc = bench_run(b, &(struct bench_command){ .argv = argv }, &usage);
	if (rc)
		return rc;
	bench_add(&figure.measured, usage.resident_mib);
	snprintf(figure.note, sizeof(figure.note), "%.1f s of CPU", usage.cpu_s);
	bench_figure_put(b, &figure);
	return 0;
}

#define HOUR ((int64_t)3600 * 1000000000)

/* All of @tl that can be read now, as a digest. */
static int digest(struct cvl_timeline *tl, uint64_t *hash, struct cvl_error *err)
{
	struct cvl_slice sl;
	int rc;

	while ((rc = cvl_timeline_next(tl, &sl, err)) > 0)
		for (size_t i = sl.begin; i < sl.end; i++) {
			*hash = (*hash ^ sl.batch->tick[i].count) * 0x9e3779b97f4a7c15u;
			*hash = (*hash ^ (uint64_t)sl.time[i].ns ^ sl.clock) * 0x9e3779b97f4a7c15u;
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

static int day(const struct bench *b)
{
	char world[BENCH_PATH_MAX], session[BENCH_PATH_MAX];
	const char *const sim[] = { b->coeval, "sim", world, "-o", session, NULL };
	const char *const sync[] = { b->coeval, "sync", session, NULL };
	const char *const show[] = { b->coeval, "show",    session,     "--from",
				     "80000",   "--until", "80000.001", NULL };
	struct bench_figure figure = { .name = "show of 1 ms of a day of 100 clocks: CPU time",
				       .unit = "ms",
				       .less_is_better = true,
				       .goal = 50,
				       .real = true };
	FILE *f;
	int rc;

	bench_path(b, world, "day.yaml");
	bench_path(b, session, "day");
	f = fopen(world, "w");
	if (!f || fputs(day_world, f) < 0 || fclose(f))
		return bench_fail(b, CVL_E_IO, "%s: cannot be written", world);
	bench_figure_heads(b);
	rc = measure(b, sim, "sim of a day of 100 clocks: peak memory", 64);
	if (!rc)
		rc = measure(b, sync, "sync of it: peak memory", 64);
	for (int i = 0; i < RUNS && !rc; i++) {
		struct bench_usage usage = { 0 };

		rc = bench_run(b, &(struct bench_command){ .argv = show }, &usage);
		bench_add(&figure.measured, usage.cpu_s * 1e3);
	}
	if (!rc) {
		bench_figure_put(b, &figure);
		rc = measure(b, show, "show of 1 ms of it: peak memory", 32);
	}
	rc = rc ? rc : follow_day(b, session);
	bench_remove(session);
	bench_remove(world);
	return rc;
}

static int run(const struct bench *b)
{
	int rc;

	bench_heads(b);
	rc = seek(b);
	if (!rc)
		rc = bounds(b);
	rc = rc ? rc : streams(b);
	return rc ? rc : day(b);
}

const struct bench_group bench_live = {
	.name = "live",
	.what = "a range anywhere in a long capture, many streams, a day of 100 clocks",
	.run = run,
};
