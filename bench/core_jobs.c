/* SPDX-License-Identifier: MIT */
/* Two threads against one, by the clock on the wall: it means something on an idle machine alone. */
#include "core.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define RUNS 5

static int run(const struct bench *b, const char *const *argv, struct bench_series *out)
{
	const struct bench_command command = { .argv = argv };
	struct bench_usage usage = { 0 };
	struct timespec begin, end;
	int rc;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	rc = bench_run(b, &command, &usage);
	clock_gettime(CLOCK_MONOTONIC, &end);
	bench_add(out, (double)(end.tv_sec - begin.tv_sec) +
			       (double)(end.tv_nsec - begin.tv_nsec) * 1e-9);
	return rc;
}

int core_jobs(const struct bench *b, const char *session)
{
	static const char *const formats[] = { NULL, "--json" };
	int rc = 0;

	for (size_t i = 0; i < 2 && !rc; i++) {
		const char *const two[] = { b->coeval, "show",     session, "--jobs",
					    "2",       formats[i], NULL };
		const char *const one[] = { b->coeval, "show",     session, "--jobs",
					    "1",       formats[i], NULL };
		struct bench_row row = { .name = i ? "JSON, --jobs 2: 1 (wall clock, if idle)" :
						     "text, --jobs 2: 1 (wall clock, if idle)",
					 .unit = "s",
					 .less_is_better = true,
					 .goal = 1.8 };

		if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
			snprintf(row.skip, sizeof(row.skip), "there is one processor");
			bench_put(b, &row);
			continue;
		}
		for (int k = 0; k < RUNS && !rc; k++) {
			rc = run(b, two, &row.ours);
			rc = rc ? rc : run(b, one, &row.reference);
		}
		if (!rc)
			bench_put(b, &row);
	}
	return rc;
}
