/* SPDX-License-Identifier: MIT */
/* From the ring of a tracer over a line to the packets that a host reads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define TRACER_POINTS "tracer_points.h"
#include "tracer/points.h"

#include "decode/packet_row.h"
#include "decode/unpack.h"
#include "sim/devices/swo_encode.h"
#include "test_draw.h"
#include "tracer/metadata.h"
#include "tracer/platform/swo.h"
#include "tracer_read.h"

#include <coeval/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test_scratch.h"

#define LINE_BYTES (4u << 20)

/* A ring, its link, and what has come out at the other end. */
struct bed {
	struct tracer t;
	struct tracer_link link;
	uint32_t counter, written;
	struct unpack unpack;
	struct cvl_trace *trace;
	uint8_t *line, *packets;
	size_t n, got;
	uint32_t seen, lost, expected;
	uint64_t memory[16384];
};

static void begin(struct bed *b, enum tracer_mode mode, uint8_t packet_log2, uint32_t packets)
{
	const struct tracer_config config = { .platform = { .counter = &b->counter },
					      .mode = mode,
					      .packet_log2 = packet_log2,
					      .packets = packets };

	b->counter = 0;
	assert_int_equal(tracer_init(&b->t, b->memory, sizeof(b->memory), &config, &tracer_layout),
			 TRACER_OK);
	tracer_link_init(&b->link, b->memory, sizeof(b->memory));
	b->n = b->got = 0;
	b->written = b->seen = b->lost = b->expected = 0;
}

static int set_up(void **state)
{
	struct bed *b = calloc(1, sizeof(*b));

	b->line = malloc(LINE_BYTES);
	b->packets = malloc(LINE_BYTES);
	b->trace = read_metadata(&tracer_declared);
	*state = b;
	return 0;
}

static int tear_down(void **state)
{
	struct bed *b = *state;

	cvl_trace_close(b->trace);
	free(b->line);
	free(b->packets);
	free(b);
	return 0;
}

static void write_events(struct bed *b, uint64_t n)
{
	while (n--) {
		b->counter += 3;
		trace_sample(&b->t, b->written++);
	}
}

/* Send up to @n bytes, in pieces of up to @piece. Returns whether the line has nothing more. */
static bool line_takes(struct bed *b, struct draw *d, uint64_t n, uint32_t piece)
{
	while (n) {
		uint32_t most = 1 + (uint32_t)draw_below(d, piece);
		const uint8_t *bytes;

		most = most < n ? most : (uint32_t)n;
		most = tracer_link_take(&b->link, most, &bytes);
		if (!most)
			return true;
		assert_true(b->n + most <= LINE_BYTES);
		memcpy(b->line + b->n, bytes, most);
		b->n += most;
		n -= most;
	}
	return false;
}

static int keep(void *ctx, struct tracer_packet *p, size_t n, struct cvl_error *err)
{
	struct bed *b = ctx;

	(void)err;
	/* trimmed to what is in it */
	assert_true(p->packet_size - p->content_size < 32);
	memcpy(b->packets + b->got, p, n);
	b->got += n;
	return 0;
}

/* Each event is one of those that were written, in their order. */
static void see(void *ctx, const struct read_event *e)
{
	struct bed *b = ctx;

	if (!e->name) {
		b->lost += (uint32_t)e->lost;
		return;
	}
	assert_string_equal(e->name, "sample");
	assert_true(e->field[0].u >= b->expected);
	assert_int_equal(e->tick, 3 * (e->field[0].u + 1));
	b->expected = (uint32_t)e->field[0].u + 1;
	b->seen++;
}

static void read_line(struct bed *b)
{
	unpack_init(&b->unpack, tracer_layout.number, keep, b);
	assert_int_equal(unpack_push(&b->unpack, b->line, b->n, NULL), 0);
	assert_int_equal(unpack_end(&b->unpack, NULL), 0);
	assert_true(read_packets(b->trace, b->packets, b->got, see, b) >= 0);
}

static void a_line_as_fast_as_it_likes_gives_all_or_counts_it(void **state)
{
	struct bed *b = *state;
	struct draw d = draw_begin(__LINE__);

	for (unsigned round = 0; round < 60; round++) {
		begin(b, TRACE_STREAM, (uint8_t)(7 + draw_below(&d, 5)), 2u << draw_below(&d, 4));
		for (unsigned k = 0; k < 300; k++) {
			write_events(b, draw_below(&d, 60));
			if (!draw_below(&d, 10))
				tracer_flush(&b->t);
			line_takes(b, &d, draw_below(&d, 1200), 1 + (uint32_t)draw_below(&d, 400));
		}
		line_takes(b, &d, UINT64_MAX, 100);
		tracer_flush(&b->t);
		line_takes(b, &d, UINT64_MAX, 100);
		assert_false(tracer_link_waits(&b->link));
		read_line(b);
		assert_int_equal(b->unpack.skipped, 0);
		assert_int_equal(b->seen + b->lost, b->written);
		assert_int_equal(b->lost, b->t.ring->lost);
	}
}

