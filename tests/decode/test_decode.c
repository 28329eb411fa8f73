/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include <coeval/format.h>

#include "sim/devices/swo_encode.h"
#include "test_scratch.h"

#define BIT 10
#define EDGES 4000

struct line {
	struct cvl_tick tick[EDGES];
	uint64_t levels[EDGES];
	size_t n;
};

static void see(void *ctx, double time, bool level)
{
	struct line *l = ctx;

	assert_true(l->n < EDGES);
	l->tick[l->n].count = (uint64_t)time;
	l->levels[l->n++] = (level ? 1u : 0u) | 2;
}

static void write_text(struct cvl_writer *w, double when, const char *text)
{
	static struct line l;
	struct swo_line line;
	struct cvl_error err;

	l.n = 0;
	swo_line_init(&line, false, BIT, see, &l);
	swo_line_send(&line, when, (const uint8_t *)text, strlen(text));
	assert_int_equal(cvl_writer_edges(w, l.tick, l.levels, l.n, &err), 0);
}

/* Text of the events, and '-' for each gap. */
static void read_back(struct cvl_session *s, size_t clock, char *out, size_t size)
{
	struct cvl_trace *trace;
	struct cvl_stream *stream;
	struct cvl_batch b;
	struct cvl_error err;
	size_t n = 0;

	out[0] = '\0';
	assert_int_equal(cvl_trace_open(&trace, cvl_session_clock(s, clock)->trace, NULL, &err), 0);
	assert_int_equal(cvl_stream_open(&stream, trace, 0, NULL, &err), 0);
	while (cvl_stream_next(stream, &b, &err) > 0)
		for (size_t i = 0; i < b.n; i++) {
			if (b.kind[i] == CVL_GAP)
				n += (size_t)snprintf(out + n, size - n, "-");
			else if (b.kind[i] == CVL_EVENT)
				n += (size_t)snprintf(out + n, size - n, "e%llu",
						      (unsigned long long)b.bracket[i]);
		}
	cvl_stream_close(stream);
	cvl_trace_close(trace);
}

static void a_gap_of_the_capture_is_a_gap_of_what_is_decoded(void **state)
{
	static const char *const lines[] = { "RX", "OTHER" };
	const struct cvl_store_desc desc = {
		.clock = "c", .rate_hz = 1000000, .lines = lines, .n_lines = 2
	};
	const struct cvl_origin origin = { .format = "test", .path = "-" };
	struct cvl_decode d = { .protocol = CVL_PROTOCOL_UART };
	char path[300], text[200];
	struct cvl_session *s;
	struct cvl_writer *w;
	struct cvl_error err;

	(void)state;
	snprintf(path, sizeof(path), "%s/s", scratch);
	assert_int_equal(cvl_session_create(&s, path, &err), 0);
	assert_int_equal(cvl_session_add(s, &desc, &origin, &w, &err), 0);
	assert_int_equal(cvl_writer_levels(w, (struct cvl_tick){ 0 }, 3, &err), 0);
	write_text(w, 100, "one\n");
	write_text(w, 1000, "tw");
	/* In the middle of a byte nothing is known any more. */
	assert_int_equal(cvl_writer_edges(w, &(struct cvl_tick){ 1250 }, &(uint64_t){ 2 }, 1, &err),
			 0);
	assert_int_equal(cvl_writer_gap(w, (struct cvl_tick){ 1260 }, (struct cvl_tick){ 4000 },
					CVL_LOST_UNKNOWN, CVL_GAP_OVERFLOW, &err),
			 0);
	assert_int_equal(cvl_writer_levels(w, (struct cvl_tick){ 4001 }, 3, &err), 0);
	write_text(w, 5000, "four\n");
	assert_int_equal(cvl_session_finish(s, w, (struct cvl_tick){ 9000 }, &err), 0);

	assert_int_equal(cvl_decode_parse(&d, "RX:100000", &err), 0);
	assert_true(cvl_decode_has(s, 0, "RX"));
	assert_false(cvl_decode_has(s, 0, "TX"));
	assert_int_equal(cvl_decode(s, 0, &d, NULL, NULL, &err), 0);
	assert_int_equal(cvl_session_clocks(s), 2);
	assert_int_equal(cvl_session_clock(s, 1)->same_as, 0);
	/*
	 * "one", the result of "two", the gap, "four"; half a byte of ten bits, and a tick, either
	 * way.
	 */
	read_back(s, 1, text, sizeof(text));
	assert_string_equal(text, "e51e51-e51");

	/* Again: it stands once, and stays if it is read wrongly. */
	assert_int_equal(cvl_decode(s, 0, &d, NULL, NULL, &err), 0);
	assert_int_equal(cvl_session_clocks(s), 2);
	d.baud = 10000;
	d.inverted = true;
	assert_int_equal(cvl_decode(s, 0, &d, NULL, NULL, &err), CVL_E_MISMATCH);
	assert_int_equal(cvl_session_clocks(s), 2);
	read_back(s, 1, text, sizeof(text));
	assert_string_equal(text, "e51e51-e51");
	cvl_session_close(s);
}

static void what_cannot_be_asked_for_is_said(void **state)
{
	static const char *const wrong[] = { "",           ":2M",          "A:fast",   "A:0",
					     "A:stream=0", "A:stream=200", "A:tpiu:x", "A:2M:" };
	struct cvl_decode d;
	struct cvl_error err;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		d = (struct cvl_decode){ .protocol = CVL_PROTOCOL_SWO };
		assert_int_equal(cvl_decode_parse(&d, wrong[i], &err), CVL_E_USAGE);
	}
	d = (struct cvl_decode){ .protocol = CVL_PROTOCOL_UART };
	assert_int_equal(cvl_decode_parse(&d, "A:tpiu", &err), CVL_E_USAGE);
	d = (struct cvl_decode){ .protocol = CVL_PROTOCOL_SWO };
	assert_int_equal(cvl_decode_parse(&d, "A:2M:manchester:stream=3:inverted", &err), 0);
	assert_string_equal(d.line, "A");
	assert_int_equal(d.baud, 2000000);
	assert_int_equal(d.stream, 3);
	assert_true(d.manchester && d.tpiu && d.inverted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gap_of_the_capture_is_a_gap_of_what_is_decoded),
		cmocka_unit_test(what_cannot_be_asked_for_is_said),
	};

	return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
