/* SPDX-License-Identifier: MIT */
/** Shared by the files that know SQLite. */
#ifndef SQL_INTERNAL_H
#define SQL_INTERNAL_H

#include <sqlite3.h>

#include <coeval/sql.h>

#include "table/internal.h"

/** Columns that are the same in `events` and each event_<class>, of which the fields come after them. */
#define EVENT_COMMON 6

/* ---- words.c ---- */

/** Names that differ, whatever their case, as SQLite wants of tables and of columns. */
struct words {
	char **word;
	size_t n, room;
};

/** @name, or @name with _2, _3, ... where there is one already; NULL: no memory. */
const char *words_add(struct words *w, const char *name);
/** The same of a table: what is neither letter nor digit becomes _. */
const char *words_add_table(struct words *w, const char *name);
void words_free(struct words *w);

/** Declared type of a column. Of unsigned ones none: what does not fit is text, and must stay that. */
const char *sql_type(enum cvl_column_type type);

/** @v as text, for values above INT64_MAX. Returns its length. */
int sql_unsigned(char text[24], uint64_t v);

/** The failure @rc of SQLite, called @what in the message. */
int sql_fail(sqlite3 *db, int rc, const char *what, struct cvl_error *err);

/* ---- group.c ---- */

/** Rows that are kept, and their order: batch << 32 | row. */
struct grouped {
	struct cvl_rows **rows;
	size_t n, room;
	uint64_t *order;
	size_t n_order, at;
	uint64_t bytes; /* about, of all of it */
};

/** Take @rows; columns that are not @wanted (as colUsed) are forgotten. Returns SQLite's code. */
int grouped_add(struct grouped *g, struct cvl_rows *rows, uint64_t wanted);
/** Order by the @n columns @by, all of names; -1 - column: descending. Returns SQLite's code. */
int grouped_sort(struct grouped *g, const int *by, size_t n);
void grouped_free(struct grouped *g);

/* ---- the database of a session ---- */

/** A table of the session. */
struct entry {
	struct cvl_sql *sql;
	const char *name; /* in SQL */
	char *table;      /* in the session */
	char *what;
	bool result;
};

struct cvl_sql {
	sqlite3 *db;
	struct cvl_session *session;
	struct cvl_sql_opts opts;
	struct cvl_table_opts table; /* of all tables */
	char *node;
	struct entry *entry;
	size_t n, room;
	struct words words;
	/* texts of tables, which may be asked for after a table was opened again */
	struct cvl_names *texts;
	int64_t used_before; /* memory, by others */
	/* of the statement at work */
	struct cvl_error error; /* of a table */
	bool failed;
	const char *refused; /* what it asked for */
	int64_t deadline_ns;
	enum { STOP_NOT, STOP_CANCELLED, STOP_TIMEOUT, STOP_MEMORY } stopped;
};

/** Whether the statement at work has to stop, with @more bytes that SQLite does not know of. */
bool sql_must_stop(struct cvl_sql *sql, uint64_t more);
/** Make @entry a table of its database. */
int sql_vtab_create(struct entry *entry);
/** Add the functions of coeval/sql.h. */
int sql_functions_create(sqlite3 *db);

#endif
