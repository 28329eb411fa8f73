/* SPDX-License-Identifier: MIT */
/* Streams that are out of order: so much is held back that records come in order all the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include <coeval/ctf.h>
#include <coeval/follow.h>
#include <coeval/score.h>
#include <coeval/session.h>
#include <coeval/timeline.h>

#include "../sim/world.h"
#include "core/random.h"
#include "test_draw.h"
#include "test_scratch.h"

#define N 40000
#define DISORDER 5000 /* ticks */
#define RATE 100000
#define TICK_NS 10000

static void ok(int rc, const struct cvl_error *err)
{
	if (rc < 0)
		fail_msg("%s", err->text);
}

/* Records 0 to N - 1 at ticks of their own, in the order in which they are stored. */
struct stored {
	uint64_t tick, at;
	size_t number;
	uint64_t levels; /* from its tick on */
};

static int by_at(const void *pa, const void *pb)
{
	const struct stored *a = pa, *b = pb;

	return a->at != b->at ? (a->at < b->at ? -1 : 1) : a->number < b->number ? -1 : 1;
}

static int by_tick(const void *pa, const void *pb)
{
	const struct stored *a = pa, *b = pb;

	return a->tick != b->tick ? (a->tick < b->tick ? -1 : 1) :
				    (a->at != b->at        ? (a->at < b->at ? -1 : 1) :
				     a->number < b->number ? -1 :
							     1);
}

static struct stored *draw(struct sim_random *r)
{
	struct stored *list = calloc(N, sizeof(*list));
	uint64_t tick = 1000, levels = 0;

	assert_non_null(list);
	for (size_t i = 0; i < N; i++) {
		tick += sim_u64(r) % 300;
		list[i] = (struct stored){ tick, tick + sim_u64(r) % (DISORDER + 1), i, 0 };
	}
	qsort(list, N, sizeof(*list), by_tick);
	for (size_t i = 0; i < N; i++)
		if (list[i].number % 3 == 0)
			list[i].levels = levels ^= (uint64_t)1 << list[i].number % 5;
	qsort(list, N, sizeof(*list), by_at);
	return list;
}

static void put(struct cvl_writer *w, int class, const struct stored *r)
{
	const struct cvl_tick tick = { r->tick };
	struct cvl_error err;
	char text[40];

	if (r->number % 3 == 0) {
		ok(cvl_writer_edges(w, &tick, &r->levels, 1, &err), &err);
		return;
	}
	snprintf(text, sizeof(text), "%.*s", (int)(r->number % 30),
		 "abcdefghijklmnopqrstuvwxyz0123456789");
	ok(cvl_writer_event(w, tick, class,
			    (union cvl_store_value[]){ { .u = r->number }, { .s = text } }, &err),
	   &err);
}

static void open_store(struct cvl_writer **w, int *class, const char *path, uint64_t disorder,
		       struct cvl_session **s)
{
	static const char *const lines[] = { "a", "b", "c", "d", "e" };
	static const struct cvl_store_field fields[] = { { "number", CVL_STORE_U64 },
							 { "text", CVL_STORE_STRING } };
	const struct cvl_store_desc desc = { .clock = "c",
					     .rate_hz = RATE,
					     .disorder_ticks = disorder,
					     .lines = lines,
					     .n_lines = 5 };
	const struct cvl_origin origin = { "test", "-", NULL };
	struct cvl_error err;

	ok(cvl_session_create(s, path, &err), &err);
	ok(cvl_session_add(*s, &desc, &origin, w, &err), &err);
	*class = cvl_writer_declare(*w, "note", fields, 2, &err);
	ok(*class, &err);
	ok(cvl_writer_levels(*w, (struct cvl_tick){ 0 }, 0, &err), &err);
}

struct note {
	uint64_t number;
	size_t len;
};

static void take(void *ctx, const char *name, const struct cvl_value *v)
{
	struct note *note = ctx;

	(void)name;
	if (v->type->kind == CVL_TYPE_STRING)
		note->len = v->s.len;
	else
		note->number = v->u;
}

static void no_begin(void *ctx, const char *name, const struct cvl_type *t, uint64_t n)
{
	(void)ctx, (void)name, (void)t, (void)n;
}

static void no_end(void *ctx, const struct cvl_type *t)
{
	(void)ctx, (void)t;
}

