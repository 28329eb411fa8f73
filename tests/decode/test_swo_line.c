/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/random.h"
#include "decode/manchester.h"
#include "decode/tpiu.h"
#include "decode/uart.h"
#include "sim/devices/swo_encode.h"
#include "sim/devices/swo_round.h"

#define BYTES_MAX 8192
#define EDGES_MAX (BYTES_MAX * 20)

/* ---- a line as a sampling analyzer sees it ---- */

struct seen {
	uint64_t tick[EDGES_MAX];
	bool level[EDGES_MAX];
	size_t n;
	bool inverted;
	double phase;
};

/* Times are in ticks; a change is seen at the next one. */
static void see(void *ctx, double time, bool level)
{
	struct seen *s = ctx;

	assert_true(s->n < EDGES_MAX);
	s->tick[s->n] = (uint64_t)ceil(time + s->phase);
	s->level[s->n++] = level ^ s->inverted;
}

struct got {
	uint8_t byte[BYTES_MAX];
	uint64_t from[BYTES_MAX], to[BYTES_MAX];
	size_t n, broken;
};

static void take(void *ctx, const struct line_byte *b)
{
	struct got *g = ctx;

	if (b->broken) {
		g->broken++;
		return;
	}
	assert_true(g->n < BYTES_MAX);
	g->from[g->n] = b->from;
	g->to[g->n] = b->to;
	g->byte[g->n++] = b->value;
}

static void decode_uart(const struct seen *s, double bit, bool inverted, struct uart *u,
			struct got *g)
{
	const struct uart_opts opts = { .bit = bit, .inverted = inverted };
	const struct line_sink sink = { take, g };

	g->n = g->broken = 0;
	uart_init(u, &opts, &sink);
	uart_edge(u, 0, !s->inverted);
	for (size_t i = 0; i < s->n; i++)
		uart_edge(u, s->tick[i], s->level[i]);
	uart_end(u, s->tick[s->n - 1] + (uint64_t)(20 * u->bit) + 1000);
}

static void decode_manchester(const struct seen *s, double bit, bool inverted, struct manchester *m,
			      struct got *g)
{
	const struct manchester_opts opts = { .bit = bit, .inverted = inverted };
	const struct line_sink sink = { take, g };

	g->n = g->broken = 0;
	manchester_init(m, &opts, &sink);
	manchester_edge(m, 0, s->inverted);
	for (size_t i = 0; i < s->n; i++)
		manchester_edge(m, s->tick[i], s->level[i]);
	manchester_end(m, s->tick[s->n - 1] + (uint64_t)(20 * m->bit) + 1000);
}

static struct seen seen;
static struct got got;
static struct uart uart;
static struct manchester manchester;

static void begin(struct swo_line *l, bool of_manchester, double bit, struct sim_random *r)
{
	seen.n = 0;
	seen.inverted = false;
	seen.phase = r ? sim_uniform(r) : 0;
	swo_line_init(l, of_manchester, bit, see, &seen);
	l->free = 100 + 20 * bit;
}

/* ---- facts ---- */

static void uart_bytes_have_the_ticks_of_their_frames(void **state)
{
	struct swo_line l;

	(void)state;
	begin(&l, false, 10, NULL);
	l.free = 50;
	swo_line_send(&l, 0, (const uint8_t *)"\x55\x00\xff", 3);
	decode_uart(&seen, 10, false, &uart, &got);
	assert_int_equal(got.n, 3);
	assert_memory_equal(got.byte, "\x55\x00\xff", 3);
	for (uint64_t i = 0; i < 3; i++) {
		assert_int_equal(got.from[i], 50 + 100 * i);
		assert_int_equal(got.to[i], 150 + 100 * i);
	}
}

/* Rates that differ by up to this much between sender and reader still give the bytes. */
static void uart_stands_four_percent(void **state)
{
	struct sim_random r = { 7 };
	uint8_t bytes[200];
	struct swo_line l;

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)sim_u64(&r);
	for (double off = -0.04; off <= 0.0401; off += 0.01) {
		begin(&l, false, 100, NULL);
		swo_line_send(&l, 0, bytes, sizeof(bytes));
		decode_uart(&seen, 100 * (1 + off), false, &uart, &got);
		assert_int_equal(got.n, sizeof(bytes));
		assert_memory_equal(got.byte, bytes, sizeof(bytes));
	}
}

