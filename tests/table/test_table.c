/* SPDX-License-Identifier: MIT */
/* Tables have what the timeline has: no row more, none less. */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <coeval/array.h>
#include <coeval/arrow.h>
#include <coeval/fields.h>
#include <coeval/sim.h>
#include <coeval/sync.h>
#include <coeval/table.h>

#include "test_draw.h"
#include "test_scratch.h"

static struct cvl_error err;

static void ok(int rc)
{
	if (rc < 0)
		fail_msg("%s", err.text);
}

static const char *path_of(const char *name)
{
	static char path[400];

	snprintf(path, sizeof(path), "%s/%s", scratch, name);
	return path;
}

static const char *text_at(const struct cvl_cells *c, size_t i)
{
	return cvl_names_at(c->names, (size_t)((const int32_t *)c->values)[i]);
}

static int64_t int_at(const struct cvl_cells *c, size_t i)
{
	return ((const int64_t *)c->values)[i];
}

static size_t column(const struct cvl_table *t, const char *name)
{
	size_t n, c = 0;
	const struct cvl_column *list = cvl_table_columns(t, &n);

	while (c < n && strcmp(list[c].name, name) != 0)
		c++;
	assert_true(c < n);
	return c;
}

/* A world with losses, a reset, late records, messages and pulses, synchronised. */
static struct cvl_session *world(const char *name, uint64_t seed)
{
	const struct cvl_sync_opts opts = { 0 };
	struct cvl_session *s;
	struct cvl_sync *sync;
	struct cvl_sim *sim;

	ok(cvl_sim_load(&sim, COEVAL_SOURCE_DIR "/tests/table/world.yaml", &err));
	cvl_sim_seed(sim, seed);
	ok(cvl_sim_run(sim, path_of(name), NULL, &err));
	cvl_sim_free(sim);
	ok(cvl_session_open(&s, path_of(name), NULL, &err));
	ok(cvl_sync_run(&sync, s, &opts, &err));
	ok(cvl_sync_save(sync, s, &err));
	cvl_sync_free(sync);
	return s;
}

/* ---- edges ---- */

struct edge {
	int64_t time, bound;
	const char *clock;
	char line[24];
	bool level;
};

struct edges {
	struct edge *e;
	size_t n, room;
};

/* The same by hand, record by record. */
static struct edges by_hand(struct cvl_session *s, const struct cvl_timeline_opts *opts,
			    const char *line)
{
	struct cvl_levels levels[64] = { { 0 } };
	struct edges all = { 0 };
	struct cvl_timeline *tl;
	struct cvl_block block;
	struct cvl_slice sl;
	int rc;

	ok(cvl_timeline_open(&tl, s, opts, &err));
	assert_in_range(cvl_timeline_streams(tl), 1, 64);
	while ((rc = cvl_timeline_next(tl, &block, &err)) > 0)
		while (cvl_block_take(&block, &sl))
			for (size_t i = sl.begin; i < sl.end; i++) {
				const struct cvl_batch *b = sl.batch;
				uint64_t changed = 0;

				if (b->kind[i] == CVL_GAP || b->kind[i] == CVL_SLIP)
					levels[sl.stream].known = 0;
				if (b->kind[i] == CVL_EDGE)
					changed = cvl_levels_take(&levels[sl.stream], b, i);
				for (unsigned l = 0; changed >> l; l++) {
					struct edge e = {
						.time = sl.time[i].ns,
						.bound = cvl_timeline_bound(tl, &sl, i),
						.clock = cvl_session_clock(s, sl.clock)->name,
						.level = levels[sl.stream].now >> l & 1
					};
					char buf[24];

					if (!(changed >> l & 1))
						continue;
					snprintf(e.line, sizeof(e.line), "%s",
						 cvl_timeline_line(tl, sl.stream, l, buf));
					if (line && strcmp(line, e.line) != 0)
						continue;
					assert_int_equal(
						cvl_room(&all.e, all.n, &all.room, sizeof(e)), 0);
					all.e[all.n++] = e;
				}
			}
	ok(rc);
	cvl_timeline_close(tl);
	return all;
}

