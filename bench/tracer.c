/* SPDX-License-Identifier: MIT */
/*
 * What an event costs, and what workloads cost that are traced (Bertauld and Dagenais 2017, 6.1,
 * tables 1 and 2), beside barectf on emulated boards, where instructions are counted, and beside
 * LTTng-UST here, in time.
 */
#include "tracer_system.h"

#include <coeval/error.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER COEVAL_SOURCE_DIR "/firmware/lib/tracer"
#define WORKLOADS 9
#define NATIVE_RUNS 5

static const char *const names[WORKLOADS] = { "nothing",   "u32",       "u8+u32",
					      "SHA-256 A", "SHA-256 B", "SHA-256 C",
					      "SHA-256 D", "pisum",     "quicksort" };
/* Events in the loops of one and of two fields. */
#define LOOPS 10000

/* What a run of the workloads took; skip: why there was none. */
struct took {
	double v[WORKLOADS];
	char skip[200];
};

static int read_lines(const struct bench *b, const char *path, bool ran, struct took *t)
{
	FILE *f = fopen(path, "r");
	char line[300];
	unsigned n = 0;

	if (!f)
		return bench_fail(b, CVL_E_IO, "%s cannot be read", path);
	while (fgets(line, sizeof(line), f)) {
		unsigned long long took, lost, sum;
		char name[40];

		line[strcspn(line, "\r\n")] = '\0';
		if (!strncmp(line, "SKIP ", 5))
			snprintf(t->skip, sizeof(t->skip), "%.190s", line + 5);
		if (n < WORKLOADS &&
		    sscanf(line, "%llu %llu %llu %39[^\n]", &took, &lost, &sum, name) == 4 &&
		    !strcmp(name, names[n]) && !lost)
			t->v[n++] = (double)took;
	}
	fclose(f);
	if (ran && n != WORKLOADS)
		return bench_fail(b, CVL_E_IO, "%s: a workload is missing, or lost events", path);
	return 0;
}

static int measure(const struct bench *b, const char *board, const char *kind, struct took *t)
{
	char dir[BENCH_PATH_MAX], output[BENCH_PATH_MAX], name[40];
	const char *const argv[] = { FOLDER "/bench/run", dir, board, kind, NULL };
	int status = 0, rc;
	const struct bench_command command = { .argv = argv, .output = output, .status = &status };
	struct bench_usage usage = { 0 };

	snprintf(name, sizeof(name), "%s-%s", board, kind);
	bench_path(b, dir, name);
	snprintf(name, sizeof(name), "%s-%s.out", board, kind);
	bench_path(b, output, name);
	bench_doing(b, "%s, %s", board, kind);
	*t = (struct took){ 0 };
	rc = bench_run(b, &command, &usage);
	if (rc)
		return rc;
	if (status && status != 77)
		return bench_fail(b, CVL_E_IO, "%s %s %s %s failed", argv[0], dir, board, kind);
	return read_lines(b, output, !status, t);
}

/* What an event takes in a loop beyond the loop. */
static double an_event(const struct took *t, unsigned workload)
{
	return (t->v[workload] - t->v[0]) / LOOPS;
}

static int board(const struct bench *b, const char *board, const char *title)
{
	struct took none, ours, barectf;
	int rc = measure(b, board, "none", &none);

	if (!rc)
		rc = measure(b, board, "ours", &ours);
	if (!rc)
		rc = measure(b, board, "barectf", &barectf);
	if (rc)
		return rc;
	for (unsigned i = 1; i < 3; i++) {
		char name[80];
		struct bench_row row = {
			.name = name, .unit = "instr", .less_is_better = true, .goal = 2
		};

		snprintf(name, sizeof(name), "%s: %s event", title, names[i]);
		snprintf(row.skip, sizeof(row.skip), "%s", none.skip[0] ? none.skip : barectf.skip);
		if (!ours.skip[0])
			bench_add(&row.ours, an_event(&ours, i));
		if (!barectf.skip[0])
			bench_add(&row.reference, an_event(&barectf, i));
		bench_put(b, &row);
	}
	for (unsigned i = 3; i < WORKLOADS && !b->json && !none.skip[0]; i++)
		printf("%-6s %s: %-9s %9.0f instructions, with ours %+6.2f %%, with barectf %+6.2f %%\n",
		       b->group, title, names[i], none.v[i], 100 * (ours.v[i] / none.v[i] - 1),
		       barectf.skip[0] ? NAN : 100 * (barectf.v[i] / none.v[i] - 1));
	return 0;
}

static int native(const struct bench *b)
{
	struct bench_row row[2] = {
		{ .name = "here: u32 event", .unit = "ns", .less_is_better = true, .goal = 2 },
		{ .name = "here: u8+u32 event", .unit = "ns", .less_is_better = true, .goal = 2 }
	};

	for (unsigned run = 0; run < NATIVE_RUNS && !bench_stopped(); run++) {
		static const char *const kinds[] = { "ours", "lttng" };

		for (unsigned k = 0; k < 2; k++) {
			struct took t;
			int rc = measure(b, "native", kinds[k], &t);

			if (rc)
				return rc;
			for (unsigned i = 0; i < 2; i++) {
				if (t.skip[0])
					snprintf(row[i].skip, sizeof(row[i].skip), "%s", t.skip);
				else
					bench_add(k ? &row[i].reference : &row[i].ours,
						  an_event(&t, i + 1));
			}
		}
	}
	bench_put(b, &row[0]);
	bench_put(b, &row[1]);
	return 0;
}

/*
 * Text of the runtime and four events on a Cortex-M4, as the build prints it: "m4 runtime clock
 * events small ...".
 */
static int text(const struct bench *b)
{
	char dir[BENCH_PATH_MAX], output[BENCH_PATH_MAX], line[300];
	const char *const argv[] = { FOLDER "/sizes", dir, "m4", NULL };
	int status = 0, rc;
	const struct bench_command command = { .argv = argv, .output = output, .status = &status };
	struct bench_usage usage = { 0 };
	struct bench_figure figure = { .name = "Cortex-M4: text of runtime and 4 events",
				       .unit = "B",
				       .less_is_better = true,
				       .goal = 1300 };
	unsigned runtime, clock, events, small;
	FILE *f;

	bench_path(b, dir, "sizes");
	bench_path(b, output, "sizes.out");
	rc = bench_run(b, &command, &usage);
	if (rc)
		return rc;
	f = fopen(output, "r");
	if (!f)
		return bench_fail(b, CVL_E_IO, "%s cannot be read", output);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "m4 %u %u %u %u", &runtime, &clock, &events, &small) == 4) {
			bench_add(&figure.measured, runtime + events);
			snprintf(figure.note, sizeof(figure.note), "%u with TRACER_SMALL", small);
		}
	fclose(f);
	if (!figure.measured.n)
		return status == 77 ? 0 : bench_fail(b, CVL_E_IO, "%s: no sizes", output);
	bench_figure_put(b, &figure);
	return 0;
}

static int run(const struct bench *b)
{
	int rc;

	bench_heads(b);
	rc = board(b, "m4", "Cortex-M4");
	if (!rc)
		rc = board(b, "rv32", "RISC-V 32");
	if (!rc)
		rc = native(b);
	if (rc)
		return rc;
	bench_figure_heads(b);
	rc = text(b);
	if (!rc)
		rc = tracer_steps_row(b);
	return rc ? rc : tracer_system_rows(b);
}

const struct bench_group bench_tracer = {
	.name = "tracer", .what = "events of the tracer, beside barectf and LTTng-UST", .run = run
};
