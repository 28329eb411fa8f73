/* SPDX-License-Identifier: MIT */
/*
 * Tables of a session as virtual tables: a cursor is a cvl_table, whose rows it goes through a batch
 * at a time. What is asked of time, clock, node and line becomes the options of that table, which
 * may give more rows than asked for: SQLite checks each again.
 */
#ifdef HAVE_SQLITE

#include "sql/internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 8192    /* at a time: stays in the cache */
#define GROUPS_MAX 6 /* columns of a GROUP BY */

/* Columns that have a meaning for the options, or -1. */
enum role { ROLE_TIME, ROLE_CLOCK, ROLE_NODE, ROLE_LINE, ROLE_SEQ, ROLES };

struct vtab {
	sqlite3_vtab base;
	const struct entry *entry;
	enum cvl_column_type *type;
	size_t n;
	int role[ROLES];
};

struct text {
	const char *s;
	int n;
};

/* Names of a column by their number, as texts that stay. */
struct texts {
	struct text *text;
	size_t n, room;
};

struct cursor {
	sqlite3_vtab_cursor base;
	struct cvl_table *t;
	struct cvl_rows *rows; /* NULL: at the end */
	size_t at;
	uint64_t wanted;     /* columns, as colUsed */
	struct texts *texts; /* of each column */
	struct grouped grouped;
	bool groups; /* rows are of that */
};

static int fail(const struct vtab *v, const struct cvl_error *err)
{
	struct cvl_sql *sql = v->entry->sql;

	sql->error = *err;
	sql->failed = true;
	return err->code == CVL_E_NOMEM ? SQLITE_NOMEM : SQLITE_ERROR;
}

/* ---- what it looks like ---- */

static void find_roles(struct vtab *v, const struct cvl_column *column, size_t n)
{
	static const char *const names[ROLES] = { "time_ns", "clock", "node", "line", "seq" };
	const char *table = v->entry->table;
	const bool gaps = !strcmp(table, "gaps"), samples = !strcmp(table, "samples");
	const bool event = !strncmp(table, "event_", 6);
	const size_t common = event && n > EVENT_COMMON ? EVENT_COMMON : n;

	for (int r = 0; r < ROLES; r++) {
		const char *name = r == ROLE_TIME && gaps    ? "from_ns" :
				   r == ROLE_LINE && samples ? "channel" :
							       names[r];

		v->role[r] = -1;
		for (size_t i = 0; i < common && v->role[r] < 0; i++)
			if (!strcmp(column[i].name, name))
				v->role[r] = (int)i;
	}
	if (!strcmp(table, "clocks"))
		memset(v->role, -1, sizeof(v->role));
}

static int declare(sqlite3 *db, struct vtab *v, const struct cvl_column *column, size_t n)
{
	sqlite3_str *s = sqlite3_str_new(db);
	struct words words = { 0 };
	char *text;
	int rc = 0;

	sqlite3_str_appendall(s, "CREATE TABLE x");
	v->n = n;
	v->type = calloc(n + 1, sizeof(*v->type));
	for (size_t i = 0; i < n && v->type && !rc; i++) {
		const char *name = words_add(&words, column[i].name);

		rc = name ? 0 : SQLITE_NOMEM;
		v->type[i] = column[i].type;
		sqlite3_str_appendf(s, "%c\"%w\" %s", i ? ',' : '(', name ? name : "",
				    sql_type(column[i].type));
	}
	sqlite3_str_appendchar(s, 1, ')');
	words_free(&words);
	text = sqlite3_str_finish(s);
	rc = text && v->type && !rc ? sqlite3_declare_vtab(db, text) : SQLITE_NOMEM;
	sqlite3_free(text);
	return rc;
}

static int disconnect(sqlite3_vtab *base)
{
	struct vtab *v = (struct vtab *)base;

	free(v->type);
	free(v);
	return SQLITE_OK;
}