static void same_edges(struct cvl_session *s, const struct cvl_table_opts *opts)
{
	struct edges want = by_hand(s, &opts->timeline, opts->lines);
	struct cvl_table *t;
	struct cvl_rows *rows;
	size_t at = 0;
	int rc = cvl_table_open(&t, s, "edges", opts, &err);

	ok(rc);
	while ((rc = cvl_table_next(t, &rows, &err)) > 0) {
		const struct cvl_cells *c = rows->column;

		for (size_t i = 0; i < rows->n; i++, at++) {
			assert_true(at < want.n);
			assert_int_equal(int_at(&c[0], i), want.e[at].time);
			assert_int_equal(cvl_cells_null(&c[1], i),
					 want.e[at].bound == CVL_BOUND_UNKNOWN);
			if (!cvl_cells_null(&c[1], i))
				assert_int_equal(int_at(&c[1], i), want.e[at].bound);
			assert_string_equal(text_at(&c[3], i), want.e[at].clock);
			assert_string_equal(text_at(&c[5], i), want.e[at].line);
			assert_int_equal(((uint8_t *)c[6].values)[i], want.e[at].level);
		}
		cvl_rows_free(rows);
	}
	ok(rc);
	assert_int_equal(at, want.n);
	cvl_table_close(t);
	free(want.e);
}

static void edges_are_the_timelines(void **state)
{
	struct draw d = draw_begin(1);
	struct cvl_session *s = world("edges", 1 + draw_below(&d, 1000));

	(void)state;
	for (int round = 0; round < 30; round++) {
		const int64_t a = (int64_t)draw_below(&d, 20000000000),
			      b = (int64_t)draw_below(&d, 20000000000);
		const struct cvl_table_opts opts = {
			.timeline = { .has_from = round && draw_below(&d, 3),
				      .has_until = round && draw_below(&d, 3),
				      .from = { a < b ? a : b },
				      .until = { a < b ? b : a },
				      .nominal = round % 7 == 3 },
			.lines = round && draw_below(&d, 2) ? "SEND" : NULL,
			.rows = (size_t[]){ 0, 1, 1000, SIZE_MAX }[draw_below(&d, 4)],
		};

		same_edges(s, &opts);
	}
	cvl_session_close(s);
}

/* ---- events ---- */

static const struct cvl_origin origin = { "test", "none", NULL };

static struct cvl_session *events_session(const char *name)
{
	static const struct cvl_store_field fields[] = {
		{ "big", CVL_STORE_U64 },   { "small", CVL_STORE_I64 },
		{ "ratio", CVL_STORE_F64 }, { "text", CVL_STORE_STRING },
		{ "raw", CVL_STORE_BYTES }, { "time_ns", CVL_STORE_U8 },
	};
	const struct cvl_store_desc desc = { .clock = "c", .rate_hz = 1000000000 };
	struct cvl_session *s;
	struct cvl_writer *w;
	int cls, other;

	ok(cvl_session_create(&s, path_of(name), &err));
	ok(cvl_session_add(s, &desc, &origin, &w, &err));
	cls = cvl_writer_declare(w, "all:kinds", fields, 6, &err);
	ok(cls);
	other = cvl_writer_declare(w, "other", fields, 1, &err);
	ok(other);
	for (uint64_t i = 0; i < 5; i++) {
		const uint8_t raw[3] = { 0, 0xff, (uint8_t)i };
		const union cvl_store_value v[] = { { .u = UINT64_MAX - i },
						    { .i = i ? INT64_MAX : INT64_MIN },
						    { .f = i == 1 ? NAN : 0.5 },
						    { .s = i == 2 ? "\xff<\xe4" : "a \"b\"" },
						    { .bytes = { raw, i == 3 ? 0 : 3 } },
						    { .u = i } };

		ok(cvl_writer_event(w, (struct cvl_tick){ 10 * i }, cls, v, &err));
		ok(cvl_writer_event(w, (struct cvl_tick){ 10 * i + 5 }, other, v, &err));
	}
	ok(cvl_session_finish(s, w, (struct cvl_tick){ 100 }, &err));
	return s;
}

