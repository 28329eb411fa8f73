/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "decode/itm.h"
#include "sim/devices/swo_draw.h"
#include "sim/devices/swo_encode.h"

#define MAX 4096

struct decoded {
	struct itm_packet p[MAX];
	size_t n;
};

static void decode_pieces(struct decoded *out, const uint8_t *bytes, size_t n,
			  struct sim_random *cuts)
{
	struct itm d;
	size_t used;

	itm_init(&d);
	out->n = 0;
	for (size_t at = 0; at < n; at += used) {
		size_t piece = cuts ? 1 + sim_u64(cuts) % 7 : n - at;
		size_t room = cuts ? 2 + sim_u64(cuts) % 3 : MAX - out->n;

		if (piece > n - at)
			piece = n - at;
		assert_true(out->n + 5 < MAX);
		out->n += itm_feed(&d, bytes + at, piece, out->p + out->n, room, &used);
	}
	out->n += itm_end(&d, out->p + out->n);
	assert_int_equal(d.at, n);
}

static void decode(struct decoded *out, const void *bytes, size_t n)
{
	decode_pieces(out, bytes, n, NULL);
}

static void assert_packet(const struct itm_packet *p, enum itm_kind kind, uint32_t source,
			  uint64_t value, unsigned size)
{
	assert_string_equal(itm_kind_name(p->kind), itm_kind_name(kind));
	assert_int_equal(p->source, source);
	assert_int_equal(p->value, value);
	assert_int_equal(p->size, size);
}

struct vector {
	const char *bytes;
	size_t n;
	enum itm_kind kind;
	uint32_t source;
	uint64_t value;
	unsigned size;
};

#define BYTES(s) s, sizeof(s) - 1

static void single_packets_are_what_the_manuals_say(void **state)
{
	static const struct vector vectors[] = {
		{ BYTES("\0\0\0\0\0\x80"), ITM_SYNC, 0, 0, 0 },
		{ BYTES("\0\0\0\0\0\0\0\0\0\0\0\x80"), ITM_SYNC, 0, 0, 0 },
		{ BYTES("\x70"), ITM_OVERFLOW, 0, 0, 0 },
		{ BYTES("\xc0\xc9\x01"), ITM_LOCAL_TS, ITM_TS_EXACT, 201, 2 },
		{ BYTES("\xd0\xc9\x01"), ITM_LOCAL_TS, ITM_TS_LATE, 201, 2 },
		{ BYTES("\xe0\xc9\x01"), ITM_LOCAL_TS, ITM_PACKET_LATE, 201, 2 },
		{ BYTES("\xf0\xc9\x01"), ITM_LOCAL_TS, ITM_BOTH_LATE, 201, 2 },
		{ BYTES("\xc0\x81\x81\x81\x01"), ITM_LOCAL_TS, 0, 2113665, 4 },
		{ BYTES("\x50"), ITM_LOCAL_TS, 0, 5, 0 },
		{ BYTES("\x30"), ITM_LOCAL_TS, 0, 3, 0 },
		{ BYTES("\x94\x7f"), ITM_GLOBAL_TS1, 0, 0x7f, 1 },
		{ BYTES("\x94\x80\xa0\x84\x60"), ITM_GLOBAL_TS1, 3, 0x11000, 4 },
		{ BYTES("\x94\xff\xff\xff\x7f"), ITM_GLOBAL_TS1, 3, 0x3ffffff, 4 },
		{ BYTES("\xb4\xbd\xf4\x91\x01"), ITM_GLOBAL_TS2, 0, 0x247a3d, 4 },
		{ BYTES("\xb4\xbd\xf4\x91\x81\xf4\x07"), ITM_GLOBAL_TS2, 0,
		  0x3d | 0x74 << 7 | 0x11 << 14 | 1 << 21 | 0x74ull << 28 | 7ull << 35, 6 },
		{ BYTES("\x8b\x03\x0f\x3f\xff"), ITM_SOFTWARE, 17, 0xff3f0f03, 4 },
		{ BYTES("\x01\x00"), ITM_SOFTWARE, 0, 0, 1 },
		{ BYTES("\x05\x2a"), ITM_EVENT_COUNTER, 0, ITM_CYC | ITM_LSU | ITM_EXC, 1 },
		{ BYTES("\x05\x10"), ITM_EVENT_COUNTER, 0, ITM_FOLD, 1 },
		{ BYTES("\x0e\x20\x30"), ITM_EXCEPTION, ITM_RETURN, 32, 2 },
		{ BYTES("\x0e\x02\x11"), ITM_EXCEPTION, ITM_ENTER, 258, 2 },
		{ BYTES("\x17\x01\x02\x03\x04"), ITM_PC, 2, 0x04030201, 4 },
		{ BYTES("\x15\x00"), ITM_SLEEP, 2, 0, 1 },
		{ BYTES("\x15\xff"), ITM_PROHIBITED, 2, 255, 1 },
		{ BYTES("\x1d\x81"), ITM_PMU, 3, 0x81, 1 },
		{ BYTES("\x77\x03\x0f\x3f\xff"), ITM_DATA_PC, 3, 0xff3f0f03, 4 },
		{ BYTES("\x65\x01"), ITM_DATA_MATCH, 2, 1, 1 },
		{ BYTES("\x6e\x03\x0f"), ITM_DATA_ADDRESS, 2, 0x0f03, 2 },
		{ BYTES("\x6f\x03\x0f\x00\x20"), ITM_DATA_ADDRESS, 2, 0x20000f03, 4 },
		{ BYTES("\xae\x03\x0f"), ITM_DATA_WRITE, 2, 0x0f03, 2 },
		{ BYTES("\x85\x00"), ITM_DATA_READ, 0, 0, 1 },
		{ BYTES("\xff\x01\x02\x03\x04"), ITM_HARDWARE, 31, 0x04030201, 4 },
		{ BYTES("\x0c"), ITM_EXTENSION, 0, 0, 0 },
	};
	static struct decoded out;

	(void)state;
	for (size_t i = 0; i < sizeof(vectors) / sizeof(*vectors); i++) {
		const struct vector *v = &vectors[i];

		decode(&out, v->bytes, v->n);
		assert_int_equal(out.n, 1);
		assert_packet(&out.p[0], v->kind, v->source, v->value, v->size);
		assert_int_equal(out.p[0].length, v->n);
		assert_int_equal(out.p[0].at, 0);
	}
}

