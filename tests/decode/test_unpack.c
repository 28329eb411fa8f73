/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/crc32c.h"
#include "decode/unpack.h"
#include "test_draw.h"

#include <stdlib.h>
#include <string.h>

#define LAYOUT 77
#define PACKETS 60

struct heard {
	uint32_t sequence[2 * PACKETS];
	size_t n;
};

static int hear(void *ctx, struct tracer_packet *p, size_t n, struct cvl_error *err)
{
	struct heard *h = ctx;

	(void)err;
	assert_int_equal(n, p->packet_size / 8);
	for (size_t i = sizeof(*p); i < n; i++)
		assert_int_equal(((const uint8_t *)p)[i], (uint8_t)(p->packet_seq_num + i));
	assert_true(h->n < 2 * PACKETS);
	h->sequence[h->n++] = p->packet_seq_num;
	return 0;
}

/* Packet @sequence as it goes over the line, of any size. Returns its bytes. */
static size_t put(uint8_t *at, uint32_t sequence, size_t n, uint32_t layout, uint16_t core)
{
	struct tracer_packet p = { .magic = TRACE_PACKET_MAGIC,
				   .layout = layout,
				   .packet_size = (uint32_t)n * 8,
				   .content_size = (uint32_t)n * 8,
				   .packet_seq_num = sequence,
				   .core = core };
	uint32_t crc;

	for (size_t i = sizeof(p); i < n; i++)
		at[i] = (uint8_t)(sequence + i);
	memcpy(at, &p, sizeof(p));
	crc = cvl_crc32c(0, at, n);
	memcpy(at + n, &crc, sizeof(crc));
	return n + sizeof(crc);
}

static size_t draw_bytes(struct draw *d)
{
	return sizeof(struct tracer_packet) + 4 * draw_below(d, 200);
}

/* Feed @n bytes in pieces of any size. */
static void feed(struct unpack *u, struct draw *d, const uint8_t *bytes, size_t n)
{
	while (n) {
		size_t part = 1 + draw_below(d, 3000);

		part = part < n ? part : n;
		assert_int_equal(unpack_push(u, bytes, part, NULL), 0);
		bytes += part;
		n -= part;
	}
	assert_int_equal(unpack_end(u, NULL), 0);
}

/*
 * Noise between packets, damaged ones and ones cut short: all others come, in order, and nothing
 * else.
 */
static void damage_costs_the_packets_it_is_in(void **state)
{
	struct draw d;
	uint8_t *line = malloc(1 << 20);
	struct unpack *u = malloc(sizeof(*u));

	(void)state;
	d = draw_begin(__LINE__);
	for (unsigned round = 0; round < 200; round++) {
		struct heard h = { .n = 0 };
		uint32_t good[PACKETS];
		size_t n = 0, whole = 0, bytes = 0;

		for (uint32_t i = 0; i < PACKETS; i++) {
			size_t size = put(line + n, i, draw_bytes(&d), LAYOUT, 3), noise;

			switch (draw_below(&d, 6)) {
			case 0: /* a bit */
				line[n + draw_below(&d, size)] ^=
					(uint8_t)(1u << draw_below(&d, 8));
				break;
			case 1:                                       /* bytes missing */
				size -= 5 + draw_below(&d, size - 5); /* noise is no substitute */
				break;
			default: good[whole++] = i; bytes += size;
			}
			n += size;
			noise = draw_below(&d, 2) ? draw_below(&d, 50) : 0;
			for (size_t k = 0; k < noise; k++)
				line[n++] = (uint8_t)draw_below(&d, 256);
		}
		unpack_init(u, LAYOUT, hear, &h);
		feed(u, &d, line, n);
		assert_int_equal(h.n, whole);
		for (size_t i = 0; i < whole; i++)
			assert_int_equal(h.sequence[i], good[i]);
		assert_int_equal(u->skipped, n - bytes);
	}
	free(u);
	free(line);
}

static void other_programs_and_cores_are_told_apart(void **state)
{
	struct draw d;
	uint8_t line[4096];
	struct heard h = { .n = 0 };
	struct unpack *u = malloc(sizeof(*u));
	size_t n = 0;

	(void)state;
	d = draw_begin(__LINE__);
	n += put(line + n, 1, 100, LAYOUT + 1, 3);
	n += put(line + n, 2, 100, LAYOUT, 3);
	n += put(line + n, 3, 100, LAYOUT, 4);
	n += put(line + n, 4, 100, LAYOUT, 3);
	unpack_init(u, LAYOUT, hear, &h);
	feed(u, &d, line, n);
	assert_int_equal(h.n, 2);
	assert_int_equal(h.sequence[0], 2);
	assert_int_equal(h.sequence[1], 4);
	assert_int_equal(u->foreign, 2);
	assert_int_equal(u->foreign_core, 4);
	assert_int_equal(u->skipped, 0);
	free(u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(damage_costs_the_packets_it_is_in),
		cmocka_unit_test(other_programs_and_cores_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
