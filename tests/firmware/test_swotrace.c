/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "wire/swo_marks.h"

#include "swo_bench.h"

#define LIBRARY_CYCLES 60 /* of its own between start and stop, in the model */

static const struct swo_range ram = { RAM, RAM + RAM_BYTES - 1 };
static const struct swo_range flash = { FLASH, FLASH + FLASH_BYTES - 1 };

/* ---- counters ---- */

static void count(struct bench *b, enum swo_counter counter, unsigned instructions,
		  struct swo_data *data)
{
	assert_int_equal(swo_start(&b->swo, counter, 0), SWO_OK);
	memset(b->program, 0, sizeof(b->program));
	bench_run(b, instructions);
	assert_int_equal(swo_stop(&b->swo, data), SWO_OK);
}

static void edges_packets_and_truth_agree_for_every_counter(void **state)
{
	(void)state;
	for (unsigned run = 0; run < 60; run++) {
		struct dwt_chip_config config = dwt_chip_l476;
		struct bench b;

		config.kind = run % 2 ? DWT_CHIP_F4 : DWT_CHIP_L476;
		config.bit_cycles = (uint8_t)(1 + run / 2 % 2);
		bench_init(&b, &config, run);
		b.config.prescaler_counter = (uint16_t)bench_below(&b, 8);
		assert_int_equal(bench_start(&b, 0), SWO_OK);
		for (unsigned k = 0; k < SWO_COUNTERS; k++) {
			enum swo_counter counter = (enum swo_counter)k;
			size_t from = b.edges;
			struct swo_data data;
			uint64_t truth;

			count(&b, counter, 1 + bench_below(&b, 5000), &data);
			truth = b.chip.truth.counted[k];
			bench_decode(&b, from, b.config.prescaler_counter + config.bit_cycles,
				     false);
			assert_true(data.settled);
			assert_int_equal(b.bad, 0);
			assert_int_equal(data.edges, b.rising);
			assert_int_equal(data.edges, 5 * b.kinds[ITM_EVENT_COUNTER]);
			assert_int_equal(b.counters[k], b.kinds[ITM_EVENT_COUNTER]);
			assert_int_equal(swo_data_count(&data), 256 * b.counters[k]);
			assert_in_range(swo_data_count(&data) + 256, truth, truth + 320);
			if (counter == SWO_CYC) /* the library's own reads before and after */
				assert_in_range(swo_data_exact(&data), truth,
						truth + LIBRARY_CYCLES);
			else
				assert_int_equal(swo_data_exact(&data), truth);
			assert_in_range(truth, b.program[k], b.program[k] + LIBRARY_CYCLES);
			assert_in_range(data.cycles, b.program[5], b.program[5] + LIBRARY_CYCLES);
		}
		assert_int_equal(b.chip.truth.lost, 0);
		swo_deinit(&b.swo);
		bench_done(&b);
	}
}

static void marks_stand_outside_of_what_is_counted(void **state)
{
	struct bench b;
	struct swo_data data;
	size_t from;

	(void)state;
	bench_init(&b, &dwt_chip_l476, 1);
	assert_int_equal(bench_start(&b, 0), SWO_OK);
	for (unsigned run = 0; run < 20; run++) {
		from = b.edges;
		assert_int_equal(swo_start(&b.swo, SWO_CPI, 1 + bench_below(&b, 1 << 20)), SWO_OK);
		bench_run(&b, bench_below(&b, 2000));
		assert_int_equal(swo_stop(&b.swo, &data), SWO_OK);
		dwt_chip_rest(&b.chip);
		bench_decode(&b, from, 2, false);
		assert_int_equal(swo_data_exact(&data), b.chip.truth.counted[SWO_CPI]);
		assert_int_equal(b.software[SWO_PORT_BEGIN], 1);
		assert_int_equal(b.software[SWO_PORT_END], 1);
		assert_int_equal(data.edges, 5 * b.counters[SWO_CPI]);
		assert_true(b.rising > data.edges);
	}
	bench_done(&b);
}

