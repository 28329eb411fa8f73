/* SPDX-License-Identifier: MIT */
#include "core.h"

#include <coeval/error.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "ctfgen.h"

#define RUNS 3
#define SAMPLES 100000000
#define EVENTS 10000000
#define MANY_EVENTS 100000000
#define MANY_NEED_BYTES 20e9
#define MEMORY_MIB 64

/* ---- samples to a store ---- */

static int write_samples(const struct bench *b, const char *path)
{
	uint8_t *samples = malloc(SAMPLES);
	FILE *f = fopen(path, "w");
	int rc = 0;

	bench_doing(b, "making %s", path);
	if (samples)
		core_samples(samples, SAMPLES, 1000);
	if (!samples || !f || fwrite(samples, 1, SAMPLES, f) != SAMPLES)
		rc = bench_fail(b, CVL_E_IO, "%s: %s", path, strerror(errno));
	if (f && fclose(f) && !rc)
		rc = bench_fail(b, CVL_E_IO, "%s: %s", path, strerror(errno));
	free(samples);
	return rc;
}

static int import_row(const struct bench *b)
{
	struct bench_row row = { .name = "import, 100 MSamples: sigrok-cli to VCD", .goal = 30 };
	char file[BENCH_PATH_MAX], store[BENCH_PATH_MAX], vcd[BENCH_PATH_MAX];
	const char *const ours[] = { b->coeval,    "import", "-o",     store, "--format", "raw",
				     "--channels", "8",      "--rate", "8M",  file,       NULL };
	const char *const theirs[] = {
		"sigrok-cli", "-I", "binary:numchannels=8:samplerate=8000000",
		"-i",         file, "-O",
		"vcd",        "-o", vcd,
		NULL
	};
	const struct bench_command our_command = { .argv = ours, .fresh = store },
				   their_command = { .argv = theirs, .fresh = vcd };
	int rc;

	bench_path(b, file, "samples.bin");
	bench_path(b, store, "import");
	bench_path(b, vcd, "samples.vcd");
	bench_installed(&row, "sigrok-cli");
	rc = write_samples(b, file);
	if (!rc)
		rc = bench_compare(b, &row, RUNS, &our_command, &their_command);
	bench_remove(file);
	bench_remove(store);
	bench_remove(vcd);
	return rc;
}

/* ---- traces ---- */

struct traces {
	char host[CTFGEN_HOSTS][BENCH_PATH_MAX];
	char session[BENCH_PATH_MAX];
};

/* Traces of @events in all, and a session that points at them. */
static int make_traces(const struct bench *b, struct traces *t, uint64_t events)
{
	const char *const argv[] = { b->coeval, "import",   "-o",       t->session,
				     "--link",  t->host[0], t->host[1], NULL };
	const struct bench_command import = { .argv = argv, .fresh = t->session };
	struct bench_usage u = { 0 };
	int rc = 0;

	for (unsigned i = 0; i < CTFGEN_HOSTS && !rc; i++) {
		char name[16];

		snprintf(name, sizeof(name), "host%u", i);
		bench_path(b, t->host[i], name);
		rc = ctfgen_make(b, t->host[i], i, events / CTFGEN_HOSTS);
	}
	bench_path(b, t->session, "session");
	return rc ? rc : bench_run(b, &import, &u);
}

static void remove_traces(const struct traces *t)
{
	for (int i = 0; i < CTFGEN_HOSTS; i++)
		bench_remove(t->host[i]);
	bench_remove(t->session);
}

static int decode_row(const struct bench *b, const struct traces *t)
{
	struct bench_row row = { .name = "decode and merge, 10 M events: babeltrace2", .goal = 30 };
	const char *const ours[] = { b->coeval, "export", t->session, "--to", "null", NULL };
	const char *const theirs[] = { "babeltrace2", "-o", "dummy", t->host[0], t->host[1], NULL };
	const struct bench_command our_command = { .argv = ours, .fresh = NULL },
				   their_command = { .argv = theirs, .fresh = NULL };

	bench_installed(&row, theirs[0]);
	return bench_compare(b, &row, RUNS, &our_command, &their_command);
}