struct seen {
	size_t n, late;
	uint64_t hash, last;
};

/* Records of @sl against those that should come, in the order of time. */
static void expect(struct seen *d, struct cvl_timeline *tl, const struct cvl_slice *sl,
		   const struct stored *want, uint64_t *levels)
{
	const struct cvl_batch *b = sl->batch;

	for (size_t i = sl->begin; i < sl->end; i++) {
		struct note note = { 0 };
		const struct cvl_visitor visitor = { take, no_begin, no_end, NULL, &note, NULL };
		const uint64_t before = *levels;
		struct cvl_error err;

		if (b->flags[i] & CVL_STATE)
			continue;
		d->hash = (d->hash ^ b->tick[i].count ^ b->value[i]) * 0x9e3779b97f4a7c15u;
		d->late += b->flags[i] & CVL_LATE;
		assert_true(d->n < N);
		assert_true(d->last <= b->tick[i].count || b->flags[i] & CVL_LATE);
		d->last = b->tick[i].count;
		if (!want) {
			d->n++;
			continue;
		}
		assert_int_equal(b->tick[i].count, want[d->n].tick);
		if (b->kind[i] == CVL_EDGE) {
			*levels = b->value[i];
			assert_int_equal(want[d->n].number % 3, 0);
			assert_int_equal(before ^ *levels, 1 << want[d->n].number % 5);
		} else {
			ok(cvl_stream_visit(cvl_timeline_stream(tl, sl->stream), b, i, &visitor,
					    &err),
			   &err);
			assert_int_equal(note.number, want[d->n].number);
			assert_int_equal(note.len, note.number % 30);
		}
		d->n++;
	}
}

static struct seen read_all(struct cvl_session *s, const struct stored *want)
{
	struct seen d = { 0 };
	uint64_t levels = 0;
	struct cvl_timeline *tl;
	struct cvl_block block;
	struct cvl_slice sl;
	struct cvl_error err;
	int rc;

	ok(cvl_timeline_open(&tl, s, NULL, &err), &err);
	while ((rc = cvl_timeline_next(tl, &block, &err)) > 0)
		while (cvl_block_take(&block, &sl))
			expect(&d, tl, &sl, want, &levels);
	ok(rc, &err);
	cvl_timeline_close(tl);
	return d;
}

static const char *path_of(const char *name)
{
	static char path[300];

	snprintf(path, sizeof(path), "%s/%s", scratch, name);
	return path;
}

/* Nothing is stated of the disorder: the writer finds it out. */
static void records_come_in_order(void **state)
{
	struct sim_random r = { draw_seed() };
	struct stored *list = draw(&r);
	struct cvl_session *s;
	struct cvl_writer *w;
	struct seen d;
	struct cvl_error err;
	int class;

	(void)state;
	open_store(&w, &class, path_of("order"), CVL_DISORDER_MEASURED, &s);
	for (size_t i = 0; i < N; i++)
		put(w, class, &list[i]);
	ok(cvl_session_finish(s, w, (struct cvl_tick){ 0 }, &err), &err);
	cvl_session_close(s);
	ok(cvl_session_open(&s, path_of("order"), NULL, &err), &err);
	assert_in_range(cvl_session_clock(s, 0)->disorder_ticks, DISORDER / 2, DISORDER);
	qsort(list, N, sizeof(*list), by_tick);
	d = read_all(s, list);
	assert_int_equal(d.n, N);
	assert_int_equal(d.late, 0);
	cvl_session_close(s);
	free(list);
}