static void uart_counts_framing_errors_and_finds_back(void **state)
{
	struct swo_line l;

	(void)state;
	begin(&l, false, 10, NULL);
	l.free = 0;
	see(&seen, 50, false); /* low for 15 bits: no byte */
	see(&seen, 200, true);
	l.free = 300;
	swo_line_send(&l, 0, (const uint8_t *)"ok", 2);
	decode_uart(&seen, 10, false, &uart, &got);
	assert_int_equal(got.broken, 1);
	assert_int_equal(uart.broken, 1);
	assert_int_equal(got.n, 2);
	assert_memory_equal(got.byte, "ok", 2);
}

static void a_glitch_is_no_byte(void **state)
{
	struct swo_line l;

	(void)state;
	begin(&l, false, 10, NULL);
	see(&seen, 50, false);
	see(&seen, 53, true);
	l.free = 200;
	swo_line_send(&l, 0, (const uint8_t *)"ok", 2);
	decode_uart(&seen, 10, false, &uart, &got);
	assert_int_equal(got.n, 2);
	assert_int_equal(got.broken, 0);
}

/* A byte with any frame; @flip: its parity bit is wrong. Returns when the next may begin. */
static double send_frame(double at, double bit, const struct uart_opts *o, uint8_t byte, bool flip)
{
	bool level = false, odd = false;

	see(&seen, at, false);
	for (unsigned i = 0; i <= o->data_bits; i++) {
		bool next = i < o->data_bits ? byte >> i & 1 : odd ^ (o->parity == 'O') ^ flip;

		if (i == o->data_bits && o->parity == 'N')
			break;
		odd ^= next;
		at += bit;
		if (next != level)
			see(&seen, at, next);
		level = next;
	}
	at += bit;
	if (!level)
		see(&seen, at, true);
	return at + o->stop_bits * bit;
}

static void frames_of_all_sorts_are_read(void **state)
{
	static const char parities[] = "NEO";
	const struct line_sink sink = { take, &got };
	struct sim_random r = { 11 };

	(void)state;
	for (unsigned sort = 0; sort < 4 * 3 * 2; sort++) {
		struct uart_opts o = { .bit = 10,
				       .data_bits = 5 + sort % 4,
				       .parity = parities[sort / 4 % 3],
				       .stop_bits = 1 + sort / 12 };
		size_t n = 0, flipped = 0;
		uint8_t bytes[300];
		double at = 100;

		seen.n = 0;
		seen.inverted = false;
		seen.phase = 0;
		for (size_t i = 0; i < sizeof(bytes); i++) {
			uint8_t byte = (uint8_t)(sim_u64(&r) & ((1u << o.data_bits) - 1));
			bool flip = o.parity != 'N' && sim_u64(&r) % 10 == 0;

			if (flip)
				flipped++;
			else
				bytes[n++] = byte;
			at = send_frame(at, o.bit, &o, byte, flip) +
			     (double)(sim_u64(&r) % 3 ? 0 : sim_u64(&r) % 60);
		}
		got.n = got.broken = 0;
		uart_init(&uart, &o, &sink);
		uart_edge(&uart, 0, true);
		for (size_t i = 0; i < seen.n; i++)
			uart_edge(&uart, seen.tick[i], seen.level[i]);
		uart_end(&uart, (uint64_t)at + 1000);
		assert_int_equal(got.n, n);
		assert_memory_equal(got.byte, bytes, n);
		assert_int_equal(got.broken, flipped);
		assert_int_equal(uart.parity_errors, flipped);
	}
}

static void the_rate_is_found_from_pulses(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 500; seed++) {
		struct sim_random r = { seed };
		double bit = 3 * pow(1000, sim_uniform(&r));
		uint8_t bytes[300];
		struct swo_line l;

		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = (uint8_t)(32 + sim_u64(&r) % 96);
		begin(&l, false, bit, &r);
		for (size_t i = 0; i < sizeof(bytes); i++)
			swo_line_send(&l,
				      l.free + (sim_u64(&r) % 4 ? 0 : 30 * bit * sim_uniform(&r)),
				      bytes + i, 1);
		decode_uart(&seen, 0, false, &uart, &got);
		if (fabs(uart.bit / bit - 1) > 0.01 || got.n != sizeof(bytes) ||
		    memcmp(got.byte, bytes, sizeof(bytes)) != 0)
			fail_msg("seed %llu: %g ticks, found %g; %zu bytes",
				 (unsigned long long)seed, bit, uart.bit, got.n);
	}
}