/* One host's trace, with the metadata of either version. */
static int version_row(const struct bench *b, const struct traces *t)
{
	struct bench_row row = { .name = "decode CTF 2: the same as CTF 1.8", .goal = 0.95 };
	char twin[BENCH_PATH_MAX];
	const char *const ours[] = { b->coeval, "export", twin, "--to", "null", NULL };
	const char *const theirs[] = { b->coeval, "export", t->host[0], "--to", "null", NULL };
	const struct bench_command our_command = { .argv = ours, .fresh = NULL },
				   their_command = { .argv = theirs, .fresh = NULL };
	int rc;

	bench_path(b, twin, "twin");
	rc = ctfgen_twin(b, twin, t->host[0]);
	rc = rc ? rc : bench_compare(b, &row, RUNS, &our_command, &their_command);
	bench_remove(twin);
	return rc;
}

/* Also as JSON, which is compared with babeltrace2's text: it has no JSON. */
static int show_row(const struct bench *b, const struct traces *t, bool json)
{
	struct bench_row row = { .name = json ? "the same to JSON: babeltrace2's text" :
						"the same to text: babeltrace2",
				 .goal = json ? 8 : 16 };
	const char *const ours[] = { b->coeval, "show", t->session,
				     "--jobs",  "1",    json ? "--json" : NULL,
				     NULL };
	const char *const theirs[] = { "babeltrace2", t->host[0], t->host[1], NULL };
	const struct bench_command our_command = { .argv = ours, .fresh = NULL },
				   their_command = { .argv = theirs, .fresh = NULL };

	bench_installed(&row, theirs[0]);
	return bench_compare(b, &row, RUNS, &our_command, &their_command);
}

/* ---- memory ---- */

/* Measure the peak of a merge into @peak and print it beside the limit. */
static int memory_row(const struct bench *b, const struct traces *t, const char *name,
		      struct bench_series *peak)
{
	struct bench_row row = { .name = name,
				 .unit = "MiB",
				 .less_is_better = true,
				 .goal = 1,
				 .reference = { { MEMORY_MIB }, 1 } };
	const char *const argv[] = { b->coeval, "export", t->session, "--to", "null", NULL };
	const struct bench_command command = { .argv = argv, .fresh = NULL };

	bench_doing(b, "%s", name);
	for (int i = 0; i < RUNS; i++) {
		struct bench_usage u = { .watch_memory = true };
		int rc = bench_run(b, &command, &u);

		if (rc)
			return rc;
		bench_add(&row.ours, u.anon_mib);
	}
	*peak = row.ours;
	bench_put(b, &row);
	return 0;
}

/* The size of the input must not show: ten times the events, the same memory. */
static int growth_row(const struct bench *b, const struct bench_series *few,
		      const struct bench_series *many)
{
	struct bench_row row = { .name = "memory, 100 M events: 10 M events",
				 .unit = "MiB",
				 .less_is_better = true,
				 .goal = 0.9,
				 .ours = *many,
				 .reference = *few };

	bench_put(b, &row);
	return 0;
}

static int many_rows(const struct bench *b, const struct bench_series *few)
{
	static const char name[] = "memory of the merge, 100 M events: 64 MiB";
	struct bench_series many;
	struct traces t = { 0 };
	struct statvfs fs;
	int rc;

	if (statvfs(b->dir, &fs) || (double)fs.f_bavail * (double)fs.f_frsize < MANY_NEED_BYTES) {
		struct bench_row row = { .name = name,
					 .unit = "MiB",
					 .goal = 1,
					 .skip = "less than 20 GB are free for files" };

		bench_put(b, &row);
		return 0;
	}
	rc = make_traces(b, &t, MANY_EVENTS);
	if (!rc)
		rc = memory_row(b, &t, name, &many);
	if (!rc)
		rc = growth_row(b, few, &many);
	remove_traces(&t);
	return rc;
}

static int trace_rows(const struct bench *b)
{
	struct bench_series few;
	struct traces t = { 0 };
	int rc = make_traces(b, &t, EVENTS);

	if (!rc)
		rc = decode_row(b, &t);
	if (!rc)
		rc = version_row(b, &t);
	if (!rc)
		rc = show_row(b, &t, false);
	if (!rc)
		rc = show_row(b, &t, true);
	if (!rc)
		rc = core_jobs(b, t.session);
	if (!rc)
		rc = memory_row(b, &t, "memory of the merge, 10 M events: 64 MiB", &few);
	remove_traces(&t);
	return rc ? rc : many_rows(b, &few);
}

static int run(const struct bench *b)
{
	int rc;

	bench_heads(b);
	rc = core_scan(b);
	if (!rc)
		rc = import_row(b);
	if (!rc)
		rc = trace_rows(b);
	return rc ? rc : core_edges(b);
}

const struct bench_group bench_core = {
	.name = "core",
	.what = "scan, import, decode, merge, show",
	.run = run,
};
