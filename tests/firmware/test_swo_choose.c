/* SPDX-License-Identifier: MIT */
/* The controller on a simulated STM32L476 whose flash memory makes the processor wait. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "swotrace/choose.h"

#include "swo_bench.h"

#define RUNS 20

static const struct swo_range spi[] = { { 0x40013000, 0x400133ff }, { 0x40003800, 0x40003fff } };
static const struct swo_range flash = { FLASH, FLASH + FLASH_BYTES - 1 };

/*
 * In a hundred instructions: how many wait for the flash, divide (12 cycles), sleep, ask a
 * peripheral.
 */
struct job {
	unsigned instructions, flash, divide, sleep, spi;
};

static void work(struct bench *b, const struct swo_choose *c, const struct job *job)
{
	const struct swo_device *d = &swo_port_stm32l476.device;
	uint8_t waits = (uint8_t)d->point[c->point].wait_states;

	for (unsigned i = 0; i < job->instructions; i++) {
		struct dwt_step s = { .cycles = 1 };
		unsigned kind = i % 100;

		if (kind < job->flash) {
			s.add[SWO_CPI] = waits;
		} else if (kind < job->flash + job->divide) {
			s.add[SWO_CPI] = 11;
		} else if (kind < job->flash + job->divide + job->sleep) {
			s.add[SWO_SLEEP] = 63;
			s.cycles = 0;
		} else if (kind < job->flash + job->divide + job->sleep + job->spi) {
			s.add[SWO_LSU] = 30;
			s.access = true;
			s.address = spi[0].from + 8;
		}
		s.cycles = (uint8_t)(s.cycles + s.add[SWO_CPI] + s.add[SWO_SLEEP] + s.add[SWO_LSU]);
		bench_step(b, &s);
	}
}

static void choose(struct bench *b, struct swo_choose *c, struct swo_choose_config *config,
		   const struct dwt_chip_config *chip)
{
	bench_init(b, chip, 1);
	assert_int_equal(bench_start(b, 0), SWO_OK);
	config->swo = &b->swo;
	if (!config->thresholds)
		config->thresholds = &swo_thresholds_default;
	assert_int_equal(swo_choose_init(c, config), 0);
}

static void run(struct bench *b, struct swo_choose *c, const struct job *job, unsigned times)
{
	while (times--) {
		swo_choose_begin(c);
		work(b, c, job);
		swo_choose_end(c);
	}
}

static uint32_t hz(const struct swo_choose *c)
{
	return swo_port_stm32l476.device.point[c->point].hz;
}

static const struct job waits = { 20000, 60, 0, 0, 0 }, counts = { 20000, 5, 0, 0, 0 },
			sleeps = { 20000, 0, 0, 60, 0 }, talks = { 20000, 0, 0, 0, 40 };

static void each_rule_sets_what_suits_the_task(void **state)
{
	static const struct {
		enum swo_rule rule;
		const struct job *job;
		uint32_t hz;
	} tries[] = {
		{ SWO_RULE_CPI, &waits, 26000000 },
		{ SWO_RULE_CPI, &counts, 80000000 },
		{ SWO_RULE_SLEEP, &sleeps, 13000000 },
		{ SWO_RULE_SLEEP, &counts, 80000000 },
		{ SWO_RULE_PERIPHERAL, &talks, 13000000 },
		{ SWO_RULE_PERIPHERAL, &counts, 80000000 },
		{ SWO_RULE_SAVED, &waits, 40000000 },
		{ SWO_RULE_ENERGY, &waits, 13000000 },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		struct swo_choose_config config = {
			.rule = tries[i].rule,
			.memory[SWO_PERIPHERAL] = { spi, 2 },
			.other_point = 2,
			.runs = 1000,
			.switch_us = 100,
			.measure_milli = 80,
		};
		struct swo_choose c;
		struct bench b;

		choose(&b, &c, &config, &dwt_chip_l476);
		run(&b, &c, tries[i].job, RUNS);
		assert_int_equal(c.decisions, 1);
		assert_int_equal(hz(&c), tries[i].hz);
		/* it is so in the chip too */
		assert_int_equal(swo_read(&b.bus, 0x40022000) & 7,
				 c.changes ? swo_port_stm32l476.device.point[c.point].wait_states :
					     0);
		bench_done(&b);
	}
}

static void what_it_measures_is_what_the_task_did(void **state)
{
	struct swo_choose_config config = { .rule = SWO_RULE_CPI, .runs = 100 };
	struct swo_choose c;
	struct bench b;

	(void)state;
	choose(&b, &c, &config, &dwt_chip_l476);
	run(&b, &c, &waits, 5);
	assert_int_equal(c.measured, 5); /* one run a counter; cycles come with each */
	/* 60 of 100 instructions wait for 4 cycles at 80 MHz */
	assert_in_range(c.task.cycles, 68000, 68100);
	assert_in_range(c.task.cpi, 48000 - 50, 48000 + 50);
	assert_in_range(c.task.sleep, 0, 50);
	assert_int_equal(c.decisions, 0);
	run(&b, &c, &waits, 1);
	assert_int_equal(c.decisions, 1);
	bench_done(&b);
}

/* The counters are measured in the runs 1 to 5, in the order of their bits. */
static void runs_of_other_lengths_are_scaled_to_the_first(void **state)
{
	struct swo_choose_config config = { .rule = SWO_RULE_CPI, .runs = 100 };
	struct job job = { 10000, 20, 10, 30, 40 };
	struct swo_choose c;
	struct bench b;

	(void)state;
	choose(&b, &c, &config, &dwt_chip_l476);
	for (unsigned i = 0; i < 5; i++) {
		run(&b, &c, &job, 1);
		job.instructions += 7000;
	}
	assert_in_range(c.task.cpi, 19000 - 50, 19000 + 50);
	assert_in_range(c.task.sleep, 189000 - 50, 189000 + 50);
	assert_in_range(c.task.lsu, 120000 - 50, 120000 + 50);
	bench_done(&b);
}

