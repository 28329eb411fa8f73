/* SPDX-License-Identifier: MIT */
#include <coeval/error.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tracelab_stream.h"

#define LENGTHS 2
#define TIMES_LONGER 10
#define PACKETS ((size_t)1000000)
#define GROWTH 1.1

/* An edge each 4 us, a reading each 18 us. */
#define APART 400
#define PERIOD 36
#define POWER_HZ "55556"

enum { CAPTURE, STATES, INTERVALS, VERBS };

static int write_bytes(const struct bench *b, const char *path, size_t packets)
{
	struct tracelab_stream s = { .apart = APART, .period = PERIOD, .packets = packets };
	int rc = tracelab_stream(b, &s);
	FILE *f = rc ? NULL : fopen(path, "wb");

	if (!rc && (!f || fwrite(s.bytes, 1, s.n, f) != s.n))
		rc = bench_fail(b, CVL_E_IO, "%s: %s", path, strerror(errno));
	if (f && fclose(f) && !rc)
		rc = bench_fail(b, CVL_E_IO, "%s: %s", path, strerror(errno));
	free(s.bytes);
	return rc;
}

/* Peaks of each verb. */
static int peaks(const struct bench *b, size_t packets, struct bench_usage u[VERBS])
{
	char spi[BENCH_PATH_MAX], session[BENCH_PATH_MAX];
	const char *const argv[VERBS][14] = {
		{ b->coeval, "capture", "--driver", "tracelab", "--device", spi, "--power",
		  POWER_HZ, "--name", "o", "-o", session },
		{ b->coeval, "power", "--power", "power", "--line", "T5", session },
		{ b->coeval, "power", "--power", "power", "--between", "T5:rise..T5:fall", "--each",
		  session },
	};
	int rc;

	bench_path(b, spi, "spi");
	bench_path(b, session, "session");
	rc = write_bytes(b, spi, packets);
	for (int verb = 0; verb < VERBS && !rc; verb++) {
		const struct bench_command c = { .argv = argv[verb],
						 .fresh = verb == CAPTURE ? session : NULL };

		u[verb].watch_memory = true;
		rc = bench_run(b, &c, &u[verb]);
	}
	bench_remove(session);
	return rc;
}

int tracelab_memory(const struct bench *b)
{
	static const char *const name[VERBS] = {
		"memory, capture of edges and power",
		"memory, power of a line's states",
		"memory, power of every interval",
	};
	struct bench_usage u[LENGTHS][VERBS] = { { { .cpu_s = 0 } } };
	int rc = 0;

	bench_doing(b, "%s", name[CAPTURE]);
	for (int i = 0; i < LENGTHS && !rc; i++)
		rc = peaks(b, i ? PACKETS * TIMES_LONGER : PACKETS, u[i]);
	for (int verb = 0; verb < VERBS && !rc; verb++) {
		struct bench_figure f = {
			.name = name[verb], .unit = "x", .less_is_better = true, .goal = GROWTH
		};

		bench_add(&f.measured, u[1][verb].resident_mib / u[0][verb].resident_mib);
		snprintf(
			f.note, sizeof(f.note),
			"peak of a session of %d million packets over that of %d: %.2f and %.2f MiB, "
			"of them anonymous %.2f and %.2f; simulated",
			(int)(PACKETS * TIMES_LONGER / 1000000), (int)(PACKETS / 1000000),
			u[1][verb].resident_mib, u[0][verb].resident_mib, u[1][verb].anon_mib,
			u[0][verb].anon_mib);
		bench_figure_put(b, &f);
	}
	return rc;
}
