/* SPDX-License-Identifier: MIT */
/**
 * Tables: what a session holds, as columns (docs/tables.md). One schema for Python, SQL and files.
 *
 * Times and bounds are int64 ns on the timeline. An unknown bound, an end that is not known, a
 * reading that is missing are NULL. Names are numbers of a dictionary.
 *
 *   while ((rc = cvl_table_next(t, &rows, err)) > 0) {
 *           ... rows->n rows in rows->column[...] ...
 *           cvl_rows_free(rows);
 *   }
 *
 * Rows are in the order of time except for those of late records (cvl_table_late()), of `spans`,
 * which come as they end, and of results. Memory is that of some 65,536 rows; results of analyses
 * are in memory as a whole.
 *
 * A table is read by one thread at a time, which need not always be the same. Rows may be freed by
 * any, also after the table was closed.
 */
#ifndef COEVAL_TABLE_H
#define COEVAL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <coeval/api.h>
#include <coeval/timeline.h>

CVL_BEGIN_DECLS

/** How a column's cells are held. */
enum cvl_column_type {
	CVL_COLUMN_INT,    /* int64_t */
	CVL_COLUMN_UINT,   /* uint64_t */
	CVL_COLUMN_DOUBLE, /* double */
	CVL_COLUMN_BOOL,   /* uint8_t, 0 or 1 */
	CVL_COLUMN_NAME,   /* int32_t, number of a name */
	CVL_COLUMN_TEXT,   /* UTF-8 */
	CVL_COLUMN_BYTES,
};

struct cvl_column {
	const char *name;
	enum cvl_column_type type;
	bool nullable;
	const char *what; /* one line for people; may be "" */
};

/** A dictionary: texts that are given once. Grows, and never changes what it has. */
struct cvl_names;

/** How many names it has. */
CVL_API size_t cvl_names_count(const struct cvl_names *names);
/** Name @i, UTF-8; valid until the dictionary grows, or is freed with its table. */
CVL_API const char *cvl_names_at(const struct cvl_names *names, size_t i);

/** The cells of one column. */
struct cvl_cells {
	void *values;   /* by type; of TEXT and BYTES int32_t[n + 1]: where each begins */
	char *bytes;    /* of TEXT and BYTES */
	uint8_t *valid; /* bit i & 7 of byte i / 8: cell i is not NULL. Or NULL: none is */
	size_t nulls;
	const struct cvl_names *names; /* of NAME; the table's */
};

/** Some rows; freed by cvl_rows_free(). values and bytes come from malloc() and may be taken. */
struct cvl_rows {
	size_t n;
	size_t n_columns;
	struct cvl_cells *column;
};

/** NULL is allowed. */
CVL_API void cvl_rows_free(struct cvl_rows *rows);

static inline bool cvl_cells_null(const struct cvl_cells *c, size_t i)
{
	return c->valid && !(c->valid[i / 8] >> (i & 7) & 1);
}

struct cvl_check_rules;
struct cvl_calls_opts;
struct cvl_tasks_opts;
struct cvl_power_opts;

struct cvl_table_opts {
	/* range, node, ...; its bounds, progress and report, too */
	struct cvl_timeline_opts timeline;
	const char *lines; /* "a*,b": globs over lines or channels; NULL: all */
	size_t rows;       /* about so many at a time; 0: 65536; SIZE_MAX: all */
	uint64_t columns;  /* bit i: column i is wanted, else it may be of zeros; 0: all */

	/* of `violations`, `calls`, `tasks` and `power`; all must outlive the table */
	const struct cvl_check_rules *check;
	const struct cvl_calls_opts *calls;
	const struct cvl_tasks_opts *tasks;
	const struct cvl_power_opts *power;
};

struct cvl_table;

/** A table that a session has. */
struct cvl_table_info {
	const char *name; /* "edges", "event_sched_switch" */
	const char *what; /* one line */
	bool result;      /* of an analysis, which needs options */
};

/**
 * Call @fn with each table of @session, in the order of docs/tables.md; the text is valid during the
 * call. An error is that of opening its timeline.
 */
CVL_API int cvl_table_each(struct cvl_session *session,
			   void (*fn)(void *ctx, const struct cvl_table_info *info), void *ctx,
			   struct cvl_error *err);

/**
 * Open table @name of @session, which must outlive it. @opts may be NULL; it is copied, and its
 * strings. CVL_E_UNKNOWN_ID: no such table; CVL_E_USAGE: a result without its options; as
 * cvl_timeline_open().
 */
CVL_API int cvl_table_open(struct cvl_table **t, struct cvl_session *session, const char *name,
			   const struct cvl_table_opts *opts, struct cvl_error *err);

/**
 * The same on a timeline that the caller opened, reads by and closes: for one that grows. Rows are
 * added by cvl_table_push(), and at the end by cvl_table_finish(). Not for results.
 */
CVL_API int cvl_table_attach(struct cvl_table **t, struct cvl_timeline *tl, const char *name,
			     const struct cvl_table_opts *opts, struct cvl_error *err);
/**
 * Continue with @tl, which was opened again on the same session, since clocks were added: levels and
 * dictionaries are kept.
 */
CVL_API int cvl_table_begin(struct cvl_table *t, struct cvl_timeline *tl, struct cvl_error *err);
/** Add what @slice has to the rows that cvl_table_take() gives. */
CVL_API int cvl_table_push(struct cvl_table *t, const struct cvl_slice *slice,
			   struct cvl_error *err);
/** Add what is known only after the last slice: spans that did not end; all of `clocks`. */
CVL_API int cvl_table_finish(struct cvl_table *t, struct cvl_error *err);
/** The rows so far, perhaps none; NULL: out of memory. */
CVL_API struct cvl_rows *cvl_table_take(struct cvl_table *t);

/** NULL is allowed. */
CVL_API void cvl_table_close(struct cvl_table *t);

/** Its name, as it was opened. */
CVL_API const char *cvl_table_name(const struct cvl_table *t);
/** Its columns; they belong to the table. */
CVL_API const struct cvl_column *cvl_table_columns(const struct cvl_table *t, size_t *n);

/** Some rows: 1; 0: there are no more; or a negative code, after which it can only be closed. */
CVL_API int cvl_table_next(struct cvl_table *t, struct cvl_rows **rows, struct cvl_error *err);

/** Gaps met so far; only the table `gaps` shows them. */
CVL_API uint64_t cvl_table_gaps(const struct cvl_table *t);
/** Rows so far whose time was before that of an earlier one of their stream. */
CVL_API uint64_t cvl_table_late(const struct cvl_table *t);

/**
 * What a reader of the rows should know, by key: coeval.session (its id), coeval.epoch_unix_ns (of
 * time 0; "" if unknown), coeval.reference, coeval.estimator, coeval.bound ("99.9 %", "proven",
 * "mixed" or "unknown"), coeval.gaps (in all of the session; "" where they were not counted yet).
 * NULL: @i is beyond the last. Valid as long as the table.
 */
CVL_API const char *cvl_table_fact(const struct cvl_table *t, size_t i, const char **value);

CVL_END_DECLS

#endif