static void a_change_that_costs_more_than_it_saves_is_not_made(void **state)
{
	(void)state;
	for (uint32_t us = 1400; us <= 1600; us += 200) {
		struct swo_choose_config config = {
			.rule = SWO_RULE_CPI,
			.runs = 20,
			.switch_us = us,
			.measure_milli = 80,
		};
		struct swo_choose c;
		struct bench b;
		/*
		 * A cycle takes 593 pJ at 80 MHz and 1.2 V, 477 at 26 MHz and 1.0 V: 20 runs of
		 * 68,000 save 158 uJ. Measuring takes 5 runs of 40 uJ 8 % more; changing 47 mW,
		 * twice: 1497 us are left.
		 */
		int pays = us < 1500;

		choose(&b, &c, &config, &dwt_chip_l476);
		run(&b, &c, &waits, 6);
		assert_int_equal(c.unpaid, !pays);
		assert_int_equal(hz(&c), pays ? 26000000 : 80000000);
		bench_done(&b);
	}
}

static void a_task_that_changes_is_measured_again(void **state)
{
	struct swo_choose_config config = { .rule = SWO_RULE_CPI, .runs = 50, .switch_us = 10 };
	struct swo_choose c;
	struct bench b;

	(void)state;
	choose(&b, &c, &config, &dwt_chip_l476);
	run(&b, &c, &waits, 30);
	assert_int_equal(hz(&c), 26000000);
	assert_int_equal(b.chip.demcr & DEMCR_TRCENA, 0); /* nothing is measured: all is off */
	run(&b, &c, &counts, 27);
	assert_int_equal(c.decisions, 1);
	assert_int_equal(hz(&c), 80000000);
	assert_int_equal(b.chip.demcr & DEMCR_TRCENA, DEMCR_TRCENA);
	run(&b, &c, &counts, 13);
	assert_int_equal(c.decisions, 2);
	assert_int_equal(hz(&c), 80000000);
	bench_done(&b);
}

/* Eight passes over a megabyte of flash with four comparators. */
static void passes_are_added_up(void **state)
{
	static const struct swo_model model = {
		.n_features = 1,
		.n_points = 5,
		.feature = { SWO_F_FLASH },
		.weight = { { 0 } },
	};
	struct swo_thresholds thresholds = swo_thresholds_default;
	struct swo_choose_config config = {
		.rule = SWO_RULE_LEARNED,
		.thresholds = &thresholds,
		.runs = 1000,
		.memory[SWO_FLASH] = { &flash, 1 },
	};
	const struct swo_device *d = &swo_port_stm32l476.device;
	struct swo_choose c;
	struct bench b;

	(void)state;
	assert_int_equal(d->n, model.n_points);
	thresholds.model = &model;
	choose(&b, &c, &config, &dwt_chip_l476);
	for (unsigned i = 0; i < 9; i++) {
		swo_choose_begin(&c);
		for (uint32_t k = 0; k < 1024; k++) {
			struct dwt_step s = {
				.cycles = 60, .access = true, .size = 4, .address = FLASH + k * 1024
			};

			bench_step(&b, &s);
		}
		swo_choose_end(&c);
	}
	assert_int_equal(c.measured, 8);
	assert_int_equal(c.decisions, 1);
	assert_in_range(c.task.flash, 600,
			1100); /* offsets that are multiples of 1024 have few edges */
	bench_done(&b);
}

static void what_cannot_be_measured_leaves_the_rule_silent(void **state)
{
	struct dwt_chip_config chip = dwt_chip_l476;
	struct swo_choose_config config = { .rule = SWO_RULE_PERIPHERAL,
					    .runs = 3,
					    .memory[SWO_PERIPHERAL] = { spi, 2 } };
	struct swo_choose c;
	struct bench b;

	(void)state;
	chip.comparators = 0;
	choose(&b, &c, &config, &chip);
	run(&b, &c, &talks, 10);
	assert_int_equal(c.why, SWO_NO_COMPARATORS);
	assert_int_equal(c.silent, c.decisions);
	assert_true(c.decisions > 1); /* it tries again */
	assert_int_equal(c.point, 0);
	assert_int_equal(c.changes, 0);
	bench_done(&b);

	chip = dwt_chip_l476;
	chip.no_counters = true;
	config.rule = SWO_RULE_CPI;
	choose(&b, &c, &config, &chip);
	run(&b, &c, &waits, 10);
	assert_int_equal(c.why, SWO_NO_COUNTER);
	assert_int_equal(c.point, 0);
	config.other_point = 5;
	assert_int_equal(swo_choose_init(&c, &config), -1);
	bench_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_rule_sets_what_suits_the_task),
		cmocka_unit_test(what_it_measures_is_what_the_task_did),
		cmocka_unit_test(runs_of_other_lengths_are_scaled_to_the_first),
		cmocka_unit_test(a_change_that_costs_more_than_it_saves_is_not_made),
		cmocka_unit_test(a_task_that_changes_is_measured_again),
		cmocka_unit_test(passes_are_added_up),
		cmocka_unit_test(what_cannot_be_measured_leaves_the_rule_silent),
	};

	draw_seed();
	return cmocka_run_group_tests_name("swo_choose", tests, NULL, NULL);
}
