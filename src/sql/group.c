/* SPDX-License-Identifier: MIT */
/*
 * All rows of a table in the order of columns of names, for GROUP BY. SQLite would sort copies of the rows
 * and compare texts; names are few, so that rows can be counted into their places.
 */
#ifdef HAVE_SQLITE

#include "sql/internal.h"

#include <stdlib.h>
#include <string.h>

int grouped_add(struct grouped *g, struct cvl_rows *rows, uint64_t wanted)
{
	if (cvl_room(&g->rows, g->n, &g->room, sizeof(*g->rows))) {
		cvl_rows_free(rows);
		return SQLITE_NOMEM;
	}
	g->rows[g->n++] = rows;
	g->n_order += rows->n;
	g->bytes += rows->n * 2 * sizeof(*g->order);
	for (size_t c = 0; c < rows->n_columns; c++) {
		struct cvl_cells *cells = &rows->column[c];

		if (wanted >> (c < 63 ? c : 63) & 1) {
			g->bytes += rows->n * 8;
			if (cells->bytes)
				g->bytes += (uint64_t)((int32_t *)cells->values)[rows->n];
			continue;
		}
		free(cells->values);
		free(cells->bytes);
		cells->values = NULL;
		cells->bytes = NULL;
	}
	return SQLITE_OK;
}

struct ranked {
	const char *text;
	uint32_t code;
};

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct ranked *)a)->text, ((const struct ranked *)b)->text);
}

/* The place of each name among the others, from 1 on; [0] is for NULL. NULL: no memory. */
static uint32_t *rank_names(const struct cvl_names *names, bool descending)
{
	const size_t n = cvl_names_count(names);
	struct ranked *r = malloc((n + 1) * sizeof(*r));
	uint32_t *rank = malloc((n + 1) * sizeof(*rank));

	for (size_t i = 0; r && i < n; i++)
		r[i] = (struct ranked){ cvl_names_at(names, i), (uint32_t)i };
	if (r && rank) {
		qsort(r, n, sizeof(*r), by_text);
		rank[0] = descending ? (uint32_t)n : 0;
		for (size_t i = 0; i < n; i++)
			rank[r[i].code + 1] = (uint32_t)(descending ? n - 1 - i : i + 1);
	} else {
		free(rank);
		rank = NULL;
	}
	free(r);
	return rank;
}

static uint32_t rank_of(const struct grouped *g, uint64_t row, size_t column, const uint32_t *rank)
{
	const struct cvl_cells *c = &g->rows[row >> 32]->column[column];
	const size_t r = row & UINT32_MAX;

	return rank[cvl_cells_null(c, r) ? 0 : ((int32_t *)c->values)[r] + 1];
}

/* Order by one column; rows of one name stay in their order. */
static int sort_by(struct grouped *g, size_t column, bool descending, uint64_t *to)
{
	const struct cvl_names *names = g->rows[0]->column[column].names;
	uint32_t *rank = rank_names(names, descending);
	size_t *begin = calloc(cvl_names_count(names) + 2, sizeof(*begin));

	if (rank && begin) {
		for (size_t i = 0; i < g->n_order; i++)
			begin[rank_of(g, g->order[i], column, rank) + 1]++;
		for (size_t k = 0; k <= cvl_names_count(names); k++)
			begin[k + 1] += begin[k];
		for (size_t i = 0; i < g->n_order; i++)
			to[begin[rank_of(g, g->order[i], column, rank)]++] = g->order[i];
		memcpy(g->order, to, g->n_order * sizeof(*to));
	}
	free(rank);
	free(begin);
	return rank && begin ? SQLITE_OK : SQLITE_NOMEM;
}

int grouped_sort(struct grouped *g, const int *by, size_t n)
{
	uint64_t *to = malloc((g->n_order + 1) * sizeof(*to));
	size_t k = 0;
	int rc = SQLITE_OK;

	g->order = malloc((g->n_order + 1) * sizeof(*g->order));
	if (!to || !g->order)
		rc = SQLITE_NOMEM;
	for (size_t i = 0; i < g->n && !rc; i++)
		for (size_t r = 0; r < g->rows[i]->n; r++)
			g->order[k++] = (uint64_t)i << 32 | r;
	/* the last first, as each keeps the order of those after it */
	while (n-- && g->n && !rc)
		rc = sort_by(g, (size_t)(by[n] < 0 ? -by[n] - 1 : by[n]), by[n] < 0, to);
	free(to);
	return rc;
}

void grouped_free(struct grouped *g)
{
	for (size_t i = 0; i < g->n; i++)
		cvl_rows_free(g->rows[i]);
	free(g->rows);
	free(g->order);
	*g = (struct grouped){ 0 };
}

#endif
