/* SPDX-License-Identifier: MIT */
/* Native edges through the timeline: decoded, mapped and merged, in this process. */
#include "core.h"

#include <coeval/store.h>
#include <coeval/timeline.h>

#include <stdio.h>

#include "core/random.h"

#define RUNS 5
#define EDGES 40000000u /* of all clocks */
#define AT_ONCE 4096
#define HZ 100000000u

/* @n edges of eight lines, 1 us apart for each clock on average. */
static int write_edges(struct cvl_writer *w, struct sim_random *r, unsigned n, uint64_t *now,
		       struct cvl_error *err)
{
	static struct cvl_tick tick[AT_ONCE];
	static uint64_t level[AT_ONCE];
	uint64_t last = 0;
	int rc = 0;

	while (n && !rc) {
		const unsigned some = n < AT_ONCE ? n : AT_ONCE;

		for (unsigned i = 0; i < some; i++) {
			const uint64_t draw = sim_u64(r);

			tick[i].count = *now += 1 + draw % 199;
			level[i] = last ^= 1u << (draw >> 32) % 8;
		}
		rc = cvl_writer_edges(w, tick, level, some, err);
		n -= some;
	}
	return rc;
}

static int write_session(const struct bench *b, const char *path, unsigned clocks)
{
	static const struct cvl_origin origin = { .format = "bench", .path = "-" };
	static const char *const lines[] = { "a", "b", "c", "d", "e", "f", "g", "h" };
	struct sim_random r = { 1 };
	struct cvl_session *s;
	struct cvl_error err;
	int rc = cvl_session_create(&s, path, &err);

	bench_doing(b, "making %s", path);
	for (unsigned i = 0; i < clocks && !rc; i++) {
		char name[20];
		const struct cvl_store_desc desc = {
			.clock = name, .rate_hz = HZ, .lines = lines, .n_lines = 8
		};
		struct cvl_writer *w;
		uint64_t now = sim_u64(&r) % 1000;

		snprintf(name, sizeof(name), "c%u", i);
		rc = cvl_session_add(s, &desc, &origin, &w, &err);
		rc = rc ? rc : write_edges(w, &r, EDGES / clocks, &now, &err);
		rc = rc ? rc : cvl_session_finish(s, w, (struct cvl_tick){ now }, &err);
	}
	cvl_session_close(s);
	return rc ? bench_fail(b, rc, "%s", err.text) : 0;
}

/* M records/s of one pass. */
static int pass(const char *path, struct bench_series *out, struct cvl_error *err)
{
	struct cvl_session *s;
	struct cvl_timeline *tl = NULL;
	struct cvl_block block;
	uint64_t n = 0;
	double begin = bench_cpu();
	int rc = cvl_session_open(&s, path, NULL, err);

	if (rc)
		return rc;
	rc = cvl_timeline_open(&tl, s, NULL, err);
	while (!rc && (rc = cvl_timeline_next(tl, &block, err)) > 0) {
		n += block.records;
		rc = 0;
	}
	cvl_timeline_close(tl);
	cvl_session_close(s);
	bench_add(out, (double)n / 1e6 / (bench_cpu() - begin));
	return rc;
}

static int rate(const struct bench *b, const char *path, unsigned clocks, double goal)
{
	char name[60];
	struct bench_figure f = { .name = name, .unit = "M/s", .goal = goal, .real = true };
	struct cvl_error err;

	snprintf(name, sizeof(name), "edges through the timeline, %u clock%s", clocks,
		 clocks > 1 ? "s merged" : "");
	for (int i = 0; i < RUNS; i++) {
		int rc = pass(path, &f.measured, &err);

		if (rc)
			return bench_fail(b, rc, "%s", err.text);
	}
	bench_figure_put(b, &f);
	return 0;
}

static int memory(const struct bench *b, const char *path, unsigned clocks, double goal)
{
	char name[60];
	struct bench_figure f = {
		.name = name, .unit = "MiB", .goal = goal, .less_is_better = true, .real = true
	};
	const char *const argv[] = { b->coeval, "export", path, "--to", "null", NULL };
	const struct bench_command command = { .argv = argv };
	struct bench_usage usage = { .watch_memory = true };
	int rc = bench_run(b, &command, &usage);

	if (rc)
		return rc;
	snprintf(name, sizeof(name), "peak memory of a merge of %u clocks", clocks);
	bench_add(&f.measured, usage.anon_mib);
	snprintf(f.note, sizeof(f.note), "%.1f with the pages of mapped files", usage.resident_mib);
	bench_figure_put(b, &f);
	return 0;
}

int core_edges(const struct bench *b)
{
	static const struct {
		unsigned clocks;
		double rate, mib;
	} rows[] = { { 1, 350, 0 }, { 64, 100, 16 }, { 1024, 0, 64 } };
	char path[BENCH_PATH_MAX];
	int rc = 0;

	bench_path(b, path, "edges");
	bench_figure_heads(b);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows) && !rc; i++) {
		rc = write_session(b, path, rows[i].clocks);
		if (!rc && rows[i].rate > 0)
			rc = rate(b, path, rows[i].clocks, rows[i].rate);
		if (!rc && rows[i].mib > 0)
			rc = memory(b, path, rows[i].clocks, rows[i].mib);
		bench_remove(path);
	}
	return rc;
}
