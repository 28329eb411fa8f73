/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <endian.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <coeval/files.h>
#include <coeval/timeline.h>

#include "store/ctf/wire.h"
#include "test_draw.h"
#include "test_scratch.h"

#define RECORDS 60000

static const char *path_of(const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", scratch, name);
	return path;
}

static const char *const eight_lines[] = { "a", "b", "c", "d", "e", "f", "g", "h" };
static const struct cvl_store_desc small = {
	.clock = "clock",
	.rate_hz = 1000000,
	.lines = eight_lines,
	.n_lines = 8,
};

static void ok(int rc, const struct cvl_error *err)
{
	if (rc < 0)
		fail_msg("%s", err->text);
}

static struct cvl_trace *open_trace(const char *path)
{
	struct cvl_error err;
	struct cvl_trace *trace;

	ok(cvl_trace_open(&trace, path, NULL, &err), &err);
	assert_true(cvl_trace_ours(trace));
	assert_int_equal(cvl_trace_streams(trace), 1);
	return trace;
}

/* ---- metadata ---- */

/*
 * A trace is resumed only if its metadata are what they would be now: their text stays what it is.
 */
static void metadata_text_stays(void **state)
{
	static const struct cvl_store_field fields[] = {
		{ "count", CVL_STORE_U64 }, { "change", CVL_STORE_I64 },
		{ "ratio", CVL_STORE_F64 }, { "name", CVL_STORE_STRING },
		{ "state", CVL_STORE_U8 },  { "port", CVL_STORE_U32 },
	};
	const char *lines[] = { "plain", "quo\"ted", "back\\slash", "new\nline", "del\x7f",
				"5",     "6",        "7",           "8" };
	const char *channels[] = { "V", "I" };
	const struct cvl_store_desc desc[] = {
		{ .clock = "clock",
		  .node = "a \"node\"",
		  .rate_hz = 16000000,
		  .resolution = 5,
		  .start_unix_ns = 1700000000123456789,
		  .lines = lines,
		  .n_lines = 9,
		  .edges_within = true,
		  .lines_unknown = true,
		  .channels = channels,
		  .n_channels = 2 },
		{ .clock = "early", .rate_hz = 1000, .start_unix_ns = -1500000000 },
	};
	struct cvl_error err;
	char *text, *expected;
	size_t n, n_expected, at = 0;

	(void)state;
	expected = cvl_read_whole(COEVAL_SOURCE_DIR "/tests/store/metadata.expected", 1 << 20,
				  &n_expected, &err);
	assert_non_null(expected);
	for (size_t i = 0; i < 2; i++) {
		struct cvl_writer *w;
		char dir[600], path[700];

		snprintf(dir, sizeof(dir), "%s", path_of(desc[i].clock));
		snprintf(path, sizeof(path), "%s/metadata", dir);
		ok(cvl_writer_open(&w, dir, &desc[i], &err), &err);
		if (!i) {
			ok(cvl_writer_declare(w, "all \"kinds\"", fields, 6, &err), &err);
			ok(cvl_writer_declare(w, "none", NULL, 0, &err), &err);
		}
		ok(cvl_writer_levels(w, (struct cvl_tick){ 1 }, 0, &err), &err);
		ok(cvl_writer_finish(w, (struct cvl_tick){ 2 }, NULL, &err), &err);
		text = cvl_read_whole(path, 1 << 20, &n, &err);
		assert_non_null(text);
		memset(strstr(text, "uuid = \"") + 8, '0', 36);
		assert_true(at + n <= n_expected);
		assert_memory_equal(text, expected + at, n);
		at += n;
		free(text);
	}
	assert_int_equal(at, n_expected);
	free(expected);
}

/* ---- what is written is read ---- */

struct model {
	size_t n;
	uint64_t tick[RECORDS], value[RECORDS], aux[RECORDS];
	uint8_t kind[RECORDS];
	uint32_t cls[RECORDS];
};

static struct model model;

static void expect(enum cvl_kind kind, uint64_t tick, uint32_t cls, uint64_t value, uint64_t aux)
{
	size_t i = model.n++;

	assert_true(i < RECORDS);
	model.kind[i] = (uint8_t)kind;
	model.tick[i] = tick;
	model.cls[i] = cls;
	model.value[i] = value;
	model.aux[i] = aux;
}

/* Event @n has fields that follow from n. */
static const char *text_of(uint64_t n, char buf[300])
{
	size_t len = n % 7 == 0 ? n % 290 : n % 5;

	memset(buf, 'a' + (int)(n % 26), len);
	buf[len] = '\0';
	return buf;
}

struct fields {
	uint64_t n;
	unsigned seen;
};

static void check_field(void *ctx, const char *name, const struct cvl_value *v)
{
	struct fields *f = ctx;
	char buf[300];

	name = cvl_plain_name(name);
	if (!strcmp(name, "u")) {
		assert_true(v->u == f->n);
	} else if (!strcmp(name, "i")) {
		assert_true(v->i == -(int64_t)f->n);
	} else if (!strcmp(name, "f")) {
		assert_true(v->f == (double)f->n / 3);
	} else {
		assert_string_equal(name, "s");
		assert_int_equal(v->s.len, strlen(text_of(f->n, buf)));
		assert_memory_equal(v->s.text, buf, v->s.len);
	}
	f->seen++;
}

static void no_begin(void *ctx, const char *name, const struct cvl_type *t, uint64_t n)
{
	(void)ctx, (void)name, (void)t, (void)n;
}

