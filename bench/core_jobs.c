/* SPDX-License-Identifier: MIT */
/* Two threads against one, by the clock on the wall: it means something on an idle machine alone. */
#include "core.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include <coeval/error.h>
#include "core/random.h"

#define RUNS 5
#define FILES 4
#define ROWS 1500000

static int run(const struct bench *b, const struct bench_command *command, struct bench_series *out)
{
	struct bench_usage usage = { 0 };
	struct timespec begin, end;
	int rc;

	if (command->fresh)
		bench_remove(command->fresh);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	rc = bench_run(b, command, &usage);
	clock_gettime(CLOCK_MONOTONIC, &end);
	bench_add(out, (double)(end.tv_sec - begin.tv_sec) +
			       (double)(end.tv_nsec - begin.tv_nsec) * 1e-9);
	return rc;
}

/* @argv ends with the number of threads. */
static int row(const struct bench *b, const char *name, const char **argv, const char *fresh)
{
	const struct bench_command command = { .argv = argv, .fresh = fresh };
	struct bench_row row = { .name = name, .unit = "s", .less_is_better = true, .goal = 1.8 };
	size_t last = 0;
	int rc = 0;

	while (argv[last + 1])
		last++;
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		snprintf(row.skip, sizeof(row.skip), "there is one processor");
	for (int k = 0; k < RUNS && !rc && !*row.skip; k++) {
		argv[last] = "2";
		rc = run(b, &command, &row.ours);
		argv[last] = "1";
		rc = rc ? rc : run(b, &command, &row.reference);
	}
	if (!rc)
		bench_put(b, &row);
	return rc;
}

/* A logic analyzer's table. */
static int write_table(const struct bench *b, const char *path, unsigned seed)
{
	struct sim_random r = { seed };
	FILE *f = fopen(path, "w");
	uint64_t us = 0;
	bool ok;

	if (!f)
		return bench_fail(b, CVL_E_IO, "%s: cannot write", path);
	fprintf(f, "Time [s],Channel 0,Channel 1\n");
	for (unsigned i = 0; i < ROWS; i++) {
		us += 1 + sim_u64(&r) % 9;
		fprintf(f, "%" PRIu64 ".%06" PRIu64 ",%u,%u\n", us / 1000000, us % 1000000, i & 1,
			i >> 1 & 1);
	}
	ok = !ferror(f);
	return !fclose(f) && ok ? 0 : bench_fail(b, CVL_E_IO, "%s: cannot write", path);
}

static int import_row(const struct bench *b)
{
	char file[FILES][BENCH_PATH_MAX], session[BENCH_PATH_MAX];
	const char *argv[] = { b->coeval, "import", "-o",     session, file[0], file[1],
			       file[2],   file[3],  "--jobs", "",      NULL };
	int rc = 0;

	bench_path(b, session, "imported");
	for (unsigned i = 0; i < FILES; i++) {
		char name[20];

		snprintf(name, sizeof(name), "table%u.csv", i);
		bench_path(b, file[i], name);
		rc = rc ? rc : write_table(b, file[i], i + 1);
	}
	if (!rc)
		rc = row(b, "import of 4 files, --jobs 2: 1 (wall clock, if idle)", argv, session);
	for (unsigned i = 0; i < FILES; i++)
		bench_remove(file[i]);
	bench_remove(session);
	return rc;
}

int core_jobs(const struct bench *b, const char *session)
{
	const char *text[] = { b->coeval, "show", session, "--jobs", "", NULL };
	const char *json[] = { b->coeval, "show", session, "--json", "--jobs", "", NULL };
	int rc = row(b, "text, --jobs 2: 1 (wall clock, if idle)", text, NULL);

	rc = rc ? rc : row(b, "JSON, --jobs 2: 1 (wall clock, if idle)", json, NULL);
	return rc ? rc : import_row(b);
}
