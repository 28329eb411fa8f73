/* SPDX-License-Identifier: MIT */
/* The simulated trace units against the manual and the thesis, without the library. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "swotrace/stm32/stm32.h"

#include "swo_bench.h"

/*
 * Everything on: @control of the DWT, @tcr beside what is needed, @protocol of the line, prescaler
 * 1.
 */
static void on(struct bench *b, uint32_t control, uint32_t tcr, uint32_t protocol)
{
	swo_port_stm32l476.count_on(&swo_port_stm32l476, &b->bus);
	swo_write(&b->bus, DEMCR, DEMCR_TRCENA);
	swo_write(&b->bus, ITM_LAR, LAR_KEY);
	swo_write(&b->bus, TPIU_SPPR, protocol);
	swo_write(&b->bus, TPIU_ACPR, 1);
	swo_write(&b->bus, TPIU_FFCR,
		  b->frames ? TPIU_FFCR_TRIGGER | TPIU_FFCR_FORMAT : TPIU_FFCR_TRIGGER);
	swo_write(&b->bus, ITM_TER(0), UINT32_MAX);
	swo_write(&b->bus, ITM_TCR, ITM_TCR_ITMENA | ITM_TCR_TXENA | ITM_TCR_BUS(1) | tcr);
	swo_write(&b->bus, DWT_CTRL,
		  DWT_CTRL_CYCCNTENA | DWT_CTRL_POSTPRESET(3) | DWT_CTRL_POSTINIT(3));
	swo_write(&b->bus, DWT_CYCCNT, 0);
	swo_write(&b->bus, DWT_CTRL,
		  DWT_CTRL_CYCCNTENA | DWT_CTRL_POSTPRESET(3) | DWT_CTRL_POSTINIT(3) | control);
}

static void counters_that_wrap_together_share_a_packet(void **state)
{
	const struct dwt_step s = { .cycles = 32, .add = { 32, 32, 32, 32, 32 } };
	struct bench b;

	(void)state;
	bench_init(&b, &dwt_chip_l476, 1);
	on(&b, DWT_CTRL_EVENTS & ~DWT_CTRL_EVENT(5), 0, TPIU_SPPR_NRZ);
	for (unsigned i = 0; i < 80; i++)
		bench_step(&b, &s);
	dwt_chip_rest(&b.chip);
	bench_decode(&b, 0, 2, false);
	assert_int_equal(b.kinds[ITM_EVENT_COUNTER], 10);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(b.counters[i], 10);
	bench_done(&b);
}

/* Thesis 7.1. */
static void manchester_has_three_times_the_edges(void **state)
{
	const struct dwt_step s = { .cycles = 32, .add = { 32 } };
	struct bench b;

	(void)state;
	bench_init(&b, &dwt_chip_l476, 2);
	on(&b, DWT_CTRL_EVENT(0), 0, TPIU_SPPR_MANCHESTER);
	for (unsigned i = 0; i < 80; i++)
		bench_step(&b, &s);
	dwt_chip_rest(&b.chip);
	bench_decode(&b, 0, 2, true);
	assert_int_equal(b.counters[0], 10);
	assert_int_equal(b.rising, 150);
	assert_int_equal(b.chip.timer, 150);
	bench_done(&b);
}

/*
 * Thesis 7.2.1, with start and stop bits: a packet of 20 bits every 256 cycles needs a bit in 12.8
 * cycles, which is 6.25 MHz at 80 MHz.
 */
static void counters_need_a_bit_in_twelve_cycles(void **state)
{
	const struct dwt_step s = { .cycles = 32, .add = { 32 } };

	(void)state;
	for (uint32_t bit = 10; bit < 16; bit++) {
		struct bench b;

		bench_init(&b, &dwt_chip_l476, 8);
		on(&b, DWT_CTRL_EVENT(0), 0, TPIU_SPPR_NRZ);
		swo_write(&b.bus, TPIU_ACPR, bit - 1);
		for (unsigned i = 0; i < 8 * 2000; i++)
			bench_step(&b, &s);
		assert_int_equal(b.chip.truth.lost > 0, bit > 12);
		bench_done(&b);
	}
}

/*
 * Thesis 7.2.2, with start and stop bits: a packet of 30 bits; at 40 Mbit/s, two cycles a bit at 80
 * MHz, 1.33 million a second.
 */
