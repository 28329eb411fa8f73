/* SPDX-License-Identifier: MIT */
#include "lab/results.h"

#include <coeval/files.h>
#include <coeval/array.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_BYTES (256u << 20)

/* Columns that are no quantities. */
enum {
	C_TASK = QUANTITIES,
	C_HZ,
	C_POLICY,
	C_ADAPTION,
	C_CACHE,
	C_REPETITION,
	C_ITERATIONS,
	C_OUTLIERS,
	COLUMNS
};

/* In the order in which they are written. */
static const struct column {
	int id;
	const char *name;
} columns[COLUMNS] = {
	{ C_TASK, "task" },
	{ C_HZ, "hz" },
	{ C_POLICY, "policy" },
	{ C_ADAPTION, "adaption" },
	{ C_CACHE, "cache" },
	{ C_REPETITION, "repetition" },
	{ Q_CYCLES, "cycles" },
	{ Q_CPI, "cpi" },
	{ Q_EXC, "exc" },
	{ Q_SLEEP, "sleep" },
	{ Q_LSU, "lsu" },
	{ Q_FOLD, "fold" },
	{ Q_RAM, "ram" },
	{ Q_FLASH, "flash" },
	{ Q_PERIPHERAL, "peripheral" },
	{ Q_ENERGY, "energy_j" },
	{ Q_TIME, "time_s" },
	{ Q_DELAY, "delay_s" },
	{ C_ITERATIONS, "iterations" },
	{ C_OUTLIERS, "outliers" },
};

static const char *column_name(int id)
{
	const struct column *c = columns;

	while (c->id != id)
		c++;
	return c->name;
}

static int column_find(const char *name)
{
	for (size_t i = 0; i < COLUMNS; i++)
		if (!strcmp(columns[i].name, name))
			return columns[i].id;
	return -1;
}

const char *quantity_name(enum quantity q)
{
	return column_name((int)q);
}

int quantity_find(const char *name)
{
	int c = column_find(name);

	return c < QUANTITIES ? c : -1;
}

bool results_name(const char *name)
{
	size_t n =
		strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.@+");

	return n && !name[n] && n < RESULTS_NAME;
}

static bool same_key(const struct results_key *a, const struct results_key *b)
{
	return a->hz == b->hz && a->repetition == b->repetition && a->adaption == b->adaption &&
	       a->cache == b->cache && !strcmp(a->task, b->task) && !strcmp(a->policy, b->policy);
}

struct results_row *results_find(const struct results *r, const struct results_key *key)
{
	for (size_t i = 0; i < r->n; i++)
		if (same_key(&r->row[i].key, key))
			return &r->row[i];
	return NULL;
}

struct results_row *results_row(struct results *r, const struct results_key *key)
{
	struct results_row *row = results_find(r, key);

	if (row)
		return row;
	if (cvl_room(&r->row, r->n, &r->capacity, sizeof(*r->row)))
		return NULL;
	row = &r->row[r->n++];
	*row = (struct results_row){ .key = *key };
	for (int q = 0; q < QUANTITIES; q++)
		row->value[q] = NAN;
	return row;
}

void results_free(struct results *r)
{
	free(r->row);
	*r = (struct results){ 0 };
}

/* ---- writing ---- */

/* The shortest that reads back as the same. */
static void put_double(FILE *f, double v)
{
	char text[40];

	if (isnan(v))
		return;
	for (int digits = 9; digits <= 17; digits += 2) {
		snprintf(text, sizeof(text), "%.*g", digits, v);
		if (strtod(text, NULL) == v)
			break;
	}
	fputs(text, f);
}

static void put_cell(FILE *f, const struct results_row *row, int c)
{
	const struct results_key *k = &row->key;
	const char *between = "";

	switch (c) {
	case C_TASK: fputs(k->task, f); break;
	case C_HZ: fprintf(f, "%llu", (unsigned long long)k->hz); break;
	case C_POLICY: fputs(k->policy, f); break;
	case C_ADAPTION: fputc('0' + k->adaption, f); break;
	case C_CACHE: fputc('0' + k->cache, f); break;
	case C_REPETITION: fprintf(f, "%u", k->repetition); break;
	case C_ITERATIONS:
		if (row->iterations)
			fprintf(f, "%llu", (unsigned long long)row->iterations);
		break;
	case C_OUTLIERS:
		for (int q = 0; q < QUANTITIES; q++)
			if (row->outliers >> q & 1) {
				fprintf(f, "%s%s", between, quantity_name((enum quantity)q));
				between = " ";
			}
		break;
	default: put_double(f, row->value[c]); break;
	}
}

int results_save(const struct results *r, const char *path, struct cvl_error *err)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);
	int rc;

	if (!f)
		return cvl_no_memory(err);
	for (size_t c = 0; c < COLUMNS; c++)
		fprintf(f, "%s%s", c ? "," : "", columns[c].name);
	fputc('\n', f);
	for (size_t i = 0; i < r->n; i++) {
		for (size_t c = 0; c < COLUMNS; c++) {
			if (c)
				fputc(',', f);
			put_cell(f, &r->row[i], columns[c].id);
		}
		fputc('\n', f);
	}
	rc = fclose(f) ? cvl_no_memory(err) : results_write(path, text, n, err);
	free(text);
	return rc;
}

int results_write(const char *path, const char *text, size_t n, struct cvl_error *err)
{
	struct stat st;

	/* never replace a device by a file */
	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "%s: not a regular file", path);
	return cvl_write_whole(path, text, n, err);
}

/* ---- reading ---- */

struct reader {
	const char *path;
	char *line;
	size_t number; /* of the line, from 1 */
	int column[COLUMNS + 1];
	size_t columns;
	struct cvl_error *err;
};