static void changes_of_other_lines_do_not_hide_the_rate(void **state)
{
	const struct uart_opts opts = { 0 };
	const struct line_sink sink = { take, &got };
	struct sim_random r = { 4 };
	uint8_t bytes[300];
	struct swo_line l;
	bool level = true;
	size_t next = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(32 + sim_u64(&r) % 96);
	begin(&l, false, 100, &r);
	for (size_t i = 0; i < sizeof(bytes); i++)
		swo_line_send(&l, l.free, bytes + i, 1);
	got.n = got.broken = 0;
	uart_init(&uart, &opts, &sink);
	uart_edge(&uart, 0, level);
	/* Another line changes every seven ticks. */
	for (uint64_t tick = 0; next < seen.n; tick += 7) {
		for (; next < seen.n && seen.tick[next] <= tick; next++) {
			level = seen.level[next];
			uart_edge(&uart, seen.tick[next], level);
		}
		uart_edge(&uart, tick, level);
	}
	uart_end(&uart, seen.tick[seen.n - 1] + 2000);
	assert_true(fabs(uart.bit / 100 - 1) < 0.01);
	assert_int_equal(got.n, sizeof(bytes));
	assert_memory_equal(got.byte, bytes, sizeof(bytes));
}

static void of_a_wrong_rate_and_an_inverted_line_the_right_ones_are_known(void **state)
{
	struct sim_random r = { 3 };
	uint8_t bytes[300];
	struct swo_line l;
	bool inverted;

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)sim_u64(&r);
	begin(&l, false, 16, &r);
	for (size_t i = 0; i < sizeof(bytes); i++)
		swo_line_send(&l, l.free + 200, bytes + i, 1);
	decode_uart(&seen, 10, false, &uart, &got);
	assert_true(uart.broken * 8 > uart.bytes);
	assert_true(fabs(uart_likely(&uart, &inverted) / 16 - 1) < 0.01);
	assert_false(inverted);

	begin(&l, false, 16, &r);
	seen.inverted = true;
	for (size_t i = 0; i < sizeof(bytes); i++)
		swo_line_send(&l, l.free + 200, bytes + i, 1);
	decode_uart(&seen, 16, false, &uart, &got);
	assert_true(uart.broken * 8 > uart.bytes);
	assert_true(fabs(uart_likely(&uart, &inverted) / 16 - 1) < 0.01);
	assert_true(inverted);
	decode_uart(&seen, 16, true, &uart, &got);
	assert_int_equal(got.n, sizeof(bytes));
	assert_memory_equal(got.byte, bytes, sizeof(bytes));
}

static void manchester_packets_of_any_length_come_back(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 500; seed++) {
		struct sim_random r = { seed };
		double bit = 6 * pow(100, sim_uniform(&r));
		uint8_t bytes[300];
		struct swo_line l;

		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = (uint8_t)sim_u64(&r);
		begin(&l, true, bit, &r);
		seen.inverted = seed % 3 == 0;
		for (size_t i = 0, n; i < sizeof(bytes); i += n) {
			n = 1 + sim_u64(&r) % 8;
			if (n > sizeof(bytes) - i)
				n = sizeof(bytes) - i;
			swo_line_send(&l, l.free + 10 * bit * sim_uniform(&r), bytes + i, n);
		}
		decode_manchester(&seen, seed % 2 ? bit : 0, seen.inverted, &manchester, &got);
		if (fabs(manchester.bit / bit - 1) > 0.01 || got.n != sizeof(bytes) || got.broken ||
		    memcmp(got.byte, bytes, sizeof(bytes)) != 0)
			fail_msg("seed %llu: %g ticks, found %g; %zu bytes",
				 (unsigned long long)seed, bit, manchester.bit, got.n);
	}
}

static void holes_and_nonsense_break_bytes_and_nothing_else(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct sim_random r = { seed };
		const struct uart_opts u_opts = { .bit = seed % 2 ? 5 : 0 };
		const struct manchester_opts m_opts = { .bit = seed % 2 ? 8 : 0 };
		const struct line_sink sink = { take, &got };
		uint64_t tick = 0;

		got.n = got.broken = 0;
		uart_init(&uart, &u_opts, &sink);
		manchester_init(&manchester, &m_opts, &sink);
		for (unsigned i = 0; i < 3000; i++) {
			tick += sim_u64(&r) % 40;
			if (sim_u64(&r) % 100) {
				uart_edge(&uart, tick, sim_u64(&r) % 2);
				manchester_edge(&manchester, tick, sim_u64(&r) % 2);
			} else {
				uart_hole(&uart, tick);
				manchester_hole(&manchester, tick);
			}
		}
		uart_end(&uart, tick);
		manchester_end(&manchester, tick);
		for (size_t i = 0; i < got.n; i++)
			assert_true(got.from[i] <= got.to[i] && got.to[i] <= tick + 80);
	}
}

