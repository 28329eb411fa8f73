/* SPDX-License-Identifier: MIT */
/*
 * The tables of a session as a SQLite database: rows in data_<table>, whose names, which are few, are
 * rows of names_<table>; and a view that puts both together again under the table's name, with the
 * same columns. An index on the time is all that is indexed.
 */
#include "export/exporters.h"

#include <coeval/timeline.h>

#ifdef HAVE_SQLITE

#include "sql/internal.h"

#include <stdlib.h>
#include <string.h>

#include "table/pass.h"

#define KEY_MAX 16 /* names in a row; more than that are text in it */

/* A table of the file. */
struct sheet {
	char *table;      /* in the session */
	const char *name; /* in SQL */
	const struct cvl_column *column;
	size_t n;            /* columns; 0: it was not made yet */
	struct words words;  /* names of its columns, then of `id` and `names` in it */
	size_t key[KEY_MAX]; /* columns that are in names_<table> */
	size_t width;        /* how many */
	int32_t *tuple;      /* their numbers, `width` for each row of names_<table> */
	size_t n_tuples, room;
	uint32_t *slot; /* 1 + number of a tuple, found by hash; 0: free */
	size_t slots;
	sqlite3_stmt *put, *put_names;
};

struct book {
	struct cvl_timeline *tl;
	sqlite3 *db;
	const char *path;
	struct sheet *sheet;
	size_t n, room;
	struct words words;
	struct cvl_error *err;
	int rc;
};

static int db_fail(struct book *b, int rc)
{
	return sql_fail(b->db, rc, b->path, b->err);
}

/* Run a statement, which sqlite3_mprintf() made; it is freed. */
static int run(struct book *b, char *text)
{
	int rc = text ? sqlite3_exec(b->db, text, NULL, NULL, NULL) : SQLITE_NOMEM;

	sqlite3_free(text);
	return rc ? db_fail(b, rc) : 0;
}

static int prepare(struct book *b, sqlite3_stmt **stmt, char *text)
{
	int rc = text ? sqlite3_prepare_v2(b->db, text, -1, stmt, NULL) : SQLITE_NOMEM;

	sqlite3_free(text);
	return rc ? db_fail(b, rc) : 0;
}

/* ---- layout ---- */

static bool keyed(const struct sheet *s, size_t column)
{
	for (size_t k = 0; k < s->width; k++)
		if (s->key[k] == column)
			return true;
	return false;
}

/* "create table" and "insert" of the part of @s that is its rows, or of its names. */
static int make_part(struct book *b, struct sheet *s, bool names)
{
	const char *part = names ? "names" : "data", *sep = "";
	const char *id = s->words.word[s->n], *reference = s->words.word[s->n + 1];
	sqlite3_str *table = sqlite3_str_new(b->db), *put = sqlite3_str_new(b->db);
	int rc;

	sqlite3_str_appendf(table, "CREATE TABLE \"%s_%w\"(", part, s->name);
	sqlite3_str_appendf(put, "INSERT INTO \"%s_%w\" VALUES(", part, s->name);
	if (names) {
		sqlite3_str_appendf(table, "\"%w\" INTEGER PRIMARY KEY", id);
		sqlite3_str_appendall(put, "?");
		sep = ", ";
	}
	for (size_t c = 0; c < s->n; c++) {
		if (keyed(s, c) != names)
			continue;
		sqlite3_str_appendf(table, "%s\"%w\" %s", sep, s->words.word[c],
				    sql_type(s->column[c].type));
		sqlite3_str_appendf(put, "%s?", sep);
		sep = ", ";
	}
	if (!names && s->width) {
		sqlite3_str_appendf(table, "%s\"%w\" INTEGER", sep, reference);
		sqlite3_str_appendf(put, "%s?", sep);
	}
	sqlite3_str_appendall(table, ")");
	sqlite3_str_appendall(put, ")");
	rc = run(b, sqlite3_str_finish(table));
	if (rc)
		sqlite3_free(sqlite3_str_finish(put));
	else
		rc = prepare(b, names ? &s->put_names : &s->put, sqlite3_str_finish(put));
	return rc;
}

