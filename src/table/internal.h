/* SPDX-License-Identifier: MIT */
/** Shared by the files that make tables. */
#ifndef TABLE_INTERNAL_H
#define TABLE_INTERNAL_H

#include <coeval/array.h>
#include <coeval/fields.h>
#include <coeval/table.h>

/* ---- names.c ---- */

struct cvl_names *names_new(void);
void names_free(struct cvl_names *n);
/** Number of @text, which is added if it is new; invalid UTF-8 in it is replaced. -1: no memory. */
int32_t names_put(struct cvl_names *n, const char *text, size_t len);

/** @n bytes of @s as UTF-8 at @to, which has room for 3 @n: what is none becomes U+FFFD. Its length. */
size_t table_utf8(char *to, const char *s, size_t n);

/* ---- columns ---- */

/** A cell without a value, until the rows are taken: then it is NULL. */
#define INT_NULL INT64_MAX
#define UINT_NULL UINT64_MAX
#define NAME_NULL (-1)
#define BOOL_NULL 2
/* of a double: NaN */

/** A column that is being filled. */
struct filling {
	struct cvl_cells cells;
	size_t bytes, bytes_room; /* of TEXT and BYTES */
};

struct table_kind;

struct cvl_table {
	const struct table_kind *kind;
	char *name, *node, *lines;
	struct cvl_session *session;
	struct cvl_timeline *tl;
	struct cvl_table_opts opts;
	bool attached;          /* the timeline is the caller's */
	bool at_end;            /* of its own timeline */
	bool ended;             /* what is known only then was added */
	struct cvl_block block; /* not yet taken */
	const struct cvl_column *column;
	size_t n_columns;
	struct filling *fill;     /* of each column */
	struct cvl_names **names; /* of each column, or NULL */
	size_t n, room;           /* rows */
	uint64_t gaps, late;
	struct table_stream *stream; /* of each of the timeline */
	size_t n_streams;
	char (*facts)[CVL_ERROR_TEXT]; /* values, once they were asked for */
	void *own;                     /* the kind's */
	/* of event_<class>: what the columns are called belongs to it */
	struct cvl_column *made;
};

/** What tables need to know of a stream, found when it first has a record. */
struct table_stream {
	bool known;
	bool shown; /* its lines, channels or events may be of the table */
	int32_t clock, node, kind, stream;
	struct cvl_levels levels;
	uint64_t lines;     /* wanted */
	int32_t *name;      /* of each line or channel; of each event class */
	size_t n, left_out; /* of these; not wanted */
	struct cvl_pick pick;
	bool *classes;
	int64_t seq;
};

struct table_kind {
	const char *name, *what;
	const struct cvl_column *column;
	size_t n_columns;
	bool result;    /* of an analysis */
	bool event;     /* name is a prefix, before that of an event class */
	uint32_t kinds; /* of records: bits 1 << enum cvl_kind; 0: all */
	size_t marked; /* columns from here on have table_null() where they have none; 0: no such */
	int (*open)(struct cvl_table *t, struct cvl_error *err);
	int (*slice)(struct cvl_table *t, const struct cvl_slice *sl, struct cvl_error *err);
	int (*end)(struct cvl_table *t, struct cvl_error *err);
	void (*free)(struct cvl_table *t);
};

extern const struct table_kind table_edges, table_samples, table_events, table_event, table_spans,
	table_marks, table_gaps, table_clocks, table_calls, table_waits, table_violations,
	table_tasks, table_power;

/** Room for @more rows. */
int table_room(struct cvl_table *t, size_t more, struct cvl_error *err);

/** Whether its rows are as many as were wanted at a time, or many bytes; and their bytes. */
bool table_full(const struct cvl_table *t);
size_t table_bytes(const struct cvl_table *t);

/** Number of @text in the dictionary of column @column; -1 and CVL_E_NOMEM. */
int32_t table_name(struct cvl_table *t, size_t column, const char *text);

/** Whether column @i is wanted. */
static inline bool table_wants(const struct cvl_table *t, size_t i)
{
	return !t->opts.columns || i >= 64 || t->opts.columns >> i & 1;
}

static inline int64_t *table_ints(const struct cvl_table *t, size_t c)
{
	return t->fill[c].cells.values;
}

static inline uint64_t *table_uints(const struct cvl_table *t, size_t c)
{
	return t->fill[c].cells.values;
}

static inline double *table_doubles(const struct cvl_table *t, size_t c)
{
	return t->fill[c].cells.values;
}

static inline int32_t *table_codes(const struct cvl_table *t, size_t c)
{
	return t->fill[c].cells.values;
}

static inline uint8_t *table_bools(const struct cvl_table *t, size_t c)
{
	return t->fill[c].cells.values;
}

/** Cell @column of row t->n is NULL. Only of columns that are marked. */
int table_null(struct cvl_table *t, size_t column, struct cvl_error *err);

/** The text or bytes of row t->n, of which there are some for each row; @text NULL: NULL. */
int table_text(struct cvl_table *t, size_t column, const char *text, size_t n,
	       struct cvl_error *err);

/** The stream of @sl, with the names of its clock, node and kind of bound found once. */
struct table_stream *table_stream(struct cvl_table *t, const struct cvl_slice *sl,
				  struct cvl_error *err);

/** Cells of row t->n in the @n columns of names @column; a text that is NULL is NULL. */
int table_put_names(struct cvl_table *t, const size_t *column, const char *const *text, size_t n,
		    struct cvl_error *err);

/** Half-width of record @i; CVL_BOUND_UNKNOWN is NULL. */
static inline int64_t table_bound(const struct cvl_table *t, const struct cvl_slice *sl, size_t i)
{
	return sl->bound ? sl->bound[i] : cvl_timeline_bound(t->tl, sl, i);
}

/** The first columns of tables with a row for each record. */
enum { RECORD_TIME, RECORD_BOUND, RECORD_CLOCK, RECORD_NODE, RECORD_COLUMNS };

/** What row t->n has in them, of record @i. */
static inline void table_put_record(struct cvl_table *t, const struct table_stream *s,
				    const struct cvl_slice *sl, size_t i)
{
	table_ints(t, RECORD_TIME)[t->n] = sl->time[i].ns;
	table_ints(t, RECORD_BOUND)[t->n] = table_bound(t, sl, i);
	table_codes(t, RECORD_CLOCK)[t->n] = s->clock;
	table_codes(t, RECORD_NODE)[t->n] = s->node;
}

/* for tables of them */
#define RECORD_COLUMN_LIST                                                               \
	[RECORD_TIME] = { "time_ns", CVL_COLUMN_INT, false, "on the timeline" },         \
	[RECORD_BOUND] = { "bound_ns", CVL_COLUMN_INT, true, "half-width of the time" }, \
	[RECORD_CLOCK] = { "clock", CVL_COLUMN_NAME, false, "" },                        \
	[RECORD_NODE] = { "node", CVL_COLUMN_NAME, false, "" }

#endif
