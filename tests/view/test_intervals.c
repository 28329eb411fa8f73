/* SPDX-License-Identifier: MIT */
/* Tiles of intervals, and what is added up for want of room, against counting them one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "test_draw.h"
#include "view/intervals.h"

#define DEPTHS 3
#define NAMES 5

struct seen {
	uint64_t n[DEPTHS];
	int64_t longest, ns;
	int64_t from, to, width; /* of the tile */
	const struct interval *last;
};

static int see(void *ctx, const struct interval *i)
{
	struct seen *s = ctx;

	assert_in_range(i->depth, 0, DEPTHS - 1);
	assert_true(i->n >= 1 && i->from <= i->to && i->name < NAMES && i->longest_name < NAMES);
	assert_true(i->longest <= i->to - i->from);
	if (i->n > 1)
		assert_true(i->of_name <= i->ns && i->longest <= i->ns);
	s->n[i->depth] += i->n;
	s->ns += i->n > 1 ? i->ns : i->longest;
	if (i->longest > s->longest)
		s->longest = i->longest;
	return 0;
}

/* Intervals in a row, some of them much longer than most. */
static uint32_t fill(struct intervals *all, struct draw *d, size_t n, struct seen *want)
{
	const uint32_t row = intervals_row(all, "test", "row", 0);
	int64_t now[DEPTHS] = { -5000, 0, 300 };

	*want = (struct seen){ 0 };
	for (size_t k = 0; k < n; k++) {
		const int16_t depth = (int16_t)(draw_u64(d) % DEPTHS);
		const int64_t length =
			(int64_t)(draw_u64(d) % 64 ? draw_u64(d) % 100 : draw_u64(d) % 100000);
		const struct interval i = { .from = now[depth] + (int64_t)(draw_u64(d) % 50),
					    .to = now[depth] + 50 + length,
					    .name = (uint32_t)(draw_u64(d) % NAMES),
					    .depth = depth };

		assert_true(intervals_add(all, row, &i));
		now[depth] = i.to;
		want->n[depth]++;
		want->ns += i.to - i.from;
		if (i.to - i.from > want->longest)
			want->longest = i.to - i.from;
	}
	intervals_sort(all);
	return row;
}

static void same(const struct seen *got, const struct seen *want)
{
	for (int k = 0; k < DEPTHS; k++)
		assert_int_equal(got->n[k], want->n[k]);
	assert_int_equal(got->longest, want->longest);
	assert_int_equal(got->ns, want->ns);
}

static void all_of_it(const struct interval_row *r, int64_t width, struct seen *got)
{
	*got = (struct seen){ 0 };
	assert_int_equal(intervals_tile(r, INT64_MIN / 4, INT64_MAX / 4, width, see, got), 0);
}

static void none_is_lost_at_any_width(void **state)
{
	struct intervals all = { 0 };
	struct draw d = draw_begin(1);
	struct seen want, got;
	const uint32_t row = fill(&all, &d, 20000, &want);

	(void)state;
	for (int64_t width = 1; width < 1 << 30; width *= 4) {
		all_of_it(&all.row[row], width, &got);
		same(&got, &want);
	}
	intervals_free(&all);
}

/* Begins that tiles side by side tell are all begins. */
static void tiles_fit(void **state)
{
	struct intervals all = { 0 };
	struct draw d = draw_begin(2);
	struct seen want;
	const uint32_t row = fill(&all, &d, 20000, &want);

	(void)state;
	for (int64_t width = 4; width < 1 << 20; width *= 16) {
		const int64_t span = 256 * width;
		uint64_t begins = 0;
		int64_t end = 0;

		for (size_t k = 0; k < all.row[row].n; k++)
			if (all.row[row].list[k].to > end)
				end = all.row[row].list[k].to;
		for (int64_t at = -(8192 / span + 1) * span; at < end; at += span) {
			const struct interval_row *r = &all.row[row];
			struct seen got = { 0 };
			uint64_t overlap = 0, long_before = 0;

			intervals_tile(r, at, at + span, width, see, &got);
			for (size_t k = 0; k < r->n; k++) {
				const struct interval *i = &r->list[k];
				const bool is_short = i->to - i->from < width;

				overlap += i->from < at + span &&
					   (is_short ? i->from >= at : i->to > at);
				long_before += !is_short && i->from < at && i->to > at;
			}
			assert_int_equal(got.n[0] + got.n[1] + got.n[2], overlap);
			begins += overlap - long_before;
		}
		assert_int_equal(begins, 20000);
	}
	intervals_free(&all);
}

static void beyond_the_limit_they_are_added_up(void **state)
{
	struct intervals all = { 0 };
	struct draw d = draw_begin(3);
	struct seen want, got;
	const uint32_t row = fill(&all, &d, INTERVALS_MOST + INTERVALS_MOST / 4, &want);

	(void)state;
	assert_true(all.n <= INTERVALS_MOST && all.width > 0);
	all_of_it(&all.row[row], 1, &got);
	same(&got, &want);
	all_of_it(&all.row[row], 1 << 20, &got);
	same(&got, &want);
	intervals_free(&all);
}

static int stop(void *ctx, const struct interval *i)
{
	(void)ctx, (void)i;
	return 7;
}

static void odd_ones(void **state)
{
	struct intervals all = { 0 };
	const uint32_t row = intervals_row(&all, "test", "row", 0);
	struct seen got = { 0 };

	(void)state;
	assert_int_equal(intervals_tile(&all.row[row], 0, 1, 1, see, &got), 0);
	/* of no length; at the ends of what can be told */
	assert_true(intervals_add(&all, row, &(struct interval){ .from = 5, .to = 5 }));
	assert_true(intervals_add(
		&all, row, &(struct interval){ .from = INT64_MIN / 4, .to = INT64_MIN / 4 }));
	intervals_sort(&all);
	all_of_it(&all.row[row], 1, &got);
	assert_int_equal(got.n[0], 2);
	assert_int_equal(intervals_tile(&all.row[row], INT64_MIN, INT64_MAX, 16, stop, NULL), 7);
	intervals_free(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(none_is_lost_at_any_width),
		cmocka_unit_test(tiles_fit),
		cmocka_unit_test(beyond_the_limit_they_are_added_up),
		cmocka_unit_test(odd_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
