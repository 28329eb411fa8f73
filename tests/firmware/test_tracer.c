/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <time.h>

#define TRACER_OFF_never 1
#define TRACER_POINTS "tracer_points.h"
#include "tracer/points.h"

#include "test_draw.h"
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
	uint8_t out[1 << 24];
	size_t n;
	char *text;
};

static struct tracer_config config_of(struct bed *b, enum tracer_mode mode, uint8_t packet_log2,
				      uint32_t packets)
{
	return (struct tracer_config){ .platform = { .counter = &b->counter },
				       .mode = mode,
				       .packet_log2 = packet_log2,
				       .packets = packets,
				       .rate_hz = 1000000 };
}

static void begin_as(struct bed *b, const struct tracer_config *config)
{
	assert_int_equal(tracer_init(&b->t, b->memory, sizeof(b->memory), config, &tracer_layout),
			 TRACER_OK);
	assert_int_equal(tracer_drain_open(&b->drain, b->memory, sizeof(b->memory)), TRACER_PACKET);
	b->n = 0;
}

static void begin(struct bed *b, enum tracer_mode mode, uint8_t packet_log2, uint32_t packets)
{
	const struct tracer_config config = config_of(b, mode, packet_log2, packets);

	begin_as(b, &config);
}

static int set_up(void **state)
{
	struct bed *b = calloc(1, sizeof(*b));

	if (!b)
		return -1;
	b->trace = read_metadata(&tracer_declared);
	*state = b;
	return 0;
}

