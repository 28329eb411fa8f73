/* SPDX-License-Identifier: MIT */
/**
 * Writes rows of a table as a Parquet file: INT64 as packed differences, names as dictionaries,
 * pages compressed by gzip. Facts of the table are the file's key-value metadata.
 *
 * In memory are the compressed pages of a row group. The file is open only while one is added to it,
 * so that any number of tables can be written side by side.
 */
#ifndef TABLE_PARQUET_H
#define TABLE_PARQUET_H

#include <coeval/table.h>

struct parquet;

struct parquet_opts {
	size_t page_rows, group_rows; /* at most; 0: 64 Ki and 1 Mi */
};

/** A file @path of rows of @t, which must outlive it. @opts may be NULL. */
int parquet_open(struct parquet **p, const struct cvl_table *t, const char *path,
		 const struct parquet_opts *opts, struct cvl_error *err);
/** Add @rows, of that table. */
int parquet_put(struct parquet *p, const struct cvl_rows *rows, struct cvl_error *err);
/** Bytes in memory; and write them, as a row group. */
size_t parquet_held(const struct parquet *p);
int parquet_flush(struct parquet *p, struct cvl_error *err);
/** Write what is left and the end of the file. */
int parquet_finish(struct parquet *p, struct cvl_error *err);
/** NULL is allowed. */
void parquet_free(struct parquet *p);

#endif
