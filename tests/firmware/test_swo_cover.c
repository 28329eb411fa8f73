/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>

#include "swotrace/swotrace.h"

#include "test_draw.h"

#define SMALL 512u

static void blocks_cover_each_address_once_and_no_other(void **state)
{
	struct draw d = draw_begin(1);

	(void)state;
	for (unsigned run = 0; run < 3000; run++) {
		uint32_t max_mask = (uint32_t)draw_below(&d, 10), n = 0, at = 0;
		struct swo_range range[8];
		uint8_t want[SMALL] = { 0 }, got[SMALL] = { 0 };
		uint64_t count;

		while (n < 8 && at < SMALL) {
			range[n].from = at + (uint32_t)draw_below(&d, SMALL - at);
			range[n].to =
				range[n].from + (uint32_t)draw_below(&d, SMALL - range[n].from);
			at = range[n].to + 1;
			for (uint32_t i = range[n].from; i <= range[n].to; i++)
				want[i]++;
			n++;
		}
		assert_true(swo_cover_valid(range, n));
		count = swo_cover_count(range, n, max_mask);
		for (uint64_t i = 0; i < count; i++) {
			struct swo_block b = swo_cover_block(range, n, max_mask, i);

			assert_true(b.mask <= max_mask);
			assert_int_equal(b.address & ((1u << b.mask) - 1), 0);
			for (uint32_t k = 0; k < 1u << b.mask; k++)
				got[b.address + k]++;
		}
		assert_memory_equal(want, got, SMALL);
	}
}

/*
 * The fewest there can be, found by trying all: least[end] from least[start] and each block that
 * ends there.
 */
static void no_exact_cover_has_fewer_blocks(void **state)
{
	struct draw d = draw_begin(2);

	(void)state;
	for (unsigned run = 0; run < 1000; run++) {
		uint32_t from = (uint32_t)draw_below(&d, 200),
			 to = from + (uint32_t)draw_below(&d, 200);
		uint32_t max_mask = (uint32_t)draw_below(&d, 9), least[512];
		const struct swo_range range = { from, to };

		for (uint32_t end = from; end <= to + 1; end++) {
			least[end] = end == from ? 0 : UINT32_MAX;
			for (uint32_t mask = 0; mask <= max_mask; mask++) {
				uint32_t bytes = 1u << mask, begin = end - bytes;

				if (end >= from + bytes && !(begin & (bytes - 1)) &&
				    least[begin] + 1 < least[end])
					least[end] = least[begin] + 1;
			}
		}
		assert_int_equal(swo_cover_count(&range, 1, max_mask), least[to + 1]);
	}
}

static void the_thesis_figures_come_out(void **state)
{
	const struct swo_range flash = { 0x08000000, 0x080fffff };
	const struct swo_range ram = { 0x20000000, 0x20017fff };
	const struct swo_range spi[] = { { 0x40013000, 0x400133ff }, { 0x40003800, 0x40003fff } };
	const struct swo_range lptim[] = { { 0x40007c00, 0x40007fff }, { 0x40009400, 0x400097ff } };

	(void)state;
	assert_int_equal(swo_cover_count(&flash, 1, 15), 32);
	assert_int_equal(swo_cover_passes(32, 4), 8);
	assert_int_equal(swo_cover_passes(swo_cover_count(&ram, 1, 15), 4), 1);
	assert_int_equal(swo_cover_count(spi, 2, 15), 2);
	assert_int_equal(swo_cover_block(spi, 2, 15, 0).mask, 10);
	assert_int_equal(swo_cover_block(spi, 2, 15, 1).mask, 11);
	assert_int_equal(swo_cover_block(spi, 2, 15, 1).address, 0x40003800);
	assert_int_equal(swo_cover_count(lptim, 2, 15), 2);
	assert_int_equal(swo_cover_block(lptim, 2, 15, 0).mask, 10);
	assert_int_equal(swo_cover_block(lptim, 2, 15, 1).mask, 10);
}

static void the_whole_memory_is_no_trouble(void **state)
{
	const struct swo_range all = { 0, UINT32_MAX }, rest = { 1, UINT32_MAX };

	(void)state;
	assert_int_equal(swo_cover_count(&all, 1, 0), 1ull << 32);
	assert_int_equal(swo_cover_count(&all, 1, SWO_MASK_MAX), 2);
	assert_int_equal(swo_cover_count(&rest, 1, SWO_MASK_MAX), 32);
	assert_int_equal(swo_cover_block(&all, 1, 0, UINT32_MAX).address, UINT32_MAX);
	assert_int_equal(swo_cover_block(&rest, 1, SWO_MASK_MAX, 31).address, 0x80000000);
}

static void ranges_with_a_common_address_are_not_valid(void **state)
{
	struct draw d = draw_begin(3);

	(void)state;
	for (unsigned run = 0; run < 5000; run++) {
		struct swo_range r[2];
		bool common = false;

		for (unsigned i = 0; i < 2; i++) {
			r[i].from = (uint32_t)draw_below(&d, 8);
			r[i].to = r[i].from + (uint32_t)draw_below(&d, 4);
		}
		for (uint32_t a = r[0].from; a <= r[0].to; a++)
			common |= a >= r[1].from && a <= r[1].to;
		assert_int_equal(swo_cover_valid(r, 2), !common);
	}
	assert_false(swo_cover_valid(&(struct swo_range){ 2, 1 }, 1));
}

/* ---- counts ---- */

static void counts_are_edges_by_the_thesis_factors_rounded(void **state)
{
	struct draw d = draw_begin(4);

	(void)state;
	for (unsigned run = 0; run < 100000; run++) {
		struct swo_data data = { .edges = (uint32_t)draw_size(&d, 32),
					 .what = SWO_LSU,
					 .rest = (uint8_t)draw_u64(&d) };
		uint64_t e = data.edges;

		assert_int_equal(swo_data_count(&data), (e * 512 + 5) / 10);
		assert_int_equal(swo_data_exact(&data), (2 * e + 5) / 10 * 256 + data.rest);
		data.what = SWO_ACCESSES;
		assert_int_equal(swo_data_count(&data), (e * 8 + 33) / 66);
		assert_int_equal(swo_data_exact(&data), swo_data_count(&data));
	}
}

static void per_million_is_rounded_and_never_wraps(void **state)
{
	struct draw d = draw_begin(5);

	(void)state;
	for (unsigned run = 0; run < 100000; run++) {
		uint64_t count = draw_size(&d, 40);
		uint32_t cycles = (uint32_t)draw_size(&d, 32);
		unsigned __int128 exact;

		if (!cycles) {
			assert_int_equal(swo_per_million(count, cycles), UINT32_MAX);
			continue;
		}
		exact = ((unsigned __int128)count * 1000000 + cycles / 2) / cycles;
		if (count / cycles >= UINT32_MAX / 1000000)
			assert_int_equal(swo_per_million(count, cycles), UINT32_MAX);
		else
			assert_true(swo_per_million(count, cycles) == exact);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_cover_each_address_once_and_no_other),
		cmocka_unit_test(no_exact_cover_has_fewer_blocks),
		cmocka_unit_test(the_thesis_figures_come_out),
		cmocka_unit_test(the_whole_memory_is_no_trouble),
		cmocka_unit_test(ranges_with_a_common_address_are_not_valid),
		cmocka_unit_test(counts_are_edges_by_the_thesis_factors_rounded),
		cmocka_unit_test(per_million_is_rounded_and_never_wraps),
	};

	draw_seed();
	return cmocka_run_group_tests_name("swo_cover", tests, NULL, NULL);
}