/* What is overwritten while it is on its way has a wrong checksum; everything else is whole. */
static void what_is_overwritten_while_it_is_sent_is_left_out(void **state)
{
	struct bed *b = *state;
	struct draw d = draw_begin(__LINE__);
	unsigned spoilt = 0;

	for (unsigned round = 0; round < 60; round++) {
		begin(b, TRACE_OVERWRITE, 8, 4);
		for (unsigned k = 0; k < 200; k++) {
			write_events(b, draw_below(&d, 40));
			line_takes(b, &d, draw_below(&d, 300), 50);
		}
		tracer_flush(&b->t);
		line_takes(b, &d, UINT64_MAX, 50);
		read_line(b);
		spoilt += b->unpack.skipped != 0;
		assert_int_equal(b->expected, b->written);
	}
	assert_true(spoilt > 0);
}

static void a_ring_that_is_not_there_yet_is_waited_for(void **state)
{
	struct bed *b = *state;

	memset(b->memory, 0, sizeof(b->memory));
	tracer_link_init(&b->link, b->memory, sizeof(b->memory));
	assert_int_equal(tracer_link_byte(&b->link), -1);
	begin(b, TRACE_STREAM, 8, 4);
	assert_int_equal(tracer_link_byte(&b->link), -1);
	write_events(b, 1);
	tracer_flush(&b->t);
	assert_int_equal(tracer_link_byte(&b->link), TRACE_PACKET_MAGIC & 0xff);
}

/* ---- a stimulus port ---- */

struct swo {
	FILE *f;
	uint32_t page;
	unsigned dropped; /* of words that a full FIFO of the trace unit dropped */
};

static void put_word(struct swo *s, uint32_t port, uint32_t value)
{
	const struct itm_packet p = {
		.kind = ITM_SOFTWARE, .source = port, .value = value, .size = 4
	};
	uint8_t bytes[SWO_PACKET_MAX];
	size_t n = swo_put_packet(&s->page, &p, bytes);

	assert_int_equal(fwrite(bytes, 1, n, s->f), n);
}

/* All that the link has, a word at a time as the FIFO has room; some words are lost on the way. */
static void send_words(struct bed *b, struct swo *s, struct draw *d, unsigned port, bool lossy)
{
	volatile uint32_t fifo = 1;

	for (;;) {
		if (!draw_below(d, 4)) {
			fifo = 0; /* full: nothing is written */
			assert_int_equal(tracer_swo_send(&b->link, &fifo, 1), 0);
			fifo = 1;
		}
		if (!tracer_swo_send(&b->link, &fifo, 1))
			return;
		if (lossy && !draw_below(d, 400)) {
			const struct itm_packet overflow = { .kind = ITM_OVERFLOW };
			uint8_t bytes[SWO_PACKET_MAX];

			assert_true(fwrite(bytes, 1, swo_put_packet(&s->page, &overflow, bytes),
					   s->f) > 0);
			s->dropped++;
		} else {
			put_word(s, port, fifo);
		}
		if (!draw_below(d, 8)) /* other output in between */
			put_word(s, 0, (uint32_t)draw_u64(d));
		fifo = 1;
	}
}

/* The last clock of @s, read to its end. */
static void see_clock(struct bed *b, const struct cvl_session *s)
{
	const struct cvl_clock *c = cvl_session_clock(s, cvl_session_clocks(s) - 1);
	char path[4096];
	FILE *f;

	assert_string_equal(c->name, "board-port2");
	snprintf(path, sizeof(path), "%s/stream", c->trace);
	f = fopen(path, "rb");
	assert_non_null(f);
	b->got = fread(b->packets, 1, LINE_BYTES, f);
	fclose(f);
	assert_true(read_packets(b->trace, b->packets, b->got, see, b) >= 0);
}

static void write_metadata(const char *path)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(tracer_metadata(f, &tracer_declared, &(struct tracer_origin){ 0 }), 0);
	fclose(f);
}

