/* SPDX-License-Identifier: MIT */
/* What costs only what it shows: a range anywhere in a long capture, and many streams. */
#include "bench.h"

#include <coeval/error.h>
#include <coeval/session.h>

#include <stdio.h>
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

static int run(const struct bench *b)
{
	int rc;

	bench_heads(b);
	rc = seek(b);
	return rc ? rc : streams(b);
}

const struct bench_group bench_live = {
	.name = "live",
	.what = "a range anywhere in a long capture, and many streams",
	.run = run,
};
