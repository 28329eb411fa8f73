/* SPDX-License-Identifier: MIT */
#include "grace.h"

#include <coeval/error.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the test bed ---- */

/* Beside the command that is measured, whose captures it runs. */
static void bed_program(const struct bench *b, char out[BENCH_PATH_MAX + 16])
{
	snprintf(out, BENCH_PATH_MAX + 16, "%s-testbed", b->coeval);
}

bool grace_no_bed(const struct bench *b, bool mounting, char why[200])
{
	static const char *const try[] = { "unshare", "-rm",  "mount", "-t",
					   "tmpfs",   "none", NULL,    NULL };
	char program[BENCH_PATH_MAX + 16];
	const char *argv[8];
	struct bench_usage u = { 0 };
	int status = 0;
	const struct bench_command c = { .argv = argv, .status = &status };

	bed_program(b, program);
	if (access(program, X_OK)) {
		snprintf(why, 200, "coeval-simbed is not built (it needs umockdev)");
		return true;
	}
	if (!mounting)
		return false;
	memcpy(argv, try, sizeof(try));
	argv[6] = b->dir;
	if (!bench_run(b, &c, &u) && !status)
		return false;
	snprintf(why, 200, "a file system cannot be mounted here (unshare -rm)");
	return true;
}

static int read_result(const struct bench *b, const char *path, struct grace_bed_run *r)
{
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(r->result, 1, sizeof(r->result) - 1, f) : 0;

	r->result[n] = '\0';
	if (f)
		fclose(f);
	return n && r->result[0] == '{' ? 0 : bench_fail(b, CVL_E_ENV, "no result of a test bed");
}

int grace_bed_start(const struct bench *b, struct grace_bed_run *r)
{
	char program[BENCH_PATH_MAX + 16], place[BENCH_PATH_MAX], out[BENCH_PATH_MAX];
	char nodes[16], seconds[16];
	const char *const argv[] = { "unshare",  "-rm",     program,     "--bed", place,
				     "--nodes",  nodes,     "--seconds", seconds, "--json",
				     "--faults", r->faults, "--disk",    r->disk, NULL };
	int status = 0;
	/* without a disk of its own nothing is to be mounted, and rights are left as they are */
	const struct bench_command c = {
		.argv = r->disk ? argv : argv + 2, .fresh = place, .output = out, .status = &status
	};
	const char *plain[16];
	struct bench_command run = c;
	struct bench_usage u = { 0 };
	int rc;

	bed_program(b, program);
	bench_path(b, place, "bed");
	bench_path(b, out, "bed.json");
	snprintf(nodes, sizeof(nodes), "%u", r->nodes);
	snprintf(seconds, sizeof(seconds), "%u", r->seconds);
	if (!r->disk) {
		memcpy(plain, argv + 2, 10 * sizeof(*plain));
		plain[10] = NULL;
		run.argv = plain;
	}
	rc = bench_run(b, &run, &u);
	if (!rc && status > 1)
		rc = bench_fail(b, CVL_E_ENV, "coeval-simbed failed (%d)", status);
	if (!rc)
		rc = read_result(b, out, r);
	bench_remove(place);
	return rc;
}

double grace_number(const struct grace_bed_run *r, const char *key)
{
	char quoted[64];
	const char *at;

	snprintf(quoted, sizeof(quoted), "\"%s\":", key);
	at = strstr(r->result, quoted);
	return at ? strtod(at + strlen(quoted), NULL) : NAN;
}

/* ---- printing ---- */

void grace_skip(const struct bench *b, const char *name, const char *why)
{
	bench_done(b);
	if (b->json)
		printf("{\"group\":\"%s\",\"name\":\"%s\",\"skipped\":\"%s\"}\n", b->group, name,
		       why);
	else
		printf("SKIP  %s: %s\n", name, why);
	fflush(stdout);
}

void grace_put(const struct bench *b, const char *name, const char *unit, bool less_is_better,
	       double goal, double value, const char *note)
{
	struct bench_figure f = {
		.name = name, .unit = unit, .less_is_better = less_is_better, .goal = goal
	};

	bench_add(&f.measured, value);
	snprintf(f.note, sizeof(f.note), "%s", note);
	bench_figure_put(b, &f);
}

static int run(const struct bench *b)
{
	int rc;

	bench_heads(b);
	rc = grace_timing(b);
	if (rc)
		return rc;
	bench_figure_heads(b);
	return grace_bed(b);
}

static int run_long(const struct bench *b)
{
	bench_figure_heads(b);
	return grace_long(b);
}

const struct bench_group bench_grace = {
	.name = "grace",
	.what = "from samples to times as Grace does it, and a simulated test bed",
	.run = run,
};

const struct bench_group bench_long = {
	.name = "long",
	.what = "captures of an hour through USB and of a day from memory (only if asked for)",
	.run = run_long,
	.only_alone = true,
};