static void no_end(void *ctx, const struct cvl_type *t)
{
	(void)ctx, (void)t;
}

static bool only_fields(void *ctx, enum cvl_scope scope)
{
	(void)ctx;
	return scope == CVL_SCOPE_FIELDS;
}

static void check_event(struct cvl_stream *s, const struct cvl_batch *b, size_t i, uint64_t n)
{
	struct fields fields = { .n = n };
	const struct cvl_visitor visitor = { check_field, no_begin, no_end,
					     only_fields, &fields,  NULL };
	struct cvl_error err;

	ok(cvl_stream_visit(s, b, i, &visitor, &err), &err);
	assert_int_equal(fields.seen, n % 2 ? 1 : 4);
	assert_string_equal(cvl_stream_class(s, b, i)->name, n % 2 ? "odd" : "even \"one\"");
}

static void write_random(struct cvl_writer *w, struct draw *d)
{
	static const struct cvl_store_field all[] = {
		{ "u", CVL_STORE_U64 },
		{ "i", CVL_STORE_I64 },
		{ "f", CVL_STORE_F64 },
		{ "s", CVL_STORE_STRING },
	};
	uint64_t tick = draw_size(d, 40), levels = 0;
	struct cvl_error err;
	int even = cvl_writer_declare(w, "even \"one\"", all, 4, &err),
	    odd = cvl_writer_declare(w, "odd", all, 1, &err);

	assert_int_equal(even, 0);
	assert_int_equal(odd, 1);
	model.n = 0;
	ok(cvl_writer_levels(w, (struct cvl_tick){ tick }, 0, &err), &err);
	while (model.n < RECORDS - 1000) {
		uint64_t step = draw_below(d, 50) ? draw_size(d, 12) : draw_size(d, 36), number;
		uint32_t cls = (uint32_t)draw_below(d, 16);
		struct cvl_tick t;
		double v;

		if (draw_below(d, 50) == 0 && tick > step)
			tick -= step; /* late */
		else
			tick += step;
		t.count = tick;
		switch (draw_below(d, 9)) {
		case 0:
			v = (double)(int64_t)draw_u64(d) / 1e6;
			memcpy(&number, &v, 8);
			expect(CVL_SAMPLE, tick, cls, number, 0);
			ok(cvl_writer_sample(w, t, cls, v, &err), &err);
			break;
		case 1:
			number = draw_size(d, 64);
			expect(CVL_BEACON, tick, cls * 0x1000000, number, 0);
			ok(cvl_writer_beacon(w, t, cls * 0x1000000, number, &err), &err);
			break;
		case 2:
			expect(CVL_PULSE, tick, cls, 0, 0);
			ok(cvl_writer_pulse(w, t, cls, &err), &err);
			break;
		case 3:
			number = cls ? cls : CVL_LOST_UNKNOWN;
			expect(CVL_GAP, tick, 1 + cls % 7, number,
			       cls % 3 ? tick + 9 : CVL_TICK_UNKNOWN);
			ok(cvl_writer_gap(w, t, (struct cvl_tick){ model.aux[model.n - 1] }, number,
					  (enum cvl_gap)(1 + cls % 7), &err),
			   &err);
			break;
		case 4: {
			union cvl_store_value value[4];
			char buf[300];

			number = draw_size(d, 30);
			value[0].u = number;
			value[1].i = -(int64_t)number;
			value[2].f = (double)number / 3;
			value[3].s = text_of(number, buf);
			expect(CVL_EVENT, tick, 0, number, 0);
			ok(cvl_writer_event(w, t, number % 2 ? odd : even, value, &err), &err);
			break;
		}
		default: {
			struct cvl_tick ticks[300];
			uint64_t states[300];
			size_t n = 1 + draw_below(d, 299);

			for (size_t i = 0; i < n; i++) {
				tick += i ? draw_size(d, 10) : 0;
				levels ^= (uint64_t)1 << draw_below(d, 33);
				ticks[i].count = tick;
				states[i] = levels;
				expect(CVL_EDGE, tick, 0, levels, 0);
			}
			ok(cvl_writer_edges(w, ticks, states, n, &err), &err);
		}
		}
	}
	ok(cvl_writer_close(w, (struct cvl_tick){ tick }, &err), &err);
}