static int connect(sqlite3 *db, void *entry, int argc, const char *const *argv, sqlite3_vtab **out,
		   char **message)
{
	const struct entry *e = entry;
	struct vtab *v = calloc(1, sizeof(*v));
	const struct cvl_column *column;
	struct cvl_table *t = NULL;
	struct cvl_error err;
	size_t n;
	int rc;

	(void)argc, (void)argv, (void)message;
	if (!v)
		return SQLITE_NOMEM;
	v->entry = e;
	rc = cvl_table_open(&t, e->sql->session, e->table, &e->sql->table, &err);
	if (rc) {
		rc = fail(v, &err);
	} else {
		column = cvl_table_columns(t, &n);
		rc = declare(db, v, column, n);
		find_roles(v, column, n);
	}
	cvl_table_close(t);
	if (!rc)
		/* it shows the session, which the caller chose, and nothing else */
		rc = sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
	if (rc)
		disconnect(&v->base);
	else
		*out = &v->base;
	return rc;
}

/* ---- what is asked ---- */

/* How constraint @i can be used: '=', '>' or '<' of the time, 'c', 'n', 'l'; 0: not. */
static char use(const struct vtab *v, sqlite3_index_info *info, int i)
{
	static const char of_role[ROLES] = {
		[ROLE_CLOCK] = 'c', [ROLE_NODE] = 'n', [ROLE_LINE] = 'l'
	};
	const struct sqlite3_index_constraint *c = &info->aConstraint[i];
	const int column = c->iColumn;

	if (!c->usable || column < 0 || v->entry->result)
		return 0;
	if (column == v->role[ROLE_TIME]) {
		/* seq counts from where reading begins */
		const int seq = v->role[ROLE_SEQ];
		const bool counts = seq >= 0 && info->colUsed >> seq & 1;

		switch (c->op) {
		case SQLITE_INDEX_CONSTRAINT_EQ: return counts ? '<' : '=';
		case SQLITE_INDEX_CONSTRAINT_GT:
		case SQLITE_INDEX_CONSTRAINT_GE: return counts ? 0 : '>';
		case SQLITE_INDEX_CONSTRAINT_LT:
		case SQLITE_INDEX_CONSTRAINT_LE: return '<';
		default: return 0;
		}
	}
	/* equality by another collation, such as NOCASE, is another question */
	if (c->op != SQLITE_INDEX_CONSTRAINT_EQ ||
	    strcmp(sqlite3_vtab_collation(info, i), "BINARY") != 0)
		return 0;
	for (int r = ROLE_CLOCK; r <= ROLE_LINE; r++)
		if (column == v->role[r])
			return of_role[r];
	return 0;
}

static double rows_left(const char *uses)
{
	const bool from = strchr(uses, '>'), until = strchr(uses, '<');
	double rows = 1e6;

	if (strchr(uses, '='))
		rows /= 1e5;
	else if (from && until)
		rows /= 100;
	else if (from || until)
		rows /= 3;
	for (const char *u = uses; *u; u++)
		rows /= *u == 'c' || *u == 'n' ? 8 : *u == 'l' ? 16 : 1;
	return rows < 1 ? 1 : rows;
}

/* "/3,-5": the columns that rows shall be grouped by, if all are of names; else "". */
static void find_groups(const struct vtab *v, sqlite3_index_info *info, char groups[64])
{
	size_t n = 0;

	*groups = '\0';
	if (sqlite3_vtab_distinct(info) != 1 || info->nOrderBy > GROUPS_MAX)
		return;
	for (int i = 0; i < info->nOrderBy; i++) {
		const int c = info->aOrderBy[i].iColumn;

		if (c < 0 || v->type[c] != CVL_COLUMN_NAME) {
			*groups = '\0';
			return;
		}
		n += (size_t)sprintf(groups + n, "%c%d", i ? ',' : '/',
				     info->aOrderBy[i].desc ? -1 - c : c);
	}
}

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	char uses[16] = "", groups[64];
	size_t n = 0;

	for (int i = 0; i < info->nConstraint && n + 1 < sizeof(uses); i++) {
		const char u = use((struct vtab *)base, info, i);

		if (!u || (u >= 'a' && strchr(uses, u)))
			continue;
		uses[n++] = u;
		info->aConstraintUsage[i].argvIndex = (int)n;
	}
	info->estimatedRows = (sqlite3_int64)rows_left(uses);
	/*
	 * Never below half of a pass over all: two terms of an OR must not be cheaper than that pass,
	 * since rows that both find could not be told to be the same (see no_rowid()).
	 */
	info->estimatedCost = 2 * rows_left("") * (n ? 0.64 - 0.03 * (double)(n < 3 ? n : 3) : 1);
	find_groups((struct vtab *)base, info, groups);
	info->orderByConsumed = *groups != 0;
	info->idxStr = sqlite3_mprintf("%016llx%s%s", info->colUsed, uses, groups);
	info->needToFreeIdxStr = 1;
	return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

