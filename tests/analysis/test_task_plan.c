/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "analysis/plan/edges.h"
#include "analysis/plan/plan.h"
#include "test_draw.h"

#define MHZ 1000000u

static struct plan_line line(uint64_t cpu_hz, uint32_t acpr)
{
	return (struct plan_line){ .cpu_hz = cpu_hz, .timer_hz = 40 * MHZ, .acpr = acpr };
}

static void rates_follow_the_prescaler(void **state)
{
	struct plan_line slow = line(80 * MHZ, 1), fast = line(80 * MHZ, 0);

	(void)state;
	assert_int_equal(plan_bit_rate(&fast), 80 * MHZ);
	assert_int_equal(plan_bit_rate(&slow), 40 * MHZ);
	assert_int_equal(plan_edge_rate(&fast), 40 * MHZ);
	assert_int_equal(plan_counter_rate(&fast), 312500);
	/* 6.25 Mbit/s with start and stop bits, 5 without (equation 7.2) */
	assert_int_equal(plan_counter_rate(&fast) * plan_bits(PLAN_ECP), 6250000);
	assert_int_equal(plan_counter_rate(&fast) * plan_thesis_bits(PLAN_ECP), 5000000);
	assert_int_equal(plan_carried(&slow, PLAN_ECP), 2000000);
	assert_int_equal(plan_carried(&slow, PLAN_DTAOP), 1333333);
	assert_int_equal(plan_carried(&fast, PLAN_DTAOP), 2666666);
}

static void prescaler_is_1_for_counters_and_0_for_accesses_at_80_mhz(void **state)
{
	struct plan_line l = line(80 * MHZ, 0);
	uint32_t acpr = 99;

	(void)state;
	assert_true(plan_best(&l, PLAN_ECP, &acpr));
	assert_int_equal(acpr, 1);
	assert_true(plan_best(&l, PLAN_DTAOP, &acpr));
	assert_int_equal(acpr, 0);
	l.cpu_hz = 53333333;
	assert_true(plan_best(&l, PLAN_ECP, &acpr));
	assert_int_equal(acpr, 0);
	/* 20 bits in 256 cycles: a prescaler of 12 is too slow, so is a timer that asks for one */
	l.timer_hz = 53333333 / 26;
	assert_false(plan_best(&l, PLAN_ECP, &acpr));
	l.timer_hz = 1;
	assert_false(plan_best(&l, PLAN_DTAOP, &acpr));
}

static void best_prescaler_is_the_least_that_the_timer_can_follow(void **state)
{
	struct draw d = draw_begin(1);

	(void)state;
	for (int i = 0; i < 20000; i++) {
		struct plan_line l = line(1 + draw_size(&d, 30), 0);
		uint32_t acpr;

		l.timer_hz = 1 + draw_size(&d, 28);
		for (int k = 0; k < PLAN_PACKETS; k++) {
			if (!plan_best(&l, k, &acpr))
				continue;
			l.acpr = acpr;
			assert_true(k == PLAN_ECP ? plan_edge_rate(&l) < (double)l.timer_hz :
						    plan_edge_rate(&l) <= (double)l.timer_hz);
			if (k == PLAN_ECP)
				assert_true(plan_lost(&l, k, plan_counter_rate(&l)) == 0);
			if (acpr) {
				l.acpr--;
				assert_true(plan_edge_rate(&l) >= (double)l.timer_hz);
			}
		}
	}
}

static void what_finds_no_room_is_lost(void **state)
{
	struct plan_line l = line(80 * MHZ, 1);

	(void)state;
	assert_int_equal(lround(1e6 * plan_lost(&l, PLAN_DTAOP, 2e6)), 333333);
	assert_int_equal(lround(1e6 * plan_lost(&l, PLAN_DTAOP, 1e6)), 0);
	assert_int_equal(lround(1e6 * plan_lost(&l, PLAN_DTAOP, 0)), 0);
}

/*
 * Table 9.1 of the thesis: its highest delays are within ours, less than two cycles off the end;
 * its lowest are less than a packet lasts.
 */
static void delays_agree_with_the_highest_that_were_measured(void **state)
{
	static const struct {
		uint64_t cpu_hz;
		enum plan_packet kind;
		double low, high;
	} table[] = {
		{ 80 * MHZ, PLAN_ECP, 260, 720 },
		{ 13333333, PLAN_ECP, 1440, 4260 },
		{ 80 * MHZ, PLAN_DTAOP, 160, 570 },
		{ 13333333, PLAN_DTAOP, 800, 3600 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct plan_line l = line(table[i].cpu_hz, table[i].kind == PLAN_ECP);
		struct plan_delay d = plan_delay(&l, table[i].kind);

		assert_true(table[i].high > d.least && table[i].high <= d.most);
		assert_true(d.most - table[i].high < 4e9 / (double)table[i].cpu_hz);
		assert_true(table[i].low < d.least);
		/*
		 * at the rates that the thesis gives, f / (ACPR + 2), a packet alone would last
		 * longer, or leave no time before it
		 */
		l.acpr++;
		assert_true(plan_delay(&l, table[i].kind).least >
			    table[i].high - 2e9 / (double)l.cpu_hz);
	}
}

/* 10.2, 10.4.4: comparators never counted more than 0.03 to 0.04 accesses a cycle. */
static void a_full_line_counts_three_accesses_in_a_hundred_cycles(void **state)
{
	struct plan_line l = line(80 * MHZ, 0);
	double counted = plan_carried(&l, PLAN_DTAOP) / (double)l.cpu_hz *
			 (1 + 1e-6 * (double)edges_bias_ppm(0, 3, 4));

	(void)state;
	assert_int_equal(lround(1e4 * counted), 313);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates_follow_the_prescaler),
		cmocka_unit_test(prescaler_is_1_for_counters_and_0_for_accesses_at_80_mhz),
		cmocka_unit_test(best_prescaler_is_the_least_that_the_timer_can_follow),
		cmocka_unit_test(what_finds_no_room_is_lost),
		cmocka_unit_test(delays_agree_with_the_highest_that_were_measured),
		cmocka_unit_test(a_full_line_counts_three_accesses_in_a_hundred_cycles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