/* With less than there is, what comes too late is flagged, and nothing is lost. */
static void what_is_later_is_late(void **state)
{
	struct sim_random r = { draw_seed() };
	struct stored *list = draw(&r);
	struct cvl_trace *trace;
	struct cvl_session *s;
	struct cvl_writer *w;
	struct cvl_error err;
	struct seen first = { 0 };
	int class;

	(void)state;
	open_store(&w, &class, path_of("late"), CVL_DISORDER_MEASURED, &s);
	for (size_t i = 0; i < N; i++)
		put(w, class, &list[i]);
	ok(cvl_session_finish(s, w, (struct cvl_tick){ 0 }, &err), &err);
	ok(cvl_trace_open(&trace, cvl_session_clock(s, 0)->trace, NULL, &err), &err);
	for (size_t batch = 1; batch <= 4096; batch *= 8) {
		const struct cvl_stream_opts o = { .disorder = DISORDER / 4, .batch = batch };
		struct cvl_stream_stats stats;
		struct seen d = { 0 };
		struct cvl_stream *stream;
		struct cvl_batch b;
		int rc;

		ok(cvl_stream_open(&stream, trace, 0, &o, &err), &err);
		while ((rc = cvl_stream_next(stream, &b, &err)) > 0)
			for (size_t i = 0; i < b.n; i++) {
				d.late += b.flags[i] & CVL_LATE;
				if (b.flags[i] & CVL_STATE)
					continue;
				d.n++;
				d.hash = (d.hash ^ b.tick[i].count ^ b.value[i]) *
					 0x9e3779b97f4a7c15u;
				assert_true(b.tick[i].count >= d.last || b.flags[i] & CVL_LATE);
				if (!(b.flags[i] & CVL_LATE))
					d.last = b.tick[i].count;
			}
		ok(rc, &err);
		cvl_stream_stats(stream, &stats);
		cvl_stream_close(stream);
		assert_int_equal(d.n, N);
		assert_int_equal(stats.late, d.late);
		assert_in_range(d.late, N / 20, 3 * N / 4);
		first = first.n ? first : d;
		assert_int_equal(d.hash, first.hash);
	}
	cvl_trace_close(trace);
	cvl_session_close(s);
	free(list);
}

/* A range: everything in it, wherever it was stored. */
static void a_range_is_whole(void **state)
{
	struct sim_random r = { draw_seed() };
	struct stored *list = draw(&r);
	struct cvl_session *s;
	struct cvl_writer *w;
	struct cvl_error err;
	int class;

	(void)state;
	open_store(&w, &class, path_of("range"), CVL_DISORDER_MEASURED, &s);
	for (size_t i = 0; i < N; i++)
		put(w, class, &list[i]);
	ok(cvl_session_finish(s, w, (struct cvl_tick){ 0 }, &err), &err);
	for (int k = 0; k < 20; k++) {
		const int64_t from = (int64_t)(sim_u64(&r) % list[N - 1].tick) * TICK_NS,
			      until = from + (int64_t)(sim_u64(&r) % 4000000000);
		const struct cvl_timeline_opts o = {
			.has_from = true, .has_until = true, .from = { from }, .until = { until }
		};
		size_t want = 0, n = 0;
		struct cvl_timeline *tl;
		struct cvl_block block;
		struct cvl_slice sl;
		int rc;

		for (size_t i = 0; i < N; i++)
			want += (int64_t)list[i].tick * TICK_NS >= from &&
				(int64_t)list[i].tick * TICK_NS <= until;
		ok(cvl_timeline_open(&tl, s, &o, &err), &err);
		while ((rc = cvl_timeline_next(tl, &block, &err)) > 0)
			while (cvl_block_take(&block, &sl))
				for (size_t i = sl.begin; i < sl.end; i++)
					n += !(sl.batch->flags[i] & CVL_STATE);
		ok(rc, &err);
		cvl_timeline_close(tl);
		assert_int_equal(n, want);
	}
	cvl_session_close(s);
	free(list);
}

static void take_portion(struct cvl_follow *f, int timeout_ms, struct seen *d,
			 const struct stored *want, uint64_t *levels, bool *ended)
{
	struct cvl_block block;
	struct cvl_slice sl;
	struct cvl_error err;
	int rc = cvl_follow_wait(f, timeout_ms, &err);

	ok(rc, &err);
	*ended = rc == CVL_FOLLOW_ENDED;
	if (rc != CVL_FOLLOW_MORE && rc != CVL_FOLLOW_RENEWED)
		return;
	while ((rc = cvl_timeline_next(cvl_follow_timeline(f), &block, &err)) > 0)
		while (cvl_block_take(&block, &sl))
			expect(d, cvl_follow_timeline(f), &sl, want, levels);
	ok(rc, &err);
}