static void what_is_written_is_read_again(void **state)
{
	const char *names[33];
	struct cvl_store_desc desc = {
		.clock = "c", .node = "n", .rate_hz = 24000000, .lines = names, .n_lines = 33
	};
	struct draw d = draw_begin(1);

	(void)state;
	for (size_t i = 0; i < 33; i++)
		names[i] = "line \"x\"\n\\";
	for (int round = 0; round < 4; round++) {
		uint64_t latest = 0, levels = 0;
		struct cvl_trace *trace;
		struct cvl_stream *s;
		struct cvl_stream_stats stats;
		struct cvl_writer *w;
		struct cvl_batch b;
		struct cvl_error err;
		char name[20];
		size_t at = 0, late = 0;

		snprintf(name, sizeof(name), "round%d", round);
		ok(cvl_writer_open(&w, path_of(name), &desc, &err), &err);
		write_random(w, &d);
		trace = open_trace(path_of(name));
		assert_string_equal(cvl_trace_env_at(trace, "line", 32), names[0]);
		ok(cvl_stream_open(&s, trace, 0, NULL, &err), &err);
		while (cvl_stream_next(s, &b, &err) > 0) {
			for (size_t i = 0; i < b.n; i++) {
				uint64_t tick = b.tick[i].count;
				bool is_late = tick < latest;

				late += is_late;
				assert_int_equal(!!(b.flags[i] & CVL_LATE), is_late);
				latest = is_late ? latest : tick;
				if (b.flags[i] & CVL_STATE) {
					assert_int_equal(b.kind[i], CVL_EDGE);
					assert_true(b.value[i] == levels);
					continue;
				}
				assert_true(at < model.n);
				assert_int_equal(b.kind[i], model.kind[at]);
				assert_true(tick == model.tick[at]);
				if (b.kind[i] == CVL_EVENT) {
					check_event(s, &b, i, model.value[at]);
				} else {
					assert_int_equal(b.cls[i], model.cls[at]);
					assert_true(b.value[i] == model.value[at]);
					assert_true(b.aux[i] == model.aux[at]);
				}
				if (b.kind[i] == CVL_EDGE)
					levels = b.value[i];
				at++;
			}
		}
		assert_int_equal(at, model.n);
		cvl_stream_stats(s, &stats);
		assert_true(stats.packets > 3);
		assert_int_equal(stats.late, late);
		assert_true(late > 0);
		cvl_stream_close(s);
		cvl_trace_close(trace);
	}
}

static void ticks_reach_the_last_one(void **state)
{
	static const struct cvl_tick ticks[] = {
		{ 0 }, { 1 }, { 1ull << 27 }, { UINT64_MAX - 1 }, { UINT64_MAX }
	};
	static const uint64_t levels[] = { 1, 0, 1, 0, 1 };
	struct cvl_trace *trace;
	struct cvl_stream *s;
	struct cvl_writer *w;
	struct cvl_batch b;
	struct cvl_error err;

	(void)state;
	ok(cvl_writer_open(&w, path_of("last"), &small, &err), &err);
	ok(cvl_writer_edges(w, ticks, levels, 5, &err), &err);
	assert_int_equal(cvl_writer_count(w), 5);
	ok(cvl_writer_close(w, (struct cvl_tick){ 0 }, &err), &err);
	trace = open_trace(path_of("last"));
	ok(cvl_stream_open(&s, trace, 0, NULL, &err), &err);
	assert_int_equal(cvl_stream_next(s, &b, &err), 1);
	assert_int_equal(b.n, 5);
	for (size_t i = 0; i < 5; i++) {
		assert_true(b.tick[i].count == ticks[i].count);
		assert_int_equal(b.flags[i], i ? 0 : CVL_STATE);
	}
	assert_int_equal(cvl_stream_next(s, &b, &err), 0);
	cvl_stream_close(s);
	cvl_trace_close(trace);
}

static uint64_t size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : (uint64_t)st.st_size;
}

/* Edges every 100 ticks from @from on; line 0 toggles. */
static int put_edges(struct cvl_writer *w, uint64_t from, size_t n, struct cvl_error *err)
{
	struct cvl_tick ticks[1000];
	uint64_t levels[1000];

	for (size_t i = 0; i < n; i++) {
		ticks[i % 1000].count = (from + i) * 100;
		levels[i % 1000] = (from + i) % 2;
		if (i % 1000 == 999 || i + 1 == n) {
			int rc = cvl_writer_edges(w, ticks, levels, i % 1000 + 1, err);

			if (rc)
				return rc;
		}
	}
	return 0;
}

static void an_edge_of_eight_lines_costs_five_bytes(void **state)
{
	struct cvl_writer *w;
	struct cvl_error err;

	(void)state;
	ok(cvl_writer_open(&w, path_of("five"), &small, &err), &err);
	ok(put_edges(w, 0, 1000000, &err), &err);
	ok(cvl_writer_close(w, (struct cvl_tick){ 0 }, &err), &err);
	assert_in_range(size_of(path_of("five/stream")), 5000000, 5010000);
}

static void what_makes_no_sense_is_refused(void **state)
{
	static const struct cvl_store_field bad_name[] = { { "a b", CVL_STORE_U64 } };
	struct cvl_store_desc desc = small;
	union cvl_store_value value;
	struct cvl_writer *w;
	struct cvl_error err;
	char *text;

	(void)state;
	desc.rate_hz = 0;
	assert_int_equal(cvl_writer_open(&w, path_of("bad"), &desc, &err), CVL_E_USAGE);
	desc = small;
	desc.clock = "";
	assert_int_equal(cvl_writer_open(&w, path_of("bad"), &desc, &err), CVL_E_USAGE);
	desc = small;
	desc.n_lines = CVL_LINES_MAX + 1;
	assert_int_equal(cvl_writer_open(&w, path_of("bad"), &desc, &err), CVL_E_USAGE);
	assert_int_equal(cvl_writer_open(&w, path_of("no/parent"), &small, &err), CVL_E_IO);
	ok(cvl_writer_open(&w, path_of("refuse"), &small, &err), &err);
	assert_int_equal(cvl_writer_declare(w, "e", bad_name, 1, &err), CVL_E_USAGE);
	assert_int_equal(cvl_writer_declare(w, "e",
					    &(struct cvl_store_field){ "s", CVL_STORE_STRING }, 1,
					    &err),
			 0);
	text = malloc(70001);
	assert_non_null(text);
	memset(text, 'x', 70000);
	text[70000] = '\0';
	value.s = text;
	assert_int_equal(cvl_writer_event(w, (struct cvl_tick){ 1 }, 0, &value, &err), CVL_E_LIMIT);
	text[65000] = '\0';
	ok(cvl_writer_event(w, (struct cvl_tick){ 1 }, 0, &value, &err), &err);
	assert_int_equal(cvl_writer_declare(w, "f", NULL, 0, &err), CVL_E_USAGE); /* too late */
	ok(cvl_writer_close(w, (struct cvl_tick){ 1 }, &err), &err);
	free(text);
}

