/* SPDX-License-Identifier: MIT */
/* Native edges through the timeline: decoded, mapped and merged, in this process. */
#include "core.h"
#include "edges.h"

#include <coeval/timeline.h>

#include <stdio.h>

#define RUNS 5
#define EDGES 40000000u /* of all clocks */

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
		rc = edges_session(b, path, rows[i].clocks, EDGES);
		if (!rc && rows[i].rate > 0)
			rc = rate(b, path, rows[i].clocks, rows[i].rate);
		if (!rc && rows[i].mib > 0)
			rc = memory(b, path, rows[i].clocks, rows[i].mib);
		bench_remove(path);
	}
	return rc;
}
