/* SPDX-License-Identifier: MIT */
/* Runs of edges, many at a time and one by one. */
#include "store/ctf/edges.h"

#include <endian.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "store/ctf/wire.h"
#include "test_draw.h"
#include "tier.h"

#define EDGES 300
#define STAMPS ((uint64_t)1 << WIRE_STAMP_BITS)

/* Records that are nearly all as they should be. */
static size_t draw_run(struct draw *d, const struct edge_run *run, uint8_t *out)
{
	const uint64_t step = (uint64_t)1 << draw_below(d, 24), flaws = 10 + draw_below(d, 1000);
	const size_t n = draw_below(d, EDGES + 1);
	uint64_t now = run->from;
	uint8_t *p = out;

	for (size_t i = 0; i < n; i++, p += 4 + run->bytes) {
		const uint64_t levels = htole64(draw_u64(d));
		uint32_t id = run->id, word;

		now += draw_below(d, step);
		if (!draw_below(d, flaws))
			now = draw_u64(d);
		if (!draw_below(d, flaws))
			id = (uint32_t)draw_below(d, 32);
		word = htole32((uint32_t)(now % STAMPS) << WIRE_ID_BITS | id);
		memcpy(p, &word, 4);
		memcpy(p + 4, &levels, run->bytes);
	}
	return (size_t)(p - out);
}

static void runs_are_the_same_many_at_a_time(void **state)
{
	struct draw d = draw_begin(1);
	uint64_t decoded = 0;

	(void)state;
	for (unsigned round = 0; round < tier(5000, 50000, 5000000); round++) {
		uint8_t bytes[EDGES * 12 + 8];
		uint64_t tick[2][EDGES + 1], level[2][EDGES + 1];
		const struct edge_run run = {
			.from = draw_u64(&d) >> draw_below(&d, 64) >> 1,
			.span = draw_u64(&d) >> draw_below(&d, 64),
			.id = (uint32_t)draw_below(&d, 31),
			.bytes = 1 + (unsigned)draw_below(&d, 8),
		};
		const size_t n = draw_run(&d, &run, bytes), max = draw_below(&d, EDGES + 1);
		const uint8_t *end = bytes + n - (n && draw_below(&d, 2) ? draw_below(&d, 3) : 0);
		size_t k[2];

		memset(tick, 0, sizeof(tick));
		k[0] = edges_decode_plain(bytes, end, &run, tick[0], level[0], max);
		k[1] = edges_decode(bytes, end, &run, tick[1], level[1], max);
		assert_int_equal(k[0], k[1]);
		assert_true(k[0] <= max && k[0] * (4 + run.bytes) <= n);
		assert_memory_equal(tick[0], tick[1], k[0] * sizeof(**tick));
		assert_memory_equal(level[0], level[1], k[0] * sizeof(**level));
		for (size_t i = 0; i < k[0]; i++)
			assert_true(tick[0][i] - run.from <= run.span &&
				    (!i || tick[0][i] >= tick[0][i - 1]));
		decoded += k[0];
	}
	assert_true(decoded > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_are_the_same_many_at_a_time),
	};

	draw_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