/* ---- rows ---- */

#define ROWS 30000

/*
 * Over many packets, each row's tick and half-width come back; a later test of an importer reads
 * the other fields.
 */
static void rows_are_events_of_their_class(void **state)
{
	static const struct cvl_store_field fields[] = { { CVL_HALF_WIDTH, CVL_STORE_U32 },
							 { "code", CVL_STORE_U8 } };
	static const struct cvl_store_field many[] = { { "a", CVL_STORE_U64 },
						       { "b", CVL_STORE_U64 },
						       { "c", CVL_STORE_U8 } };
	const struct cvl_store_desc desc = { .clock = "rows", .rate_hz = 1000000 };
	static struct cvl_store_row row[ROWS];
	struct draw d = draw_begin(77);
	struct cvl_error err = { 0 };
	struct cvl_stream *stream;
	struct cvl_trace *trace;
	struct cvl_writer *w;
	struct cvl_batch b;
	uint64_t tick = 0;
	size_t n = 0;
	int class, rc;

	(void)state;
	for (size_t i = 0; i < ROWS; i++) {
		uint32_t half = htole32((uint32_t)draw_size(&d, 32));

		tick += draw_size(&d, 30); /* some are too far for a compact header */
		row[i].tick.count = tick;
		memcpy(row[i].fields, &half, sizeof(half));
		row[i].fields[4] = (uint8_t)i;
	}
	ok(cvl_writer_open(&w, path_of("rows"), &desc, &err), &err);
	class = cvl_writer_declare(w, "e", fields, 2, &err);
	assert_int_equal(
		cvl_writer_rows(w, cvl_writer_declare(w, "f", many, 3, &err), row, 1, &err),
		CVL_E_USAGE);
	for (size_t i = 0, more; i < ROWS; i += more) {
		more = 1 + draw_below(&d, 2000);
		more = more < ROWS - i ? more : ROWS - i;
		ok(cvl_writer_rows(w, class, row + i, more, &err), &err);
	}
	assert_int_equal(cvl_writer_count(w), ROWS);
	ok(cvl_writer_close(w, (struct cvl_tick){ tick }, &err), &err);
	ok(cvl_trace_open(&trace, path_of("rows"), NULL, &err), &err);
	ok(cvl_stream_open(&stream, trace, 0, &(struct cvl_stream_opts){ .strict = true }, &err),
	   &err);
	while ((rc = cvl_stream_next(stream, &b, &err)) > 0)
		for (size_t i = 0; i < b.n; i++, n++) {
			uint32_t half;

			memcpy(&half, row[n].fields, sizeof(half));
			assert_int_equal(b.kind[i], CVL_EVENT);
			assert_true(b.tick[i].count == row[n].tick.count);
			assert_true(b.bracket[i] == le32toh(half));
		}
	assert_int_equal(rc, 0);
	assert_int_equal(n, ROWS);
	cvl_stream_close(stream);
	cvl_trace_close(trace);
}

/*
 * Edges with bounds of their own, beside some that have none, over many packets that restate the
 * lines.
 */
static void an_edge_may_have_a_bound_of_its_own(void **state)
{
	static const char *const lines[] = { "a", "b", "c", "d", "e", "f", "g", "h", "i" };
	struct cvl_store_desc desc = {
		.clock = "within", .rate_hz = 1000000, .resolution = 3, .lines = lines, .n_lines = 9
	};
	static uint64_t tick[ROWS], half[ROWS], levels[ROWS];
	struct draw d = draw_begin(78);
	struct cvl_error err = { 0 };
	struct cvl_stream *stream;
	struct cvl_trace *trace;
	struct cvl_writer *w;
	struct cvl_batch b;
	size_t n = 0, restated = 0;
	int rc;

	(void)state;
	ok(cvl_writer_open(&w, path_of("without"), &desc, &err), &err);
	assert_int_equal(cvl_writer_edge_within(w, (struct cvl_tick){ 0 }, 1, 1, &err),
			 CVL_E_USAGE);
	ok(cvl_writer_close(w, (struct cvl_tick){ 0 }, &err), &err);
	desc.edges_within = true;
	ok(cvl_writer_open(&w, path_of("within"), &desc, &err), &err);
	ok(cvl_writer_levels(w, (struct cvl_tick){ 0 }, 0, &err), &err);
	for (size_t i = 0; i < ROWS; i++) {
		struct cvl_tick at = { tick[i] = (i ? tick[i - 1] : 0) + draw_size(&d, 30) };

		levels[i] = draw_below(&d, 512);
		half[i] = draw_below(&d, 4) ? draw_size(&d, 64) : 3;
		rc = half[i] == 3 ? cvl_writer_edges(w, &at, &levels[i], 1, &err) :
				    cvl_writer_edge_within(w, at, half[i], levels[i], &err);
		ok(rc, &err);
		if (!draw_below(&d, 1000)) {
			ok(cvl_writer_gap(w, at, at, 0, CVL_GAP_UNKNOWN, &err), &err);
			ok(cvl_writer_restate(w, at, &err), &err);
		}
	}
	ok(cvl_writer_close(w, (struct cvl_tick){ tick[ROWS - 1] }, &err), &err);
	ok(cvl_trace_open(&trace, path_of("within"), NULL, &err), &err);
	ok(cvl_stream_open(&stream, trace, 0, &(struct cvl_stream_opts){ .strict = true }, &err),
	   &err);
	while ((rc = cvl_stream_next(stream, &b, &err)) > 0)
		for (size_t i = 0; i < b.n; i++) {
			if (b.kind[i] == CVL_GAP)
				continue;
			assert_int_equal(b.kind[i], CVL_EDGE);
			if (b.flags[i] & CVL_STATE) {
				assert_true(b.value[i] == (n ? levels[n - 1] : 0));
				assert_int_equal(b.bracket[i], 3);
				restated++;
				continue;
			}
			assert_true(b.tick[i].count == tick[n]);
			assert_true(b.bracket[i] == half[n]);
			assert_true(b.value[i] == levels[n]);
			n++;
		}
	assert_int_equal(rc, 0);
	assert_int_equal(n, ROWS);
	assert_true(restated > 5);
	cvl_stream_close(stream);
	cvl_trace_close(trace);
}