static void comparators_need_thirty_bits_an_access(void **state)
{
	(void)state;
	for (uint8_t cycles = 27; cycles < 63; cycles++)
		for (uint8_t bit = 1; bit <= 2; bit++) {
			struct dwt_chip_config config = dwt_chip_l476;
			struct dwt_step s = { .cycles = cycles, .access = true, .size = 4 };
			struct bench b;

			config.bit_cycles = bit;
			bench_init(&b, &config, 9);
			on(&b, 0, 0, TPIU_SPPR_NRZ);
			swo_write(&b.bus, TPIU_ACPR, 0);
			swo_write(&b.bus, DWT_COMP(0), RAM);
			swo_write(&b.bus, DWT_MASK(0), 15);
			swo_write(&b.bus, DWT_FUNCTION(0),
				  DWT_FUNCTION_EMITRANGE | DWT_FUNCTION_PC);
			for (unsigned i = 0; i < 4000; i++) {
				s.address = RAM + bench_below(&b, 0x8000);
				bench_step(&b, &s);
			}
			assert_int_equal(b.chip.truth.lost > 0, cycles < 30 * bit);
			bench_done(&b);
		}
}

static void random_programs(uint32_t control, uint32_t tcr, bool manchester, bool frames)
{
	for (unsigned run = 0; run < 10; run++) {
		struct bench b;
		uint64_t sum = 0;

		bench_init(&b, &dwt_chip_l476, 100 + run);
		b.frames = frames;
		on(&b, control, tcr, manchester ? TPIU_SPPR_MANCHESTER : TPIU_SPPR_NRZ);
		bench_run(&b, 3000);
		swo_write(&b.bus, DWT_CTRL, DWT_CTRL_CYCCNTENA);
		/*
		 * a last one without a predecessor in the queue: reports what was lost; fills the
		 * frame in hand
		 */
		for (unsigned i = 0; i < (frames ? 12 : 1); i++) {
			dwt_chip_rest(&b.chip);
			swo_write(&b.bus, ITM_STIM(0), 1);
		}
		dwt_chip_rest(&b.chip);
		bench_decode(&b, 0, 2, manchester);
		assert_int_equal(b.bad, 0);
		assert_int_equal(b.kinds[ITM_BAD], 0);
		if (frames)
			b.kinds[ITM_SOFTWARE] = b.chip.truth.kinds[ITM_SOFTWARE];
		for (unsigned k = 0; k < ITM_KINDS; k++) {
			if (k != ITM_LOCAL_TS)
				assert_int_equal(b.kinds[k], b.chip.truth.kinds[k]);
			sum += k == ITM_OVERFLOW ? 0 : b.chip.truth.kinds[k];
		}
		assert_int_equal(sum + b.chip.truth.lost, b.chip.truth.made);
		assert_true(sum > 20);
		bench_done(&b);
	}
}

static void what_is_decoded_is_what_went_out(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 16; i++) {
		uint32_t control = (i & 1 ? DWT_CTRL_EXCTRCENA : 0) |
				   (i & 2 ? DWT_CTRL_PCSAMPLENA : 0) | DWT_CTRL_EVENTS;

		random_programs(control, i & 4 ? ITM_TCR_TSENA : 0, i & 8, false);
	}
	random_programs(DWT_CTRL_EXCTRCENA | DWT_CTRL_EVENTS, 0, false, true);
}

static void local_timestamps_add_up_to_the_cycles(void **state)
{
	const struct dwt_step s = { .cycles = 50 };
	struct bench b;
	uint64_t last = 0;

	(void)state;
	bench_init(&b, &dwt_chip_l476, 3);
	on(&b, 0, ITM_TCR_TSENA, TPIU_SPPR_NRZ);
	for (unsigned i = 0; i < 20; i++) {
		for (unsigned k = bench_below(&b, 100) + 4; k--;)
			bench_step(&b, &s);
		swo_write(&b.bus, ITM_STIM(0), i);
		last = b.chip.now;
	}
	dwt_chip_rest(&b.chip);
	bench_decode(&b, 0, 2, false);
	assert_int_equal(b.kinds[ITM_SOFTWARE], 20);
	assert_int_equal(b.kinds[ITM_LOCAL_TS], 20);
	assert_int_equal(b.ticks, last);
	bench_done(&b);
}

static void the_cycle_tap_asks_for_synchronisation(void **state)
{
	const struct dwt_step s = { .cycles = 32 };
	struct bench b;

	(void)state;
	for (unsigned tap = 0; tap < 4; tap++) {
		bench_init(&b, &dwt_chip_l476, 4);
		on(&b, DWT_CTRL_SYNCTAP(tap), ITM_TCR_SYNCENA, TPIU_SPPR_NRZ);
		for (unsigned i = 0; i < 3; i++) {
			if (tap)
				swo_write(&b.bus, DWT_CYCCNT, (1u << (22 + 2 * tap)) - 100);
			for (unsigned k = 0; k < 20; k++)
				bench_step(&b, &s);
			if (tap)
				assert_true(b.chip.cyccnt >> (22 + 2 * tap) & 1);
		}
		dwt_chip_rest(&b.chip);
		bench_decode(&b, 0, 2, false);
		assert_int_equal(b.kinds[ITM_SYNC], tap ? 3 : 0);
		bench_done(&b);
	}
}