static void a_page_packet_is_no_synchronisation_and_moves_the_ports(void **state)
{
	static struct decoded out;

	(void)state;
	decode(&out, "\x18\x01\x41\x08\x01\x42", 6);
	assert_int_equal(out.n, 4);
	assert_packet(&out.p[0], ITM_PAGE, 0, 1, 0);
	assert_packet(&out.p[1], ITM_SOFTWARE, 32, 0x41, 1);
	assert_packet(&out.p[2], ITM_PAGE, 0, 0, 0);
	assert_packet(&out.p[3], ITM_SOFTWARE, 0, 0x42, 1);
}

static void an_offset_a_write_of_zero_and_a_timestamp_are_three_packets(void **state)
{
	static struct decoded out;

	(void)state;
	decode(&out, "\x4e\x10\x00\x8f\x00\x00\x00\x00\x10", 9);
	assert_int_equal(out.n, 3);
	assert_packet(&out.p[0], ITM_DATA_ADDRESS, 0, 0x10, 2);
	assert_packet(&out.p[1], ITM_DATA_WRITE, 0, 0, 4);
	assert_packet(&out.p[2], ITM_LOCAL_TS, 0, 1, 0);
}

static void zeros_of_a_payload_do_not_hide_a_synchronisation(void **state)
{
	static struct decoded out;

	(void)state;
	decode(&out, "\x8f\0\0\0\0\0\0\0\0\0\x80\x70", 12);
	assert_int_equal(out.n, 3);
	assert_packet(&out.p[0], ITM_DATA_WRITE, 0, 0, 4);
	assert_packet(&out.p[1], ITM_SYNC, 0, 0, 0);
	assert_packet(&out.p[2], ITM_OVERFLOW, 0, 0, 0);
}

static void synchronisation_is_found_where_decoding_is_out_of_step(void **state)
{
	static struct decoded out;

	(void)state;
	/* A header whose payload is missing takes up to four zeros of what follows. */
	for (unsigned size = 1; size <= 4; size += size < 2 ? 1 : 2) {
		uint8_t bytes[] = { 0x17, 0, 0, 0, 0, 0, 0x80, 0x70 };

		bytes[0] = (uint8_t)(0x14 | (size == 4 ? 3 : size));
		decode(&out, bytes, sizeof(bytes));
		assert_int_equal(out.p[out.n - 2].kind, ITM_SYNC);
		assert_int_equal(out.p[out.n - 1].kind, ITM_OVERFLOW);
	}
	decode(&out, "\xc0\0\0\0\0\0\x80\x70", 8);
	assert_int_equal(out.p[out.n - 2].kind, ITM_SYNC);
}

