/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "swotrace/rules.h"
#include "test_draw.h"

static const struct swo_point points[] = {
	{ 80000000, 1200, 4, 2782 }, { 53333333, 1200, 3, 2782 }, { 40000000, 1200, 2, 2782 },
	{ 26666667, 1200, 1, 2782 }, { 13333333, 1200, 0, 2782 },
};

static const struct swo_device device = { points, 5, 387647 };

static struct swo_task unknown(void)
{
	struct swo_task t;

	memset(&t, 0xff, sizeof(t));
	return t;
}

static struct swo_task counted(uint64_t cycles, uint64_t cpi, uint64_t lsu)
{
	struct swo_task t = { .cycles = cycles, .cpi = cpi, .lsu = lsu };

	return t;
}

static int choose(enum swo_rule rule, const struct swo_task *t, const struct swo_task *other)
{
	return swo_rule_choose(rule, &swo_thresholds_default, &device, t, other, 4);
}

/* ---- single rules ---- */

static void many_cycles_an_instruction_ask_for_26_mhz(void **state)
{
	struct swo_task t = counted(2350000, 1350000, 0);

	(void)state;
	assert_int_equal(swo_cpi_milli(&t), 2350);
	assert_int_equal(choose(SWO_RULE_CPI, &t, NULL), 3);
	t = counted(2349999, 1349999, 0);
	assert_int_equal(swo_cpi_milli(&t), 2349);
	assert_int_equal(choose(SWO_RULE_CPI, &t, NULL), 0);
	/* equation 4.1: a folded instruction takes no cycle */
	t = counted(1000, 200, 100);
	t.exc = 50;
	t.sleep = 150;
	t.fold = 125;
	assert_int_equal(swo_cpi_milli(&t), 1600);
}

static void cycles_an_instruction_need_every_counter(void **state)
{
	const size_t n = offsetof(struct swo_task, ram) / sizeof(uint64_t);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		struct swo_task t = counted(1000, 100, 100);

		((uint64_t *)&t)[i] = SWO_UNKNOWN;
		assert_true(swo_cpi_milli(&t) == SWO_UNKNOWN);
		assert_int_equal(choose(SWO_RULE_CPI, &t, NULL), -1);
	}
	/* counters that exceed the cycles */
	assert_true(swo_cpi_milli(&(struct swo_task){ .cycles = 10, .cpi = 6, .lsu = 5 }) ==
		    SWO_UNKNOWN);
	assert_true(swo_cpi_milli(&(struct swo_task){ .cycles = 10, .cpi = 10 }) == SWO_UNKNOWN);
}

static void low_counters_ask_for_the_highest(void **state)
{
	struct swo_task t = counted(1000, 199, 199);

	(void)state;
	assert_int_equal(choose(SWO_RULE_LOW, &t, NULL), 0);
	t.lsu = 200;
	assert_int_equal(choose(SWO_RULE_LOW, &t, NULL), -1);
	t.lsu = SWO_UNKNOWN;
	assert_int_equal(choose(SWO_RULE_LOW, &t, NULL), -1);
}

static void high_cpi_with_low_lsu_asks_for_the_highest(void **state)
{
	struct swo_task t = counted(1000, 301, 49);

	(void)state;
	assert_int_equal(choose(SWO_RULE_CPI_LSU, &t, NULL), 0);
	t.cpi = 300;
	assert_int_equal(choose(SWO_RULE_CPI_LSU, &t, NULL), -1);
	t.cpi = SWO_UNKNOWN;
	assert_int_equal(choose(SWO_RULE_CPI_LSU, &t, NULL), -1);
	t = counted(1000, 301, 50);
	assert_int_equal(choose(SWO_RULE_CPI_LSU, &t, NULL), -1);
}

static void sleep_and_peripherals_ask_for_the_lowest(void **state)
{
	struct swo_task t = { .cycles = 1000000, .sleep = 500000, .peripheral = 9999 };

	(void)state;
	assert_int_equal(choose(SWO_RULE_SLEEP, &t, NULL), 4);
	assert_int_equal(choose(SWO_RULE_PERIPHERAL, &t, NULL), -1);
	t.sleep--;
	t.peripheral++;
	assert_int_equal(choose(SWO_RULE_SLEEP, &t, NULL), -1);
	assert_int_equal(choose(SWO_RULE_PERIPHERAL, &t, NULL), 4);
}

static void saved_cycles_ask_for_40_mhz(void **state)
{
	struct swo_task t = counted(1000000, 0, 0), other = counted(995000, 0, 0);

	(void)state;
	assert_int_equal(choose(SWO_RULE_SAVED, &t, &other), 2);
	other.cycles++;
	assert_int_equal(choose(SWO_RULE_SAVED, &t, &other), 0);
	other.cycles = 2000000;
	assert_int_equal(choose(SWO_RULE_SAVED, &t, &other), 0);
	other.cycles = SWO_UNKNOWN;
	assert_int_equal(choose(SWO_RULE_SAVED, &t, &other), -1);
	assert_int_equal(choose(SWO_RULE_SAVED, &t, NULL), -1);
}

