/* SPDX-License-Identifier: MIT */
/**
 * SQL over a session: its tables (coeval/table.h, docs/sql.md) as tables of SQLite.
 *
 * They are read as a statement asks for rows; nothing is copied. Comparisons of times, and equality of
 * clock, node, line and channel, are used to read less. Statements see the session and memory of their own, and
 * no file: whoever writes them need not be trusted.
 *
 * Beside SQLite's functions there are, for times and half-widths in ns:
 *
 *   surely_before(t1, b1, t2, b2)  1 if t1 is before t2 whatever the errors are within the bounds
 *   maybe_before(t1, b1, t2, b2)   0 if t2 is surely before t1
 *   bound_pair(b1, b2)             half-width of a difference of two times: the sum, which always holds
 *   bound_pair(b1, k1, b2, k2)     the same; NULL if a kind of bound promises nothing
 *   sure_duration(t1, b1, t2, b2)  least length from t1 to t2
 *
 * An unknown time or bound (NULL) makes nothing certain: 0, 1, NULL and NULL.
 *
 * One thread at a time for each object.
 */
#ifndef COEVAL_SQL_H
#define COEVAL_SQL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <coeval/api.h>
#include <coeval/table.h>

CVL_BEGIN_DECLS

struct cvl_sql;

struct cvl_sql_opts {
	/*
	 * Range, node, ... of all tables. Its progress is also called while SQLite is at work, with
	 * zeros, and ends the statement.
	 */
	struct cvl_timeline_opts timeline;
	/* of the tables `violations` and `power`; must outlive the object */
	const struct cvl_check_rules *check;
	const struct cvl_power_opts *power;
	uint64_t memory;    /* bytes that SQLite may use; 0: 1 GiB */
	int64_t timeout_ns; /* of a statement; 0: none */
};

enum cvl_sql_type { CVL_SQL_NULL, CVL_SQL_INT, CVL_SQL_REAL, CVL_SQL_TEXT, CVL_SQL_BLOB };

struct cvl_sql_value {
	enum cvl_sql_type type;
	int64_t i;
	double real;
	const char *bytes; /* of TEXT (not always UTF-8) and BLOB, @n of them */
	size_t n;
};

/** Receives what statements give; each may be NULL. A negative code ends the run with @err. */
struct cvl_sql_sink {
	/* a statement that gives rows begins: its columns */
	int (*begin)(void *ctx, const char *const *names, size_t n, struct cvl_error *err);
	/* a row, valid during the call */
	int (*row)(void *ctx, const struct cvl_sql_value *v, size_t n, struct cvl_error *err);
	/* and ends */
	int (*end)(void *ctx, struct cvl_error *err);
	void *ctx;
};

/**
 * Open @session, which must outlive it; @opts may be NULL, and is copied but for the strings.
 * CVL_E_UNSUPPORTED: built without SQLite; or as cvl_table_each().
 */
CVL_API int cvl_sql_open(struct cvl_sql **sql, struct cvl_session *session,
			 const struct cvl_sql_opts *opts, struct cvl_error *err);
/** NULL is allowed. */
CVL_API void cvl_sql_close(struct cvl_sql *sql);

/**
 * Run the statements in the @n bytes of @text, one after the other.
 *
 * CVL_E_USAGE: wrong or refused, with the offset in @text if it is known; CVL_E_CANCELLED: by
 * progress or timeout; CVL_E_NOMEM: it needs too much memory; CVL_E_LIMIT: a value, or @text, is too
 * long; or what the tables say.
 */
CVL_API int cvl_sql_run(struct cvl_sql *sql, const char *text, size_t n,
			const struct cvl_sql_sink *sink, struct cvl_error *err);

/** Whether @text ends with a complete statement. */
CVL_API bool cvl_sql_complete(const char *text);

/**
 * Table @i, as it is called in SQL, with one line on it at @what; NULL: @i is beyond the last. In the
 * names of events all but ASCII letters, digits and _ is _.
 */
CVL_API const char *cvl_sql_table(const struct cvl_sql *sql, size_t i, const char **what);

CVL_END_DECLS

#endif
