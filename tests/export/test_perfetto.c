/* SPDX-License-Identifier: MIT */
/*
 * What a small reader of the wire format, written here, finds in Perfetto traces of sessions made
 * here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <coeval/format.h>
#include <coeval/timeline.h>

#include "test_scratch.h"

#define LINES 4096
#define TRACKS 64
#define TEXTS 2100

static void ok(int rc, const struct cvl_error *err)
{
	if (rc < 0)
		fail_msg("%s", err->text);
}

/* ---- a reader ---- */

struct bytes {
	const uint8_t *p, *end;
};

struct field {
	unsigned number;
	uint64_t value; /* of numbers */
	struct bytes b; /* of what has a length */
};

static uint64_t varint(struct bytes *b)
{
	uint64_t v = 0;

	for (unsigned shift = 0;; shift += 7) {
		assert_true(b->p < b->end && shift < 64);
		v |= (uint64_t)(*b->p & 0x7f) << shift;
		if (*b->p++ < 0x80)
			return v;
	}
}

static bool next(struct bytes *b, struct field *f)
{
	uint64_t key, n = 8;

	if (b->p == b->end)
		return false;
	key = varint(b);
	f->number = (unsigned)(key >> 3);
	f->value = 0;
	if ((key & 7) == 0) {
		f->value = varint(b);
		return true;
	}
	assert_true((key & 7) == 1 || (key & 7) == 2);
	if ((key & 7) == 2)
		n = varint(b);
	assert_true(n <= (uint64_t)(b->end - b->p));
	f->b = (struct bytes){ b->p, b->p + n };
	if ((key & 7) == 1)
		memcpy(&f->value, b->p, 8);
	b->p += n;
	return true;
}

/* Something that happened, as one line of text: "TRACK TYPE NAME @TIME NOTE=VALUE ...". */
static char line[LINES][400];
static size_t lines;
static char track[TRACKS][100];
static char interned[30][TEXTS][100]; /* by field and number */
static uint64_t now;

static const char *text(struct bytes b)
{
	static char out[8][200];
	static unsigned turn;
	char *s = out[turn++ % 8];

	snprintf(s, 200, "%.*s", (int)(b.end - b.p), (const char *)b.p);
	return s;
}

static void read_track(struct bytes b)
{
	uint64_t uuid = 0, parent = 0;
	struct bytes called = { 0 };
	struct field f;

	while (next(&b, &f)) {
		uuid = f.number == 1 ? f.value : uuid;
		called = f.number == 2 ? f.b : called;
		parent = f.number == 5 ? f.value : parent;
	}
	assert_in_range(uuid, 1, TRACKS - 1);
	assert_string_equal(track[uuid], "");
	assert_true((size_t)snprintf(track[uuid], sizeof(track[uuid]), "%s/%s",
				     parent ? track[parent] : "",
				     text(called)) < sizeof(track[uuid]));
}

static void read_note(struct bytes b, char *out, size_t n)
{
	char called[100] = "", value[100] = "?";
	struct field f;

	while (next(&b, &f)) {
		if (f.number == 1 || f.number == 10)
			snprintf(called, sizeof(called), "%s",
				 f.number == 1 ? interned[3][f.value] : text(f.b));
		else if (f.number == 6 || f.number == 17)
			snprintf(value, sizeof(value), "%s",
				 f.number == 17 ? interned[29][f.value] : text(f.b));
		else
			snprintf(value, sizeof(value), "%lld", (long long)f.value);
	}
	snprintf(out, n, " %s=%s", called, value);
}

static void read_event(struct bytes b, uint64_t time)
{
	static const char *const types[] = { "?", "begin", "end", "instant", "counter" };
	const char *called = "";
	char notes[300] = "";
	uint64_t type = 0, on = 0;
	struct field f;

	while (next(&b, &f)) {
		switch (f.number) {
		case 4: read_note(f.b, notes + strlen(notes), sizeof(notes) - strlen(notes)); break;
		case 9: type = f.value; break;
		case 10: called = interned[2][f.value]; break;
		case 11: on = f.value; break;
		case 23: called = text(f.b); break;
		default: break;
		}
	}
	assert_in_range(type, 1, 4);
	assert_in_range(on, 1, TRACKS - 1);
	assert_true(lines < LINES);
	snprintf(line[lines++], sizeof(*line), "%.90s %s %.80s @%llu%.200s", track[on], types[type],
		 called, (unsigned long long)time, notes);
}