/* ---- reading ---- */

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
	const struct vtab *v = (struct vtab *)base;
	struct cursor *c = calloc(1, sizeof(*c));

	if (c)
		c->texts = calloc(v->n + 1, sizeof(*c->texts));
	if (!c || !c->texts) {
		free(c);
		return SQLITE_NOMEM;
	}
	*out = &c->base;
	return SQLITE_OK;
}

static void end_table(struct cursor *c, size_t n)
{
	if (!c->groups)
		cvl_rows_free(c->rows);
	grouped_free(&c->grouped);
	cvl_table_close(c->t);
	c->groups = false;
	c->rows = NULL;
	c->t = NULL;
	c->at = 0;
	for (size_t i = 0; i < n; i++)
		c->texts[i].n = 0;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	const struct vtab *v = (struct vtab *)base->pVtab;
	struct cursor *c = (struct cursor *)base;

	end_table(c, v->n);
	for (size_t i = 0; i < v->n; i++)
		free(c->texts[i].text);
	free(c->texts);
	free(c);
	return SQLITE_OK;
}

/* What the dictionary of a column has got since. Texts outlive the table: SQLite keeps pointers. */
static int more_texts(struct cvl_names *all, struct texts *t, const struct cvl_names *names)
{
	for (const size_t n = cvl_names_count(names); t->n < n; t->n++) {
		const char *s = cvl_names_at(names, t->n);
		const size_t len = strlen(s);
		const int32_t k = names_put(all, s, len);

		if (k < 0 || cvl_room(&t->text, t->n, &t->room, sizeof(*t->text)))
			return SQLITE_NOMEM;
		t->text[t->n] = (struct text){ cvl_names_at(all, (size_t)k), (int)len };
	}
	return SQLITE_OK;
}

static int next_rows(struct cursor *c)
{
	const struct vtab *v = (struct vtab *)c->base.pVtab;
	struct cvl_error err;
	int rc;

	c->at = 0;
	cvl_rows_free(c->rows);
	rc = cvl_table_next(c->t, &c->rows, &err);
	if (rc < 0)
		return fail(v, &err);
	rc = SQLITE_OK;
	for (size_t i = 0; i < v->n && c->rows && !rc; i++)
		if (v->type[i] == CVL_COLUMN_NAME && c->wanted >> (i < 63 ? i : 63) & 1)
			rc = more_texts(v->entry->sql->texts, &c->texts[i],
					c->rows->column[i].names);
	return rc;
}

/* The next row of those that are grouped. */
static int next_grouped(struct cursor *c)
{
	struct grouped *g = &c->grouped;

	if (g->at == g->n_order) {
		c->rows = NULL;
		return SQLITE_OK;
	}
	c->rows = g->rows[g->order[g->at] >> 32];
	c->at = g->order[g->at++] & UINT32_MAX;
	return SQLITE_OK;
}

/* Read it all, and begin with the first row by the columns in @groups. */
static int group_rows(struct cursor *c, const char *groups)
{
	struct cvl_sql *sql = ((struct vtab *)c->base.pVtab)->entry->sql;
	int by[GROUPS_MAX], rc = next_rows(c);
	size_t n = 0;

	for (; *groups && n < GROUPS_MAX; n++)
		by[n] = (int)strtol(groups + 1, (char **)&groups, 10);
	while (!rc && c->rows) {
		rc = grouped_add(&c->grouped, c->rows, c->wanted);
		c->rows = NULL;
		if (!rc && sql_must_stop(sql, c->grouped.bytes))
			return SQLITE_INTERRUPT;
		rc = rc ? rc : next_rows(c);
	}
	rc = rc ? rc : grouped_sort(&c->grouped, by, n);
	c->groups = true;
	return rc ? rc : next_grouped(c);
}

