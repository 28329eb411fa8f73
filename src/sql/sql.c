/* SPDX-License-Identifier: MIT */
/*
 * A database in memory that has the tables of a session. Three things keep statements from files: an
 * authorizer, which lets them do only what is listed; limits; and a file system of SQLite's own that
 * is in memory, where what it opens nevertheless ends up.
 */
#ifdef HAVE_SQLITE

#include "sql/internal.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STEPS 1000            /* of SQLite's machine, between looks at the limits */
#define MEMORY (1 << 30)      /* bytes */
#define CACHE "-65536"        /* KiB; rows that are sorted, too */
#define LENGTH_MAX (64 << 20) /* bytes of a value, or a row */
#define TEXT_MAX (4 << 20)    /* bytes of a statement */
#define PATTERN_MAX 1000      /* bytes; matching is not interrupted */
#define NAMED_TABLES 200      /* bytes of their list in a message */

/* ---- what statements may do ---- */

static const char *const pragmas[] = { "table_info",     "table_xinfo", "table_list",
				       "function_list",  "index_list",  "index_info",
				       "compile_options" };

static bool listed(const char *const *list, size_t n, const char *word)
{
	for (size_t i = 0; i < n; i++)
		if (!sqlite3_stricmp(list[i], word))
			return true;
	return false;
}

static const char *action_name(int action)
{
	switch (action) {
	case SQLITE_ATTACH: return "ATTACH or VACUUM";
	case SQLITE_DETACH: return "DETACH";
	case SQLITE_PRAGMA: return "this PRAGMA";
	case SQLITE_FUNCTION: return "this function";
	case SQLITE_CREATE_VTABLE: return "CREATE VIRTUAL TABLE";
	case SQLITE_DROP_VTABLE: return "DROP of a table of the session";
	case SQLITE_TRANSACTION:
	case SQLITE_SAVEPOINT: return "a transaction";
	case SQLITE_CREATE_TRIGGER:
	case SQLITE_CREATE_TEMP_TRIGGER: return "CREATE TRIGGER";
	default: return "this";
	}
}

static int authorize(void *ctx, int action, const char *first, const char *second, const char *db,
		     const char *within)
{
	static const char *const functions[] = { "load_extension", "readfile", "writefile", "edit",
						 "fts3_tokenizer" };
	struct cvl_sql *sql = ctx;
	bool is = false;

	(void)db, (void)within;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_RECURSIVE:
	/* tables, views and indexes of one's own are in memory */
	case SQLITE_CREATE_TABLE:
	case SQLITE_CREATE_VIEW:
	case SQLITE_CREATE_INDEX:
	case SQLITE_CREATE_TEMP_TABLE:
	case SQLITE_CREATE_TEMP_VIEW:
	case SQLITE_CREATE_TEMP_INDEX:
	case SQLITE_DROP_TABLE:
	case SQLITE_DROP_VIEW:
	case SQLITE_DROP_INDEX:
	case SQLITE_DROP_TEMP_TABLE:
	case SQLITE_DROP_TEMP_VIEW:
	case SQLITE_DROP_TEMP_INDEX:
	case SQLITE_INSERT:
	case SQLITE_UPDATE:
	case SQLITE_DELETE:
	case SQLITE_REINDEX: /* of an index that is made */ is = true; break;
	case SQLITE_FUNCTION:
		is = !listed(functions, sizeof(functions) / sizeof(*functions), second);
		break;
	case SQLITE_PRAGMA: is = listed(pragmas, sizeof(pragmas) / sizeof(*pragmas), first); break;
	default: break;
	}
	if (!is)
		sql->refused = action_name(action);
	return is ? SQLITE_OK : SQLITE_DENY;
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

bool sql_must_stop(struct cvl_sql *sql, uint64_t more)
{
	const int64_t used = sqlite3_memory_used() - sql->used_before;

	if ((used < 0 ? 0 : (uint64_t)used) + more > sql->opts.memory)
		sql->stopped = STOP_MEMORY;
	else if (sql->deadline_ns && now_ns() > sql->deadline_ns)
		sql->stopped = STOP_TIMEOUT;
	else if (cvl_progress_tell(&sql->opts.timeline.progress, 0, 0, NULL))
		sql->stopped = STOP_CANCELLED;
	return sql->stopped != STOP_NOT;
}