static void nothing_goes_out_while_a_unit_is_off(void **state)
{
	static const struct {
		uint32_t address, value;
	} off[] = {
		{ DEMCR, 0 },
		{ ITM_TCR, 0 },
		{ ITM_TCR, ITM_TCR_ITMENA },
		{ DWT_CTRL, DWT_CTRL_CYCCNTENA },
		{ DBGMCU_CR, 0 },
	};
	struct bench b;

	(void)state;
	for (unsigned i = 0; i < sizeof(off) / sizeof(off[0]); i++) {
		bench_init(&b, &dwt_chip_l476, 5);
		on(&b, DWT_CTRL_EVENTS, 0, TPIU_SPPR_NRZ);
		swo_write(&b.bus, off[i].address, off[i].value);
		bench_run(&b, 1000);
		assert_int_equal(b.chip.timer, 0);
		assert_int_equal(b.edges, 0);
		bench_done(&b);
	}
}

static void the_itm_stays_locked_without_its_key(void **state)
{
	struct bench b;

	(void)state;
	bench_init(&b, &dwt_chip_l476, 6);
	swo_write(&b.bus, DEMCR, DEMCR_TRCENA);
	swo_write(&b.bus, ITM_TCR, ITM_TCR_ITMENA);
	assert_int_equal(swo_read(&b.bus, ITM_TCR), 0);
	swo_write(&b.bus, ITM_LAR, 1);
	swo_write(&b.bus, ITM_TCR, ITM_TCR_ITMENA);
	assert_int_equal(swo_read(&b.bus, ITM_TCR), 0);
	swo_write(&b.bus, ITM_LAR, LAR_KEY);
	swo_write(&b.bus, ITM_TCR, ITM_TCR_ITMENA);
	assert_int_equal(swo_read(&b.bus, ITM_TCR), ITM_TCR_ITMENA);
	bench_done(&b);
}

/* ARM Debug Interface v5, 5.2.1: what the debug port takes for the sequence, and what not. */
static void the_debug_port_switches_on_the_whole_sequence_only(void **state)
{
	const struct swo_port *port = &swo_port_stm32l476;
	static const struct {
		unsigned first, again, zeros;
		uint32_t key;
		int done;
	} tries[] = {
		{ 50, 50, 2, 0xe79e, 1 }, { 60, 80, 5, 0xe79e, 1 }, { 49, 50, 2, 0xe79e, 0 },
		{ 50, 46, 2, 0xe79e, 0 }, { 50, 50, 1, 0xe79e, 0 }, { 50, 50, 2, 0xe73c, 0 },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		struct dwt_chip_config config = dwt_chip_l476;
		struct bench b;

		config.jtag = true;
		bench_init(&b, &config, 7);
		port->count_on(port, &b.bus);
		port->wires(port, &b.bus, 1);
		for (unsigned k = 0; k < tries[i].first; k++)
			port->wire_bit(port, &b.bus, 1);
		for (unsigned k = 0; k < 16; k++)
			port->wire_bit(port, &b.bus, tries[i].key >> k & 1);
		for (unsigned k = 0; k < tries[i].again; k++)
			port->wire_bit(port, &b.bus, 1);
		for (unsigned k = 0; k < tries[i].zeros; k++)
			port->wire_bit(port, &b.bus, 0);
		assert_int_equal(b.chip.swj == 4, tries[i].done);
		bench_done(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counters_that_wrap_together_share_a_packet),
		cmocka_unit_test(manchester_has_three_times_the_edges),
		cmocka_unit_test(counters_need_a_bit_in_twelve_cycles),
		cmocka_unit_test(comparators_need_thirty_bits_an_access),
		cmocka_unit_test(what_is_decoded_is_what_went_out),
		cmocka_unit_test(local_timestamps_add_up_to_the_cycles),
		cmocka_unit_test(the_cycle_tap_asks_for_synchronisation),
		cmocka_unit_test(nothing_goes_out_while_a_unit_is_off),
		cmocka_unit_test(the_itm_stays_locked_without_its_key),
		cmocka_unit_test(the_debug_port_switches_on_the_whole_sequence_only),
	};

	draw_seed();
	return cmocka_run_group_tests_name("dwt", tests, NULL, NULL);
}