static int make_view(struct book *b, struct sheet *s)
{
	const int64_t epoch = cvl_session_epoch(cvl_timeline_session(b->tl));
	const char *id = s->words.word[s->n], *reference = s->words.word[s->n + 1];
	sqlite3_str *view = sqlite3_str_new(b->db);
	bool has_time = false;

	sqlite3_str_appendf(view, "CREATE VIEW \"%w\" AS SELECT ", s->name);
	for (size_t c = 0; c < s->n; c++) {
		sqlite3_str_appendf(view, "%s%s.\"%w\"", c ? ", " : "", keyed(s, c) ? "n" : "d",
				    s->words.word[c]);
		has_time = has_time || !sqlite3_stricmp(s->words.word[c], "time");
	}
	/* seconds since 1970, as plotting tools want them */
	if (epoch && s->column[0].type == CVL_COLUMN_INT && !has_time)
		sqlite3_str_appendf(view, ", (d.\"%w\" + %lld) / 1e9 AS time", s->words.word[0],
				    (long long)epoch);
	sqlite3_str_appendf(view, " FROM \"data_%w\" d", s->name);
	/* CROSS: by row, never by name, for which there is no index */
	if (s->width)
		sqlite3_str_appendf(view, " CROSS JOIN \"names_%w\" n ON n.\"%w\" = d.\"%w\"",
				    s->name, id, reference);
	return run(b, sqlite3_str_finish(view));
}

static int make_index(struct book *b, const struct sheet *s)
{
	if (s->column[0].type != CVL_COLUMN_INT)
		return 0;
	return run(b, sqlite3_mprintf("CREATE INDEX \"time_%w\" ON \"data_%w\"(\"%w\")", s->name,
				      s->name, s->words.word[0]));
}

static int make_sheet(struct book *b, struct sheet *s, const struct cvl_table *t)
{
	int rc;

	s->column = cvl_table_columns(t, &s->n);
	for (size_t c = 0; c < s->n; c++) {
		if (!words_add(&s->words, s->column[c].name))
			return cvl_no_memory(b->err);
		if (s->column[c].type == CVL_COLUMN_NAME && s->width < KEY_MAX)
			s->key[s->width++] = c;
	}
	if (!words_add(&s->words, "id") || !words_add(&s->words, "names"))
		return cvl_no_memory(b->err);
	rc = make_part(b, s, false);
	rc = rc || !s->width ? rc : make_part(b, s, true);
	return rc ? rc : make_view(b, s);
}

/* The tables that need no options, with names as `coeval sql` calls them. */
static void list_sheet(void *ctx, const struct cvl_table_info *info)
{
	struct book *b = ctx;
	struct sheet *s;

	if (b->rc || info->result)
		return;
	if (cvl_room(&b->sheet, b->n, &b->room, sizeof(*b->sheet))) {
		b->rc = cvl_no_memory(b->err);
		return;
	}
	s = &b->sheet[b->n++];
	*s = (struct sheet){ .table = strdup(info->name),
			     .name = words_add_table(&b->words, info->name) };
	if (!s->table || !s->name)
		b->rc = cvl_no_memory(b->err);
}

static struct sheet *sheet_of(const struct book *b, const struct cvl_table *t)
{
	for (size_t k = 0; k < b->n; k++)
		if (!strcmp(b->sheet[k].table, cvl_table_name(t)))
			return &b->sheet[k];
	return NULL;
}

/* ---- rows ---- */