static int look(void *sql)
{
	return sql_must_stop(sql, 0);
}

static int restrict_to(sqlite3 *db, struct cvl_sql *sql)
{
	static const int settings[][2] = {
		{ SQLITE_DBCONFIG_DEFENSIVE, 1 },
		{ SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
		{ SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 },
		{ SQLITE_DBCONFIG_DQS_DML, 0 },
		{ SQLITE_DBCONFIG_DQS_DDL, 0 },
		{ SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0 },
		{ SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0 },
	};
	static const int limits[][2] = {
		{ SQLITE_LIMIT_LENGTH, LENGTH_MAX },
		{ SQLITE_LIMIT_SQL_LENGTH, TEXT_MAX },
		{ SQLITE_LIMIT_ATTACHED, 0 },
		{ SQLITE_LIMIT_TRIGGER_DEPTH, 1 },
		{ SQLITE_LIMIT_WORKER_THREADS, 0 },
		{ SQLITE_LIMIT_EXPR_DEPTH, 500 },
		{ SQLITE_LIMIT_LIKE_PATTERN_LENGTH, PATTERN_MAX },
	};
	int rc = sqlite3_exec(db, "PRAGMA cache_size=" CACHE, NULL, NULL, NULL);

	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings) && !rc; i++)
		rc = sqlite3_db_config(db, settings[i][0], settings[i][1], NULL);
	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++)
		sqlite3_limit(db, limits[i][0], limits[i][1]);
	sqlite3_progress_handler(db, STEPS, look, sql);
	return rc ? rc : sqlite3_set_authorizer(db, authorize, sql);
}

/* ---- opening ---- */

static void put_entry(void *ctx, const struct cvl_table_info *info)
{
	struct cvl_sql *sql = ctx;
	struct entry *e;

	if (sql->failed || cvl_room(&sql->entry, sql->n, &sql->room, sizeof(*sql->entry))) {
		sql->failed = true;
		return;
	}
	e = &sql->entry[sql->n++];
	*e = (struct entry){ .sql = sql,
			     .name = words_add_table(&sql->words, info->name),
			     .table = strdup(info->name),
			     .what = strdup(info->what),
			     .result = info->result };
	sql->failed = !e->name || !e->table || !e->what;
}

static int open_database(struct cvl_sql *sql, struct cvl_error *err)
{
	const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
	int rc = sqlite3_initialize();

	sql->used_before = sqlite3_memory_used();
	rc = rc ? rc : sqlite3_open_v2(":memory:", &sql->db, flags, "memdb");
	rc = rc ? rc : restrict_to(sql->db, sql);
	rc = rc ? rc : sql_functions_create(sql->db);
	for (size_t i = 0; i < sql->n && !rc; i++)
		rc = sql_vtab_create(&sql->entry[i]);
	return rc ? sql_fail(sql->db, rc, "SQLite", err) : 0;
}

int cvl_sql_open(struct cvl_sql **out, struct cvl_session *session, const struct cvl_sql_opts *opts,
		 struct cvl_error *err)
{
	struct cvl_sql *sql = calloc(1, sizeof(*sql));
	int rc;

	*out = NULL;
	if (!sql)
		return cvl_no_memory(err);
	sql->session = session;
	if (opts)
		sql->opts = *opts;
	sql->opts.memory = sql->opts.memory ? sql->opts.memory : MEMORY;
	sql->node = sql->opts.timeline.node ? strdup(sql->opts.timeline.node) : NULL;
	sql->texts = names_new();
	rc = !sql->texts || (sql->opts.timeline.node && !sql->node) ? cvl_no_memory(err) : 0;
	sql->opts.timeline.node = sql->node;
	sql->table = (struct cvl_table_opts){ .timeline = sql->opts.timeline,
					      .check = sql->opts.check,
					      .power = sql->opts.power };
	rc = rc ? rc : cvl_table_each(session, put_entry, sql, err);
	if (!rc && sql->failed)
		rc = cvl_no_memory(err);
	rc = rc ? rc : open_database(sql, err);
	if (rc)
		cvl_sql_close(sql);
	else
		*out = sql;
	return rc;
}

