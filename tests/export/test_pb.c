/* SPDX-License-Identifier: MIT */
/*
 * The bytes expected are those of the examples in Protocol Buffers' own description of its
 * encoding, or follow from its tables.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "export/pb.h"
#include "test_draw.h"

static uint8_t buf[1024];

static struct pb fresh(size_t cap)
{
	memset(buf, 0xee, sizeof(buf));
	return (struct pb){ .buf = buf, .cap = cap };
}

#define EXPECT(p, ...)                                         \
	do {                                                   \
		static const uint8_t want[] = { __VA_ARGS__ }; \
		assert_false((p).full);                        \
		assert_int_equal((p).n, sizeof(want));         \
		assert_memory_equal(buf, want, sizeof(want));  \
	} while (0)

static void numbers_are_those_of_the_encoding(void **state)
{
	struct pb p = fresh(1024);

	(void)state;
	pb_u64(&p, 1, 150);
	EXPECT(p, 0x08, 0x96, 0x01);
	p = fresh(1024);
	pb_u64(&p, 1, (uint64_t)-2);
	EXPECT(p, 0x08, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01);
	p = fresh(1024);
	pb_fixed64(&p, 47, 0x0102030405060708);
	EXPECT(p, 0xf9, 0x02, 8, 7, 6, 5, 4, 3, 2, 1);
	p = fresh(1024);
	pb_double(&p, 5, -2);
	EXPECT(p, 0x29, 0, 0, 0, 0, 0, 0, 0, 0xc0);
}

static void texts_and_messages_are_those_of_the_encoding(void **state)
{
	struct pb p = fresh(1024);
	size_t at;

	(void)state;
	pb_text(&p, 2, "testing", 7);
	EXPECT(p, 0x12, 0x07, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67);
	p = fresh(1024);
	at = pb_begin(&p, 3);
	pb_u64(&p, 1, 150);
	pb_end(&p, at);
	EXPECT(p, 0x1a, 0x03, 0x08, 0x96, 0x01);
	p = fresh(1024);
	pb_bytes(&p, 8, "", 0);
	EXPECT(p, 0x42, 0);
}

static void long_messages_have_long_lengths(void **state)
{
	static const size_t lengths[] = { 127, 128, 300 };
	static const uint8_t bytes[300];

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct pb p = fresh(1024);
		size_t outer = pb_begin(&p, 60), k = lengths[i] < 128 ? 1 : 2, at;

		pb_bytes(&p, 1, bytes, lengths[i]);
		pb_end(&p, outer);
		assert_int_equal(buf[0], 0xe2);
		assert_int_equal(buf[1], 0x03);
		at = 2;
		at += buf[2] >= 0x80 ? 2 : 1;
		assert_int_equal(buf[at], 0x0a);
		assert_int_equal(k == 1 ? buf[at + 1] : (buf[at + 1] & 0x7f) | buf[at + 2] << 7,
				 lengths[i]);
		assert_int_equal(p.n, at + 1 + k + lengths[i]);
		assert_int_equal((buf[2] & 0x7f) | (at == 4 ? buf[3] << 7 : 0), p.n - at);
		assert_int_equal(buf[p.n], 0xee);
	}
}

static void bytes_that_are_no_utf8_are_replaced_one_by_one(void **state)
{
	struct pb p = fresh(1024);

	(void)state;
	pb_text(&p, 1, "a\xff\xc3\xa4\xc3", 5);
	EXPECT(p, 0x0a, 9, 'a', 0xef, 0xbf, 0xbd, 0xc3, 0xa4, 0xef, 0xbf, 0xbd);
}

/* Whatever the room: never a byte beyond it, and what is there when it is full are whole fields. */
static void a_full_buffer_holds_whole_fields(void **state)
{
	struct draw d = draw_begin(1);

	(void)state;
	for (int run = 0; run < 2000; run++) {
		size_t cap = draw_below(&d, 300), whole = 0, n;
		char text[200];
		struct pb p = fresh(cap);

		memset(text, 'x', sizeof(text));
		do {
			size_t outer = p.n;

			whole = p.n;
			pb_begin(&p, 1 + (unsigned)draw_below(&d, 100));
			pb_u64(&p, 1, draw_size(&d, 64));
			pb_text(&p, 2, text, draw_below(&d, sizeof(text)));
			pb_fixed64(&p, 3, 1);
			pb_end(&p, outer);
		} while (!p.full);
		assert_int_equal(p.n, whole);
		for (n = cap; n < sizeof(buf); n++)
			assert_int_equal(buf[n], 0xee);
		pb_cut(&p, 0);
		assert_false(p.full);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_those_of_the_encoding),
		cmocka_unit_test(texts_and_messages_are_those_of_the_encoding),
		cmocka_unit_test(long_messages_have_long_lengths),
		cmocka_unit_test(bytes_that_are_no_utf8_are_replaced_one_by_one),
		cmocka_unit_test(a_full_buffer_holds_whole_fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
