/* SPDX-License-Identifier: MIT */
#include "sql_print.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <coeval/array.h>

/* A box is as wide as the first rows are; later ones that are wider stick out. */
#define BOX_ROWS 2000
#define BOX_BYTES (4 << 20)

/* ---- cells ---- */

/* Characters on the screen, as table_print() has it. */
static size_t text_width(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

static void real_text(char to[40], double v)
{
	snprintf(to, 40, "%.15g", v);
	if (strtod(to, NULL) != v)
		snprintf(to, 40, "%.17g", v);
	if (isfinite(v) && !strpbrk(to, ".e"))
		strcat(to, ".0");
}

/* X'0123' */
static char *blob_text(const struct cvl_sql_value *v)
{
	char *s = malloc(2 * v->n + 4), *w = s;

	if (!s)
		return NULL;
	*w++ = 'X';
	*w++ = '\'';
	for (size_t i = 0; i < v->n; i++, w += 2)
		sprintf(w, "%02X", (unsigned char)v->bytes[i]);
	strcpy(w, "'");
	return s;
}

/* As it is shown to people: texts come from files. */
static char *shown(const struct cvl_sql_value *v)
{
	char number[40] = "NULL", *s, *w;

	switch (v->type) {
	case CVL_SQL_NULL: return strdup(number);
	case CVL_SQL_INT: snprintf(number, sizeof(number), "%" PRId64, v->i); return strdup(number);
	case CVL_SQL_REAL: real_text(number, v->real); return strdup(number);
	case CVL_SQL_BLOB: return blob_text(v);
	case CVL_SQL_TEXT: break;
	}
	s = w = malloc(4 * v->n + 1);
	for (size_t i = 0; s && i <= v->n; i++) {
		char *part = strndup(v->bytes + i, v->n - i);

		if (!part) {
			free(s);
			return NULL;
		}
		i += strlen(part);
		cvl_text_name(w, part);
		w += strlen(w);
		free(part);
		if (i < v->n)
			w = stpcpy(w, "\\x00");
	}
	return s;
}

/* ---- box ---- */

static void repeat(struct cvl_out *o, const char *s, size_t n)
{
	while (n--)
		cvl_out_text(o, s);
}

/* "┌─┬─┐" and the like. */
static void rule(const struct sql_print *p, const char *left, const char *middle, const char *right)
{
	for (size_t c = 0; c < p->columns; c++) {
		cvl_out_text(p->out, c ? middle : left);
		repeat(p->out, "─", p->width[c] + 2);
	}
	cvl_out_text(p->out, right);
	cvl_out_char(p->out, '\n');
}

static bool is_number(const char *s)
{
	return (*s >= '0' && *s <= '9') || (*s == '-' && s[1] >= '0' && s[1] <= '9');
}

static void box_cell(const struct sql_print *p, size_t c, const char *s, bool right)
{
	const size_t n = text_width(s), pad = p->width[c] > n ? p->width[c] - n : 0;

	cvl_out_text(p->out, c ? " │ " : "│ ");
	repeat(p->out, " ", right ? pad : 0);
	cvl_out_text(p->out, s);
	repeat(p->out, " ", right ? 0 : pad);
	if (c + 1 == p->columns)
		cvl_out_text(p->out, " │\n");
}

static void drop_cells(struct sql_print *p)
{
	for (size_t i = 0; i < p->cells; i++)
		free(p->cell[i]);
	p->cells = p->bytes = 0;
}

/* Draw what is there. */
static void box_rows(struct sql_print *p)
{
	for (size_t i = 0; i < p->cells && !p->begun; i++)
		if (text_width(p->cell[i]) > p->width[i % p->columns])
			p->width[i % p->columns] = text_width(p->cell[i]);
	if (!p->begun) {
		rule(p, "┌", "┬", "┐");
		for (size_t c = 0; c < p->columns; c++)
			box_cell(p, c, p->name[c], false);
		rule(p, "├", "┼", "┤");
	}
	p->begun = true;
	for (size_t i = 0; i < p->cells; i++)
		box_cell(p, i % p->columns, p->cell[i], is_number(p->cell[i]));
	drop_cells(p);
}

static int box_row(struct sql_print *p, const struct cvl_sql_value *v, struct cvl_error *err)
{
	for (size_t c = 0; c < p->columns; c++) {
		if (cvl_room(&p->cell, p->cells, &p->cell_room, sizeof(*p->cell)))
			return cvl_no_memory(err);
		p->cell[p->cells] = shown(&v[c]);
		if (!p->cell[p->cells])
			return cvl_no_memory(err);
		p->bytes += strlen(p->cell[p->cells++]);
	}
	if (p->begun || p->rows >= BOX_ROWS || p->bytes > BOX_BYTES)
		box_rows(p);
	return 0;
}

/* ---- CSV and JSON ---- */

static void csv_cell(struct cvl_out *o, const struct cvl_sql_value *v)
{
	char *blob, real[40];

	switch (v->type) {
	case CVL_SQL_NULL: return;
	case CVL_SQL_INT: cvl_out_i64(o, v->i); return;
	case CVL_SQL_REAL:
		real_text(real, v->real);
		cvl_out_text(o, real);
		return;
	case CVL_SQL_TEXT: cvl_out_csv(o, v->bytes, v->n); return;
	case CVL_SQL_BLOB:
		blob = blob_text(v);
		cvl_out_text(o, blob ? blob : "");
		free(blob);
		return;
	}
}

static void json_cell(struct cvl_out *o, const struct cvl_sql_value *v)
{
	char *blob, real[40];

	switch (v->type) {
	case CVL_SQL_INT: cvl_out_i64(o, v->i); return;
	case CVL_SQL_TEXT: cvl_out_json(o, v->bytes, v->n); return;
	case CVL_SQL_REAL:
		if (!isfinite(v->real))
			break;
		real_text(real, v->real);
		cvl_out_text(o, real);
		return;
	case CVL_SQL_BLOB:
		blob = blob_text(v);
		cvl_out_json(o, blob ? blob : "", blob ? strlen(blob) : 0);
		free(blob);
		return;
	case CVL_SQL_NULL: break;
	}
	cvl_out_text(o, "null");
}

/* ---- the sink ---- */

static int begin(void *ctx, const char *const *names, size_t n, struct cvl_error *err)
{
	struct sql_print *p = ctx;

	sql_print_drop(p);
	p->columns = n;
	p->name = calloc(n, sizeof(*p->name));
	p->width = calloc(n, sizeof(*p->width));
	if (!p->name || !p->width)
		return cvl_no_memory(err);
	for (size_t c = 0; c < n; c++) {
		p->name[c] = malloc(4 * strlen(names[c]) + 1);
		if (!p->name[c])
			return cvl_no_memory(err);
		if (p->format == SQL_BOX)
			cvl_text_name(p->name[c], names[c]);
		else
			strcpy(p->name[c], names[c]);
		p->width[c] = text_width(p->name[c]);
	}
	for (size_t c = 0; c < n && p->format == SQL_CSV; c++) {
		cvl_out_text(p->out, c ? "," : "");
		cvl_out_csv(p->out, names[c], strlen(names[c]));
	}
	if (p->format != SQL_BOX)
		cvl_out_char(p->out, p->format == SQL_CSV ? '\n' : '[');
	return 0;
}

static int row(void *ctx, const struct cvl_sql_value *v, size_t n, struct cvl_error *err)
{
	struct sql_print *p = ctx;

	if (p->out->closed)
		return cvl_fail(err, CVL_E_CANCELLED, CVL_NO_OFFSET, "nobody reads the output");
	if (p->rows++ && p->format == SQL_JSON)
		cvl_out_text(p->out, ",\n ");
	if (p->format == SQL_BOX)
		return box_row(p, v, err);
	for (size_t c = 0; c < n; c++) {
		if (p->format == SQL_CSV) {
			cvl_out_text(p->out, c ? "," : "");
			csv_cell(p->out, &v[c]);
			continue;
		}
		cvl_out_char(p->out, c ? ',' : '{');
		cvl_out_json(p->out, p->name[c], strlen(p->name[c]));
		cvl_out_char(p->out, ':');
		json_cell(p->out, &v[c]);
	}
	cvl_out_char(p->out, p->format == SQL_CSV ? '\n' : '}');
	return 0;
}

static int end(void *ctx, struct cvl_error *err)
{
	struct sql_print *p = ctx;

	(void)err;
	if (p->format == SQL_JSON)
		cvl_out_text(p->out, "]\n");
	if (p->format == SQL_BOX && p->rows) {
		box_rows(p);
		rule(p, "└", "┴", "┘");
	}
	sql_print_drop(p);
	return 0;
}

struct cvl_sql_sink sql_print_sink(struct sql_print *p)
{
	return (struct cvl_sql_sink){ begin, row, end, p };
}

void sql_print_drop(struct sql_print *p)
{
	drop_cells(p);
	for (size_t c = 0; p->name && c < p->columns; c++)
		free(p->name[c]);
	free(p->name);
	free(p->width);
	free(p->cell);
	*p = (struct sql_print){ .out = p->out, .format = p->format };
}