static void cycles_lie_on_a_line_over_wait_states(void **state)
{
	struct swo_task t = counted(480000000, 0, 0), other = counted(384000000, 0, 0);

	(void)state;
	/* 5 % a wait state, as the thesis found for loads from flash (10.1) */
	for (uint32_t p = 0; p < 5; p++)
		assert_int_equal(swo_cycles_at(&device, &t, &other, 4, p),
				 480000000 - p * 24000000);
	/* measured at the second highest */
	other.cycles = 456000000;
	assert_int_equal(swo_cycles_at(&device, &t, &other, 1, 4), 384000000);
	assert_true(swo_cycles_at(&device, &t, NULL, 1, 4) == SWO_UNKNOWN);
	assert_true(swo_cycles_at(&device, &t, &other, 1, 5) == SWO_UNKNOWN);
	/* below zero there are no cycles */
	other.cycles = 1;
	assert_int_equal(swo_cycles_at(&device, &t, &other, 1, 4), 1);
}

static void without_savings_the_highest_frequency_takes_least(void **state)
{
	struct swo_task t = counted(1000000, 0, 0), other = counted(1000000, 0, 0);

	(void)state;
	assert_int_equal(choose(SWO_RULE_ENERGY, &t, &other), 0);
	/* 5 % a wait state: 26 MHz */
	other.cycles = 800000;
	assert_int_equal(choose(SWO_RULE_ENERGY, &t, &other), 3);
	other.cycles = 600000;
	assert_int_equal(choose(SWO_RULE_ENERGY, &t, &other), 4);
	assert_int_equal(choose(SWO_RULE_ENERGY, &t, NULL), -1);
	/* 0.558207 nJ and 34.775 pJ a cycle at 80 MHz */
	assert_int_equal(swo_cycle_fj(&device, 0), 558211 + 34775);
}

/* ---- properties ---- */

static double energy(const struct swo_device *d, uint32_t p, double cycles)
{
	const struct swo_point *at = &d->point[p];
	double volt = at->millivolt * 1e-3;

	return cycles * (d->alpha_c_ff * 1e-15 * volt * volt + at->static_uw * 1e-6 / at->hz);
}

static void estimate_is_that_of_the_formulas(void **state)
{
	struct draw d = draw_begin(1);
	size_t compared = 0;

	(void)state;
	for (int i = 0; i < 50000; i++) {
		struct swo_task t = unknown(), other = unknown();
		double least = INFINITY, second = INFINITY;
		int best = -1, got;

		t.cycles = 1000 + draw_size(&d, 50);
		other.cycles = t.cycles / 2 + draw_below(&d, t.cycles / 2 + 1);
		got = choose(SWO_RULE_ENERGY, &t, &other);
		for (uint32_t p = 0; p < 5; p++) {
			double cycles = (double)t.cycles -
					((double)t.cycles - (double)other.cycles) * p / 4;
			double e = energy(&device, p, cycles);

			if (e < least) {
				second = least;
				least = e;
				best = (int)p;
			} else if (e < second) {
				second = e;
			}
		}
		/* closer ones are for rounding to decide */
		if (second > least * 1.002) {
			assert_int_equal(got, best);
			compared++;
		}
	}
	assert_true(compared > 30000);
}

static void whatever_is_counted_a_point_or_nothing_is_chosen(void **state)
{
	struct draw d = draw_begin(2);

	(void)state;
	for (int i = 0; i < 100000; i++) {
		struct swo_point wild[SWO_MODEL_POINTS];
		struct swo_model model = { .n_features = (uint8_t)draw_below(&d, 8),
					   .n_points = (uint8_t)draw_below(&d, 10) };
		struct swo_thresholds t = swo_thresholds_default;
		struct swo_device any = { wild, (uint32_t)draw_below(&d, 9),
					  (uint32_t)draw_size(&d, 28) };
		struct swo_task task, other;
		uint64_t *a = (uint64_t *)&task, *b = (uint64_t *)&other;

		for (size_t k = 0; k < sizeof(task) / sizeof(*a); k++) {
			a[k] = draw_below(&d, 8) ? draw_size(&d, 64) : SWO_UNKNOWN;
			b[k] = draw_below(&d, 8) ? draw_size(&d, 64) : SWO_UNKNOWN;
		}
		for (size_t k = 0; k < SWO_MODEL_POINTS; k++) {
			wild[k] = (struct swo_point){ (uint32_t)(1 + draw_size(&d, 31)),
						      (uint32_t)draw_size(&d, 16),
						      (uint32_t)draw_size(&d, 8),
						      (uint32_t)draw_size(&d, 31) };
			for (size_t w = 0; w <= SWO_MODEL_FEATURES; w++)
				model.weight[k][w] = (int32_t)draw_u64(&d);
		}
		for (size_t k = 0; k < SWO_MODEL_FEATURES; k++)
			model.feature[k] = (uint8_t)draw_below(&d, SWO_FEATURES + 1);
		t.model = draw_below(&d, 4) ? &model : NULL;
		for (int rule = 0; rule <= SWO_RULES; rule++)
			assert_in_range(swo_rule_choose((enum swo_rule)rule, &t, &any, &task,
							draw_below(&d, 4) ? &other : NULL,
							(uint32_t)draw_below(&d, 10)) +
						1,
					0, any.n);
	}
}

