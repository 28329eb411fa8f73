/* SPDX-License-Identifier: MIT */
#include "view/intervals.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <coeval/array.h>
#include <coeval/error.h>

#define LEAST_WIDTH_NS 1000

void intervals_free(struct intervals *all)
{
	for (size_t i = 0; i < all->n_rows; i++) {
		free(all->row[i].name);
		if (!all->block.at)
			free(all->row[i].list);
	}
	spill_free(&all->block);
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

/* ---- intervals ---- */

static int in_order(const void *a, const void *b)
{
	const struct interval *x = a, *y = b;

	if (x->depth != y->depth)
		return x->depth < y->depth ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

static void sort(struct interval_row *r)
{
	if (r->n)
		qsort(r->list, r->n, sizeof(*r->list), in_order);
}

/* All rows in one piece, which needs no memory while nobody looks. */
static void join(struct intervals *all)
{
	struct interval *at;

	if (!all->n || spill_room(&all->block, all->n * sizeof(*at)))
		return;
	at = all->block.at;
	for (size_t i = 0; i < all->n_rows; i++) {
		struct interval_row *r = &all->row[i];

		if (r->n)
			memcpy(at, r->list, r->n * sizeof(*at));
		free(r->list);
		r->list = at;
		r->room = 0;
		at += r->n;
	}
	intervals_rest(all);
}

void intervals_rest(const struct intervals *all)
{
	spill_rest(&all->block);
}

void intervals_sort(struct intervals *all)
{
	all->n = 0;
	for (size_t i = 0; i < all->n_rows; i++) {
		sort(&all->row[i]);
		all->n += all->row[i].n;
	}
	join(all);
}

/* The begin of the part of the time that @ns is in. */
static int64_t part_of(int64_t ns, int64_t width)
{
	const int64_t past = ns % width;

	return ns - past - (past < 0 ? width : 0);
}

/* Whether @b, which is after @a, is added up with it. */
static bool together(const struct interval *a, const struct interval *b, int64_t width)
{
	return a->depth == b->depth && a->longest < width && b->to - b->from < width &&
	       part_of(a->from, width) == part_of(b->from, width);
}

static void add_up(struct interval *sum, const struct interval *i)
{
	const int64_t ns = i->n > 1 ? i->ns : i->longest, of_name = i->n > 1 ? i->of_name : ns;

	if (sum->n == 1) {
		sum->ns = sum->longest;
		sum->of_name = sum->longest;
	}
	sum->ns += ns;
	if (sum->name == i->name) {
		sum->of_name += of_name;
	} else if (of_name > sum->of_name) {
		sum->of_name = of_name;
		sum->name = i->name;
	}
	if (i->longest > sum->longest) {
		sum->longest = i->longest;
		sum->longest_name = i->longest_name;
	}
	if (i->to > sum->to) {
		sum->to = i->to;
		sum->end = i->end;
	}
	sum->n = sum->n > UINT32_MAX - i->n ? UINT32_MAX : sum->n + i->n;
	sum->marks |= i->marks;
}

/* Add up what is shorter than @all->width. */
static void thin(struct intervals *all)
{
	all->n = 0;
	for (size_t k = 0; k < all->n_rows; k++) {
		struct interval_row *r = &all->row[k];
		size_t kept = 0;

		sort(r);
		for (size_t i = 0; i < r->n; i++)
			if (kept && together(&r->list[kept - 1], &r->list[i], all->width))
				add_up(&r->list[kept - 1], &r->list[i]);
			else
				r->list[kept++] = r->list[i];
		r->n = kept;
		for (size_t i = 0; i < kept; i++)
			if (r->list[i].to - r->list[i].from > r->longest)
				r->longest = r->list[i].to - r->list[i].from;
		all->n += kept;
	}
}

static void make_room(struct intervals *all)
{
	if (!all->width)
		all->width = LEAST_WIDTH_NS;
	thin(all);
	while (all->n > INTERVALS_MOST / 2 && all->width < INT64_MAX / 8) {
		all->width *= 4;
		thin(all);
	}
}

bool intervals_add(struct intervals *all, uint32_t row, const struct interval *i)
{
	struct interval_row *r = &all->row[row];
	struct interval *x;

	if (all->n >= INTERVALS_MOST)
		make_room(all);
	if (cvl_room(&r->list, r->n, &r->room, sizeof(*r->list)))
		return false;
	x = &r->list[r->n];
	*x = *i;
	x->n = 1;
	x->longest = i->to - i->from;
	x->longest_name = i->name;
	if (!r->n || i->depth < r->least)
		r->least = i->depth;
	if (!r->n || i->depth > r->most)
		r->most = i->depth;
	r->n++;
	all->n++;
	if (x->longest > r->longest)
		r->longest = x->longest;
	return true;
}

/* ---- tiles ---- */

/* The first of a row that is not before @depth and @from. */
static size_t first_of(const struct interval_row *row, int depth, int64_t from)
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

int intervals_tile(const struct interval_row *row, int64_t from, int64_t to, int64_t width,
		   int (*see)(void *ctx, const struct interval *i), void *ctx)
{
	const int64_t early = from < INT64_MIN + row->longest ? INT64_MIN : from - row->longest;

	for (int depth = row->least; row->n && depth <= row->most; depth++) {
		struct interval sum = { 0 };
		int rc = 0;

		for (size_t k = first_of(row, depth, early); k < row->n && !rc; k++) {
			const struct interval *i = &row->list[k];

			if (i->depth != depth || i->from >= to)
				break;
			/* short ones are of the tile that they begin in */
			if (i->to - i->from < width ? i->from < from : i->to <= from)
				continue;
			if (sum.n && together(&sum, i, width)) {
				add_up(&sum, i);
				continue;
			}
			if (sum.n)
				rc = see(ctx, &sum);
			sum = *i;
		}
		if (!rc && sum.n)
			rc = see(ctx, &sum);
		if (rc)
			return rc;
	}
	return 0;
}