static void after_bytes_that_are_no_packet_nothing_is_taken_up_to_a_synchronisation(void **state)
{
	static struct decoded out;

	(void)state;
	decode(&out, "\0\0\0\0\0\x80\x05\x20\x80\x05\x20\x05\x20\0\0\0\0\0\x80\x05\x01", 21);
	assert_int_equal(out.n, 5);
	assert_packet(&out.p[1], ITM_EVENT_COUNTER, 0, ITM_CYC, 1);
	assert_packet(&out.p[2], ITM_BAD, 0, 0, 0);
	assert_int_equal(out.p[2].at, 8);
	assert_int_equal(out.p[2].length, 5);
	assert_int_equal(out.p[3].kind, ITM_SYNC);
	assert_int_equal(out.p[3].at, 13);
	assert_packet(&out.p[4], ITM_EVENT_COUNTER, 0, ITM_CPI, 1);
}

static void without_any_synchronisation_decoding_goes_on_at_the_next_byte(void **state)
{
	static struct decoded out;

	(void)state;
	decode(&out, "\x05\x20\x80\x05\x01", 5);
	assert_int_equal(out.n, 3);
	assert_int_equal(out.p[1].kind, ITM_BAD);
	assert_int_equal(out.p[1].length, 1);
	assert_packet(&out.p[2], ITM_EVENT_COUNTER, 0, ITM_CPI, 1);
}

static void a_packet_that_is_cut_is_bad_not_guessed(void **state)
{
	static struct decoded out;

	(void)state;
	decode(&out, "\x17\x01\x02", 3);
	assert_int_equal(out.n, 1);
	assert_int_equal(out.p[0].kind, ITM_BAD);
	assert_int_equal(out.p[0].length, 3);
	/* Five groups of a timestamp, and a high part of five, are nothing. */
	decode(&out, "\xc0\x80\x80\x80\x80\x01", 6);
	assert_int_equal(out.p[0].kind, ITM_BAD);
	decode(&out, "\xb4\x80\x80\x80\x80\x01", 6);
	assert_int_equal(out.p[0].kind, ITM_BAD);
}

static void a_hole_ends_what_is_in_hand(void **state)
{
	struct itm_packet p[8];
	struct itm d;
	size_t used;

	(void)state;
	itm_init(&d);
	assert_int_equal(itm_feed(&d, (const uint8_t *)"\0\0\0\0\0\x80\x17\x01", 8, p, 8, &used),
			 1);
	assert_int_equal(itm_hole(&d, p), 1);
	assert_packet(&p[0], ITM_BAD, 0, 0, 0);
	/* What follows may be the rest of anything. */
	assert_int_equal(
		itm_feed(&d, (const uint8_t *)"\x05\x01\0\0\0\0\0\x80\x70", 9, p, 8, &used), 3);
	assert_int_equal(p[0].kind, ITM_BAD);
	assert_int_equal(p[1].kind, ITM_SYNC);
	assert_int_equal(p[2].kind, ITM_OVERFLOW);
}

static size_t draw_stream(struct sim_random *r, struct itm_packet *p, size_t n, uint8_t *bytes)
{
	uint32_t page = 0;
	size_t len = 0;

	for (size_t i = 0; i < n; i++) {
		swo_draw_packet(r, &p[i]);
		len += swo_put_packet(&page, &p[i], bytes + len);
	}
	return len;
}

static void any_packets_come_back_as_they_were_sent(void **state)
{
	static struct itm_packet sent[300];
	static uint8_t bytes[300 * SWO_PACKET_MAX];
	static struct decoded out;

	(void)state;
	for (uint64_t seed = 1; seed <= 2000; seed++) {
		struct sim_random r = { seed };
		size_t k = 0, len = draw_stream(&r, sent, 300, bytes);

		decode(&out, bytes, len);
		for (size_t i = 0; i < out.n; i++) {
			if (out.p[i].kind == ITM_PAGE)
				continue;
			if (k >= 300 || out.p[i].kind != sent[k].kind)
				fail_msg("seed %llu: packet %zu", (unsigned long long)seed, k);
			assert_packet(&out.p[i], sent[k].kind, sent[k].source, sent[k].value,
				      sent[k].size);
			k++;
		}
		assert_int_equal(k, 300);
	}
}