static int bad(const struct reader *r, const char *column, const char *cell)
{
	return cvl_fail(r->err, CVL_E_SYNTAX, CVL_NO_OFFSET,
			"%s: line %zu, column %s: '%.60s' cannot be", r->path, r->number, column,
			cell);
}

static bool read_u64(const char *cell, uint64_t max, uint64_t *v)
{
	char *end;

	errno = 0;
	*v = strtoull(cell, &end, 10);
	return *cell >= '0' && *cell <= '9' && !*end && !errno && *v <= max;
}

static int read_outliers(const struct reader *r, char *cell, struct results_row *row)
{
	char *save = NULL;

	for (char *word = strtok_r(cell, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		int q = quantity_find(word);

		if (q < 0)
			return bad(r, "outliers", word);
		row->outliers |= 1u << q;
	}
	return 0;
}

static int read_cell(const struct reader *r, int c, char *cell, struct results_row *row)
{
	struct results_key *k = &row->key;
	uint64_t v = 0;
	char *end;

	switch (c) {
	case C_TASK:
	case C_POLICY:
		if (!results_name(cell))
			return bad(r, column_name(c), cell);
		strcpy(c == C_TASK ? k->task : k->policy, cell);
		return 0;
	case C_HZ: return read_u64(cell, UINT64_MAX, &k->hz) ? 0 : bad(r, "hz", cell);
	case C_ADAPTION:
	case C_CACHE:
		if (!read_u64(cell, 1, &v))
			return bad(r, column_name(c), cell);
		*(c == C_CACHE ? &k->cache : &k->adaption) = v;
		return 0;
	case C_REPETITION:
		if (!read_u64(cell, UINT32_MAX, &v))
			return bad(r, "repetition", cell);
		k->repetition = (unsigned)v;
		return 0;
	case C_ITERATIONS:
		return !*cell || read_u64(cell, UINT64_MAX, &row->iterations) ?
			       0 :
			       bad(r, "iterations", cell);
	case C_OUTLIERS: return read_outliers(r, cell, row);
	default:
		if (!*cell)
			return 0;
		row->value[c] = strtod(cell, &end);
		return *end || !isfinite(row->value[c]) ? bad(r, column_name(c), cell) : 0;
	}
}

/* The next line, its end cut off, or NULL. */
static char *next_line(struct reader *r)
{
	char *line = r->line, *end;

	if (!*line)
		return NULL;
	end = line + strcspn(line, "\n");
	r->line = *end ? end + 1 : end;
	*end = '\0';
	if (end > line && end[-1] == '\r')
		end[-1] = '\0';
	r->number++;
	return line;
}

static int read_head(struct reader *r, char *line)
{
	unsigned seen[COLUMNS] = { 0 };
	char *cell;

	while ((cell = strsep(&line, ","))) {
		int c = column_find(cell);

		if (c < 0 || seen[c]++)
			return cvl_fail(
				r->err, CVL_E_SYNTAX, CVL_NO_OFFSET,
				"%s: line 1: the column '%.60s' is %s; is this a file of `coeval task bench`?",
				r->path, cell, c < 0 ? "none of ours" : "there twice");
		r->column[r->columns++] = c;
	}
	for (int c = C_TASK; c <= C_REPETITION; c++)
		if (!seen[c])
			return cvl_fail(r->err, CVL_E_MISSING, CVL_NO_OFFSET,
					"%s: line 1: missing column %s", r->path, column_name(c));
	return 0;
}

static int read_row(struct reader *r, char *line, struct results *to)
{
	struct results_row row = { 0 };
	size_t c = 0;
	char *cell;

	for (int q = 0; q < QUANTITIES; q++)
		row.value[q] = NAN;
	while ((cell = strsep(&line, ","))) {
		int rc = c < r->columns ? read_cell(r, r->column[c], cell, &row) : 0;

		if (rc)
			return rc;
		c++;
	}
	if (c != r->columns)
		return cvl_fail(r->err, CVL_E_SYNTAX, CVL_NO_OFFSET,
				"%s: line %zu has %zu columns, the first has %zu", r->path,
				r->number, c, r->columns);
	if (results_find(to, &row.key))
		return cvl_fail(
			r->err, CVL_E_SYNTAX, CVL_NO_OFFSET,
			"%s: line %zu is of the same task, setting and repetition as one before",
			r->path, r->number);
	if (!results_row(to, &row.key))
		return cvl_no_memory(r->err);
	to->row[to->n - 1] = row;
	return 0;
}

int results_parse(struct results *r, const char *text, size_t n, const char *name,
		  struct cvl_error *err)
{
	struct reader reader = { .path = name, .err = err };
	char *copy, *line;
	int rc;

	if (memchr(text, '\0', n))
		return cvl_fail(err, CVL_E_SYNTAX, (uint64_t)strnlen(text, n), "%s: it holds a NUL",
				name);
	copy = strndup(text, n);
	if (!copy)
		return cvl_no_memory(err);
	reader.line = copy;
	line = next_line(&reader);
	rc = line ? read_head(&reader, line) : 0;
	while (!rc && (line = next_line(&reader)))
		rc = *line ? read_row(&reader, line, r) : 0;
	free(copy);
	return rc;
}

int results_load(struct results *r, const char *path, struct cvl_error *err)
{
	char *text;
	size_t n;
	int rc;

	if (!cvl_is_file(path))
		return 0;
	text = cvl_read_whole(path, MAX_BYTES, &n, err);
	if (!text)
		return (int)err->code;
	rc = results_parse(r, text, n, path, err);
	free(text);
	return rc;
}