/* Two edges of a line at the full rate can be two cycles apart. */
static void a_slow_timer_loses_edges_unless_the_prescaler_is_higher(void **state)
{
	struct dwt_chip_config config = dwt_chip_l476;
	struct swo_data data;

	(void)state;
	config.timer_cycles = 2.5;
	for (uint16_t prescaler = 0; prescaler < 2; prescaler++) {
		struct bench b;

		bench_init(&b, &config, 2);
		b.config.prescaler_counter = prescaler;
		assert_int_equal(bench_start(&b, 0), SWO_OK);
		count(&b, SWO_CYC, 20000, &data);
		if (prescaler) {
			assert_int_equal(b.chip.truth.missed, 0);
			/* The cycle counter's tap need not be at 0 when it begins. */
			assert_in_range(data.edges, 5 * (b.chip.truth.counted[5] / 256),
					5 * (b.chip.truth.counted[5] / 256 + 1));
		} else {
			assert_true(b.chip.truth.missed > 0);
			assert_true(data.edges < 5 * (b.chip.truth.counted[5] / 256));
		}
		bench_done(&b);
	}
}

/* ---- what is refused, and what is not there ---- */

static void requests_that_do_not_fit_are_refused_with_a_reason(void **state)
{
	const struct swo_range overlap[] = { { 0x100, 0x1ff }, { 0x1ff, 0x2ff } };
	const struct swo_range back = { 0x200, 0x100 };
	struct swo_data data;
	struct bench b;

	(void)state;
	bench_init(&b, &dwt_chip_l476, 7);
	assert_int_equal(swo_start(&b.swo, SWO_CPI, 0), SWO_NO_TRACE);
	assert_int_equal(swo_start_ranges(&b.swo, &ram, 1, 0), SWO_NO_TRACE);
	assert_int_equal(bench_start(&b, 0), SWO_OK);
	assert_int_equal(swo_stop(&b.swo, &data), SWO_IDLE);
	assert_int_equal(swo_start(&b.swo, SWO_COUNTERS, 0), SWO_NO_COUNTER);
	assert_int_equal(swo_start_ranges(&b.swo, overlap, 2, 0), SWO_BAD_RANGE);
	assert_int_equal(swo_start_ranges(&b.swo, &back, 1, 0), SWO_BAD_RANGE);
	assert_int_equal(swo_start_ranges(&b.swo, &ram, 0, 0), SWO_BAD_RANGE);
	assert_int_equal(swo_start_ranges(&b.swo, &flash, 1, 0), SWO_TOO_MANY);
	assert_int_equal(swo_start_pass(&b.swo, &flash, 1, 8, 0), SWO_NO_PASS);
	assert_int_equal(swo_start_pass(&b.swo, &flash, 1, UINT32_MAX, 0), SWO_NO_PASS);
	assert_int_equal(swo_start_pass(&b.swo, &flash, 1, 7, 0), SWO_OK);
	assert_int_equal(swo_start(&b.swo, SWO_CPI, 0), SWO_BUSY);
	assert_int_equal(swo_start_ranges(&b.swo, &flash, 1, 0), SWO_BUSY);
	assert_int_equal(swo_stop(&b.swo, &data), SWO_OK);
	swo_deinit(&b.swo);
	assert_int_equal(swo_start(&b.swo, SWO_CPI, 0), SWO_NO_TRACE);
	for (unsigned why = 0; why < SWO_WHYS; why++)
		assert_non_null(swo_why_text((enum swo_why)why));
	bench_done(&b);
}

static void a_chip_that_lacks_something_is_found_out(void **state)
{
	struct dwt_chip_config config = dwt_chip_l476;
	struct swo_data data;
	struct bench b;

	(void)state;
	config.no_trace = true;
	bench_init(&b, &config, 8);
	assert_int_equal(bench_start(&b, 1), SWO_NO_TRACE);
	assert_int_equal(swo_start(&b.swo, SWO_CYC, 0), SWO_NO_TRACE);
	assert_int_equal(swo_passes(&b.swo, &ram, 1), 0);
	bench_done(&b);

	config = dwt_chip_l476;
	config.no_packets = true;
	bench_init(&b, &config, 8);
	assert_int_equal(bench_start(&b, 0), SWO_NO_PACKETS);
	assert_int_equal(b.chip.demcr & DEMCR_TRCENA, 0);
	bench_done(&b);

	config = dwt_chip_l476;
	config.no_counters = true;
	config.comparators = 0;
	bench_init(&b, &config, 8);
	assert_int_equal(bench_start(&b, 0), SWO_OK);
	assert_int_equal(swo_start(&b.swo, SWO_LSU, 0), SWO_NO_COUNTER);
	assert_int_equal(swo_start_ranges(&b.swo, &ram, 1, 0), SWO_NO_COMPARATORS);
	count(&b, SWO_CYC, 2000, &data);
	assert_in_range(swo_data_exact(&data), b.program[5], b.program[5] + LIBRARY_CYCLES);
	bench_done(&b);

	config = dwt_chip_l476;
	config.mask_bits = 0;
	bench_init(&b, &config, 8);
	assert_int_equal(bench_start(&b, 0), SWO_OK);
	assert_int_equal(swo_start_ranges(&b.swo, &ram, 1, 0), SWO_NO_MASK);
	bench_done(&b);
}