/* Narrow the range by a comparison with @value; false: nothing compares so. */
static bool narrow(struct cvl_timeline_opts *o, char op, sqlite3_value *value)
{
	int64_t low, high;

	if (sqlite3_value_type(value) == SQLITE_INTEGER) {
		low = high = sqlite3_value_int64(value);
	} else if (sqlite3_value_type(value) == SQLITE_FLOAT) {
		const double d = sqlite3_value_double(value);

		low = d < -9e18 ? INT64_MIN : d > 9e18 ? (int64_t)9e18 : (int64_t)floor(d);
		high = d > 9e18 ? INT64_MAX : d < -9e18 ? -(int64_t)9e18 : (int64_t)ceil(d);
	} else {
		/* texts and blobs are for SQLite to compare */
		return sqlite3_value_type(value) != SQLITE_NULL;
	}
	if (op != '<' && (!o->has_from || o->from.ns < low)) {
		o->has_from = true;
		o->from.ns = low;
	}
	if (op != '>' && (!o->has_until || o->until.ns > high)) {
		o->has_until = true;
		o->until.ns = high;
	}
	return !o->has_from || !o->has_until || o->from.ns <= o->until.ns;
}

/* A glob that matches @value, and little else; NULL: no memory. */
static char *glob(sqlite3_value *value)
{
	const char *s = (const char *)sqlite3_value_text(value);
	char *g = s ? strdup(s) : NULL, *to = g;

	for (s = g; s && *s; s++) {
		if (!strncmp(s, "\xef\xbf\xbd", 3)) { /* what is not UTF-8 is shown as this */
			*to++ = '*';
			s += 2;
		} else {
			*to++ = strchr("*?[]\\,", *s) ? '?' : *s;
		}
	}
	if (to)
		*to = '\0';
	return g;
}

/*
 * Read only clocks that match @glob, unless that shows one which the caller left out. False: there
 * is none.
 */
static bool narrow_node(const struct cvl_sql *sql, struct cvl_timeline_opts *o, const char *glob)
{
	const char *had = o->node;
	bool any = false, more = false;

	for (size_t i = 0; i < cvl_session_clocks(sql->session); i++) {
		const struct cvl_clock *c = cvl_session_clock(sql->session, i);
		const bool matches = cvl_clock_matches(c, glob);

		any = any || matches;
		more = more || (matches && had && !cvl_clock_matches(c, had));
	}
	if (!more)
		o->node = glob;
	return any;
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *plan, int argc,
		  sqlite3_value **argv)
{
	const struct vtab *v = (struct vtab *)base->pVtab;
	struct cvl_sql *sql = v->entry->sql;
	struct cursor *c = (struct cursor *)base;
	struct cvl_table_opts o = sql->table;
	char *node = NULL, *line = NULL, **to;
	bool some = true;
	struct cvl_error err;
	int rc = 0;

	(void)number;
	end_table(c, v->n);
	c->wanted = 0;
	for (int i = 0; i < 16; i++)
		c->wanted = c->wanted << 4 |
			    (uint64_t)(plan[i] <= '9' ? plan[i] - '0' : plan[i] - 'a' + 10);
	o.columns = c->wanted >> 63 ? UINT64_MAX : c->wanted ? c->wanted : 1;
	o.rows = ROWS;
	for (int i = 0; i < argc && some; i++) {
		const char u = plan[16 + i];

		if (u < 'a') {
			some = narrow(&o.timeline, u, argv[i]);
			continue;
		}
		some = sqlite3_value_type(argv[i]) != SQLITE_NULL;
		to = u == 'l' ? &line : &node;
		if (!some || *to) /* of clock and node one will do */
			continue;
		*to = glob(argv[i]);
		if (!*to)
			rc = SQLITE_NOMEM;
		else if (u != 'l')
			some = narrow_node(sql, &o.timeline, node);
	}
	o.lines = line;
	if (some && !rc) {
		rc = cvl_table_open(&c->t, sql->session, v->entry->table, &o, &err);
		if (rc == CVL_E_UNKNOWN_ID && line) /* no line of that name: no rows */
			rc = 0;
		else
			rc = rc                     ? fail(v, &err) :
			     plan[16 + argc] == '/' ? group_rows(c, plan + 16 + argc) :
						      next_rows(c);
	}
	free(node);
	free(line);
	return rc;
}

