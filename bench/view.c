/* SPDX-License-Identifier: MIT */
/* Levels of detail: what they cost, in this process. */
#include "edges.h"
#include "view_page.h"

#include <coeval/files.h>
#include <coeval/lod.h>

#include <stdio.h>
#include <sys/stat.h>

#define RUNS 5
#define EDGES 20000000u

/* What a pass over the records costs, that is spent anyway. */
static int pass(const struct cvl_session *s, double *cpu_s, uint64_t *bytes, struct cvl_error *err)
{
	struct cvl_stream_stats stats;
	struct cvl_trace *trace;
	struct cvl_stream *stream;
	struct cvl_batch batch;
	double begin;
	int rc = cvl_trace_open(&trace, cvl_session_clock(s, 0)->trace, NULL, err);

	if (rc)
		return rc;
	begin = bench_cpu();
	rc = cvl_stream_open(&stream, trace, 0, NULL, err);
	while (!rc && (rc = cvl_stream_next(stream, &batch, err)) > 0)
		rc = 0;
	*cpu_s = bench_cpu() - begin;
	if (!rc) {
		cvl_stream_stats(stream, &stats);
		*bytes = stats.bytes;
		cvl_stream_close(stream);
	}
	cvl_trace_close(trace);
	return rc;
}

static int make(const struct cvl_session *s, const char *kept, double *cpu_s, uint64_t *bytes,
		struct cvl_error *err)
{
	struct cvl_lod *lod;
	struct stat st = { 0 };
	double begin;
	int rc;

	bench_remove(kept);
	begin = bench_cpu();
	rc = cvl_lod_open(&lod, s, 0, 0, NULL, err);
	*cpu_s = bench_cpu() - begin;
	if (rc)
		return rc;
	cvl_lod_close(lod);
	stat(kept, &st);
	*bytes = (uint64_t)st.st_size;
	return 0;
}

static int run(const struct bench *b)
{
	struct bench_figure time = { .name = "levels of detail: time an edge, beside decoding",
				     .unit = "ns",
				     .less_is_better = true,
				     .goal = 3,
				     .real = true },
			    size = { .name = "levels of detail: size against the edges, at random",
				     .unit = "%",
				     .less_is_better = true,
				     .goal = 5,
				     .real = true };
	char path[BENCH_PATH_MAX], kept[BENCH_PATH_MAX + 40];
	struct cvl_session *s;
	struct cvl_error err;
	int rc;

	bench_path(b, path, "view");
	snprintf(kept, sizeof(kept), "%s/derived/c0.stream.levels", path);
	rc = edges_session(b, path, 1, EDGES);
	bench_figure_heads(b);
	if (!rc && cvl_session_open(&s, path, NULL, &err))
		rc = bench_fail(b, (int)err.code, "%s", err.text);
	for (int k = 0; k < RUNS && !rc; k++) {
		double read_s, make_s;
		uint64_t stream, file;

		rc = pass(s, &read_s, &stream, &err);
		rc = rc ? rc : make(s, kept, &make_s, &file, &err);
		if (rc)
			return bench_fail(b, rc, "%s", err.text);
		bench_add(&time.measured, (make_s - read_s) * 1e9 / EDGES);
		bench_add(&size.measured, 100.0 * (double)file / (double)stream);
	}
	if (!rc) {
		cvl_session_close(s);
		bench_figure_put(b, &time);
		bench_figure_put(b, &size);
	}
	bench_remove(path);
	return rc ? rc : view_page(b);
}

const struct bench_group bench_view = {
	.name = "view",
	.what = "levels of detail, and the page in a browser",
	.run = run,
};
