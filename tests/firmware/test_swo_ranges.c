/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "swo_bench.h"

static const struct swo_range ram = { RAM, RAM + RAM_BYTES - 1 };
static const struct swo_range flash = { FLASH, FLASH + FLASH_BYTES - 1 };

static void comparators_count_the_accesses_of_their_ranges(void **state)
{
	(void)state;
	for (unsigned run = 0; run < 100; run++) {
		struct swo_range range[3];
		struct swo_data data;
		struct bench b;
		uint64_t matched = 0, said = 0;
		unsigned n = 1 + run % 3;
		size_t from;

		bench_init(&b, &dwt_chip_l476, 100 + run);
		assert_int_equal(bench_start(&b, 0), SWO_OK);
		for (unsigned i = 0; i < n; i++) {
			uint32_t bytes = 1u << bench_below(&b, 14);

			range[i].from = (i ? FLASH + i * 0x8000 : RAM) +
					(bench_below(&b, 0x4000) & ~(bytes - 1));
			range[i].to = range[i].from + bytes - 1;
		}
		from = b.edges;
		assert_int_equal(swo_start_ranges(&b.swo, range, n, 0), SWO_OK);
		bench_accesses(&b, 3000, 60);
		assert_int_equal(swo_stop(&b.swo, &data), SWO_OK);
		bench_decode(&b, from, 1, false);
		for (unsigned i = 0; i < 4; i++) {
			assert_int_equal(b.comparators[i], b.chip.truth.matched[i]);
			matched += b.chip.truth.matched[i];
			said += b.comparators[i];
		}
		assert_int_equal(b.kinds[ITM_DATA_ADDRESS], matched);
		assert_int_equal(data.edges, b.rising);
		assert_in_range(data.edges, 4 * said, 13 * said);
		bench_accesses(&b, 100, 60); /* of no matter any more */
		assert_int_equal(b.chip.timer, data.edges);
		assert_true(data.settled);
		bench_done(&b);
	}
}

/*
 * Addresses of words have fewer edges than the average of all addresses, 7.75 and not 8.25;
 * comparators 0 to 2, which the RAM takes, more than the average of four: 8 together.
 */
static void the_estimate_of_word_accesses_of_ram_is_two_per_cent_low(void **state)
{
	struct swo_data data;
	struct bench b;
	uint64_t true_accesses;

	(void)state;
	bench_init(&b, &dwt_chip_l476, 3);
	assert_int_equal(bench_start(&b, 0), SWO_OK);
	assert_int_equal(swo_start_ranges(&b.swo, &ram, 1, 0), SWO_OK);
	bench_accesses(&b, 40000, 60);
	assert_int_equal(swo_stop(&b.swo, &data), SWO_OK);
	true_accesses = b.chip.truth.made;
	assert_in_range(swo_data_count(&data), true_accesses * 97 / 100, true_accesses * 99 / 100);
	bench_done(&b);
}

static void what_the_line_cannot_carry_is_told_as_an_overflow(void **state)
{
	struct swo_data data;
	struct bench b;

	(void)state;
	bench_init(&b, &dwt_chip_l476, 4);
	assert_int_equal(bench_start(&b, 0), SWO_OK);
	assert_int_equal(swo_start_ranges(&b.swo, &ram, 1, 0), SWO_OK);
	bench_accesses(&b, 2000,
		       2); /* the thesis's loop: an access every 2 cycles, a packet takes 30 */
	bench_accesses(&b, 20, 60);
	assert_int_equal(swo_stop(&b.swo, &data), SWO_OK);
	bench_decode(&b, 0, 1, false);
	assert_int_equal(b.kinds[ITM_DATA_ADDRESS] + b.chip.truth.lost, b.chip.truth.made);
	assert_true(b.chip.truth.lost > b.chip.truth.made / 2);
	assert_int_equal(b.kinds[ITM_OVERFLOW], b.chip.truth.kinds[ITM_OVERFLOW]);
	assert_true(b.kinds[ITM_OVERFLOW] > 10);
	assert_int_equal(data.edges, b.rising);
	assert_true(swo_data_load(&data) > 900);
	bench_done(&b);
}

/*
 * A packet takes 30 bits: accesses by the clock, so that the load is the share of the time between
 * two of them.
 */
static void the_load_tells_how_busy_the_line_was(void **state)
{
	(void)state;
	for (uint8_t bit_cycles = 1; bit_cycles <= 2; bit_cycles++)
		for (uint8_t cycles = 40; cycles <= 63; cycles++) {
			struct dwt_chip_config config = dwt_chip_l476;
			struct swo_data data;
			struct bench b;
			uint32_t load, true_load = 30000u * bit_cycles / cycles;

			config.bit_cycles = bit_cycles;
			bench_init(&b, &config, 12);
			assert_int_equal(bench_start(&b, 0), SWO_OK);
			assert_int_equal(swo_start_ranges(&b.swo, &ram, 1, 0), SWO_OK);
			bench_accesses(&b, 4000, cycles);
			assert_int_equal(swo_stop(&b.swo, &data), SWO_OK);
			load = swo_data_load(&data) * bit_cycles /
			       2; /* it takes the slower rate for granted */
			/* half of the accesses are of RAM; those lost load nothing */
			assert_in_range(load, true_load * 45 / 100, true_load * 55 / 100);
			assert_true(b.chip.truth.lost == 0 || swo_data_load(&data) > 500);
			bench_done(&b);
		}
}

static void passes_together_see_every_access_of_the_flash(void **state)
{
	(void)state;
	for (uint8_t comparators = 1; comparators <= 4; comparators += 3) {
		struct dwt_chip_config config = dwt_chip_l476;
		uint64_t matched = 0, done = 0;
		uint32_t passes;
		struct bench b;

		config.comparators = comparators;
		bench_init(&b, &config, 5);
		assert_int_equal(bench_start(&b, 0), SWO_OK);
		passes = swo_passes(&b.swo, &flash, 1);
		assert_int_equal(passes, 32 / comparators);
		for (uint32_t pass = 0; pass < passes; pass++) {
			struct swo_data data;

			b.draw = draw_begin(6); /* the same run again */
			b.flash = 0;
			assert_int_equal(swo_start_pass(&b.swo, &flash, 1, pass, 0), SWO_OK);
			bench_accesses(&b, 500, 60);
			assert_int_equal(swo_stop(&b.swo, &data), SWO_OK);
			done = b.flash;
		}
		for (unsigned i = 0; i < comparators; i++)
			matched += b.chip.truth.matched[i];
		assert_int_equal(matched, done);
		assert_true(done > 100);
		bench_done(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comparators_count_the_accesses_of_their_ranges),
		cmocka_unit_test(the_estimate_of_word_accesses_of_ram_is_two_per_cent_low),
		cmocka_unit_test(what_the_line_cannot_carry_is_told_as_an_overflow),
		cmocka_unit_test(the_load_tells_how_busy_the_line_was),
		cmocka_unit_test(passes_together_see_every_access_of_the_flash),
	};

	draw_seed();
	return cmocka_run_group_tests_name("swo_ranges", tests, NULL, NULL);
}
