/* SPDX-License-Identifier: MIT */
#include "gateware.h"

#include <coeval/error.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUILT COEVAL_SOURCE_DIR "/build/gateware/bench_observer"

/* Lim et al. 2015, VI-A. The last is without any loss. */
static const struct {
	unsigned apart, goal;
	const char *name;
} rows[] = {
	{ 1, 1070, "burst before the first loss, 1 cycle apart" },
	{ 16, 270000, "burst before the first loss, 16 cycles apart" },
	{ 350, 20000, "burst before the first loss, 350 cycles apart" },
};
#define ROWS (sizeof(rows) / sizeof(*rows))

/* The program to run, or NULL: why is in @row->skip. */
static const char *find(const struct bench *b, struct bench_row *row, int *rc)
{
	static const char *const build[] = { COEVAL_SOURCE_DIR "/gateware/build", "sim", NULL };
	const struct bench_command c = { .argv = build };
	const char *said = getenv("COEVAL_GATEWARE_BENCH");
	struct bench_usage u = { .watch_memory = false };

	if (said && *said)
		return said;
	if (!bench_installed(row, "verilator") || !bench_installed(row, "make") ||
	    !bench_installed(row, "c++"))
		return NULL;
	bench_doing(b, "building the simulated gateware");
	*rc = bench_run(b, &c, &u);
	return *rc ? NULL : BUILT;
}

/* A line of the bench's: all of them are accounted for, or it would have failed. */
static bool read_line(const char *line, unsigned apart, struct bench_figure *f)
{
	unsigned long long n, before, lost;
	unsigned every, times;
	int end = 0;

	if (sscanf(line, "%*[^:]: %llu events every %u cycles, none lost, none left waiting%n", &n,
		   &every, &end) == 2 &&
	    end && every == apart) {
		bench_add(&f->measured, (double)n);
		snprintf(f->note, sizeof(f->note),
			 "none of %llu lost, none left waiting: continuous; gateware, "
			 "simulated",
			 n);
		return true;
	}
	if (sscanf(line,
		   "%*[^:]: %llu events every %u cycles, %llu before the first loss, %llu lost in %u "
		   "times, all counted%n",
		   &n, &every, &before, &lost, &times, &end) != 5 ||
	    !end || every != apart)
		return false;
	bench_add(&f->measured, (double)before);
	snprintf(f->note, sizeof(f->note),
		 "of %llu, %llu lost in %u times, each counted exactly by its loss "
		 "packet; gateware, simulated",
		 n, lost, times);
	return true;
}

static int put(const struct bench *b, const char *path)
{
	FILE *out = fopen(path, "r");
	char line[256];
	size_t i = 0;

	if (!out)
		return bench_fail(b, CVL_E_IO, "%s: cannot open it: %s", path, strerror(errno));
	while (i < ROWS && fgets(line, sizeof(line), out)) {
		struct bench_figure f = { .name = rows[i].name, .unit = "", .goal = rows[i].goal };

		if (read_line(line, rows[i].apart, &f)) {
			bench_figure_put(b, &f);
			i++;
		}
	}
	fclose(out);
	return i == ROWS ? 0 :
			   bench_fail(b, CVL_E_MISMATCH, "the gateware's bench told nothing of %s",
				      rows[i].name);
}

int gateware_rows(const struct bench *b)
{
	struct bench_row skipped = { .name = "bursts, simulated gateware" };
	char path[BENCH_PATH_MAX];
	int rc = 0;
	const char *program = find(b, &skipped, &rc);
	const char *const run[] = { program, "bursts", NULL };
	const struct bench_command c = { .argv = run, .output = path };
	struct bench_usage u = { .watch_memory = false };

	if (!program) {
		if (!rc && !b->json)
			printf("SKIP  %s: %s\n", skipped.name, skipped.skip);
		return rc;
	}
	bench_path(b, path, "bursts");
	bench_doing(b, "bursts, simulated gateware");
	rc = bench_run(b, &c, &u);
	return rc ? rc : put(b, path);
}