/* Levels and the lines of which they are unknown survive, also where packets state them again. */
static void levels_may_be_unknown(void **state)
{
	static const char *const lines[] = { "a", "b", "c", "d", "e", "f", "g", "h", "i" };
	struct cvl_store_desc desc = {
		.clock = "unknown", .rate_hz = 1000000, .lines = lines, .n_lines = 9
	};
	static uint64_t tick[ROWS], levels[ROWS], unknown[ROWS];
	struct draw d = draw_begin(79);
	struct cvl_levels seen = { 0 };
	struct cvl_error err = { 0 };
	struct cvl_stream *stream;
	struct cvl_trace *trace;
	struct cvl_writer *w;
	struct cvl_batch b;
	size_t n = 0, restated = 0;
	int rc;

	(void)state;
	ok(cvl_writer_open(&w, path_of("all-known"), &desc, &err), &err);
	assert_int_equal(cvl_writer_edge_unknown(w, (struct cvl_tick){ 0 }, 1, 2, &err),
			 CVL_E_USAGE);
	ok(cvl_writer_close(w, (struct cvl_tick){ 0 }, &err), &err);
	desc.lines_unknown = true;
	ok(cvl_writer_open(&w, path_of("unknown"), &desc, &err), &err);
	for (size_t i = 0; i < ROWS; i++) {
		struct cvl_tick at = { tick[i] = (i ? tick[i - 1] : 0) + draw_size(&d, 30) };

		levels[i] = draw_below(&d, 512);
		unknown[i] = draw_below(&d, 3) ? draw_below(&d, 512) : 0;
		/* what is given of an unknown level does not matter */
		rc = unknown[i] ? cvl_writer_edge_unknown(w, at, levels[i], unknown[i], &err) :
				  cvl_writer_edges(w, &at, &levels[i], 1, &err);
		ok(rc, &err);
		levels[i] &= ~unknown[i];
		if (!draw_below(&d, 1000)) {
			ok(cvl_writer_gap(w, at, at, 0, CVL_GAP_UNKNOWN, &err), &err);
			ok(cvl_writer_restate(w, at, &err), &err);
		}
	}
	ok(cvl_writer_close(w, (struct cvl_tick){ tick[ROWS - 1] }, &err), &err);
	ok(cvl_trace_open(&trace, path_of("unknown"), NULL, &err), &err);
	ok(cvl_stream_open(&stream, trace, 0, &(struct cvl_stream_opts){ .strict = true }, &err),
	   &err);
	while ((rc = cvl_stream_next(stream, &b, &err)) > 0)
		for (size_t i = 0; i < b.n; i++) {
			uint64_t changed;
			size_t at = n;

			if (b.kind[i] == CVL_GAP)
				continue;
			assert_int_equal(b.kind[i], CVL_EDGE);
			if (b.flags[i] & CVL_STATE && n) {
				restated++;
				at = n - 1;
			} else {
				assert_true(b.tick[i].count == tick[n++]);
			}
			assert_true(b.value[i] == levels[at]);
			assert_true(b.aux[i] == unknown[at]);
			changed = cvl_levels_take(&seen, &b, i);
			assert_true(changed == (at != n - 1 || !at || b.flags[i] & CVL_STATE ?
							0 :
							(levels[at] ^ levels[at - 1]) &
								~unknown[at] & ~unknown[at - 1]));
		}
	assert_int_equal(rc, 0);
	assert_int_equal(n, ROWS);
	assert_true(restated > 5);
	cvl_stream_close(stream);
	cvl_trace_close(trace);
}

/* ---- damage ---- */

struct tally {
	uint64_t edges, gaps, told;
	uint64_t first, last; /* ticks of edges */
	uint8_t why[16];
	uint64_t gap_from[16], gap_to[16];
	enum cvl_code code;
	uint64_t offset;
};

static void take_problem(void *ctx, const struct cvl_error *e)
{
	struct tally *t = ctx;

	if (!t->told++) {
		t->code = e->code;
		t->offset = e->offset;
	}
}