/* While it is written, what was declared is held back: nothing comes late, and nothing waits longer. */
static void a_growing_stream_comes_in_order(void **state)
{
	const struct cvl_follow_opts o = { .sync.max_drift_ppm = 0 };
	struct sim_random r = { draw_seed() };
	struct stored *list = draw(&r), *want = malloc(N * sizeof(*want));
	struct seen d = { 0 };
	uint64_t levels = 0;
	struct cvl_session *s;
	struct cvl_follow *f;
	struct cvl_writer *w;
	struct cvl_error err;
	size_t in_time = 0;
	bool ended = false;
	int class;

	(void)state;
	assert_non_null(want);
	memcpy(want, list, N * sizeof(*want));
	qsort(want, N, sizeof(*want), by_tick);
	open_store(&w, &class, path_of("growing"), DISORDER, &s);
	ok(cvl_writer_flush(w, &err), &err);
	ok(cvl_follow_open(&f, path_of("growing"), &o, &err), &err);
	for (size_t i = 0; i < N; i++) {
		put(w, class, &list[i]);
		if (i % 1000 != 999)
			continue;
		ok(cvl_writer_flush(w, &err), &err);
		take_portion(f, 0, &d, want, &levels, &ended);
		in_time += d.n + 200 >= i;
	}
	ok(cvl_session_finish(s, w, (struct cvl_tick){ 0 }, &err), &err);
	while (!ended)
		take_portion(f, -1, &d, want, &levels, &ended);
	cvl_follow_close(f);
	printf("%zu records, %zu late, %zu of %d portions at once\n", d.n, d.late, in_time,
	       N / 1000);
	assert_int_equal(d.n, N);
	assert_int_equal(d.late, 0);
	assert_true(in_time > N / 1000 / 2);
	cvl_session_close(s);
	free(list);
	free(want);
}

/* Clocks whose captures are out of order by up to a second are tied as well as others. */
static void a_world_out_of_order(void **state)
{
	struct world w = { .name = "disorder", .seed = 9, .duration_ns = 600000000000 };
	const struct cvl_sync_opts opts = { .max_drift_ppm = 200 };
	const struct cvl_score_opts so = { .seed = 3 };
	struct cvl_sync *sync, *truth;
	struct cvl_session *s;
	struct cvl_score score;
	struct cvl_timeline *tl;
	struct cvl_block block;
	struct cvl_slice sl;
	struct cvl_error err;
	int64_t last = INT64_MIN;
	size_t n = 0;
	int rc;

	(void)state;
	w.clocks[w.n_clocks++] =
		(struct world_clocks){ .name = "n",
				       .count = 4,
				       .rate_hz = 8000000,
				       .resolution = 1,
				       .bits = 64,
				       .disorder_ns = 1000000000,
				       .oscillator = { .offset_sd_ppm = 30, .walk_ppb = 2 } };
	w.sender[w.n_senders++] = (struct world_sender){ .id = 1,
							 .period_ns = 1000000000,
							 .first_number = 1,
							 .heard_by = "*",
							 .receiver = { .normal_ns = 400 } };
	ok(world_run(&w, path_of("world"), NULL, &err), &err);
	ok(cvl_session_open(&s, path_of("world"), NULL, &err), &err);
	ok(cvl_truth_load(&truth, s, &err), &err);
	ok(cvl_sync_run(&sync, s, &opts, &err), &err);
	for (size_t i = 0; i < sync->n; i++)
		assert_int_equal(sync->clock[i].verdict, CVL_GOOD);
	ok(cvl_score(&score, sync, truth, s, &so, NULL, &err), &err);
	assert_true(score.n > 1000 && score.coverage >= 0.998);
	ok(cvl_timeline_open(&tl, s, NULL, &err), &err);
	while ((rc = cvl_timeline_next(tl, &block, &err)) > 0)
		while (cvl_block_take(&block, &sl))
			for (size_t i = sl.begin; i < sl.end; i++) {
				assert_false(sl.batch->flags[i] & CVL_LATE);
				assert_true(sl.time[i].ns >= last);
				last = sl.time[i].ns;
				n++;
			}
	ok(rc, &err);
	assert_true(n > 5000);
	cvl_timeline_close(tl);
	cvl_sync_free(sync);
	cvl_sync_free(truth);
	cvl_session_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_come_in_order),
		cmocka_unit_test(what_is_later_is_late),
		cmocka_unit_test(a_range_is_whole),
		cmocka_unit_test(a_growing_stream_comes_in_order),
		cmocka_unit_test(a_world_out_of_order),
	};

	return cmocka_run_group_tests_name("hold", tests, make_scratch, remove_scratch);
}