static void read_names(struct bytes b)
{
	struct field f, g;

	while (next(&b, &f)) {
		uint64_t iid = 0;
		struct bytes called = { 0 };

		while (next(&f.b, &g)) {
			iid = g.number == 1 ? g.value : iid;
			called = g.number == 2 ? g.b : called;
		}
		assert_in_range(iid, 1, TEXTS - 1);
		assert_string_equal(interned[f.number][iid], "");
		snprintf(interned[f.number][iid], sizeof(**interned), "%s", text(called));
	}
}

static void read_clocks(struct bytes b)
{
	struct field f, g;

	while (next(&b, &f))
		while (next(&f.b, &g))
			now = g.number == 2 ? g.value : now;
}

static void read_packet(struct bytes b)
{
	struct bytes event = { 0 };
	uint64_t time = 0;
	bool absolute = false;
	struct field f;

	while (next(&b, &f)) {
		time = f.number == 8 ? f.value : time;
		absolute = absolute || f.number == 58;
		event = f.number == 11 ? f.b : event;
		if (f.number == 6)
			read_clocks(f.b);
		if (f.number == 12)
			read_names(f.b);
		if (f.number == 60)
			read_track(f.b);
	}
	if (!event.p)
		return;
	if (!absolute)
		now = time += now;
	read_event(event, time);
}

static void read_packets(struct bytes b)
{
	static uint8_t packets[1 << 20];
	uLongf n = sizeof(packets);
	struct field f;

	assert_true(next(&b, &f) && f.number == 50);
	assert_int_equal(uncompress(packets, &n, f.b.p, (uLong)(f.b.end - f.b.p)), Z_OK);
	b = (struct bytes){ packets, packets + n };
	while (next(&b, &f)) {
		assert_int_equal(f.number, 1);
		read_packet(f.b);
	}
}

static struct cvl_error told;

static void keep(void *ctx, const struct cvl_error *problem)
{
	(void)ctx;
	told = *problem;
}

/* Export @s, read what was written, and close the session. */
static void look(struct cvl_session *s)
{
	const struct cvl_report report = { .fn = keep };
	const struct cvl_timeline_opts opts = { .report = &report };
	static uint8_t file[1 << 20];
	struct cvl_timeline *tl;
	struct cvl_error err;
	struct bytes b;
	struct field f;
	char path[300];
	FILE *in;

	snprintf(path, sizeof(path), "%s/trace", scratch);
	ok(cvl_timeline_open(&tl, s, &opts, &err), &err);
	ok(cvl_exporter_find("perfetto")->write(tl, path, &err), &err);
	cvl_timeline_close(tl);
	cvl_session_close(s);
	in = fopen(path, "re");
	assert_non_null(in);
	b = (struct bytes){ file, file + fread(file, 1, sizeof(file), in) };
	fclose(in);
	memset(track, 0, sizeof(track));
	memset(interned, 0, sizeof(interned));
	lines = 0;
	while (next(&b, &f)) {
		assert_int_equal(f.number, 1);
		read_packets(f.b);
	}
}

static void expect(const char *const *want, size_t n)
{
	for (size_t i = 0; i < n && i < lines; i++)
		assert_string_equal(line[i], want[i]);
	assert_int_equal(lines, n);
}

#define EXPECT(...)                                                \
	do {                                                       \
		static const char *const want[] = { __VA_ARGS__ }; \
		expect(want, sizeof(want) / sizeof(*want));        \
	} while (0)

/* ---- sessions ---- */

static struct cvl_session *session;
static struct cvl_writer *writer;
static struct cvl_error error;

/* One clock of 1 GHz, whose tick @base is at time 0. */
static void begin_session(const char *called, uint64_t base)
{
	static const char *const names[] = { "led" };
	const struct cvl_store_desc desc = { .clock = "n1",
					     .rate_hz = 1000000000,
					     .base_tick = base,
					     .lines = names,
					     .n_lines = 1 };
	const struct cvl_origin origin = { .format = "test", .path = "-" };
	char path[300];

	snprintf(path, sizeof(path), "%s/%s", scratch, called);
	ok(cvl_session_create(&session, path, &error), &error);
	ok(cvl_session_add(session, &desc, &origin, &writer, &error), &error);
}