static void take_batch(struct tally *t, const struct cvl_batch *b, size_t begin, size_t end)
{
	for (size_t i = begin; i < end; i++) {
		if (b->kind[i] == CVL_GAP) {
			assert_true(t->gaps < 16);
			t->why[t->gaps] = (uint8_t)b->cls[i];
			t->gap_from[t->gaps] = b->tick[i].count;
			t->gap_to[t->gaps++] = b->aux[i];
		} else if (!(b->flags[i] & CVL_STATE)) {
			if (!t->edges++)
				t->first = b->tick[i].count;
			t->last = b->tick[i].count;
			assert_int_equal(b->value[i], b->tick[i].count / 100 % 2);
		}
	}
}

static int tally_trace(struct tally *t, const char *path, bool strict)
{
	const struct cvl_report report = { take_problem, t };
	const struct cvl_stream_opts opts = { .report = &report, .strict = strict };
	struct cvl_trace *trace = open_trace(path);
	struct cvl_stream *s;
	struct cvl_batch b;
	struct cvl_error err;
	int rc;

	*t = (struct tally){ 0 };
	ok(cvl_stream_open(&s, trace, 0, &opts, &err), &err);
	while ((rc = cvl_stream_next(s, &b, &err)) > 0)
		take_batch(t, &b, 0, b.n);
	if (rc < 0)
		t->offset = err.offset;
	cvl_stream_close(s);
	cvl_trace_close(trace);
	return rc;
}

static uint64_t packet_offset(const char *stream, unsigned number)
{
	uint64_t at = 0;
	FILE *f = fopen(stream, "rb");

	assert_non_null(f);
	while (number--) {
		struct wire_packet h;

		assert_int_equal(fseek(f, (long)at, SEEK_SET), 0);
		assert_int_equal(fread(&h, sizeof(h), 1, f), 1);
		at += h.packet_size / 8;
	}
	fclose(f);
	return at;
}

static void damaged_packet_becomes_a_gap(void **state)
{
	struct draw d = draw_begin(2);
	struct cvl_writer *w;
	struct cvl_error err;
	struct tally whole, t;
	uint64_t second, third;

	(void)state;
	ok(cvl_writer_open(&w, path_of("crc"), &small, &err), &err);
	ok(put_edges(w, 1, 60000, &err), &err);
	ok(cvl_writer_close(w, (struct cvl_tick){ 0 }, &err), &err);
	assert_int_equal(tally_trace(&whole, path_of("crc"), true), 0);
	assert_int_equal(whole.edges, 59999); /* the first is the initial state */
	assert_int_equal(whole.gaps, 0);
	second = packet_offset(path_of("crc/stream"), 1);
	third = packet_offset(path_of("crc/stream"), 2);
	for (int round = 0; round < 100; round++) {
		/* after the header; damage there has other codes */
		uint64_t at = round < 16 ? second + 40 + (uint64_t)round :
					   second + 24 + draw_below(&d, third - second - 24);
		FILE *f = fopen(path_of("crc/stream"), "r+b");
		int byte, bit = 1 << draw_below(&d, 8);
		bool sizes = at >= second + 40 && at < second + 56;

		assert_non_null(f);
		fseek(f, (long)at, SEEK_SET);
		byte = fgetc(f);
		fseek(f, (long)at, SEEK_SET);
		fputc(byte ^ bit, f);
		fclose(f);
		assert_int_equal(tally_trace(&t, path_of("crc"), false), 0);
		assert_int_equal(t.told, 1);
		if (t.gaps != 1)
			fail_msg("%s: byte %d of the packet, bit %x: %d gaps",
				 cvl_code_name(t.code), (int)(at - second), (unsigned)bit,
				 (int)t.gaps);
		assert_int_equal(t.last, whole.last);
		if (!sizes) {
			assert_int_equal(t.code, CVL_E_CHECKSUM);
			assert_int_equal(t.offset, second);
			assert_int_equal(t.why[0], CVL_GAP_CORRUPT);
			assert_true(whole.edges - t.edges > 13000 && whole.edges - t.edges < 13200);
			assert_int_equal(tally_trace(&t, path_of("crc"), true), CVL_E_CHECKSUM);
			assert_int_equal(t.offset, second);
		}
		f = fopen(path_of("crc/stream"), "r+b");
		fseek(f, (long)at, SEEK_SET);
		fputc(byte, f);
		fclose(f);
	}
}

static void full_disk_is_an_error_that_leaves_what_was_written(void **state)
{
	struct rlimit before, limit;
	struct cvl_writer *w;
	struct cvl_error err = { 0 };
	struct tally t;
	int rc;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, SIG_IGN);
	ok(cvl_writer_open(&w, path_of("full"), &small, &err), &err);
	limit = before;
	limit.rlim_cur = 150000; /* two packets and a part of the third */
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	rc = put_edges(w, 1, 60000, &err);
	assert_int_equal(rc, CVL_E_FULL);
	assert_int_equal(err.code, CVL_E_FULL);
	assert_non_null(strstr(err.text, strerror(EFBIG)));
	assert_int_equal(size_of(path_of("full/stream")), packet_offset(path_of("full/stream"), 2));

	/* there is room again: what was lost in between is seen */
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	ok(put_edges(w, 70000, 10, &err), &err);
	ok(cvl_writer_close(w, (struct cvl_tick){ 0 }, &err), &err);
	assert_int_equal(tally_trace(&t, path_of("full"), true), 0);
	assert_true(t.edges > 26000);
	assert_int_equal(t.last, 7000900);
	assert_int_equal(t.gaps, 1);
	assert_int_equal(t.why[0], CVL_GAP_PACKETS);
}

