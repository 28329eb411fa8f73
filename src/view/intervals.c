/* SPDX-License-Identifier: MIT */
#include "view/intervals.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <coeval/array.h>
#include <coeval/error.h>

void intervals_free(struct intervals *all)
{
	for (size_t i = 0; i < all->n_rows; i++) {
		free(all->row[i].name);
		free(all->row[i].list);
	}
	for (size_t i = 0; i < all->n_names; i++)
		free(all->name[i]);
	for (size_t i = 0; i < all->n_found; i++)
		free(all->found[i].text);
	free(all->row);
	free(all->name);
	free(all->found);
	*all = (struct intervals){ 0 };
}

uint32_t intervals_row(struct intervals *all, const char *of, const char *name, uint32_t clock)
{
	char *copy;

	if (cvl_room(&all->row, all->n_rows, &all->room_rows, sizeof(*all->row)))
		return UINT32_MAX;
	copy = strdup(name);
	if (!copy)
		return UINT32_MAX;
	all->row[all->n_rows] = (struct interval_row){ .of = of, .name = copy, .clock = clock };
	return (uint32_t)all->n_rows++;
}

uint32_t intervals_name(struct intervals *all, const char *name)
{
	char *copy;

	if (cvl_room(&all->name, all->n_names, &all->room_names, sizeof(*all->name)))
		return UINT32_MAX;
	copy = strdup(name);
	if (!copy)
		return UINT32_MAX;
	all->name[all->n_names] = copy;
	return (uint32_t)all->n_names++;
}

bool intervals_add(struct intervals *all, uint32_t row, const struct interval *i)
{
	struct interval_row *r = &all->row[row];

	if (cvl_room(&r->list, r->n, &r->room, sizeof(*r->list)))
		return false;
	r->list[r->n++] = *i;
	if (i->depth >= r->depths)
		r->depths = (uint16_t)(i->depth + 1);
	if (i->to - i->from > r->longest)
		r->longest = i->to - i->from;
	return true;
}

bool intervals_tell(struct intervals *all, const struct found *f, const char *format, ...)
{
	va_list args;
	char *text;
	int n;

	if (cvl_room(&all->found, all->n_found, &all->room_found, sizeof(*all->found)))
		return false;
	va_start(args, format);
	n = vasprintf(&text, format, args);
	va_end(args);
	if (n < 0)
		return false;
	all->found[all->n_found] = *f;
	all->found[all->n_found++].text = text;
	return true;
}

static int in_order(const void *a, const void *b)
{
	const struct interval *x = a, *y = b;

	if (x->depth != y->depth)
		return x->depth < y->depth ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

void intervals_sort(struct intervals *all)
{
	for (size_t i = 0; i < all->n_rows; i++)
		if (all->row[i].n)
			qsort(all->row[i].list, all->row[i].n, sizeof(struct interval), in_order);
}

/* ---- tiles ---- */

/* The first of a row that is not before @depth and @from. */
static size_t first_of(const struct interval_row *row, unsigned depth, int64_t from)
{
	size_t low = 0, high = row->n;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;
		const struct interval *i = &row->list[mid];

		if (i->depth < depth || (i->depth == depth && i->from < from))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Names of a bucket, of which no more than this many are told apart: the first ones. */
#define NAMES_MOST 64

struct bucket {
	struct interval_group group;
	int64_t begin; /* ns */
	double total;
	uint32_t name[NAMES_MOST];
	double ns[NAMES_MOST];
	size_t names;
};

static void bucket_add(struct bucket *b, const struct interval *i)
{
	const double ns = (double)(i->to - i->from);
	struct interval_group *g = &b->group;
	size_t k = 0;

	if (!g->n)
		*g = (struct interval_group){
			.first = i, .begin = i->begin, .end = i->end, .longest = i
		};
	g->n++;
	g->marks |= i->marks;
	if (i->end > g->end)
		g->end = i->end;
	if (i->to - i->from > g->longest->to - g->longest->from)
		g->longest = i;
	b->total += ns;
	while (k < b->names && b->name[k] != i->name)
		k++;
	if (k == NAMES_MOST)
		return;
	if (k == b->names) {
		b->name[b->names++] = i->name;
		b->ns[k] = 0;
	}
	b->ns[k] += ns;
}

static int bucket_end(struct bucket *b, int (*see)(void *ctx, const struct interval_group *g),
		      void *ctx)
{
	size_t most = 0;
	int rc;

	if (!b->group.n)
		return 0;
	for (size_t k = 1; k < b->names; k++)
		if (b->ns[k] > b->ns[most])
			most = k;
	b->group.most = b->name[most];
	b->group.share = b->total > 0 ? b->ns[most] / b->total : 1;
	rc = see(ctx, &b->group);
	b->group.n = 0;
	b->names = 0;
	b->total = 0;
	return rc;
}

/* The begin of the bucket that @ns is in. */
static int64_t bucket_of(int64_t ns, int64_t width)
{
	const int64_t past = ns % width;

	return ns - past - (past < 0 ? width : 0);
}

int intervals_tile(const struct interval_row *row, int64_t from, int64_t to, int64_t width,
		   int (*see)(void *ctx, const struct interval_group *g), void *ctx)
{
	const int64_t early = from < INT64_MIN + row->longest ? INT64_MIN : from - row->longest;
	struct bucket *b = calloc(1, sizeof(*b));
	int rc = b ? 0 : CVL_E_NOMEM;

	for (unsigned depth = 0; depth < row->depths && !rc; depth++) {
		for (size_t k = first_of(row, depth, early); k < row->n && !rc; k++) {
			const struct interval *i = &row->list[k];
			const bool is_short = i->to - i->from < width;

			if (i->depth != depth || i->from >= to)
				break;
			/* short ones are of the tile that they begin in */
			if (is_short ? i->from < from : i->to <= from)
				continue;
			if (b->group.n && (!is_short || bucket_of(i->from, width) != b->begin))
				rc = bucket_end(b, see, ctx);
			b->begin = bucket_of(i->from, width);
			if (!rc)
				bucket_add(b, i);
			if (!rc && !is_short)
				rc = bucket_end(b, see, ctx);
		}
		if (!rc)
			rc = bucket_end(b, see, ctx);
	}
	free(b);
	return rc;
}
