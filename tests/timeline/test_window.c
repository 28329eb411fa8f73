/* SPDX-License-Identifier: MIT */
/* The window of the merge against a plain sort. */
#include "timeline/window.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test_draw.h"
#include "tier.h"

#define STREAMS 300
#define RECORDS 600 /* of a stream, at most */

struct due {
	int64_t ns;
	uint32_t stream, record;
};

static int by_time_and_stream(const void *pa, const void *pb)
{
	const struct due *a = pa, *b = pb;

	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	if (a->stream != b->stream)
		return a->stream < b->stream ? -1 : 1;
	return a->record < b->record ? -1 : 1;
}

/* Times from @first on, @step apart on average, now and then equal or back. */
static void draw_times(struct draw *d, struct cvl_time *t, size_t n, int64_t first, uint64_t step)
{
	const uint64_t back = draw_below(d, 2) ? 20 : UINT64_MAX;
	int64_t now = first;

	for (size_t i = 0; i < n; i++) {
		now += (int64_t)draw_below(d, 2 * step + 1);
		t[i].ns = draw_below(d, back) ? now : first + (int64_t)draw_below(d, 3 * step + 1);
	}
}

static void one_window(struct draw *d)
{
	static struct cvl_time time[STREAMS][RECORDS];
	static struct due due[STREAMS * RECORDS];
	const size_t streams = 1 + draw_below(d, draw_below(d, 2) ? STREAMS : 4);
	const size_t most = 1 + draw_below(d, RECORDS);
	const uint64_t step = (uint64_t)1 << draw_below(d, 42);
	const int64_t first = draw_below(d, 2) ? INT64_MIN : (int64_t)draw_below(d, 1000) - 500;
	size_t n = 0, at = 0;
	struct window w;
	int64_t limit, last;

	assert_int_equal(window_init(&w, streams + draw_below(d, 3)), 0);
	last = window_begin(&w, first);
	limit = cvl_add_sat(first, (int64_t)(draw_below(d, 2 * most) * step));
	limit = limit < last ? limit : last;
	assert_int_equal(window_reserve(&w, streams * most), 0);
	for (uint32_t s = 0; s < streams; s++) {
		const size_t count = draw_below(d, most + 1), begin = draw_below(d, count + 1);
		int64_t reached = draw_below(d, 4) ? first : first + (int64_t)step;
		size_t end = begin;
		bool ordered = true;

		draw_times(d, time[s], count, first, step);
		for (size_t i = begin; i < count; i++)
			ordered = ordered &&
				  time[s][i].ns >= (i > begin ? time[s][i - 1].ns : reached);
		for (int64_t now = reached; end < count; end++) {
			now = time[s][end].ns > now ? time[s][end].ns : now;
			if (now > limit)
				break;
			due[n++] = (struct due){ now, s, (uint32_t)end };
		}
		assert_int_equal(window_add(&w, s, time[s], begin, count, ordered, &reached, limit),
				 end);
	}
	assert_int_equal(w.n, n);
	qsort(due, n, sizeof(*due), by_time_and_stream);
	window_sort(&w);
	for (size_t r = 0; r < w.n_runs; r++) {
		assert_true(w.run[r].begin < w.run[r].end);
		assert_true(!r || w.run[r].stream != w.run[r - 1].stream);
		for (uint32_t i = w.run[r].begin; i < w.run[r].end; i++, at++) {
			assert_int_equal(due[at].stream, w.run[r].stream);
			assert_int_equal(due[at].record, i);
		}
	}
	assert_int_equal(at, n);
	window_free(&w);
}

static void windows_are_sorted_by_time_and_stream(void **state)
{
	struct draw d = draw_begin(1);

	(void)state;
	for (unsigned round = 0; round < tier(100, 2000, 100000); round++)
		one_window(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(windows_are_sorted_by_time_and_stream),
	};

	draw_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