static int tear_down(void **state)
{
	struct bed *b = *state;

	cvl_trace_close(b->trace);
	free(b->text);
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

/* What has been drained, as text. */
static const char *said(struct bed *b)
{
	free(b->text);
	b->text = read_all_text(b->trace, b->out, b->n);
	assert_non_null(b->text);
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

static void strings_are_cut_where_there_is_no_room(void **state)
{
	struct bed *b = *state;
	char longest[2 * TRACER_STRING_BYTES], expected[400];

	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	begin(b, TRACE_STREAM, 8, 2);
	b->counter = 1;
	trace_words(&b->t, longest, 1, longest + sizeof(longest) - TRACER_STRING_BYTES, 2);
	tracer_flush(&b->t);
	drain(b);
	snprintf(expected, sizeof(expected), "words@1 \"%.*s\" 1 \"%s\" 2\n",
		 TRACER_STRING_BYTES - 1, longest, longest + sizeof(longest) - TRACER_STRING_BYTES);
	assert_string_equal(said(b), expected);
	/* two of them with the rest do not fit a packet of 128 bytes: lost, and counted */
	begin(b, TRACE_STREAM, 7, 2);
	trace_words(&b->t, longest, 1, longest, 2);
	trace_sample(&b->t, 3);
	tracer_flush(&b->t);
	drain(b);
	assert_string_equal(said(b), "gap@1/discarded/1\nsample@1 3\n");
}

static void what_is_switched_off_is_not_there(void **state)
{
	struct bed *b = *state;

	begin(b, TRACE_STREAM, 8, 2);
	b->counter = 14;
	tracer_switch(&b->t, trace_id_sample, 0);
	trace_sample(&b->t, 1);
	trace_pair(&b->t, 1, 2);
	tracer_switch(&b->t, trace_id_sample, 1);
	trace_sample(&b->t, 2);
	trace_never(&b->t, 3);
	tracer_flush(&b->t);
	drain(b);
	assert_string_equal(said(b), "pair@14 1 2\nsample@14 2\n");
}

/* ---- full rings ---- */

static void count_numbers(void *ctx, const struct read_event *e)
{
	uint64_t *seen = ctx; /* next number, events, lost */

	if (!e->name) {
		assert_int_equal(e->why, CVL_GAP_DISCARDED);
		seen[2] += e->lost;
	} else {
		assert_string_equal(e->name, "sample");
		assert_true(e->n == 1 && e->field[0].u >= seen[0]);
		seen[0] = e->field[0].u + 1;
		seen[1]++;
	}
	assert_false(e->late);
}

/* A packet of 128 bytes holds 6 samples of 12 bytes. */
static void a_ring_that_stops_keeps_the_beginning(void **state)
{
	struct bed *b = *state;
	uint64_t seen[3] = { 0 };

	begin(b, TRACE_STOP, 7, 4);
	for (uint32_t i = 0; i < 100; i++) {
		b->counter++;
		trace_sample(&b->t, i);
		if (i == 50)
			drain(b);
	}
	tracer_flush(&b->t);
	drain(b);
	assert_int_equal(read_packets(b->trace, b->out, b->n, count_numbers, seen), 24);
	assert_int_equal(seen[0], 24);
	assert_int_equal(tracer_drain_lost(&b->drain), 76);
}

static void a_ring_that_overwrites_keeps_the_end(void **state)
{
	struct bed *b = *state;
	uint64_t seen[3] = { 0 };

	begin(b, TRACE_OVERWRITE, 7, 4);
	for (uint32_t i = 0; i < 100; i++) {
		b->counter++;
		trace_sample(&b->t, i);
	}
	tracer_flush(&b->t);
	drain(b);
	assert_int_equal(read_packets(b->trace, b->out, b->n, count_numbers, seen), 22);
	assert_int_equal(seen[0], 100);
	assert_int_equal(b->drain.overtaken, 13);
	assert_int_equal(tracer_drain_lost(&b->drain), 0);
}

static void a_stream_counts_what_it_drops_and_a_packet_tells(void **state)
{
	struct bed *b = *state;
	struct draw d = draw_begin(1);

	for (unsigned round = 0; round < 200; round++) {
		uint64_t seen[3] = { 0 };
		uint32_t begun = 0;

		begin(b, TRACE_STREAM, 7, 2u << draw_below(&d, 3));
		while (begun < 1000) {
			for (uint64_t n = draw_below(&d, 60); n--;) {
				b->counter += (uint32_t)draw_below(&d, 3);
				trace_sample(&b->t, begun++);
			}
			if (draw_below(&d, 2))
				tracer_flush(&b->t);
			drain(b);
		}
		for (unsigned i = 0; i < 2; i++) {
			tracer_flush(&b->t);
			drain(b);
		}
		assert_true(read_packets(b->trace, b->out, b->n, count_numbers, seen) >= 0);
		assert_int_equal(seen[2], tracer_drain_lost(&b->drain));
		assert_int_equal(seen[1] + seen[2], begun);
	}
}

/* ---- time ---- */

/* Events of which each shows the time at which it happened. */
static void check_time(void *ctx, const struct read_event *e)
{
	unsigned *events = ctx;

	assert_non_null(e->name);
	assert_false(e->late);
	if (!strcmp(e->name, "words")) {
		assert_int_equal(e->tick, e->field[3].u);
		(*events)++;
	}
}

static uint64_t clock_64(void *ctx)
{
	return *(uint64_t *)ctx;
}

static uint32_t clock_32(void *ctx)
{
	return (uint32_t) * (uint64_t *)ctx;
}

/* Silence of any length; time is kept at least once in half a period of 32 bits. */
static void times_are_right_across_wraps_and_silence(void **state)
{
	struct bed *b = *state;
	struct draw d = draw_begin(2);

	for (unsigned round = 0; round < 60; round++) {
		uint64_t now = draw_u64(&d) >> 32, from;
		struct tracer_config config = config_of(b, TRACE_STREAM, 8, 8);
		unsigned begun = 0, seen = 0;

		/* a counter has 32 bits, wherever it begins; a clock of 64 may begin anywhere */
		if (round % 3) {
			config.platform.counter = NULL;
			config.platform.ctx = &now;
		}
		if (round % 3 == 1)
			config.platform.clock32 = clock_32;
		if (round % 3 == 2) {
			config.platform.clock64 = clock_64;
			now = draw_size(&d, 62);
		}
		b->counter = (uint32_t)now;
		begin_as(b, &config);
		from = now;
		while (now - from < 40ull << 32) {
			for (uint64_t n = draw_below(&d, 12); n--;) {
				trace_words(&b->t, "", 0, "", now);
				begun++;
				now += draw_size(&d, 20);
				b->counter = (uint32_t)now;
			}
			for (uint64_t n = draw_below(&d, 5); n--;) {
				tracer_keep_time(&b->t);
				now += draw_size(&d, 31) % ((1u << 31) - (1u << 24));
				b->counter = (uint32_t)now;
			}
			tracer_keep_time(&b->t);
			if (draw_below(&d, 3) == 0)
				tracer_flush(&b->t);
			drain(b);
		}
		assert_int_equal(tracer_time(&b->t), now);
		tracer_flush(&b->t);
		drain(b);
		assert_true(read_packets(b->trace, b->out, b->n, check_time, &seen) >= 0);
		assert_int_equal(tracer_drain_lost(&b->drain), 0);
		assert_int_equal(seen, begun);
	}
}

/* ---- drains ---- */

static void a_drain_that_is_overtaken_says_so(void **state)
{
	struct bed *b = *state;
	const struct tracer_packet *packet;
	uint64_t seen[3] = { 0 };
	uint32_t i = 0;

	begin(b, TRACE_OVERWRITE, 7, 4);
	while (i < 12)
		trace_sample(&b->t, i++);
	assert_int_equal(tracer_drain_look(&b->drain, &packet), TRACER_PACKET);
	assert_int_equal(packet->packet_seq_num, 0);
	while (i < 24) /* the ring is full, and packet 0 in its place */
		trace_sample(&b->t, i++);
	assert_int_equal(tracer_drain_pass(&b->drain), 1);
	assert_int_equal(tracer_drain_look(&b->drain, &packet), TRACER_PACKET);
	assert_int_equal(packet->packet_seq_num, 1);
	while (i < 31) /* packets 4 and 5 are in the place of 0 and 1 */
		trace_sample(&b->t, i++);
	assert_int_equal(tracer_drain_pass(&b->drain), 0);
	assert_int_equal(b->drain.overtaken, 1);
	tracer_flush(&b->t);
	assert_int_equal(drain(b), 4);
	assert_int_equal(read_packets(b->trace, b->out, b->n, count_numbers, seen), 19);
	assert_int_equal(seen[0], 31);
}

static void a_core_that_begins_again_is_another_epoch(void **state)
{
	struct bed *b = *state;
	const struct tracer_config config = config_of(b, TRACE_STREAM, 7, 4);

	memset(b->memory, 0xaa, sizeof(b->memory));
	begin_as(b, &config);
	assert_int_equal(b->drain.boot, 1);
	trace_sample(&b->t, 1);
	tracer_flush(&b->t);
	assert_int_equal(tracer_init(&b->t, b->memory, sizeof(b->memory), &config, &tracer_layout),
			 0);
	assert_int_equal(tracer_drain_read(&b->drain, b->out), TRACER_RESET);
	assert_int_equal(tracer_drain_open(&b->drain, b->memory, sizeof(b->memory)), TRACER_PACKET);
	assert_int_equal(b->drain.boot, 2);
	b->t.ring->magic = 0;
	assert_int_equal(tracer_drain_read(&b->drain, b->out), TRACER_RESET);
	assert_int_equal(tracer_drain_open(&b->drain, b->memory, sizeof(b->memory)), TRACER_NONE);
}

static void an_event_that_is_not_done_holds_packets_back(void **state)
{
	struct bed *b = *state;
	struct tracer_slot slot = { 0 };
	uint32_t i = 0;

	begin(b, TRACE_OVERWRITE, 7, 2);
	assert_true(tracer_begin(&b->t, 96, trace_id_sample, &slot));
	while (i < 30)
		trace_sample(&b->t, i++);
	assert_int_equal(drain(b), 0);
	assert_int_equal(tracer_drain_lost(&b->drain), 30 - 5 - 6); /* nor is it overwritten */
	tracer_end(&b->t, &slot, 96);
	assert_int_equal(drain(b), 2);
}

/* Whatever the memory holds, no drain reads outside of it. */
static void any_memory_can_be_looked_at(void **state)
{
	struct bed *b = *state;
	struct draw d = draw_begin(3);
	unsigned opened = 0;

	for (unsigned round = 0; round < 20000; round++) {
		size_t bytes = 64 + 8 * draw_below(&d, 100);
		uint64_t *memory = malloc(bytes);
		struct tracer_drain drain;
		const struct tracer_packet *packet;

		assert_non_null(memory);
		begin(b, (enum tracer_mode)draw_below(&d, 3), 7, 2);
		for (uint32_t i = 0; i < 20; i++)
			trace_sample(&b->t, i);
		memcpy(memory, b->memory, bytes);
		for (uint64_t n = draw_below(&d, 6); n--;)
			((uint8_t *)memory)[draw_below(&d, draw_below(&d, 2) ? 64 : bytes)] =
				(uint8_t)draw_u64(&d);
		if (tracer_drain_open(&drain, memory, bytes) == TRACER_PACKET) {
			opened++;
			for (unsigned i = 0; i < 8; i++) {
				enum tracer_drained got = tracer_drain_look(&drain, &packet);

				if (got == TRACER_NONE || got == TRACER_RESET)
					break;
				assert_in_range((uintptr_t)packet, (uintptr_t)memory,
						(uintptr_t)memory + bytes - drain.packet_bits / 8);
				((uint32_t *)memory)[draw_below(&d, 16)] ^=
					(uint32_t)draw_size(&d, 32);
				tracer_drain_pass(&drain);
			}
		}
		free(memory);
	}
	assert_true(opened > 1000);
}

static void what_cannot_be_is_refused(void **state)
{
	struct bed *b = *state;
	static const struct {
		uint8_t packet_log2;
		uint32_t packets, mode, bytes;
		enum tracer_refusal why;
	} cases[] = {
		{ 6, 4, TRACE_STOP, 65536, TRACER_BAD_SIZES },
		{ 25, 2, TRACE_STOP, 65536, TRACER_BAD_SIZES },
		{ 7, 1, TRACE_STOP, 65536, TRACER_BAD_SIZES },
		{ 7, 3, TRACE_STOP, 65536, TRACER_BAD_SIZES },
		{ 7, 0, TRACE_STOP, 65536, TRACER_BAD_SIZES },
		{ 24, 16, TRACE_STOP, 65536, TRACER_BAD_SIZES },
		{ 8, 4, TRACE_STOP, TRACER_RING_BYTES(8, 4) - 1, TRACER_BAD_SIZES },
		{ 8, 4, TRACE_MODES, 65536, TRACER_BAD_MODE },
	};
	const struct tracer_layout large = { 1, 256 - 44 };
	struct tracer_config config;

	for (size_t i = 0; i < COUNT(cases); i++) {
		config = config_of(b, (enum tracer_mode)cases[i].mode, cases[i].packet_log2,
				   cases[i].packets);
		assert_int_equal(
			tracer_init(&b->t, b->memory, cases[i].bytes, &config, &tracer_layout),
			cases[i].why);
	}
	config = config_of(b, TRACE_STOP, 8, 4);
	assert_int_equal(tracer_init(&b->t, (char *)b->memory + 4, 60000, &config, &tracer_layout),
			 TRACER_BAD_SIZES);
	assert_int_equal(tracer_init(&b->t, b->memory, sizeof(b->memory), &config, &large),
			 TRACER_TOO_LARGE);
	config.platform.counter = NULL;
	assert_int_equal(tracer_init(&b->t, b->memory, sizeof(b->memory), &config, &tracer_layout),
			 TRACER_NO_CLOCK);
}

/* ---- threads ---- */

#define THREADS 4
#define EACH 20000

struct job {
	struct bed *bed;
	uint8_t who;
};

static uint32_t microseconds(void *ctx)
{
	struct timespec now;

	(void)ctx;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint32_t)(now.tv_sec * 1000000 + now.tv_nsec / 1000);
}

static void *trace_pairs(void *ctx)
{
	const struct job *job = ctx;

	for (uint32_t i = 0; i < EACH; i++)
		trace_pair(&job->bed->t, job->who, i);
	return NULL;
}

struct tally {
	uint64_t next[THREADS], events, lost, before;
};

static void count_pairs(void *ctx, const struct read_event *e)
{
	struct tally *s = ctx;

	assert_false(e->late);
	if (!e->name) {
		assert_int_equal(e->why, CVL_GAP_DISCARDED);
		s->lost += e->lost;
		return;
	}
	/* a stamp that goes back looks like one that has wrapped */
	assert_true(!s->events || e->tick - s->before < 1u << 31);
	s->before = e->tick;
	assert_true(e->field[0].u < THREADS);
	assert_true(e->field[1].u >= s->next[e->field[0].u] && e->field[1].u < EACH);
	s->next[e->field[0].u] = e->field[1].u + 1;
	s->events++;
}

static void threads_may_share_a_ring(void **state)
{
	struct bed *b = *state;
	struct tracer_config config = config_of(b, TRACE_STREAM, 8, 64);
	pthread_t thread[THREADS];
	struct job job[THREADS];
	struct tally seen = { 0 };

	config.platform = (struct tracer_platform){ .clock32 = microseconds };
	begin_as(b, &config);
	for (uint8_t i = 0; i < THREADS; i++) {
		job[i] = (struct job){ b, i };
		assert_int_equal(pthread_create(&thread[i], NULL, trace_pairs, &job[i]), 0);
	}
	/* a third of the events is drained meanwhile */
	for (unsigned packets = 0; packets < THREADS * EACH / 13 / 3; packets += drain(b))
		if (b->t.ring->lost + packets * 13 > THREADS * EACH - 13 * 64)
			break;
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (unsigned i = 0; i < 2; i++) {
		drain(b);
		tracer_flush(&b->t);
	}
	drain(b);
	assert_true(read_packets(b->trace, b->out, b->n, count_pairs, &seen) >= 0);
	assert_int_equal(seen.lost, tracer_drain_lost(&b->drain));
	assert_int_equal(seen.events + seen.lost, THREADS * EACH);
}

int main(void)
{
#define IN_A_BED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		IN_A_BED(fields_of_all_kinds_are_read_as_they_were_written),
		IN_A_BED(strings_are_cut_where_there_is_no_room),
		IN_A_BED(what_is_switched_off_is_not_there),
		IN_A_BED(a_ring_that_stops_keeps_the_beginning),
		IN_A_BED(a_ring_that_overwrites_keeps_the_end),
		IN_A_BED(a_stream_counts_what_it_drops_and_a_packet_tells),
		IN_A_BED(times_are_right_across_wraps_and_silence),
		IN_A_BED(a_drain_that_is_overtaken_says_so),
		IN_A_BED(a_core_that_begins_again_is_another_epoch),
		IN_A_BED(an_event_that_is_not_done_holds_packets_back),
		IN_A_BED(any_memory_can_be_looked_at),
		IN_A_BED(what_cannot_be_is_refused),
		IN_A_BED(threads_may_share_a_ring),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
