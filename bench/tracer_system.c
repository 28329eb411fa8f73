/* SPDX-License-Identifier: MIT */
#include "tracer_system.h"

#include <coeval/error.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INSTANTS 1000
#define SKIPPED 77

static void skip(const struct bench *b, const char *name, const char *why)
{
	if (!b->json)
		printf("SKIP  %s: %s\n", name, why);
}

int tracer_steps_row(const struct bench *b)
{
	char program[BENCH_PATH_MAX + 32], output[BENCH_PATH_MAX], line[300];
	const char *const argv[] = { program, NULL }, *slash = strrchr(b->coeval, '/');
	int status = 0, rc;
	const struct bench_command c = { .argv = argv, .output = output, .status = &status };
	struct bench_usage usage = { 0 };
	struct bench_figure f = { .name = "interrupted after an instruction, nothing torn or lost",
				  .unit = "times",
				  .goal = INSTANTS };
	unsigned n, instants = 0, nested = 0;
	FILE *out;

	snprintf(program, sizeof(program), "%.*s/tests/test_tracer_steps",
		 slash ? (int)(slash - b->coeval) : 1, slash ? b->coeval : ".");
	if (access(program, X_OK)) {
		skip(b, f.name, "its test is not built beside coeval");
		return 0;
	}
	bench_path(b, output, "steps.out");
	bench_doing(b, "interrupted after every instruction");
	rc = bench_run(b, &c, &usage);
	if (rc)
		return rc;
	if (status == SKIPPED) {
		skip(b, f.name, "it needs the trap flag of x86-64");
		return 0;
	}
	out = fopen(output, "r");
	if (!out)
		return bench_fail(b, CVL_E_IO, "%s cannot be read", output);
	while (fgets(line, sizeof(line), out)) {
		if (sscanf(line, "interrupted after %u", &n) == 1)
			instants = n;
		if (sscanf(line, "interrupts interrupted: %u", &n) == 1)
			nested = n;
	}
	fclose(out);
	bench_add(&f.measured, status ? 0 : instants);
	if (status)
		snprintf(f.note, sizeof(f.note), "the test fails: %.150s", program);
	else
		snprintf(f.note, sizeof(f.note), "and %u times in an interrupt; x86-64", nested);
	bench_figure_put(b, &f);
	return 0;
}

/* What the example's judge.py prints of a run, and of its slaves. */
struct verdict {
	struct bench_series best, median; /* bounds in halves of the shortest round trip */
	unsigned messages, contradictions;
	bool judged; /* of exchanges, which come last */
	char skip[200];
};

static int read_verdict(const struct bench *b, const char *path, struct verdict *v)
{
	FILE *out = fopen(path, "r");
	char line[500];
	bool exchanges = false;

	*v = (struct verdict){ .judged = false };
	if (!out)
		return bench_fail(b, CVL_E_IO, "%s cannot be read", path);
	while (fgets(line, sizeof(line), out)) {
		double bound, least, shortest;
		unsigned messages, bad;

		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "SKIP ", 5))
			snprintf(v->skip, sizeof(v->skip), "%.190s", line + 5);
		exchanges = exchanges || !strcmp(line, "by exchanges:");
		if (sscanf(line, "%u messages, %u contradictions", &messages, &bad) == 2) {
			v->messages += messages;
			v->contradictions += bad;
			v->judged = exchanges;
		}
		if (exchanges && v->best.n < BENCH_RUNS_MAX &&
		    sscanf(line, "%*s %*u %*f us %*f us %*f us %lf us %lf us %*u %lf us", &bound,
			   &least, &shortest) == 3 &&
		    shortest > 0) {
			bench_add(&v->best, least / (shortest / 2));
			bench_add(&v->median, bound / (shortest / 2));
		}
	}
	fclose(out);
	return 0;
}

int tracer_system_rows(const struct bench *b)
{
	static const char name[] = "heterogeneous system in QEMU";
	char dir[BENCH_PATH_MAX], output[BENCH_PATH_MAX];
	const char *const argv[] = { COEVAL_SOURCE_DIR "/examples/heterogeneous/run", dir, NULL };
	struct bench_row python = { .name = name };
	int status = 0, rc;
	const struct bench_command c = { .argv = argv, .output = output, .status = &status };
	struct bench_usage usage = { 0 };
	struct bench_figure truth = { .name = "QEMU: times, messages against the truth",
				      .unit = "contrad.",
				      .less_is_better = true };
	struct bench_figure bound = { .name = "QEMU: least bound / half the shortest trip",
				      .less_is_better = true,
				      .unit = "",
				      .goal = 1,
				      .every = true };
	struct verdict v;

	if (!bench_installed(&python, "python3")) {
		skip(b, name, python.skip);
		return 0;
	}
	bench_path(b, dir, "heterogeneous");
	bench_path(b, output, "heterogeneous.out");
	if (setenv("COEVAL_BINARY", b->coeval, 1))
		return bench_fail(b, CVL_E_NOMEM, "out of memory");
	bench_doing(b, "%s", name);
	rc = bench_run(b, &c, &usage);
	if (!rc)
		rc = read_verdict(b, output, &v);
	if (rc)
		return rc;
	if (status == SKIPPED) {
		skip(b, name, v.skip);
		return 0;
	}
	/* 1: something contradicts, which the rows tell */
	if (!v.judged || !v.best.n || status > 1)
		return bench_fail(b, CVL_E_IO, "%s failed with exit status %d", argv[0], status);
	bench_add(&truth.measured, v.contradictions);
	snprintf(truth.note, sizeof(truth.note), "of %u messages and all records of %zu slaves",
		 v.messages, v.best.n);
	bench_figure_put(b, &truth);
	bound.measured = v.best;
	snprintf(bound.note, sizeof(bound.note),
		 "of each slave; its median bound is %.2f to %.2f of that half",
		 bench_best(&v.median, true), bench_best(&v.median, false));
	bench_figure_put(b, &bound);
	return 0;
}