static void bind(sqlite3_stmt *stmt, int at, const struct cvl_column *c,
		 const struct cvl_cells *cells, size_t r)
{
	const int32_t *begin = (int32_t *)cells->values + r;
	char text[24];
	uint64_t u;

	if (cvl_cells_null(cells, r)) {
		sqlite3_bind_null(stmt, at);
		return;
	}
	switch (c->type) {
	case CVL_COLUMN_INT: sqlite3_bind_int64(stmt, at, ((int64_t *)cells->values)[r]); return;
	case CVL_COLUMN_DOUBLE: sqlite3_bind_double(stmt, at, ((double *)cells->values)[r]); return;
	case CVL_COLUMN_BOOL: sqlite3_bind_int(stmt, at, ((uint8_t *)cells->values)[r]); return;
	case CVL_COLUMN_UINT:
		u = ((uint64_t *)cells->values)[r];
		if (u <= INT64_MAX)
			sqlite3_bind_int64(stmt, at, (sqlite3_int64)u);
		else
			sqlite3_bind_text(stmt, at, text, sql_unsigned(text, u), SQLITE_TRANSIENT);
		return;
	case CVL_COLUMN_NAME:
		sqlite3_bind_text(stmt, at, cvl_names_at(cells->names, (size_t)*begin), -1,
				  SQLITE_STATIC);
		return;
	case CVL_COLUMN_TEXT:
		sqlite3_bind_text(stmt, at, cells->bytes ? cells->bytes + *begin : "",
				  begin[1] - *begin, SQLITE_STATIC);
		return;
	case CVL_COLUMN_BYTES:
		sqlite3_bind_blob(stmt, at, cells->bytes ? cells->bytes + *begin : "",
				  begin[1] - *begin, SQLITE_STATIC);
		return;
	}
}

static int step(struct book *b, sqlite3_stmt *stmt)
{
	int rc = sqlite3_step(stmt);

	sqlite3_reset(stmt);
	return rc == SQLITE_DONE ? 0 : db_fail(b, rc);
}

static uint32_t *find_tuple(const struct sheet *s, const int32_t *tuple)
{
	uint64_t h = 0;
	size_t at;

	for (size_t k = 0; k < s->width; k++)
		h = (h ^ (uint32_t)tuple[k]) * 0x9e3779b97f4a7c15u;
	at = h >> 32 & (s->slots - 1);
	while (s->slot[at] && memcmp(&s->tuple[(s->slot[at] - 1) * s->width], tuple,
				     s->width * sizeof(*tuple)) != 0)
		at = (at + 1) & (s->slots - 1);
	return &s->slot[at];
}

static int more_slots(struct book *b, struct sheet *s)
{
	const size_t slots = s->slots ? 2 * s->slots : 64;
	uint32_t *slot = calloc(slots, sizeof(*slot));

	if (!slot)
		return cvl_no_memory(b->err);
	free(s->slot);
	s->slot = slot;
	s->slots = slots;
	for (size_t i = 0; i < s->n_tuples; i++)
		*find_tuple(s, &s->tuple[i * s->width]) = (uint32_t)i + 1;
	return 0;
}

/* The row of names_<table> that has the names of row @r. */
static int find_names(struct book *b, struct sheet *s, const struct cvl_rows *rows, size_t r,
		      int64_t *id)
{
	int32_t tuple[KEY_MAX];
	uint32_t *slot;

	for (size_t k = 0; k < s->width; k++) {
		const struct cvl_cells *c = &rows->column[s->key[k]];

		tuple[k] = cvl_cells_null(c, r) ? -1 : ((int32_t *)c->values)[r];
	}
	if (2 * s->n_tuples >= s->slots && more_slots(b, s))
		return CVL_E_NOMEM;
	slot = find_tuple(s, tuple);
	if (!*slot) {
		if (cvl_room(&s->tuple, s->n_tuples, &s->room, s->width * sizeof(*s->tuple)))
			return cvl_no_memory(b->err);
		memcpy(&s->tuple[s->n_tuples * s->width], tuple, s->width * sizeof(*tuple));
		*slot = (uint32_t)++s->n_tuples;
		sqlite3_bind_int64(s->put_names, 1, *slot);
		for (size_t k = 0; k < s->width; k++)
			bind(s->put_names, (int)k + 2, &s->column[s->key[k]],
			     &rows->column[s->key[k]], r);
		*id = *slot;
		return step(b, s->put_names);
	}
	*id = *slot;
	return 0;
}

static int put_rows(struct book *b, struct sheet *s, const struct cvl_rows *rows)
{
	int rc = 0;

	for (size_t r = 0; !rc && r < rows->n; r++) {
		int at = 0;
		int64_t id = 0;

		for (size_t c = 0; c < s->n; c++)
			if (!keyed(s, c))
				bind(s->put, ++at, &s->column[c], &rows->column[c], r);
		if (s->width) {
			rc = find_names(b, s, rows, r, &id);
			sqlite3_bind_int64(s->put, ++at, id);
		}
		rc = rc ? rc : step(b, s->put);
	}
	return rc;
}