static void through_swo(struct bed *b, struct draw *d, unsigned round, bool lossy)
{
	const struct cvl_import_opts opts = { .node = "board" };
	char bytes[300], metadata[300], session[300];
	struct cvl_session *s;
	struct cvl_error err;
	struct swo swo = { 0 };

	snprintf(bytes, sizeof(bytes), "%s/swo%u", scratch, round);
	snprintf(metadata, sizeof(metadata), "%s/metadata", scratch);
	snprintf(session, sizeof(session), "%s/s%u", scratch, round);
	write_metadata(metadata);
	swo.f = fopen(bytes, "wb");
	begin(b, TRACE_STREAM, 8, 8);
	for (unsigned k = 0; k < 100; k++) {
		write_events(b, draw_below(d, 150));
		tracer_flush(&b->t);
		send_words(b, &swo, d, 2, lossy);
	}
	tracer_flush(&b->t); /* tells what the full ring lost since */
	send_words(b, &swo, d, 2, lossy);
	fclose(swo.f);
	assert_int_equal(cvl_session_create(&s, session, &err), 0);
	assert_int_equal(cvl_import(s, bytes, "itm", &opts, &err), 0);
	assert_int_equal(cvl_decode_port(s, 0, 1, metadata, NULL, NULL, &err), CVL_E_MISMATCH);
	assert_int_equal(cvl_decode_port(s, 0, 2, metadata, NULL, NULL, &err), 0);
	assert_int_equal(cvl_decode_port(s, 0, 2, metadata, NULL, NULL, &err), CVL_E_USAGE);
	see_clock(b, s);
	cvl_session_close(s);
	if (lossy)
		assert_true(swo.dropped > 0 && b->seen < b->written);
	else
		assert_int_equal(b->seen + b->lost, b->written);
}

static void a_stimulus_port_carries_them_between_other_packets(void **state)
{
	struct draw d = draw_begin(__LINE__);

	through_swo(*state, &d, 0, false);
}

/* Packets with a lost word are left out; nothing that was not written is read. */
static void words_that_swo_drops_cost_their_packets(void **state)
{
	struct draw d = draw_begin(__LINE__);

	through_swo(*state, &d, 1, true);
}

/* ---- the row of packets ---- */

static enum packet_row_is row(struct packet_row *r, uint16_t boot, uint32_t number, uint8_t content)
{
	struct {
		struct tracer_packet p;
		uint8_t content[4];
	} packet = { .p = { .boot = boot, .packet_seq_num = number }, .content = { content } };

	return packet_row_put(r, &packet.p, sizeof(packet));
}

static void repeats_and_resets_are_told_apart(void **state)
{
	struct packet_row r = { 0 };

	(void)state;
	assert_int_equal(row(&r, 1, 0, 'a'), PACKET_FOLLOWS);
	assert_int_equal(row(&r, 1, 1, 'a'), PACKET_FOLLOWS);
	assert_int_equal(row(&r, 1, 1, 'a'), PACKET_REPEATED);
	assert_int_equal(row(&r, 1, 0, 'a'), PACKET_REPEATED);
	assert_int_equal(row(&r, 1, 500, 'a'), PACKET_FOLLOWS); /* some are missing */
	assert_int_equal(row(&r, 1, 400, 'b'), PACKET_REPEATED);
	/* the same boot, and another first packet: its memory lost the count */
	assert_int_equal(row(&r, 1, 0, 'b'), PACKET_RESTARTED);
	assert_int_equal(row(&r, 1, 1, 'b'), PACKET_FOLLOWS);
	assert_int_equal(row(&r, 2, 7, 'b'), PACKET_RESTARTED);
	assert_int_equal(row(&r, 2, 8, 'b'), PACKET_FOLLOWS);
	/* the first one of a third start is lost */
	for (uint32_t i = 9; i < 200; i++)
		assert_int_equal(row(&r, 2, i, 'b'), PACKET_FOLLOWS);
	assert_int_equal(row(&r, 2, 3, 'c'), PACKET_RESTARTED);
	assert_int_equal(row(&r, 2, 4, 'c'), PACKET_FOLLOWS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(a_line_as_fast_as_it_likes_gives_all_or_counts_it),
		TEST(what_is_overwritten_while_it_is_sent_is_left_out),
		TEST(a_ring_that_is_not_there_yet_is_waited_for),
		TEST(a_stimulus_port_carries_them_between_other_packets),
		TEST(words_that_swo_drops_cost_their_packets),
		cmocka_unit_test(repeats_and_resets_are_told_apart),
	};

	return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