static int declare(const char *called, const struct cvl_store_field *fields, size_t n)
{
	int class = cvl_writer_declare(writer, called, fields, n, &error);

	ok(class, &error);
	return class;
}

static void put(uint64_t tick, int class, const union cvl_store_value *values)
{
	ok(cvl_writer_event(writer, (struct cvl_tick){ tick }, class, values, &error), &error);
}

static void span(uint64_t tick, bool begin, uint64_t id)
{
	ok(cvl_writer_span(writer, (struct cvl_tick){ tick }, begin, id, "work", &error), &error);
}

static void gap(uint64_t from, uint64_t to)
{
	ok(cvl_writer_gap(writer, (struct cvl_tick){ from }, (struct cvl_tick){ to },
			  CVL_LOST_UNKNOWN, CVL_GAP_OVERFLOW, &error),
	   &error);
}

static void end_session(void)
{
	ok(cvl_session_finish(session, writer, (struct cvl_tick){ 0 }, &error), &error);
	look(session);
}

static void pairs_of_events_are_slices_of_their_task(void **state)
{
	static const struct cvl_store_field task[] = { { "task", CVL_STORE_STRING } },
					    number[] = { { "task", CVL_STORE_U64 },
							 { "n", CVL_STORE_I64 } };
	int begin, end, lonely, entry, exit;

	(void)state;
	begin_session("pairs", 0);
	begin = declare("job_begin", task, 1);
	end = declare("job_end", task, 1);
	lonely = declare("process_exit", number, 2);
	entry = declare("irq_entry", NULL, 0);
	exit = declare("irq_exit", NULL, 0);
	put(10, begin, (union cvl_store_value[]){ { .s = "main" } });
	put(20, entry, NULL);
	put(21, exit, NULL);
	put(30, end, (union cvl_store_value[]){ { .s = "main" } });
	put(40, lonely, (union cvl_store_value[]){ { .u = 7 }, { .i = -1 } });
	end_session();
	EXPECT("/n1/main begin job @10 bound_ns=unknown task=main",
	       "/n1/events begin irq @20 bound_ns=unknown",
	       "/n1/events end irq @21 end.bound_ns=unknown",
	       "/n1/main end job @30 end.bound_ns=unknown end.task=main",
	       "/n1/task 7 instant process_exit @40 bound_ns=unknown task=7 n=-1");
}

static void functions_are_called_by_name_or_address(void **state)
{
	static const struct cvl_store_field fields[] = { { "addr", CVL_STORE_U64 },
							 { "name", CVL_STORE_STRING } };
	int entry, exit;

	(void)state;
	begin_session("functions", 0);
	entry = declare("func_entry", fields, 2);
	exit = declare("func_exit", NULL, 0);
	put(1, entry, (union cvl_store_value[]){ { .u = 64 }, { .s = "f" } });
	put(2, exit, NULL);
	end_session();
	EXPECT("/n1/events begin f @1 bound_ns=unknown addr=64 name=f",
	       "/n1/events end  @2 end.bound_ns=unknown");
	begin_session("addresses", 0);
	entry = declare("func_entry", fields, 1);
	declare("func_exit", NULL, 0);
	put(1, entry, (union cvl_store_value[]){ { .u = 64 } });
	end_session();
	EXPECT("/n1/events begin 0x40 @1 bound_ns=unknown addr=64");
}

/* On one track the first end would end the second span. */
static void spans_that_overlap_have_tracks_of_their_own(void **state)
{
	(void)state;
	begin_session("spans", 0);
	span(1, true, 5);
	span(2, true, 6);
	span(3, false, 5);
	span(4, false, 6);
	span(5, true, 9);
	span(6, false, 4);
	end_session();
	assert_int_equal(lines, 6);
	assert_memory_equal(line[0], "/n1/work begin work @1 ", 23);
	assert_memory_equal(line[1], "/n1/work begin work @2 ", 23);
	assert_memory_equal(line[2], "/n1/work end work @3 ", 21);
	assert_memory_equal(line[5], "/n1/work instant work @6 ", 25);
	assert_string_equal(track[2], "/n1/work");
	assert_string_equal(track[3], "/n1/work");
	assert_string_equal(track[4], "");
}

