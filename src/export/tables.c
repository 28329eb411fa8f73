/* SPDX-License-Identifier: MIT */
/* The tables of a timeline (coeval/table.h): each as a Parquet file, or one as an Arrow stream. */
#include "export/exporters.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <coeval/array.h>
#include <coeval/files.h>

#include "core/utf8.h"
#include "table/ipc.h"
#include "table/parquet.h"
#include "table/pass.h"

/* ---- Parquet ---- */

#define HELD_MAX (64u << 20) /* compressed, of all tables */
#define NAME_BYTES 200

struct file {
	struct parquet *parquet;
	char name[NAME_BYTES + 24];
};

struct files {
	const char *dir;
	struct pass *pass;
	struct file *file; /* of each table */
	size_t n, room;
};

/* The name of a table as one of a file anywhere: what may not be in it becomes '_'. */
static void make_plain(char out[NAME_BYTES], const char *name)
{
	size_t n = 0, len;

	for (; *name && n + 4 < NAME_BYTES; name += len ? len : 1) {
		len = utf8_length(name, strlen(name));
		if (!len || (unsigned char)*name < ' ' || strchr("/\\:*?\"<>|\x7f", *name)) {
			out[n++] = '_';
			continue;
		}
		memcpy(out + n, name, len);
		n += len;
	}
	out[n] = '\0';
}

/* Names that differ only in what became '_' get a number. */
static void name_file(struct files *f, const struct cvl_table *t, struct file *file)
{
	char plain[NAME_BYTES];
	unsigned number = 1;

	make_plain(plain, cvl_table_name(t));
	snprintf(file->name, sizeof(file->name), "%s", plain);
	for (size_t i = 0; i < f->n; i++)
		if (!strcmp(f->file[i].name, file->name)) {
			snprintf(file->name, sizeof(file->name), "%s-%u", plain, ++number);
			i = SIZE_MAX; /* from the beginning */
		}
}

static int add_file(struct files *f, const struct cvl_table *t, struct cvl_error *err)
{
	if (cvl_room(&f->file, f->n, &f->room, sizeof(*f->file)))
		return cvl_no_memory(err);
	f->file[f->n] = (struct file){ 0 };
	name_file(f, t, &f->file[f->n]);
	f->n++;
	return 0;
}

static int open_file(struct files *f, size_t i, struct cvl_error *err)
{
	char path[CVL_PATH_MAX], name[NAME_BYTES + 40];

	snprintf(name, sizeof(name), "%s.parquet", f->file[i].name);
	if (!cvl_path_join(path, f->dir, name))
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long", f->dir);
	return parquet_open(&f->file[i].parquet, pass_table(f->pass, i), path, NULL, err);
}

/* Where all of them hold too much, the one that holds most ends its row group. */
static int bound_memory(struct files *f, struct cvl_error *err)
{
	size_t all = 0, most = 0, largest = 0;

	for (size_t i = 0; i < f->n; i++) {
		const size_t held = f->file[i].parquet ? parquet_held(f->file[i].parquet) : 0;

		all += held;
		if (held > most) {
			most = held;
			largest = i;
		}
	}
	return all > HELD_MAX ? parquet_flush(f->file[largest].parquet, err) : 0;
}

static int put_rows(struct files *f, size_t i, const struct cvl_rows *rows, struct cvl_error *err)
{
	int rc = 0;

	while (f->n <= i && !rc)
		rc = add_file(f, pass_table(f->pass, f->n), err);
	if (!rc && !f->file[i].parquet)
		rc = open_file(f, i, err);
	rc = rc ? rc : parquet_put(f->file[i].parquet, rows, err);
	return rc ? rc : bound_memory(f, err);
}

static int write_files(struct files *f, struct cvl_error *err)
{
	struct cvl_rows *rows;
	size_t i;
	int rc;

	while ((rc = pass_next(f->pass, &i, &rows, err)) > 0) {
		rc = put_rows(f, i, rows, err);
		cvl_rows_free(rows);
		if (rc)
			return rc;
	}
	for (i = 0; i < f->n && !rc; i++)
		if (f->file[i].parquet)
			rc = parquet_finish(f->file[i].parquet, err);
	return rc;
}

static int parquet_table(struct cvl_timeline *tl, const char *table, const char *path,
			 struct cvl_error *err)
{
	struct files f = { .dir = path };
	int rc;

	if (!path || !strcmp(path, "-"))
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				"Parquet files are in a directory: name one with -o");
	rc = pass_open(&f.pass, tl, table, err);
	if (!rc && mkdir(path, 0777) && errno != EEXIST)
		rc = cvl_fail_errno(err, "make the directory", path);
	rc = rc ? rc : write_files(&f, err);
	for (size_t i = 0; i < f.n; i++)
		parquet_free(f.file[i].parquet);
	free(f.file);
	pass_close(f.pass);
	return rc;
}

static int parquet_tables(struct cvl_timeline *tl, const char *path, struct cvl_error *err)
{
	return parquet_table(tl, NULL, path, err);
}

static const struct cvl_option parquet_options[] = {
	{ "table", "NAME",
	  "this table alone: edges, samples, events, event_NAME, spans, marks, gaps or clocks" },
	{ 0 },
};

const struct cvl_exporter cvl_export_parquet = {
	.name = "parquet",
	.what = "a directory of tables as Parquet files, for DuckDB, polars, and pandas with pyarrow",
	.options = parquet_options,
	.suffix = "",
	.write = parquet_tables,
	.write_as = parquet_table,
};

/* ---- Arrow ---- */

static int write_stream(struct pass *p, struct cvl_out *out, struct cvl_error *err)
{
	struct cvl_rows *rows;
	struct ipc ipc;
	size_t i;
	int rc = ipc_begin(&ipc, out, pass_table(p, 0), err);

	while (!rc && !out->closed && (rc = pass_next(p, &i, &rows, err)) > 0) {
		rc = 0;
		if (rows->n)
			rc = ipc_put(&ipc, rows, err);
		else
			cvl_rows_free(rows);
	}
	return ipc_end(&ipc, rc, err);
}

static int arrow_table(struct cvl_timeline *tl, const char *table, const char *path,
		       struct cvl_error *err)
{
	struct cvl_out *out = malloc(sizeof(*out));
	struct pass *p = NULL;
	int rc = out ? pass_open(&p, tl, table, err) : cvl_no_memory(err);

	rc = rc ? rc : cvl_out_open(out, path, err);
	if (!rc) {
		int closed;

		out->plain = false;
		rc = write_stream(p, out, err);
		closed = cvl_out_close(out, rc ? NULL : err);
		rc = rc ? rc : closed;
	}
	pass_close(p);
	free(out);
	return rc;
}

static int arrow_edges(struct cvl_timeline *tl, const char *path, struct cvl_error *err)
{
	return arrow_table(tl, "edges", path, err);
}

static const struct cvl_option arrow_options[] = {
	{ "table", "NAME",
	  "which table: edges, samples, events, event_NAME, spans, marks, gaps or clocks (default: edges)" },
	{ 0 },
};

const struct cvl_exporter cvl_export_arrow = {
	.name = "arrow",
	.what = "one table, edges by default, as an Arrow IPC stream, for pipes",
	.options = arrow_options,
	.suffix = ".arrows",
	.write = arrow_edges,
	.write_as = arrow_table,
};