static void no_room_is_no_room_whoever_sets_the_limit(void **state)
{
	static const int full[] = { ENOSPC, EDQUOT, EFBIG };
	struct cvl_error err;

	(void)state;
	for (size_t i = 0; i < sizeof(full) / sizeof(*full); i++) {
		errno = full[i];
		assert_int_equal(cvl_fail_errno(&err, "write", "file"), CVL_E_FULL);
		assert_int_equal(cvl_exit_status(err.code), 4);
	}
	errno = EIO;
	assert_int_equal(cvl_fail_errno(&err, "write", "file"), CVL_E_IO);
}

/* ---- a writer that dies ---- */

/* Writes edges until it is killed; tells how many through @fd after each call. */
static void write_for_ever(const char *path, int fd)
{
	const struct cvl_origin origin = { .format = "test", .path = "-" };
	struct cvl_session *s;
	struct cvl_writer *w;
	struct cvl_error err;

	if (cvl_session_create(&s, path, &err) || cvl_session_add(s, &small, &origin, &w, &err))
		_exit(1);
	for (uint64_t n = 1;; n += 500) {
		if (put_edges(w, n, 500, &err) || write(fd, &n, sizeof(n)) != sizeof(n))
			_exit(1);
	}
}

static int tally_session(struct tally *t, const char *path)
{
	const struct cvl_report report = { take_problem, t };
	const struct cvl_timeline_opts opts = { .report = &report };
	struct cvl_session *s;
	struct cvl_timeline *tl;
	struct cvl_block block;
	struct cvl_slice slice;
	struct cvl_error err;
	int rc;

	*t = (struct tally){ 0 };
	ok(cvl_session_open(&s, path, NULL, &err), &err);
	assert_int_equal(cvl_session_clocks(s), 1);
	assert_true(cvl_session_clock(s, 0)->unfinished);
	ok(cvl_timeline_open(&tl, s, &opts, &err), &err);
	while ((rc = cvl_timeline_next(tl, &block, &err)) > 0)
		while (cvl_block_take(&block, &slice))
			take_batch(t, slice.batch, slice.begin, slice.end);
	cvl_timeline_close(tl);
	cvl_session_close(s);
	return rc;
}

static void killed_writer_loses_at_most_the_packet_not_complete(void **state)
{
	struct draw d = draw_begin(3);

	(void)state;
	for (int round = 0; round < 10; round++) {
		uint64_t appended = 0, n, enough = draw_below(&d, 200000);
		char name[20], path[512];
		struct tally t;
		pid_t child;
		int fds[2];

		snprintf(name, sizeof(name), "killed%d", round);
		snprintf(path, sizeof(path), "%s", path_of(name));
		assert_int_equal(pipe(fds), 0);
		child = fork();
		assert_true(child >= 0);
		if (!child) {
			close(fds[0]);
			write_for_ever(path, fds[1]);
		}
		close(fds[1]);
		while (appended <= enough && read(fds[0], &n, sizeof(n)) == sizeof(n))
			appended = n + 499;
		assert_true(appended > enough);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		while (read(fds[0], &n, sizeof(n)) == sizeof(n))
			appended = n + 499;
		close(fds[0]);

		assert_int_equal(tally_session(&t, path), 0);
		/* 13089 edges fill a packet; 500 more may have gone in since it last told */
		assert_true(t.edges + 1 + 13200 > appended);
		assert_true(t.edges <= appended + 500);
		if (t.edges)
			assert_int_equal(t.last,
					 (t.edges + 1) * 100); /* none is missing before the end */
		assert_in_range(t.gaps, 1, 2); /* another where the file was cut in a packet */
		assert_int_equal(t.why[t.gaps - 1], CVL_GAP_UNFINISHED);
		if (t.edges) /* or the state, or the edge, that was cut behind its tick */
			assert_in_range(t.gap_from[t.gaps - 1], t.last, t.last + 100);
		assert_true(t.gap_to[t.gaps - 1] == CVL_TICK_UNKNOWN);
	}
}

/* Whoever comes next can begin where another was killed while it began. */
static void whoever_dies_while_it_begins_is_in_nobodys_way(void **state)
{
	const struct cvl_origin origin = { .format = "test", .path = "-" };
	const unsigned rounds = tier(150, 500, 5000);
	struct draw d = draw_begin(4);

	(void)state;
	for (unsigned round = 0; round < rounds; round++) {
		char name[20], path[512];
		struct cvl_session *s;
		struct cvl_writer *w;
		struct cvl_error err;
		pid_t child;
		int fds[2];

		snprintf(name, sizeof(name), "begun%u", round);
		snprintf(path, sizeof(path), "%s", path_of(name));
		assert_int_equal(pipe(fds), 0);
		child = fork();
		assert_true(child >= 0);
		if (!child)
			write_for_ever(path, fds[1]);
		usleep((useconds_t)draw_below(&d, 4000));
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		close(fds[0]);
		close(fds[1]);
		ok(cvl_session_create(&s, path, &err), &err);
		ok(cvl_session_add(s, &small, &origin, &w, &err), &err);
		ok(cvl_session_finish(s, w, (struct cvl_tick){ 1 }, &err), &err);
		cvl_session_close(s);
	}
}