static void gaps_are_slices_and_end_what_was_high(void **state)
{
	(void)state;
	begin_session("gaps", 0);
	ok(cvl_writer_levels(writer, (struct cvl_tick){ 1 }, 1, &error), &error);
	ok(cvl_writer_edges(writer, (struct cvl_tick[]){ { 2 }, { 3 } }, (uint64_t[]){ 0, 1 }, 2,
			    &error),
	   &error);
	gap(10, 50);
	gap(20, CVL_TICK_UNKNOWN);
	ok(cvl_writer_levels(writer, (struct cvl_tick){ 60 }, 1, &error), &error);
	end_session();
	EXPECT("/n1/led begin high @1 bound_ns=unknown", "/n1/led end high @2 end.bound_ns=unknown",
	       "/n1/led begin high @3 bound_ns=unknown",
	       "/n1/led end high @10 end.bound_ns=unknown",
	       "/n1/gaps begin overflow @10 lost=unknown bound_ns=unknown",
	       "/n1/gaps end overflow @50",
	       "/n1/gaps begin overflow @20 lost=unknown until=unknown bound_ns=unknown",
	       "/n1/led begin high @60 bound_ns=unknown");
}

static void times_below_zero_are_moved_and_that_is_told(void **state)
{
	int class;

	(void)state;
	begin_session("early", 1000);
	class = declare("tick", NULL, 0);
	put(100, class, NULL);
	put(1100, class, NULL);
	told.code = CVL_OK;
	end_session();
	EXPECT("/n1/events instant tick @0 bound_ns=unknown",
	       "/n1/events instant tick @1000 bound_ns=unknown");
	assert_int_equal(told.code, CVL_E_RANGE);
	assert_non_null(strstr(told.text, "-0.000000900"));
}

static void fields_beyond_the_room_are_counted(void **state)
{
	static const struct cvl_store_field fields[] = { { "a", CVL_STORE_STRING },
							 { "b", CVL_STORE_STRING },
							 { "c", CVL_STORE_U64 } };
	static char big[30001];
	int class;

	(void)state;
	memset(big, 0xff, sizeof(big) - 1); /* each byte becomes three */
	begin_session("big", 0);
	class = declare("tick", fields, 3);
	put(1, class, (union cvl_store_value[]){ { .s = big }, { .s = "here" }, { .u = 3 } });
	put(2, class, (union cvl_store_value[]){ { .s = "\xff" }, { .s = "" }, { .u = 3 } });
	end_session();
	EXPECT("/n1/events instant tick @1 bound_ns=unknown b=here c=3 left_out=1",
	       "/n1/events instant tick @2 bound_ns=unknown a=\xef\xbf\xbd b= c=3");
}

static void texts_beyond_the_room_are_written_in_full(void **state)
{
	static const struct cvl_store_field fields[] = { { "a", CVL_STORE_STRING } };
	char value[20], want[100];
	int class;

	(void)state;
	begin_session("texts", 0);
	class = declare("tick", fields, 1);
	for (unsigned i = 0; i < 3000; i++) {
		snprintf(value, sizeof(value), "value %u", i / 2);
		put(i, class, (union cvl_store_value[]){ { .s = i % 2 ? value : value + 6 } });
	}
	end_session();
	assert_int_equal(lines, 3000);
	for (unsigned i = 0; i < lines; i++) {
		snprintf(want, sizeof(want), "/n1/events instant tick @%u bound_ns=unknown a=%s%u",
			 i, i % 2 ? "value " : "", i / 2);
		assert_string_equal(line[i], want);
	}
	assert_string_not_equal(interned[29][2048], "");
	assert_string_equal(interned[29][2049], "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pairs_of_events_are_slices_of_their_task),
		cmocka_unit_test(functions_are_called_by_name_or_address),
		cmocka_unit_test(spans_that_overlap_have_tracks_of_their_own),
		cmocka_unit_test(gaps_are_slices_and_end_what_was_high),
		cmocka_unit_test(times_below_zero_are_moved_and_that_is_told),
		cmocka_unit_test(fields_beyond_the_room_are_counted),
		cmocka_unit_test(texts_beyond_the_room_are_written_in_full),
	};

	return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