void cvl_sql_close(struct cvl_sql *sql)
{
	if (!sql)
		return;
	sqlite3_close(sql->db);
	for (size_t i = 0; i < sql->n; i++) {
		free(sql->entry[i].table);
		free(sql->entry[i].what);
	}
	free(sql->entry);
	words_free(&sql->words);
	names_free(sql->texts);
	free(sql->node);
	free(sql);
}

const char *cvl_sql_table(const struct cvl_sql *sql, size_t i, const char **what)
{
	if (i >= sql->n)
		return NULL;
	*what = sql->entry[i].what;
	return sql->entry[i].name;
}

/* ---- running ---- */

/* Of a table that is missing: which there are. */
static const char *name_tables(const struct cvl_sql *sql, char text[NAMED_TABLES])
{
	size_t n = 0;

	*text = '\0';
	if (strncmp(sqlite3_errmsg(sql->db), "no such table: ", 15) != 0)
		return text;
	for (size_t i = 0; i < sql->n; i++) {
		const char *lead = i ? ", " : "; there are ", *name = sql->entry[i].name;

		if (n + strlen(lead) + strlen(name) + sizeof(", ...") > NAMED_TABLES) {
			strcpy(text + n, ", ...");
			break;
		}
		n += (size_t)sprintf(text + n, "%s%s", lead, name);
	}
	return text;
}

/* What SQLite says of the text, with its place: @at where the statement begins. */
static int wrong(const struct cvl_sql *sql, const char *text, size_t at, struct cvl_error *err)
{
	const int in = sqlite3_error_offset(sql->db);
	unsigned line = 1, column = 1;
	char tables[NAMED_TABLES];

	name_tables(sql, tables);
	if (in < 0)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "SQL: %s%s",
				sqlite3_errmsg(sql->db), tables);
	for (size_t i = 0; i < at + (size_t)in; i++) {
		column = text[i] == '\n' ? 1 : column + ((text[i] & 0xc0) != 0x80);
		line += text[i] == '\n';
	}
	return cvl_fail(err, CVL_E_USAGE, at + (size_t)in, "SQL, line %u, column %u: %s%s", line,
			column, sqlite3_errmsg(sql->db), tables);
}

static int failure(const struct cvl_sql *sql, int rc, const char *text, size_t at,
		   struct cvl_error *err)
{
	switch (sql->stopped) {
	case STOP_CANCELLED: return cvl_fail(err, CVL_E_CANCELLED, CVL_NO_OFFSET, "interrupted");
	case STOP_TIMEOUT:
		return cvl_fail(err, CVL_E_CANCELLED, CVL_NO_OFFSET,
				"SQL: stopped: it takes longer than the time it was given");
	case STOP_MEMORY:
		return cvl_fail(err, CVL_E_NOMEM, CVL_NO_OFFSET,
				"SQL: stopped: it needs more than %llu MB of memory",
				(unsigned long long)sql->opts.memory >> 20);
	case STOP_NOT: break;
	}
	if (sql->failed) {
		*err = sql->error;
		return err->code;
	}
	switch (rc & 0xff) {
	case SQLITE_AUTH:
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				"SQL: %s is refused: statements see the session, and no files",
				sql->refused ? sql->refused : "this");
	case SQLITE_NOMEM:
	case SQLITE_FULL:
	case SQLITE_TOOBIG:
	case SQLITE_IOERR:
		return cvl_fail(err, (rc & 0xff) == SQLITE_TOOBIG ? CVL_E_LIMIT : CVL_E_NOMEM,
				CVL_NO_OFFSET, "SQL: %s", sqlite3_errmsg(sql->db));
	default: return wrong(sql, text, at, err);
	}
}

static void get_value(sqlite3_stmt *stmt, int i, struct cvl_sql_value *v)
{
	*v = (struct cvl_sql_value){ 0 };
	switch (sqlite3_column_type(stmt, i)) {
	case SQLITE_INTEGER:
		v->type = CVL_SQL_INT;
		v->i = sqlite3_column_int64(stmt, i);
		return;
	case SQLITE_FLOAT:
		v->type = CVL_SQL_REAL;
		v->real = sqlite3_column_double(stmt, i);
		return;
	case SQLITE_TEXT:
		v->type = CVL_SQL_TEXT;
		v->bytes = (const char *)sqlite3_column_text(stmt, i);
		break;
	case SQLITE_BLOB:
		v->type = CVL_SQL_BLOB;
		v->bytes = sqlite3_column_blob(stmt, i);
		break;
	default: return;
	}
	v->n = (size_t)sqlite3_column_bytes(stmt, i);
	v->bytes = v->bytes ? v->bytes : "";
}