/* In a process of its own: clocks that are written and finished, one after another. */
static void finish_many(const char *path)
{
	const struct cvl_origin origin = { .format = "test", .path = "-" };
	struct cvl_session *s;
	struct cvl_writer *w;
	struct cvl_error err;

	if (cvl_session_create(&s, path, &err))
		_exit(1);
	for (int i = 0; i < 150; i++) {
		const struct cvl_tick end = { 100000 };

		if (cvl_session_add(s, &small, &origin, &w, &err) || put_edges(w, 1, 500, &err) ||
		    cvl_session_finish(s, w, end, &err))
			_exit(1);
	}
	cvl_session_close(s);
	_exit(0);
}

static void who_reads_while_a_writer_ends_sees_it_alive_or_finished(void **state)
{
	char path[512], file[600];
	size_t opened = 0;
	pid_t child;
	int status;

	(void)state;
	snprintf(path, sizeof(path), "%s", path_of("finishing"));
	snprintf(file, sizeof(file), "%s/session.json", path);
	child = fork();
	assert_true(child >= 0);
	if (!child)
		finish_many(path);
	while (!waitpid(child, &status, WNOHANG)) {
		struct cvl_session *s;
		struct cvl_error err;

		if (access(file, F_OK))
			continue;
		ok(cvl_session_open(&s, path, NULL, &err), &err);
		for (size_t i = 0; i < cvl_session_clocks(s); i++)
			assert_false(cvl_session_clock(s, i)->unfinished);
		cvl_session_close(s);
		opened++;
	}
	assert_int_equal(status, 0);
	assert_true(opened > 10);
}

static void writer_that_died_at_once_leaves_a_session_that_opens(void **state)
{
	static const char *const names[] = { "nothing", "metadata", "part", "abandoned" };
	const struct cvl_origin origin = { .format = "test", .path = "-" };

	(void)state;
	for (int how = 0; how < 4; how++) {
		char path[512], file[600];
		struct cvl_session *s;
		struct cvl_writer *w;
		struct cvl_error err;
		struct tally t;
		FILE *f;

		snprintf(path, sizeof(path), "%s", path_of(names[how]));
		ok(cvl_session_create(&s, path, &err), &err);
		ok(cvl_session_add(s, &small, &origin, &w, &err), &err);
		if (how == 3)
			ok(put_edges(w, 1, 10, &err), &err); /* metadata, and nothing else */
		cvl_session_close(s);
		if (how == 1 || how == 2) {
			snprintf(file, sizeof(file), "%s/traces/clock/metadata", path);
			f = fopen(file, "w");
			assert_non_null(f);
			fputs(how == 2 ? "/* CTF 1.8 */ typealias integer { si" : "", f);
			fclose(f);
		}
		assert_int_equal(tally_session(&t, path), 0);
		assert_int_equal(t.edges, 0);
		if (how == 3) {
			assert_int_equal(t.told, 0);
			assert_int_equal(t.gaps, 1);
			assert_int_equal(t.why[0], CVL_GAP_UNFINISHED);
		} else {
			assert_int_equal(t.told, 1);
			assert_int_equal(t.code, how ? CVL_E_TRUNCATED : CVL_E_MISSING);
		}
	}
}

static void finished_session_is_no_longer_unfinished(void **state)
{
	const struct cvl_origin origin = { .format = "test", .path = "-" };
	struct cvl_session *s;
	struct cvl_writer *w;
	struct cvl_error err;

	(void)state;
	ok(cvl_session_create(&s, path_of("finished"), &err), &err);
	ok(cvl_session_add(s, &small, &origin, &w, &err), &err);
	ok(put_edges(w, 1, 10, &err), &err);

	/* while it is being written it counts as alive, not as dead */
	{
		struct cvl_session *other;

		ok(cvl_session_open(&other, path_of("finished"), NULL, &err), &err);
		assert_false(cvl_session_clock(other, 0)->unfinished);
		cvl_session_close(other);
	}
	ok(cvl_session_finish(s, w, (struct cvl_tick){ 5000 }, &err), &err);
	cvl_session_close(s);
	ok(cvl_session_open(&s, path_of("finished"), NULL, &err), &err);
	assert_false(cvl_session_clock(s, 0)->unfinished);
	cvl_session_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(metadata_text_stays),
		cmocka_unit_test(rows_are_events_of_their_class),
		cmocka_unit_test(an_edge_may_have_a_bound_of_its_own),
		cmocka_unit_test(levels_may_be_unknown),
		cmocka_unit_test(what_is_written_is_read_again),
		cmocka_unit_test(ticks_reach_the_last_one),
		cmocka_unit_test(an_edge_of_eight_lines_costs_five_bytes),
		cmocka_unit_test(what_makes_no_sense_is_refused),
		cmocka_unit_test(damaged_packet_becomes_a_gap),
		cmocka_unit_test(full_disk_is_an_error_that_leaves_what_was_written),
		cmocka_unit_test(no_room_is_no_room_whoever_sets_the_limit),
		cmocka_unit_test(killed_writer_loses_at_most_the_packet_not_complete),
		cmocka_unit_test(whoever_dies_while_it_begins_is_in_nobodys_way),
		cmocka_unit_test(who_reads_while_a_writer_ends_sees_it_alive_or_finished),
		cmocka_unit_test(writer_that_died_at_once_leaves_a_session_that_opens),
		cmocka_unit_test(finished_session_is_no_longer_unfinished),
	};

	draw_seed();
	return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
