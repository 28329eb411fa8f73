/* SPDX-License-Identifier: MIT */
#include "analysis/freq/table.h"

#include <coeval/array.h>

#include <coeval/files.h>
#include "core/text.h"

#include <coeval/time.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX (64u << 20)
#define ROWS_MAX 200000
#define COLUMNS_MAX 32
/*
 * Limit of all cells read: our machines do not reach higher counts, and sums cannot overflow.
 */
#define COUNT_MAX ((uint64_t)1 << 56)

enum kind { TEXT_TASK, TEXT_POLICY, RATE, SWITCH, COUNT, ENERGY };

struct column {
	const char *name;
	enum kind kind;
	size_t offset;
};

#define AT(field) offsetof(struct table_row, field)

static const struct column columns[] = {
	{ "task", TEXT_TASK, AT(task) },       { "frequency", RATE, AT(hz) },
	{ "policy", TEXT_POLICY, AT(policy) }, { "adaption", SWITCH, AT(adaption) },
	{ "cache", SWITCH, AT(cache) },        { "cycles", COUNT, AT(count.cycles) },
	{ "cpi", COUNT, AT(count.cpi) },       { "exc", COUNT, AT(count.exc) },
	{ "sleep", COUNT, AT(count.sleep) },   { "lsu", COUNT, AT(count.lsu) },
	{ "fold", COUNT, AT(count.fold) },     { "ram", COUNT, AT(count.ram) },
	{ "flash", COUNT, AT(count.flash) },   { "peripheral", COUNT, AT(count.peripheral) },
	{ "energy_uj", ENERGY, AT(energy_j) }, { "energy_true_uj", ENERGY, AT(true_j) },
};

#define N_COLUMNS (sizeof(columns) / sizeof(*columns))

struct table_row *table_add(struct task_table *t)
{
	struct table_row *row;

	if (cvl_room(&t->row, t->n, &t->room, sizeof(*t->row)))
		return NULL;
	row = &t->row[t->n++];
	*row = (struct table_row){ .adaption = true, .cache = true, .energy_j = -1, .true_j = -1 };
	memset(&row->count, 0xff, sizeof(row->count)); /* SWO_UNKNOWN */
	return row;
}

void table_free(struct task_table *t)
{
	free(t->row);
	*t = (struct task_table){ 0 };
}

struct reader {
	struct task_table *t;
	const char *name;
	struct cvl_error *err;
	int column[COLUMNS_MAX]; /* file column to our column */
	size_t n;
	uint64_t offset; /* of the line */
};

static int bad(const struct reader *r, enum cvl_code code, const char *column, const char *what)
{
	return cvl_fail(r->err, code, r->offset, "%s:%llu: %s%s%s", r->name,
			(unsigned long long)r->offset, column, *column ? ": " : "", what);
}

static int read_head(struct reader *r, char **cells, size_t n)
{
	unsigned seen = 0;

	for (size_t i = 0; i < n; i++) {
		size_t k = 0;

		while (k < N_COLUMNS && strcmp(cells[i], columns[k].name))
			k++;
		if (k == N_COLUMNS)
			return cvl_fail(
				r->err, CVL_E_SYNTAX, r->offset,
				"%s:%llu: unknown column '%.40s': the first line has some of task, frequency, policy, "
				"adaption, cache, cycles, cpi, exc, sleep, lsu, fold, ram, flash, peripheral, energy_uj",
				r->name, (unsigned long long)r->offset, cells[i]);
		if (seen >> k & 1)
			return bad(r, CVL_E_SYNTAX, columns[k].name, "duplicate column");
		seen |= 1u << k;
		r->column[i] = (int)k;
	}
	r->n = n;
	for (size_t k = 0; k < N_COLUMNS; k++)
		if ((columns[k].kind == TEXT_TASK || columns[k].kind == RATE ||
		     columns[k].offset == AT(count.cycles)) &&
		    !(seen >> k & 1))
			return bad(r, CVL_E_MISSING, columns[k].name, "missing column");
	return 0;
}

static bool read_text(const char *s, char *out, size_t size)
{
	size_t n = strlen(s);

	if (!n || n >= size)
		return false;
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)s[i] < 0x20 || s[i] == 0x7f)
			return false;
	memcpy(out, s, n + 1);
	return true;
}

static bool read_count(const char *s, uint64_t *out)
{
	uint64_t v = 0;

	if (s[strspn(s, "0123456789")])
		return false;
	for (; *s; s++) {
		v = v * 10 + (uint64_t)(*s - '0');
		if (v > COUNT_MAX)
			return false;
	}
	*out = v;
	return true;
}

static int read_cell(const struct reader *r, const struct column *c, const char *s,
		     struct table_row *row)
{
	void *field = (char *)row + c->offset;
	double v;