/* ---- frames ---- */

struct streams {
	uint8_t byte[TPIU_STREAMS][BYTES_MAX];
	size_t n[TPIU_STREAMS];
	size_t holes;
};

static struct streams streams;

static void take_stream(void *ctx, const struct tpiu_byte *b)
{
	struct streams *s = ctx;

	assert_true(s->n[b->stream] < BYTES_MAX);
	s->byte[b->stream][s->n[b->stream]++] = b->value;
}

static void take_hole(void *ctx, uint64_t from, uint64_t to)
{
	struct streams *s = ctx;

	assert_true(from <= to);
	s->holes++;
}

static const struct tpiu_sink streams_sink = { take_stream, take_hole, &streams };
static struct tpiu tpiu;

static void decode_tpiu(const uint8_t *bytes, size_t n)
{
	const struct tpiu_counts *c = &tpiu.counts;

	memset(streams.n, 0, sizeof(streams.n));
	streams.holes = 0;
	tpiu_init(&tpiu, &streams_sink);
	for (size_t i = 0; i < n; i++)
		tpiu_feed(&tpiu, bytes[i], i, i);
	tpiu_end(&tpiu);
	/* Each byte is accounted for. */
	assert_int_equal(c->taken, n);
	assert_int_equal(c->taken, c->data + c->ids + c->flags + c->padding + c->sync + c->skipped);
}

static void a_frame_is_what_the_architecture_says(void **state)
{
	/*
	 * Full synchronisation; stream 1: its first byte is still of the stream before (none); then
	 * a half synchronisation.
	 */
	static const uint8_t bytes[] = { 0xff, 0xff, 0xff, 0x7f, 0x03, 0x11, 0x22, 0x33,
					 0xff, 0x7f, 0x05, 0x44, 0x54, 0x66, 0x00, 0x00,
					 0x00, 0x00, 0x00, 0x00, 0x00, 0x0c };
	/*
	 *  place 0: stream 1 at once; 1: 11; 2: 22, bit 0 from flag 1 (0); 3: 33; 4: stream 2
	 *  behind the next byte (flag 2); 5: 44 of stream 1; 6: 54, bit 0 from flag 3 (1): 55; 7:
	 *  66; then zeros of stream 2
	 */
	(void)state;
	decode_tpiu(bytes, sizeof(bytes));
	assert_int_equal(streams.n[1], 4);
	assert_memory_equal(streams.byte[1], "\x11\x22\x33\x44", 4);
	assert_int_equal(streams.n[2], 9);
	assert_memory_equal(streams.byte[2], "\x55\x66", 2);
	assert_int_equal(tpiu.counts.sync, 6);
	assert_int_equal(tpiu.counts.ids, 2);
	assert_int_equal(tpiu.counts.flags, 1);
	assert_int_equal(tpiu.counts.skipped, 0);
}

/* A random mix of streams, framed, with synchronisation where it may be. */
static size_t frame_streams(struct sim_random *r, uint8_t *out, size_t n, bool with_sync,
			    struct streams *sent)
{
	struct swo_tpiu t;
	size_t len = 0;
	uint8_t stream = 1;

	memset(sent->n, 0, sizeof(sent->n));
	swo_tpiu_init(&t);
	if (with_sync)
		len += swo_tpiu_sync(out);
	for (size_t i = 0; i < n; i++) {
		uint8_t byte = (uint8_t)sim_u64(r);

		if (sim_u64(r) % 5 == 0)
			stream = (uint8_t)(1 + sim_u64(r) % 3);
		sent->byte[stream][sent->n[stream]++] = byte;
		len += swo_tpiu_put(&t, stream, byte, out + len);
		if (sim_u64(r) % 50 == 0) {
			len += swo_tpiu_flush(&t, out + len);
			if (with_sync && sim_u64(r) % 2)
				len += swo_tpiu_sync(out + len);
		}
	}
	return len + swo_tpiu_flush(&t, out + len);
}