/* The greatest numbers are numbers; only bytes that are no UTF-8 are replaced, and only in text. */
static void fields_are_columns(void **state)
{
	struct cvl_session *s = events_session("fields");
	struct cvl_rows *rows;
	struct cvl_table *t;
	size_t c;

	(void)state;
	ok(cvl_table_open(&t, s, "event_all:kinds", NULL, &err));
	assert_int_equal(cvl_table_next(t, &rows, &err), 1);
	assert_int_equal(rows->n, 5);
	c = column(t, "big");
	assert_int_equal(rows->column[c].nulls, 0);
	assert_int_equal(((uint64_t *)rows->column[c].values)[0], UINT64_MAX);
	c = column(t, "small");
	assert_int_equal(rows->column[c].nulls, 0);
	assert_int_equal(int_at(&rows->column[c], 0), INT64_MIN);
	assert_int_equal(int_at(&rows->column[c], 1), INT64_MAX);
	c = column(t, "ratio");
	assert_int_equal(rows->column[c].nulls, 0);
	assert_true(isnan(((double *)rows->column[c].values)[1]));
	c = column(t, "text");
	assert_memory_equal(rows->column[c].bytes + ((int32_t *)rows->column[c].values)[2],
			    "\xef\xbf\xbd<\xef\xbf\xbd", 7);
	c = column(t, "raw");
	assert_memory_equal(rows->column[c].bytes + ((int32_t *)rows->column[c].values)[4],
			    "\0\xff\4", 3);
	assert_int_equal(((int32_t *)rows->column[c].values)[3],
			 ((int32_t *)rows->column[c].values)[4]);
	c = column(t, "payload_time_ns");
	assert_int_equal(((uint64_t *)rows->column[c].values)[4], 4);
	assert_int_equal(int_at(&rows->column[column(t, "seq")], 4), 4);
	cvl_rows_free(rows);
	assert_int_equal(cvl_table_next(t, &rows, &err), 0);
	cvl_table_close(t);

	ok(cvl_table_open(&t, s, "events", NULL, &err));
	assert_int_equal(cvl_table_next(t, &rows, &err), 1);
	assert_int_equal(rows->n, 10);
	assert_int_equal(rows->column[column(t, "bound_ns")].nulls, 10);
	cvl_rows_free(rows);
	cvl_table_close(t);
	assert_int_equal(cvl_table_open(&t, s, "event_none", NULL, &err), CVL_E_UNKNOWN_ID);
	assert_int_equal(cvl_table_open(&t, s, "nonsense", NULL, &err), CVL_E_UNKNOWN_ID);
	cvl_session_close(s);
}

/* ---- spans ---- */