	if (!*s && (c->kind == COUNT || c->kind == ENERGY))
		return 0;
	switch (c->kind) {
	case TEXT_TASK:
		if (!read_text(s, field, TABLE_NAME))
			return bad(r, CVL_E_SYNTAX, c->name, "not a name of 1 to 63 bytes");
		return 0;
	case TEXT_POLICY:
		if (!read_text(s, field, DEVICE_NAME))
			return bad(r, CVL_E_SYNTAX, c->name, "not a name of 1 to 31 bytes");
		return 0;
	case RATE:
		if (cvl_rate_parse(s, field))
			return bad(r, CVL_E_SYNTAX, c->name, "not a frequency such as 80MHz");
		return 0;
	case SWITCH:
		if (strcmp(s, "on") && strcmp(s, "off"))
			return bad(r, CVL_E_SYNTAX, c->name, "neither on nor off");
		*(bool *)field = s[1] == 'n';
		return 0;
	case COUNT:
		if (!read_count(s, field))
			return bad(r, CVL_E_RANGE, c->name, "not a whole number up to 2^56");
		return 0;
	case ENERGY:
		if (cvl_text_real(s, &v) || !(v > 0 && v < 1e15))
			return bad(r, CVL_E_RANGE, c->name, "not an energy in microjoule above 0");
		*(double *)field = v * 1e-6;
		return 0;
	}
	return 0;
}

static int read_line(struct reader *r, char *line)
{
	char *cells[COLUMNS_MAX];
	struct table_row *row;
	size_t n = cvl_text_split(line, cells, COLUMNS_MAX);
	int rc = 0;

	if (!n)
		return bad(r, CVL_E_SYNTAX, "", "unbalanced quotes");
	if (!r->n)
		return n > COLUMNS_MAX ? bad(r, CVL_E_LIMIT, "", "too many columns") :
					 read_head(r, cells, n);
	if (n != r->n)
		return bad(r, CVL_E_SYNTAX, "", "number of cells differs from the first line");
	if (r->t->n == ROWS_MAX)
		return bad(r, CVL_E_LIMIT, "", "more than 200000 lines");
	row = table_add(r->t);
	if (!row)
		return cvl_no_memory(r->err);
	row->offset = r->offset;
	for (size_t i = 0; i < n && !rc; i++)
		rc = read_cell(r, &columns[r->column[i]], cells[i], row);
	return rc;
}

int table_parse(struct task_table *t, char *text, size_t len, const char *name,
		struct cvl_error *err)
{
	struct reader r = { .t = t, .name = name, .err = err };
	int rc = 0;

	*t = (struct task_table){ .name = name };
	/* Spreadsheets write a byte order mark. */
	for (size_t at = len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0; at < len && !rc;) {
		char *line = text + at, *end = memchr(line, '\n', len - at);
		size_t n = end ? (size_t)(end - line) : len - at;

		r.offset = at;
		at += n + 1;
		if (memchr(line, '\0', n))
			return bad(&r, CVL_E_SYNTAX, "", "a byte 0: not text");
		if (n && line[n - 1] == '\r')
			n--;
		line[n] = '\0'; /* at the end of the line or text */
		if (line[strspn(line, " \t")] && *line != '#')
			rc = read_line(&r, line);
	}
	if (!rc && !t->n)
		rc = cvl_fail(err, CVL_E_MISSING, CVL_NO_OFFSET, "%s: no tasks in it", name);
	return rc;
}

int table_load(struct task_table *t, const char *path, struct cvl_error *err)
{
	size_t n;
	char *text = cvl_read_whole(path, FILE_MAX, &n, err);
	int rc;

	*t = (struct task_table){ .name = path };
	if (!text)
		return err->code;
	rc = table_parse(t, text, n, path, err);
	free(text);
	return rc;
}

/* ---- writing ---- */

static void write_text(struct cvl_out *o, const char *s)
{
	size_t n = strlen(s);

	if (*s != '#' && *s != ' ' && !(n && s[n - 1] == ' ') && !strpbrk(s, ",\"")) {
		cvl_out_text(o, s);
		return;
	}
	cvl_out_csv_quoted(o, s, n);
}

static void write_cell(struct cvl_out *o, const struct column *c, const struct table_row *row)
{
	const void *field = (const char *)row + c->offset;
	double v;

	switch (c->kind) {
	case TEXT_TASK:
	case TEXT_POLICY: write_text(o, field); return;
	case RATE: cvl_out_u64(o, *(const uint64_t *)field); return;
	case SWITCH: cvl_out_text(o, *(const bool *)field ? "on" : "off"); return;
	case COUNT:
		if (*(const uint64_t *)field != SWO_UNKNOWN)
			cvl_out_u64(o, *(const uint64_t *)field);
		return;
	case ENERGY:
		v = *(const double *)field;
		if (v >= 0)
			cvl_out_printf(o, "%.9g", v * 1e6);
		return;
	}
}

void table_write(const struct task_table *t, struct cvl_out *o)
{
	for (size_t k = 0; k < N_COLUMNS; k++) {
		cvl_out_text(o, columns[k].name);
		cvl_out_char(o, k + 1 < N_COLUMNS ? ',' : '\n');
	}
	for (size_t i = 0; i < t->n; i++)
		for (size_t k = 0; k < N_COLUMNS; k++) {
			write_cell(o, &columns[k], &t->row[i]);
			cvl_out_char(o, k + 1 < N_COLUMNS ? ',' : '\n');
		}
}