static int next(sqlite3_vtab_cursor *base)
{
	struct cursor *c = (struct cursor *)base;

	if (c->groups)
		return next_grouped(c);
	return ++c->at < c->rows->n ? SQLITE_OK : next_rows(c);
}

static int eof(sqlite3_vtab_cursor *base)
{
	return !((struct cursor *)base)->rows;
}

/* A row has no number that is the same whatever is asked for. */
static int no_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *id)
{
	struct vtab *v = (struct vtab *)base->pVtab;

	(void)id;
	sqlite3_free(v->base.zErrMsg);
	v->base.zErrMsg = sqlite3_mprintf("rows of %s have no rowid", v->entry->name);
	return SQLITE_ERROR;
}

static void give_unsigned(sqlite3_context *ctx, uint64_t u)
{
	char text[24];

	if (u <= INT64_MAX)
		sqlite3_result_int64(ctx, (sqlite3_int64)u);
	else
		sqlite3_result_text(ctx, text, sql_unsigned(text, u), SQLITE_TRANSIENT);
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *ctx, int i)
{
	const struct vtab *v = (struct vtab *)base->pVtab;
	const struct cursor *c = (struct cursor *)base;
	const struct cvl_cells *cells = &c->rows->column[i];
	const struct text *text;
	const int32_t *begin;
	const size_t r = c->at;

	if (cvl_cells_null(cells, r))
		return SQLITE_OK;
	switch (v->type[i]) {
	case CVL_COLUMN_INT: sqlite3_result_int64(ctx, ((int64_t *)cells->values)[r]); break;
	case CVL_COLUMN_UINT: give_unsigned(ctx, ((uint64_t *)cells->values)[r]); break;
	case CVL_COLUMN_DOUBLE: sqlite3_result_double(ctx, ((double *)cells->values)[r]); break;
	case CVL_COLUMN_BOOL: sqlite3_result_int(ctx, ((uint8_t *)cells->values)[r]); break;
	case CVL_COLUMN_NAME:
		text = &c->texts[i].text[((int32_t *)cells->values)[r]];
		sqlite3_result_text(ctx, text->s, text->n, SQLITE_STATIC);
		break;
	case CVL_COLUMN_TEXT:
		begin = (int32_t *)cells->values + r;
		sqlite3_result_text(ctx, cells->bytes ? cells->bytes + *begin : "",
				    begin[1] - *begin, SQLITE_TRANSIENT);
		break;
	case CVL_COLUMN_BYTES:
		begin = (int32_t *)cells->values + r;
		sqlite3_result_blob(ctx, cells->bytes ? cells->bytes + *begin : "",
				    begin[1] - *begin, SQLITE_TRANSIENT);
		break;
	}
	return SQLITE_OK;
}

int sql_vtab_create(struct entry *entry)
{
	/* without xCreate a table is there under the name of its module */
	static const sqlite3_module module = {
		.iVersion = 1,
		.xConnect = connect,
		.xBestIndex = best_index,
		.xDisconnect = disconnect,
		.xOpen = open_cursor,
		.xClose = close_cursor,
		.xFilter = filter,
		.xNext = next,
		.xEof = eof,
		.xColumn = column,
		.xRowid = no_rowid,
	};

	return sqlite3_create_module_v2(entry->sql->db, entry->name, &module, entry, NULL);
}

#endif