/* Of one name and id, the innermost ends first; what never began or ended is told by NULL. */
static void spans_are_paired(void **state)
{
	static const struct {
		uint64_t tick;
		bool begin;
		const char *name;
		uint64_t id;
	} steps[] = { { 5, false, "lost", 1 }, { 10, true, "a", 1 },   { 20, true, "a", 1 },
		      { 30, true, "b", 1 },    { 40, false, "a", 1 },  { 50, false, "b", 1 },
		      { 60, false, "a", 1 },   { 70, true, "open", 9 } };
	static const int64_t want[][2] = {
		{ -1, 5 }, { 20, 40 }, { 30, 50 }, { 10, 60 }, { 70, -1 }
	};
	const struct cvl_store_desc desc = { .clock = "c", .rate_hz = 1000000000 };
	struct cvl_session *s;
	struct cvl_writer *w;
	struct cvl_table *t;
	struct cvl_rows *rows;

	(void)state;
	ok(cvl_session_create(&s, path_of("spans"), &err));
	ok(cvl_session_add(s, &desc, &origin, &w, &err));
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		const struct cvl_tick tick = { steps[i].tick };

		ok(cvl_writer_span(w, tick, steps[i].begin, steps[i].id, steps[i].name, &err));
	}
	ok(cvl_session_finish(s, w, (struct cvl_tick){ 100 }, &err));
	ok(cvl_table_open(&t, s, "spans", &(struct cvl_table_opts){ .rows = SIZE_MAX }, &err));
	assert_int_equal(cvl_table_next(t, &rows, &err), 1);
	assert_int_equal(rows->n, 5);
	for (size_t i = 0; i < 5; i++) {
		const struct cvl_cells *begin = &rows->column[0], *end = &rows->column[1];

		assert_int_equal(cvl_cells_null(begin, i) ? -1 : int_at(begin, i), want[i][0]);
		assert_int_equal(cvl_cells_null(end, i) ? -1 : int_at(end, i), want[i][1]);
	}
	cvl_rows_free(rows);
	cvl_table_close(t);
	cvl_session_close(s);
}

/* ---- Arrow ---- */

/* Half of a stream, its batches and schema freed in any order, after it. */
static void a_stream_may_be_left_and_outlived(void **state)
{
	struct cvl_session *s = world("arrow", 3);
	const struct cvl_table_opts opts = { .rows = 100 };
	struct ArrowArray batch[3], column1;
	struct ArrowArrayStream stream;
	struct ArrowSchema schema;
	struct cvl_table *t;

	(void)state;
	ok(cvl_table_open(&t, s, "edges", &opts, &err));
	ok(cvl_arrow_stream(&stream, t, NULL, NULL, &err));
	assert_int_equal(stream.get_schema(&stream, &schema), 0);
	assert_int_equal(schema.n_children, 8);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(stream.get_next(&stream, &batch[i]), 0);
		assert_non_null(batch[i].release);
		assert_true(batch[i].length >= 100);
	}
	stream.release(&stream);
	assert_null(stream.release);
	batch[1].release(&batch[1]);
	/* a child may be moved out, and released for itself */
	column1 = *batch[0].children[1];
	batch[0].children[1]->release = NULL;
	batch[0].release(&batch[0]);
	assert_true(((const int64_t *)column1.buffers[1])[0] >= 0);
	column1.release(&column1);
	schema.release(&schema);
	batch[2].release(&batch[2]);
	cvl_session_close(s);
}

static void count_tables(void *ctx, const struct cvl_table_info *info)
{
	struct cvl_session *s = ctx;
	struct cvl_table *t;
	struct cvl_rows *rows;
	int rc;

	assert_true(*info->what);
	if (info->result)
		return;
	ok(cvl_table_open(&t, s, info->name, NULL, &err));
	while ((rc = cvl_table_next(t, &rows, &err)) > 0) {
		size_t n;
		const struct cvl_column *c = cvl_table_columns(t, &n);

		assert_int_equal(rows->n_columns, n);
		for (size_t i = 0; i < n; i++)
			assert_true(c[i].nullable || !rows->column[i].nulls);
		cvl_rows_free(rows);
	}
	ok(rc);
	cvl_table_close(t);
}

/* What is said to be never NULL never is. */
static void every_table_can_be_read(void **state)
{
	struct cvl_session *s = world("every", 5), *e = events_session("every-event");

	(void)state;
	ok(cvl_table_each(s, count_tables, s, &err));
	ok(cvl_table_each(e, count_tables, e, &err));
	cvl_session_close(s);
	cvl_session_close(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(edges_are_the_timelines),
		cmocka_unit_test(fields_are_columns),
		cmocka_unit_test(spans_are_paired),
		cmocka_unit_test(a_stream_may_be_left_and_outlived),
		cmocka_unit_test(every_table_can_be_read),
	};

	return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