/* Steps through @stmt. Returns SQLite's code; *@rc is what the sink returned. */
static int give_rows(sqlite3_stmt *stmt, const struct cvl_sql_sink *sink, int *rc,
		     struct cvl_error *err)
{
	const int n = sqlite3_column_count(stmt);
	const char **names = calloc((size_t)n + 1, sizeof(*names));
	struct cvl_sql_value *v = calloc((size_t)n + 1, sizeof(*v));
	int step = SQLITE_ROW;

	if (!names || !v)
		*rc = cvl_no_memory(err);
	for (int i = 0; i < n && !*rc; i++) {
		names[i] = sqlite3_column_name(stmt, i);
		*rc = names[i] ? 0 : cvl_no_memory(err);
	}
	if (n && !*rc && sink->begin)
		*rc = sink->begin(sink->ctx, names, (size_t)n, err);
	while (!*rc && (step = sqlite3_step(stmt)) == SQLITE_ROW) {
		for (int i = 0; i < n; i++)
			get_value(stmt, i, &v[i]);
		if (sink->row)
			*rc = sink->row(sink->ctx, v, (size_t)n, err);
	}
	if (n && !*rc && step == SQLITE_DONE && sink->end)
		*rc = sink->end(sink->ctx, err);
	free(names);
	free(v);
	return step;
}

int cvl_sql_run(struct cvl_sql *sql, const char *text, size_t n, const struct cvl_sql_sink *sink,
		struct cvl_error *err)
{
	static const struct cvl_sql_sink none = { 0 };
	const char *nul = memchr(text, 0, n), *rest = text;
	int rc = 0;

	if (nul)
		return cvl_fail(err, CVL_E_USAGE, (uint64_t)(nul - text), "SQL: a NUL in the text");
	if (n > TEXT_MAX)
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "SQL: longer than %d MiB",
				TEXT_MAX >> 20);
	while (!rc && rest < text + n) {
		const size_t at = (size_t)(rest - text);
		sqlite3_stmt *stmt = NULL;
		int step;

		sql->failed = false;
		sql->refused = NULL;
		sql->stopped = STOP_NOT;
		sql->deadline_ns = sql->opts.timeout_ns ? now_ns() + sql->opts.timeout_ns : 0;
		step = sqlite3_prepare_v2(sql->db, rest, (int)(n - at), &stmt, &rest);
		if (stmt)
			step = give_rows(stmt, sink ? sink : &none, &rc, err);
		if (!rc && step != SQLITE_OK && step != SQLITE_DONE)
			rc = failure(sql, step, text, at, err);
		sqlite3_finalize(stmt);
		if (!stmt && !step && rest == text + at)
			break;
	}
	return rc;
}

bool cvl_sql_complete(const char *text)
{
	return sqlite3_complete(text);
}

#else

#include <coeval/sql.h>

int cvl_sql_open(struct cvl_sql **sql, struct cvl_session *session, const struct cvl_sql_opts *opts,
		 struct cvl_error *err)
{
	(void)session, (void)opts;
	*sql = NULL;
	return cvl_fail(
		err, CVL_E_UNSUPPORTED, CVL_NO_OFFSET,
		"this coeval was built without SQLite; install libsqlite3-dev and build it again");
}

void cvl_sql_close(struct cvl_sql *sql)
{
	(void)sql;
}

int cvl_sql_run(struct cvl_sql *sql, const char *text, size_t n, const struct cvl_sql_sink *sink,
		struct cvl_error *err)
{
	(void)sql, (void)text, (void)n, (void)sink;
	return cvl_fail(err, CVL_E_UNSUPPORTED, CVL_NO_OFFSET, "built without SQLite");
}

bool cvl_sql_complete(const char *text)
{
	(void)text;
	return true;
}

const char *cvl_sql_table(const struct cvl_sql *sql, size_t i, const char **what)
{
	(void)sql, (void)i, (void)what;
	return NULL;
}

#endif