static int put_tables(struct book *b, struct pass *p)
{
	struct cvl_rows *rows;
	struct sheet *s;
	size_t i;
	int rc;

	while ((rc = pass_next(p, &i, &rows, b->err)) > 0) {
		s = sheet_of(b, pass_table(p, i));
		rc = s && !s->n ? make_sheet(b, s, pass_table(p, i)) : 0;
		rc = rc || !s ? rc : put_rows(b, s, rows);
		cvl_rows_free(rows);
		if (rc)
			return rc;
	}
	return rc;
}

/* Tables without rows are there as well. */
static int put_empty(struct book *b, struct sheet *s)
{
	struct cvl_table *t;
	int rc = cvl_table_attach(&t, b->tl, s->table, NULL, b->err);

	if (rc)
		return rc == CVL_E_LIMIT ? 0 : rc; /* it was told of, and left out */
	rc = make_sheet(b, s, t);
	rc = rc ? rc : make_index(b, s);
	cvl_table_close(t);
	return rc;
}

/* ---- the file ---- */

static int put_facts(struct book *b, const struct cvl_table *t)
{
	const char *key, *value;
	int rc = run(
		b, sqlite3_mprintf("CREATE TABLE coeval_facts(key TEXT PRIMARY KEY, value TEXT)"));

	for (size_t i = 0; !rc && (key = cvl_table_fact(t, i, &value)); i++)
		rc = run(b, sqlite3_mprintf("INSERT INTO coeval_facts VALUES(%Q, %Q)", key, value));
	return rc;
}

static int put_all(struct book *b)
{
	struct pass *p;
	int rc = pass_open(&p, b->tl, NULL, b->err);

	rc = rc ? rc : put_tables(b, p);
	rc = rc ? rc : put_facts(b, pass_table(p, 0));
	for (size_t k = 0; k < b->n && !rc; k++)
		rc = b->sheet[k].n ? make_index(b, &b->sheet[k]) : put_empty(b, &b->sheet[k]);
	pass_close(p);
	return rc;
}

static int write_book(struct book *b)
{
	static const char begin[] = "PRAGMA page_size=4096; PRAGMA journal_mode=OFF; "
				    "PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE; BEGIN";
	int rc = sqlite3_open_v2(b->path, &b->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);

	rc = rc ? db_fail(b, rc) : run(b, sqlite3_mprintf("%s", begin));
	rc = rc ? rc : cvl_table_each(cvl_timeline_session(b->tl), list_sheet, b, b->err);
	rc = rc ? rc : b->rc;
	rc = rc ? rc : put_all(b);
	return rc ? rc : run(b, sqlite3_mprintf("COMMIT"));
}

static void free_sheet(struct sheet *s)
{
	words_free(&s->words);
	sqlite3_finalize(s->put);
	sqlite3_finalize(s->put_names);
	free(s->table);
	free(s->tuple);
	free(s->slot);
}

static int sqlite_write(struct cvl_timeline *tl, const char *path, struct cvl_error *err)
{
	struct book b = { .tl = tl, .path = path, .err = err };
	int rc;

	if (!path || !strcmp(path, "-"))
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				"a SQLite database needs a file to be written to");
	rc = write_book(&b);
	for (size_t k = 0; k < b.n; k++)
		free_sheet(&b.sheet[k]);
	free(b.sheet);
	words_free(&b.words);
	if (sqlite3_close(b.db) && !rc)
		rc = db_fail(&b, SQLITE_IOERR);
	return rc;
}

#else

static int sqlite_write(struct cvl_timeline *tl, const char *path, struct cvl_error *err)
{
	(void)tl, (void)path;
	return cvl_fail(
		err, CVL_E_UNSUPPORTED, CVL_NO_OFFSET,
		"this coeval was built without SQLite; install libsqlite3-dev and build it again");
}

#endif

const struct cvl_exporter cvl_export_sqlite = {
	.name = "sqlite",
	.what = "SQLite database of all tables, for Grafana, DBeaver and Datasette",
	.suffix = ".db",
	.write = sqlite_write,
};