/*
 * Whole, and cut anywhere with hardly room for the result: the same, also for bytes that are
 * nonsense.
 */
static void pieces_make_no_difference(void **state)
{
	static struct itm_packet sent[150];
	static uint8_t bytes[150 * SWO_PACKET_MAX];
	static struct decoded whole, cut;

	(void)state;
	for (uint64_t seed = 1; seed <= 2000; seed++) {
		struct sim_random r = { seed };
		size_t len = draw_stream(&r, sent, 150, bytes);

		for (uint64_t k = sim_u64(&r) % 8; k; k--)
			bytes[sim_u64(&r) % len] ^= (uint8_t)(1 << sim_u64(&r) % 8);
		if (seed % 4 == 0)
			for (size_t i = 0; i < len; i++)
				bytes[i] = sim_u64(&r) % 3 ? (uint8_t)sim_u64(&r) : 0;
		decode(&whole, bytes, len);
		decode_pieces(&cut, bytes, len, &r);
		if (whole.n != cut.n || memcmp(whole.p, cut.p, whole.n * sizeof(*whole.p)) != 0)
			fail_msg("seed %llu", (unsigned long long)seed);
	}
}

/* Whatever was broken: behind the next synchronisation packet all is as it was sent. */
static void after_flips_all_is_well_behind_the_next_synchronisation(void **state)
{
	static struct itm_packet sent[200];
	static uint8_t bytes[200 * SWO_PACKET_MAX + 16];
	static struct decoded out;

	(void)state;
	for (uint64_t seed = 1; seed <= 2000; seed++) {
		struct sim_random r = { seed };
		struct itm_packet sync = { .kind = ITM_SYNC };
		uint32_t page = 0;
		size_t len = 0, half, k;

		for (size_t i = 0; i < 100; i++) {
			swo_draw_packet(&r, &sent[i]);
			len += swo_put_packet(&page, &sent[i], bytes + len);
		}
		for (uint64_t flips = 1 + sim_u64(&r) % 20; flips; flips--)
			bytes[sim_u64(&r) % len] ^= (uint8_t)(1 << sim_u64(&r) % 8);
		half = len;
		len += swo_put_packet(&page, &sync, bytes + len);
		for (size_t i = 100; i < 200; i++) {
			swo_draw_packet(&r, &sent[i]);
			len += swo_put_packet(&page, &sent[i], bytes + len);
		}
		decode(&out, bytes, len);
		for (k = 0; k < out.n; k++)
			if (out.p[k].kind == ITM_SYNC && out.p[k].at + out.p[k].length == half + 6)
				break;
		if (k == out.n)
			fail_msg("seed %llu: no synchronisation", (unsigned long long)seed);
		for (size_t i = 100; i < 200; i++) {
			do
				k++;
			while (k < out.n && out.p[k].kind == ITM_PAGE);
			assert_true(k < out.n);
			assert_packet(&out.p[k], sent[i].kind, sent[i].source, sent[i].value,
				      sent[i].size);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(single_packets_are_what_the_manuals_say),
		cmocka_unit_test(a_page_packet_is_no_synchronisation_and_moves_the_ports),
		cmocka_unit_test(an_offset_a_write_of_zero_and_a_timestamp_are_three_packets),
		cmocka_unit_test(zeros_of_a_payload_do_not_hide_a_synchronisation),
		cmocka_unit_test(synchronisation_is_found_where_decoding_is_out_of_step),
		cmocka_unit_test(
			after_bytes_that_are_no_packet_nothing_is_taken_up_to_a_synchronisation),
		cmocka_unit_test(without_any_synchronisation_decoding_goes_on_at_the_next_byte),
		cmocka_unit_test(a_packet_that_is_cut_is_bad_not_guessed),
		cmocka_unit_test(a_hole_ends_what_is_in_hand),
		cmocka_unit_test(any_packets_come_back_as_they_were_sent),
		cmocka_unit_test(pieces_make_no_difference),
		cmocka_unit_test(after_flips_all_is_well_behind_the_next_synchronisation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
