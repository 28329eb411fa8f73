/* SPDX-License-Identifier: MIT */
/*
 * A trace, its metadata up to the first NUL and then its stream, as tables. Each can be read, what it
 * holds is what its columns say, and as rows of any number at a time it is the same.
 */
#include <coeval/arrow.h>
#include <coeval/table.h>

#include <stdlib.h>

#include "fuzz_trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check_column(const struct cvl_column *c, const struct cvl_cells *cells, size_t n)
{
	const int32_t *at = cells->values;
	size_t nulls = 0;

	for (size_t i = 0; i < n; i++) {
		const bool null = cvl_cells_null(cells, i);

		nulls += null;
		if (c->type == CVL_COLUMN_NAME && !null &&
		    (at[i] < 0 || (size_t)at[i] >= cvl_names_count(cells->names)))
			abort();
		if ((c->type == CVL_COLUMN_TEXT || c->type == CVL_COLUMN_BYTES) &&
		    at[i + 1] < at[i])
			abort();
		if (c->type == CVL_COLUMN_BOOL && ((uint8_t *)cells->values)[i] > 1)
			abort();
	}
	if (nulls != cells->nulls || (nulls && !c->nullable))
		abort();
}

/* Rows of the table; -1 if an error ended it. */
static long read_table(struct cvl_session *s, const char *name, size_t at_a_time, bool arrow)
{
	const struct cvl_table_opts opts = { .rows = at_a_time };
	const struct cvl_column *column;
	struct cvl_table *t;
	struct cvl_rows *rows;
	struct ArrowArray array;
	struct cvl_error err;
	size_t n_columns;
	long n = 0;
	int rc;

	if (cvl_table_open(&t, s, name, &opts, &err))
		return -1;
	column = cvl_table_columns(t, &n_columns);
	while ((rc = cvl_table_next(t, &rows, &err)) > 0) {
		n += (long)rows->n;
		for (size_t c = 0; c < n_columns; c++)
			check_column(&column[c], &rows->column[c], rows->n);
		if (!arrow)
			cvl_rows_free(rows);
		else if (cvl_arrow_rows(&array, t, rows))
			array.release(&array);
	}
	cvl_table_close(t);
	return rc ? -1 : n;
}

static void try_table(void *ctx, const struct cvl_table_info *info)
{
	struct cvl_session *s = ctx;
	const long all = read_table(s, info->name, SIZE_MAX, true);

	if (all != read_table(s, info->name, 3, false))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const char *dir = fuzz_trace(data, n);
	struct cvl_session *session;
	struct cvl_error err;

	if (!dir)
		return 0;
	if (cvl_session_open(&session, dir, NULL, &err))
		return 0;
	if (cvl_table_each(session, try_table, session, &err) && err.code == CVL_E_NOMEM)
		abort();
	cvl_session_close(session);
	return 0;
}