static void model_takes_the_least_ratio(void **state)
{
	struct swo_model m = { .n_features = 1, .n_points = 5, .feature = { SWO_F_LSU } };
	struct swo_thresholds t = swo_thresholds_default;
	struct swo_task task = counted(1000, 0, 500);

	(void)state;
	assert_int_equal(choose(SWO_RULE_LEARNED, &task, NULL), -1);
	t.model = &m;
	for (uint32_t p = 1; p < 5; p++)
		m.weight[p][0] = 65536 + (int32_t)p; /* a little worse than the highest */
	assert_int_equal(swo_rule_choose(SWO_RULE_LEARNED, &t, &device, &task, NULL, 0), 0);
	m.weight[2][1] = -3; /* times a half */
	assert_int_equal(swo_rule_choose(SWO_RULE_LEARNED, &t, &device, &task, NULL, 0), 0);
	m.weight[2][1] = -8;
	assert_int_equal(swo_rule_choose(SWO_RULE_LEARNED, &t, &device, &task, NULL, 0), 2);
	task.lsu = SWO_UNKNOWN;
	assert_int_equal(swo_rule_choose(SWO_RULE_LEARNED, &t, &device, &task, NULL, 0), -1);
	m.n_points = 4; /* of another device */
	task.lsu = 500;
	assert_int_equal(swo_rule_choose(SWO_RULE_LEARNED, &t, &device, &task, NULL, 0), -1);
}

static void features_are_shares_and_savings_a_wait_state(void **state)
{
	struct swo_task t = counted(1000, 250, 0), other = counted(800, 0, 0);

	(void)state;
	assert_int_equal(swo_feature_of(SWO_F_CPI, &device, &t, NULL, 0), 16384);
	assert_int_equal(swo_feature_of(SWO_F_LSU, &device, &t, NULL, 0), 0);
	assert_int_equal(swo_feature_of(SWO_F_SAVED, &device, &t, NULL, 4), INT32_MIN);
	/* a fifth over four */
	assert_in_range(swo_feature_of(SWO_F_SAVED, &device, &t, &other, 4), 3276, 3277);
	assert_int_equal(swo_feature_of(SWO_F_SAVED, &device, &t, &other, 0), INT32_MIN);
}

static void needs_name_what_is_looked_at(void **state)
{
	const struct swo_model m = { .n_features = 2, .feature = { SWO_F_FLASH, SWO_F_SAVED } };
	struct swo_thresholds t = swo_thresholds_default;

	(void)state;
	t.model = &m;
	assert_int_equal(swo_rule_needs(SWO_RULE_CPI, &t), 0x3f);
	assert_int_equal(swo_rule_needs(SWO_RULE_ENERGY, &t), SWO_NEED_CYCLES | SWO_NEED_OTHER);
	assert_int_equal(swo_rule_needs(SWO_RULE_LEARNED, &t),
			 SWO_NEED_CYCLES | SWO_NEED_FLASH | SWO_NEED_OTHER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_cycles_an_instruction_ask_for_26_mhz),
		cmocka_unit_test(cycles_an_instruction_need_every_counter),
		cmocka_unit_test(low_counters_ask_for_the_highest),
		cmocka_unit_test(high_cpi_with_low_lsu_asks_for_the_highest),
		cmocka_unit_test(sleep_and_peripherals_ask_for_the_lowest),
		cmocka_unit_test(saved_cycles_ask_for_40_mhz),
		cmocka_unit_test(cycles_lie_on_a_line_over_wait_states),
		cmocka_unit_test(without_savings_the_highest_frequency_takes_least),
		cmocka_unit_test(estimate_is_that_of_the_formulas),
		cmocka_unit_test(whatever_is_counted_a_point_or_nothing_is_chosen),
		cmocka_unit_test(model_takes_the_least_ratio),
		cmocka_unit_test(features_are_shares_and_savings_a_wait_state),
		cmocka_unit_test(needs_name_what_is_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
