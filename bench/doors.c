/* SPDX-License-Identifier: MIT */
/* Doors: what Python, SQL and other formats get out of 600 s of four observers. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <coeval/error.h>
#include <coeval/sim.h>
#include <coeval/sync.h>

#define RUNS 5
#define SECONDS 600
#define SCRIPT COEVAL_SOURCE_DIR "/bench/doors.py"
#define GROUPED "select clock, line, count(*), max(bound_ns) from edges group by clock, line"
#define A_SECOND "select count(*) from edges where time_ns between 300000000000 and 301000000000"

static int make_session(const struct bench *b, const char *path)
{
	struct cvl_sync_opts opts = { .beacon_period_ns = 1000000000 };
	struct cvl_session *session = NULL;
	struct cvl_sync *sync = NULL;
	struct cvl_sim_demo *demo;
	struct cvl_error err;
	int rc = cvl_sim_demo_make(&demo, 1, SECONDS, &err);

	bench_doing(b, "making a session of %d s", SECONDS);
	rc = rc ? rc : cvl_sim_demo_capture(demo, b->dir, path, &err);
	rc = rc ? rc : cvl_session_open(&session, path, NULL, &err);
	rc = rc ? rc : cvl_sync_run(&sync, session, &opts, &err);
	rc = rc ? rc : cvl_sync_save(sync, session, &err);
	cvl_sync_free(sync);
	cvl_session_close(session);
	cvl_sim_demo_free(demo);
	return rc ? bench_fail(b, rc, "%s", err.text) : 0;
}

/* The figure that doors.py prints; false: something that it needs is not installed. */
static bool figure(const struct bench *b, const char *what, const char *session, double *value)
{
	char out[BENCH_PATH_MAX], file[BENCH_PATH_MAX];
	/* bt2 is a package of the system, the others may be of a virtual environment */
	const char *const python = strcmp(what, "bt2") ? "python3" : "/usr/bin/python3";
	const char *const argv[] = { python, SCRIPT, what, session, file, NULL };
	int status = 0;
	FILE *f;
	bool good;

	bench_path(b, out, "figure");
	bench_path(b, file, "theirs.parquet");
	if (bench_run(b,
		      &(struct bench_command){ .argv = argv,
					       .output = out,
					       .messages = "figure-messages",
					       .status = &status },
		      &(struct bench_usage){ 0 }) ||
	    status)
		return false;
	f = fopen(out, "r");
	good = f && fscanf(f, "%lf", value) == 1;
	if (f)
		fclose(f);
	return good;
}

static int python_row(const struct bench *b, const char *session, struct bench_row *row,
		      const char *ours, const char *reference)
{
	for (int i = 0; i < RUNS && !row->skip[0]; i++) {
		double mine, theirs;

		bench_doing(b, "%s: run %d", row->name, i + 1);
		if (!figure(b, ours, session, &mine) || !figure(b, reference, session, &theirs)) {
			snprintf(row->skip, sizeof(row->skip),
				 "one of the packages for %s or %s is not installed", ours,
				 reference);
			break;
		}
		bench_add(&row->ours, mine);
		bench_add(&row->reference, theirs);
	}
	bench_put(b, row);
	return 0;
}

static int python_rows(const struct bench *b, const char *session)
{
	struct bench_row pandas = {
		.name = "edges into pandas, with bounds: bt2's loop over one clock",
		.unit = "rows/s",
		.goal = 100
	};
	struct bench_row polars = {
		.name = "edges into polars, with bounds: bt2's loop over one clock",
		.unit = "rows/s",
		.goal = 100
	};
	struct bench_row csv = { .name = "edges into pandas: export to CSV and read_csv",
				 .unit = "s",
				 .less_is_better = true,
				 .goal = 5 };
	int rc = python_row(b, session, &pandas, "pandas", "bt2");

	rc = rc ? rc : python_row(b, session, &polars, "polars", "bt2");
	return rc ? rc : python_row(b, session, &csv, "table", "csv");
}

static double size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : (double)st.st_size;
}

/* Export as @format to @out once. */
static int export(const struct bench *b, const char *session, const char *format, const char *out)
{
	const char *const argv[] = {
		b->coeval, "export", session, "--to", format, "-o", out, NULL
	};

	return bench_run(b, &(struct bench_command){ .argv = argv, .fresh = out },
			 &(struct bench_usage){ 0 });
}

/* CPU time of a query, beside that of one that reads nothing. */
static int second_row(const struct bench *b, const char *session)
{
	struct bench_figure f = { .name = "SQL, a second out of 600: CPU time of the query",
				  .unit = "ms",
				  .less_is_better = true,
				  .goal = 5,
				  .real = true };
	const char *const query[] = { b->coeval, "sql", session, A_SECOND, NULL };
	const char *const nothing[] = { b->coeval, "sql", session, "select 1", NULL };

	for (int i = 0; i < RUNS; i++) {
		struct bench_usage with = { 0 }, without = { 0 };
		int rc = bench_run(b, &(struct bench_command){ .argv = query }, &with);

		rc = rc ? rc : bench_run(b, &(struct bench_command){ .argv = nothing }, &without);
		if (rc)
			return rc;
		bench_add(&f.measured, (with.cpu_s - without.cpu_s) * 1e3);
	}
	bench_figure_put(b, &f);
	return 0;
}