static void streams_come_back_from_frames(void **state)
{
	static struct streams sent;
	static uint8_t bytes[BYTES_MAX * 4];

	(void)state;
	for (uint64_t seed = 1; seed <= 1000; seed++) {
		struct sim_random r = { seed };
		size_t n = frame_streams(&r, bytes, 600, seed % 2, &sent);

		decode_tpiu(bytes, n);
		for (unsigned s = 1; s < 4; s++)
			if (streams.n[s] != sent.n[s] ||
			    memcmp(streams.byte[s], sent.byte[s], sent.n[s]) != 0)
				fail_msg("seed %llu, stream %u", (unsigned long long)seed, s);
		assert_int_equal(tpiu.counts.skipped, 0);
	}
}

/*
 * Cut anywhere at the front, without synchronisation: the place where frames begin is found, almost
 * always.
 */
static void the_place_of_frames_is_found(void **state)
{
	static struct streams sent;
	static uint8_t bytes[BYTES_MAX * 4];
	unsigned found = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 500; seed++) {
		struct sim_random r = { seed };
		size_t n = frame_streams(&r, bytes, 1200, false, &sent), cut = sim_u64(&r) % 400;

		decode_tpiu(bytes + cut, n - cut);
		found += tpiu.counts.skipped == (16 - cut % 16) % 16;
	}
	assert_true(found > 495);
}

/* What is behind a full synchronisation is whole, whatever was cut or broken before it. */
static void lost_frames_end_at_a_synchronisation(void **state)
{
	static struct streams sent;
	static uint8_t bytes[BYTES_MAX * 4];

	(void)state;
	for (uint64_t seed = 1; seed <= 1000; seed++) {
		struct sim_random r = { seed };
		size_t half = frame_streams(&r, bytes, 200, seed % 2, &sent), n = half;

		for (uint64_t k = sim_u64(&r) % 10; k; k--)
			bytes[sim_u64(&r) % half] ^= (uint8_t)(1 << sim_u64(&r) % 8);
		n -= sim_u64(&r) % 16;
		n += frame_streams(&r, bytes + n, 200, true, &sent);
		decode_tpiu(bytes, n);
		for (unsigned s = 1; s < 4; s++)
			if (streams.n[s] < sent.n[s] ||
			    memcmp(streams.byte[s] + streams.n[s] - sent.n[s], sent.byte[s],
				   sent.n[s]) != 0)
				fail_msg("seed %llu, stream %u", (unsigned long long)seed, s);
	}
}

static void random_bytes_are_all_accounted_for(void **state)
{
	static uint8_t bytes[4000];

	(void)state;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct sim_random r = { seed };

		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = sim_u64(&r) % 4 ? (uint8_t)sim_u64(&r) : 0xff;
		decode_tpiu(bytes, sizeof(bytes));
	}
}

/* ---- all of it ---- */

/*
 * Packets, perhaps framed with another stream, on a line, sampled: all of them come back, none is
 * invented.
 */
static void packets_come_back_from_a_sampled_line(void **state)
{
	static struct swo_round round;

	(void)state;
	for (uint64_t seed = 1; seed <= 10000; seed++)
		if (!swo_round(&round, seed))
			fail_msg("seed %llu: %s", (unsigned long long)seed, round.why);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(uart_bytes_have_the_ticks_of_their_frames),
		cmocka_unit_test(uart_stands_four_percent),
		cmocka_unit_test(uart_counts_framing_errors_and_finds_back),
		cmocka_unit_test(a_glitch_is_no_byte),
		cmocka_unit_test(frames_of_all_sorts_are_read),
		cmocka_unit_test(the_rate_is_found_from_pulses),
		cmocka_unit_test(changes_of_other_lines_do_not_hide_the_rate),
		cmocka_unit_test(of_a_wrong_rate_and_an_inverted_line_the_right_ones_are_known),
		cmocka_unit_test(manchester_packets_of_any_length_come_back),
		cmocka_unit_test(holes_and_nonsense_break_bytes_and_nothing_else),
		cmocka_unit_test(a_frame_is_what_the_architecture_says),
		cmocka_unit_test(streams_come_back_from_frames),
		cmocka_unit_test(the_place_of_frames_is_found),
		cmocka_unit_test(lost_frames_end_at_a_synchronisation),
		cmocka_unit_test(random_bytes_are_all_accounted_for),
		cmocka_unit_test(packets_come_back_from_a_sampled_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
