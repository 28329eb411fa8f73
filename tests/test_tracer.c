/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define TRACER_OFF_never 1
#define TRACER_POINTS "tracer_points.h"
#include "tracer/points.h"

#include "tracer/drain.h"
#include "tracer/metadata.h"
#include "tracer_read.h"

#define COUNT(table) (sizeof(table) / sizeof(*(table)))

/* A ring, its clock, and what came out of it. */
struct bed {
	struct tracer t;
	struct tracer_drain drain;
	struct cvl_trace *trace;
	uint32_t counter;
	uint64_t memory[8192];
	uint8_t out[1 << 20];
	size_t n;
	char text[1 << 16];
	size_t length;
};

static void begin(struct bed *b, enum tracer_mode mode, uint8_t packet_log2, uint32_t packets)
{
	const struct tracer_config config = { .platform = { .counter = &b->counter },
					      .mode = mode,
					      .packet_log2 = packet_log2,
					      .packets = packets,
					      .rate_hz = 1000000 };

	assert_int_equal(tracer_init(&b->t, b->memory, sizeof(b->memory), &config, &tracer_layout),
			 TRACER_OK);
	assert_int_equal(tracer_drain_open(&b->drain, b->memory, sizeof(b->memory)), TRACER_PACKET);
	b->n = 0;
}

static int set_up(void **state)
{
	struct bed *b = calloc(1, sizeof(*b));

	b->trace = read_metadata(&tracer_declared);
	*state = b;
	return 0;
}

static int tear_down(void **state)
{
	struct bed *b = *state;

	cvl_trace_close(b->trace);
	free(b);
	return 0;
}

/* All packets that are complete. Returns how many. */
static unsigned drain(struct bed *b)
{
	unsigned packets = 0;

	while (tracer_drain_read(&b->drain, b->out + b->n) == TRACER_PACKET) {
		b->n += b->drain.packet_bits / 8;
		packets++;
		assert_true(b->n + b->drain.packet_bits / 8 <= sizeof(b->out));
	}
	return packets;
}

static void put(struct bed *b, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	b->length +=
		(size_t)vsnprintf(b->text + b->length, sizeof(b->text) - b->length, format, ap);
	va_end(ap);
	assert_true(b->length < sizeof(b->text));
}

static void write_event(void *ctx, const struct read_event *e)
{
	struct bed *b = ctx;

	put(b, "%s@%llu", e->name ? e->name : "gap", (unsigned long long)e->tick);
	if (e->late)
		put(b, "<");
	if (!e->name)
		put(b, "/%s/%lld", cvl_gap_name(e->why), (long long)e->lost);
	for (size_t i = 0; i < e->n; i++) {
		const struct cvl_value *v = &e->field[i];

		put(b, " ");
		if (v->type->kind == CVL_TYPE_STRING)
			put(b, "\"%.*s\"", (int)v->s.len, v->s.text);
		else if (v->type->kind == CVL_TYPE_FLOAT)
			put(b, "%g", v->f);
		else if (v->type->kind == CVL_TYPE_ENUM ? v->type->elem->is_signed :
							  v->type->is_signed)
			put(b, "%lld", (long long)v->i);
		else
			put(b, "%llu", (unsigned long long)v->u);
	}
	put(b, "\n");
}

/* What has been drained, as text. */
static const char *said(struct bed *b)
{
	b->length = 0;
	b->text[0] = '\0';
	assert_true(read_packets(b->trace, b->out, b->n, write_event, b) >= 0);
	return b->text;
}

static void fields_of_all_kinds_are_read_as_they_were_written(void **state)
{
	struct bed *b = *state;
	const uint16_t adc[] = { 1, 2, 3, 65535 };
	const enum trace_mode ms[] = { trace_mode_sleep, trace_mode_idle };
	const struct trace_mixed p = { 5, { -300, 300 }, { 7, 8, 255 }, trace_sign_minus };
	const int32_t s7[] = { -64, 63, -1 };

	begin(b, TRACE_STOP, 8, 4);
	b->counter = 10;
	trace_started(&b->t);
	b->counter = 11;
	trace_sample(&b->t, UINT32_MAX);
	trace_pair(&b->t, 200, 70000);
	b->counter = 13;
	trace_words(&b->t, "one", 31, "", UINT64_MAX);
	trace_words(&b->t, NULL, 1, "a longer one", 1);
	b->counter = 14;
	trace_everything(&b->t, 255, INT64_MIN, adc, "name", trace_mode_run, p, 6, -12345678901,
			 1.5F, -2.25, ms, s7);
	trace_never(&b->t, 1);
	assert_int_equal(drain(b), 0);
	tracer_flush(&b->t);
	assert_true(drain(b) >= 1);
	assert_string_equal(
		said(b),
		"started@10\n"
		"sample@11 4294967295\n"
		"pair@11 200 70000\n"
		"words@13 \"one\" 31 \"\" 18446744073709551615\n"
		"words@13 \"\" 1 \"a longer one\" 1\n"
		"everything@14 255 -9223372036854775808 1 2 3 65535 \"name\" 1 5 -300 300 7 8 255 -8 6"
		" -12345678901 1.5 -2.25 200 0 -64 63 -1\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(fields_of_all_kinds_are_read_as_they_were_written,
						set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