static int sql_rows(const struct bench *b, const char *session)
{
	struct bench_row grouped = {
		.name = "SQL, counts and worst bounds by clock and line: SQLite on a table",
		.goal = 1
	};
	char db[BENCH_PATH_MAX];
	const char *const ours[] = { b->coeval, "sql", session, GROUPED, NULL };
	const char *const theirs[] = { "sqlite3", db, GROUPED, NULL };
	int rc;

	bench_path(b, db, "session.db");
	rc = export(b, session, "sqlite", db);
	bench_installed(&grouped, "sqlite3");
	return rc ? rc :
		    bench_compare(b, &grouped, RUNS, &(struct bench_command){ .argv = ours },
				  &(struct bench_command){ .argv = theirs });
}

static int parquet_rows(const struct bench *b, const char *session)
{
	struct bench_row size = { .name = "edges.parquet: DuckDB's, zstd",
				  .unit = "bytes",
				  .less_is_better = true,
				  .goal = 1.25 };
	struct bench_row speed = { .name = "Parquet: reading alone", .goal = 0.4 };
	char out[BENCH_PATH_MAX], edges[BENCH_PATH_MAX + 20];
	const char *const ours[] = { b->coeval, "export", session, "--to",
				     "parquet", "-o",     out,     NULL };
	const char *const theirs[] = { b->coeval, "export", session, "--to", "null", NULL };
	double value;
	int rc;

	bench_path(b, out, "parquet");
	snprintf(edges, sizeof(edges), "%s/edges.parquet", out);
	rc = bench_compare(b, &speed, RUNS, &(struct bench_command){ .argv = ours, .fresh = out },
			   &(struct bench_command){ .argv = theirs });
	if (rc)
		return rc;
	bench_add(&size.ours, size_of(edges));
	if (figure(b, "duckdb", session, &value))
		bench_add(&size.reference, value);
	else
		snprintf(size.skip, sizeof(size.skip), "duckdb is not installed for python3");
	bench_put(b, &size);
	return 0;
}

static int fst_rows(const struct bench *b, const char *session)
{
	struct bench_row size = { .name = "FST: what vcd2fst makes of the VCD",
				  .unit = "bytes",
				  .less_is_better = true,
				  .goal = 1 };
	struct bench_row speed = { .name = "FST: VCD", .goal = 0.5 };
	char fst[BENCH_PATH_MAX], vcd[BENCH_PATH_MAX], other[BENCH_PATH_MAX];
	const char *const ours[] = { b->coeval, "export", session, "--to", "fst", "-o", fst, NULL };
	const char *const theirs[] = {
		b->coeval, "export", session, "--to", "vcd", "-o", vcd, NULL
	};
	const char *const convert[] = { "vcd2fst", vcd, other, NULL };
	int rc;

	bench_path(b, fst, "x.fst");
	bench_path(b, vcd, "x.vcd");
	bench_path(b, other, "other.fst");
	rc = bench_compare(b, &speed, RUNS, &(struct bench_command){ .argv = ours, .fresh = fst },
			   &(struct bench_command){ .argv = theirs, .fresh = vcd });
	if (rc)
		return rc;
	bench_add(&size.ours, size_of(fst));
	if (bench_installed(&size, convert[0])) {
		rc = bench_run(b, &(struct bench_command){ .argv = convert, .fresh = other },
			       &(struct bench_usage){ 0 });
		bench_add(&size.reference, size_of(other));
	}
	bench_put(b, &size);
	return rc;
}

static int run(const struct bench *b)
{
	char session[BENCH_PATH_MAX], python[BENCH_PATH_MAX];
	char *slash;
	int rc;

	/* the package is beside the command */
	snprintf(python, sizeof(python), "%s", b->coeval);
	slash = strrchr(python, '/');
	snprintf(slash ? slash : python, 8, "/python");
	setenv("PYTHONPATH", python, 1);
	setenv("COEVAL_BINARY", b->coeval, 1);
	bench_path(b, session, "session");
	rc = make_session(b, session);
	bench_heads(b);
	rc = rc ? rc : python_rows(b, session);
	rc = rc ? rc : sql_rows(b, session);
	rc = rc ? rc : parquet_rows(b, session);
	rc = rc ? rc : fst_rows(b, session);
	return rc ? rc : second_row(b, session);
}

const struct bench_group bench_doors = {
	.name = "doors",
	.what = "tables in Python, SQL, Parquet and FST",
	.run = run,
};
