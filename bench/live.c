/* SPDX-License-Identifier: MIT */
/* What costs only what it shows: a range anywhere in a long capture, bounds, many streams. */
#include "live.h"

#include <coeval/clockmap.h>
#include <coeval/session.h>

#include "tests/tier.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define RUNS 5
#define EDGES 40000000u
#define AT_ONCE 4096
#define MANY 64
#define STREAMS 10000
#define EVENTS_PER_STREAM 100

static const struct cvl_origin origin = { .format = "bench", .path = "-" };

static int write_edges(struct cvl_writer *w, uint64_t edges, uint64_t apart, struct cvl_error *err)
{
	static struct cvl_tick tick[AT_ONCE];
	static uint64_t levels[AT_ONCE];
	uint64_t now = 0;
	int rc = 0;

	for (uint64_t done = 0; done < edges && !rc; done += AT_ONCE) {
		for (unsigned i = 0; i < AT_ONCE; i++) {
			tick[i].count = now += apart;
			levels[i] = i & 1;
		}
		rc = cvl_writer_edges(w, tick, levels, AT_ONCE, err);
	}
	return rc;
}

/* @edges of each of @clocks clocks, @apart ns. */
static int write_session(const struct bench *b, const char *path, unsigned clocks, uint64_t edges,
			 uint64_t apart)
{
	const struct cvl_tick end = { edges * apart };
	struct cvl_session *s;
	struct cvl_error err;
	int rc = cvl_session_create(&s, path, &err);

	bench_doing(b, "making %s", path);
	for (unsigned i = 0; i < clocks && !rc; i++) {
		char name[20];
		const struct cvl_store_desc desc = { .clock = name,
						     .rate_hz = 1000000000,
						     .lines = (const char *[]){ "x" },
						     .n_lines = 1 };
		struct cvl_writer *w;

		snprintf(name, sizeof(name), "c%u", i);
		rc = cvl_session_add(s, &desc, &origin, &w, &err);
		rc = rc ? rc : write_edges(w, edges, apart, &err);
		rc = rc ? rc : cvl_session_finish(s, w, end, &err);
	}
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
	rc = write_session(b, session, 1, EDGES, 1000);
	if (!rc)
		rc = bench_compare(b, &row, RUNS, &(struct bench_command){ .argv = ours },
				   &(struct bench_command){ .argv = first });
	bench_remove(session);
	return rc;
}

int live_measure(const struct bench *b, const char *const *argv, const char *what, double cpu_ms,
		 double mib)
{
	char name[2][100];
	struct bench_figure cpu = { .name = name[0],
				    .unit = "ms",
				    .less_is_better = true,
				    .goal = cpu_ms,
				    .real = true },
			    memory = { .name = name[1],
				       .unit = "MiB",
				       .less_is_better = true,
				       .goal = mib,
				       .real = true };
	struct bench_usage usage = { .watch_memory = true };
	int rc = 0;

	snprintf(name[0], sizeof(name[0]), "%s: CPU time", what);
	snprintf(name[1], sizeof(name[1]), "%s: peak memory", what);
	bench_doing(b, "%s", what);
	for (int i = 0; i < (cpu_ms > 0 && cpu_ms < 1000 ? RUNS : 1) && !rc; i++) {
		rc = bench_run(b, &(struct bench_command){ .argv = argv }, &usage);
		bench_add(&cpu.measured, usage.cpu_s * 1e3);
	}
	if (rc)
		return rc;
	bench_add(&memory.measured, usage.resident_mib);
	if (cpu_ms > 0)
		bench_figure_put(b, &cpu);
	bench_figure_put(b, &memory);
	return 0;
}

/* A millisecond of many clocks near the end: 6,400 edges. */
static int seek_in_many(const struct bench *b)
{
	const uint64_t edges = tier(10, 10, 1000) * 1000000ull / MANY;
	char session[BENCH_PATH_MAX], from[40], until[40], what[80];
	const char *const show[] = { b->coeval, "show",    "--nominal", session, "--from",
				     from,      "--until", until,       NULL };
	int rc;

	snprintf(from, sizeof(from), "%.3f", (double)edges * 0.95e-5);
	snprintf(until, sizeof(until), "%.3f", (double)edges * 0.95e-5 + 1e-3);
	snprintf(what, sizeof(what), "show of 1 ms of %.0f M edges of %d clocks",
		 (double)edges * MANY * 1e-6, MANY);
	bench_path(b, session, "many");
	rc = write_session(b, session, MANY, edges, 10000);
	bench_figure_heads(b);
	if (!rc)
		rc = live_measure(b, show, what, 50, 32);
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

static int run(const struct bench *b)
{
	int rc;

	bench_heads(b);
	rc = seek(b);
	if (!rc)
		rc = bounds(b);
	rc = rc ? rc : seek_in_many(b);
	rc = rc ? rc : streams(b);
	return rc ? rc : live_day(b);
}

const struct bench_group bench_live = {
	.name = "live",
	.what = "a range anywhere in a long capture, many streams, a day of 100 clocks (30 with COEVAL_TIER=soak)",
	.run = run,
};