static void a_smaller_mask_is_read_from_the_chip(void **state)
{
	(void)state;
	for (uint8_t bits = 1; bits < 32; bits++) {
		struct dwt_chip_config config = dwt_chip_l476;
		struct bench b;

		config.mask_bits = bits;
		bench_init(&b, &config, 9);
		assert_int_equal(bench_start(&b, 0), SWO_OK);
		assert_int_equal(b.swo.comparators, 4);
		assert_int_equal(b.swo.max_mask, bits);
		assert_int_equal(swo_passes(&b.swo, &flash, 1),
				 bits > 17 ? 1 : FLASH_BYTES >> bits >> 2);
		bench_done(&b);
	}
}

static void jtag_has_the_pin_until_the_debug_port_is_switched(void **state)
{
	struct dwt_chip_config config = dwt_chip_l476;
	struct swo_port blind = swo_port_stm32l476;
	struct swo_data data;
	struct bench b;

	(void)state;
	config.jtag = true;
	for (int kind = DWT_CHIP_L476; kind <= DWT_CHIP_F4; kind++) {
		config.kind = (enum dwt_chip_kind)kind;
		bench_init(&b, &config, 10);
		assert_int_equal(bench_start(&b, 0), SWO_OK);
		count(&b, SWO_CYC, 5000, &data);
		assert_int_equal(data.edges, 0);
		assert_true(b.chip.truth.unseen > 0);
		swo_deinit(&b.swo);
		assert_int_equal(bench_start(&b, 1), SWO_OK);
		count(&b, SWO_LSU, 5000, &data);
		assert_int_equal(swo_data_exact(&data), b.chip.truth.counted[SWO_LSU]);
		assert_true(data.edges > 0);
		bench_done(&b);
	}
	blind.wires = NULL;
	bench_init(&b, &config, 10);
	b.config.port = &blind;
	assert_int_equal(bench_start(&b, 1), SWO_NO_WIRES);
	bench_done(&b);
}

/* ---- clock and voltage ---- */

static void every_setting_gives_its_frequency(void **state)
{
	const struct swo_port *port = &swo_port_stm32l476;
	struct bench b;

	(void)state;
	bench_init(&b, &dwt_chip_l476, 11);
	for (uint32_t from = 0; from < port->device.n; from++)
		for (uint32_t to = 0; to < port->device.n; to++) {
			const struct swo_point *p = &port->device.point[to];
			uint32_t pll, hz;

			assert_int_equal(port->set(port, &b.bus, from), 0);
			assert_int_equal(port->set(port, &b.bus, to), 0);
			pll = swo_read(&b.bus, 0x4002100c);
			hz = 4000000 * (pll >> 8 & 127) / (2 * ((pll >> 25 & 3) + 1));
			assert_int_equal(hz, p->hz);
			assert_int_equal(swo_read(&b.bus, 0x40022000) & 7, p->wait_states);
			assert_int_equal(swo_read(&b.bus, 0x40007000) >> 9 & 3,
					 p->millivolt == 1200 ? 1 : 2);
			assert_int_equal(swo_read(&b.bus, 0x40021008) & 3, 3);
		}
	assert_int_equal(port->set(port, &b.bus, port->device.n), -1);
	assert_int_equal(swo_port_stm32f4.set(&swo_port_stm32f4, &b.bus, 4), -1);
	bench_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(edges_packets_and_truth_agree_for_every_counter),
		cmocka_unit_test(marks_stand_outside_of_what_is_counted),
		cmocka_unit_test(a_slow_timer_loses_edges_unless_the_prescaler_is_higher),
		cmocka_unit_test(requests_that_do_not_fit_are_refused_with_a_reason),
		cmocka_unit_test(a_chip_that_lacks_something_is_found_out),
		cmocka_unit_test(a_smaller_mask_is_read_from_the_chip),
		cmocka_unit_test(jtag_has_the_pin_until_the_debug_port_is_switched),
		cmocka_unit_test(every_setting_gives_its_frequency),
	};

	draw_seed();
	return cmocka_run_group_tests_name("swotrace", tests, NULL, NULL);
}
