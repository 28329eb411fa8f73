/* SPDX-License-Identifier: MIT */
/*
 * Whole nodes, chip and all: firmware/apps/glossy with its driver on three simulated CC1101 in a
 * line, of which the first and the last do not hear each other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "glossy/glossy.h"
#include "glossy/trx.h"
#include "sim/devices/cc1101_chip.h"

#define NODES 3
#define HZ 84000000u
#define S 1000000000ll
#define MS 1000000ll
#define EARLY (20 * MS)
#define SLOT_NS (704172 + 22000) /* the chip hears at once */

struct line;

struct node {
	struct line *line;
	unsigned index;
	int64_t ppm;
	struct cc1101_chip chip;
	struct hal hal;
	struct trx_board board;
	struct trx trx;
	struct glossy_hal flood;
	struct glossy glossy;
	int armed;
	int64_t strobe_ns;
	uint8_t strobe;
	int status;
	int synced, pulsed;
	uint32_t sync, pulse;
	unsigned raises, sent;
	int64_t raised_ns;
	char said[500];
};

struct line {
	int64_t now_ns;
	struct node node[NODES];
	unsigned spoil; /* of so many packets one is spoilt; 0: none */
	unsigned packets;
};

static uint32_t count_at(const struct node *n, int64_t ns)
{
	return (uint32_t)((__int128)ns * (84000000 + 84 * n->ppm) / 1000000000);
}

/* True time at which the timer comes to @count. */
static int64_t when(const struct node *n, uint32_t count)
{
	int32_t ahead = (int32_t)(count - count_at(n, n->line->now_ns));

	return n->line->now_ns + (int64_t)ahead * 1000000000 / (84000000 + 84 * n->ppm);
}

static uint32_t node_now(void *ctx)
{
	const struct node *n = ctx;

	return count_at(n, n->line->now_ns);
}

static int node_spi(void *ctx, const uint8_t *out, uint8_t *in, unsigned bytes)
{
	return chip_transfer(&((struct node *)ctx)->chip, out, in, bytes);
}

static void node_arm(void *ctx, uint32_t count, uint8_t strobe)
{
	struct node *n = ctx;

	n->armed = 1;
	n->strobe_ns = when(n, count);
	n->strobe = strobe;
	n->status = -1;
	assert_true(n->strobe_ns >= n->line->now_ns + 100000);
}

static int node_disarm(void *ctx)
{
	struct node *n = ctx;

	n->armed = 0;
	return n->status;
}

static int take(int *flag, uint32_t from, uint32_t *count)
{
	*count = from;
	if (!*flag)
		return 0;
	*flag = 0;
	return 1;
}

static int node_pulse(void *ctx, uint32_t *count)
{
	struct node *n = ctx;

	return take(&n->pulsed, n->pulse, count);
}

static int node_sync(void *ctx, uint32_t *count)
{
	struct node *n = ctx;

	return take(&n->synced, n->sync, count);
}

static void node_raise(void *ctx, uint32_t count)
{
	struct node *n = ctx;

	n->raises++;
	n->raised_ns = when(n, count);
}

static int node_put(void *ctx, const char *bytes, unsigned bytes_n)
{
	struct node *n = ctx;

	snprintf(n->said, sizeof(n->said), "%.*s", (int)bytes_n, bytes);
	return 1;
}

static void node_feed(void *ctx)
{
	(void)ctx;
}

static void on_pin(void *ctx, int pin, bool level, int64_t now_ns)
{
	struct node *n = ctx;

	if (pin || !level)
		return;
	n->synced = 1;
	n->sync = count_at(n, now_ns);
}

static void on_sent(void *ctx, const struct chip_air *air)
{
	struct node *n = ctx;
	struct line *l = n->line;
	struct chip_air heard = *air;

	n->sent++;
	heard.crc_bad = l->spoil && ++l->packets % l->spoil == 0;
	if (n->index > 0)
		assert_true(chip_hear(&n[-1].chip, &heard));
	if (n->index + 1 < NODES)
		assert_true(chip_hear(&n[1].chip, &heard));
}

static void start(struct line *l)
{
	struct glossy_config c = { .transmissions = 2,
				   .slots = 8,
				   .stamps = 1,
				   .slot_ns = SLOT_NS,
				   .early_ns = EARLY,
				   .lead_ns = 3 * MS,
				   .alpha_pm = 1000,
				   .average = 4,
				   .holdover = 3,
				   .odd_ns = 50000 };

	memset(l, 0, sizeof(*l));
	for (unsigned i = 0; i < NODES; i++) {
		struct node *n = &l->node[i];

		n->line = l;
		n->index = i;
		n->ppm = (int)i * 20 - 20;
		n->chip.on_pin = on_pin;
		n->chip.on_sent = on_sent;
		n->chip.ctx = n;
		chip_reset(&n->chip, 0);
		n->hal = (struct hal){ .ctx = n,
				       .timer_hz = HZ,
				       .now = node_now,
				       .arm = node_arm,
				       .disarm = node_disarm,
				       .spi = node_spi,
				       .pulse = node_pulse,
				       .put = node_put,
				       .feed = node_feed };
		n->board = (struct trx_board){ &n->hal, node_sync, node_raise };
		assert_null(trx_init(&n->trx, &n->board, cc1101_profile_find("glossy")));
		trx_hal(&n->trx, &n->flood);
		c.id = (uint16_t)(i + 1);
		c.initiator = !i;
		/*
		 * the chip goes from FSTXON to TX in 22 us, which the others have to know and the
		 * first has not
		 */
		c.heard_ns = n->trx.sync_ns + 22000;
		assert_null(glossy_init(&n->glossy, &n->flood, &c));
	}
}

static void step(struct line *l, int64_t ns)
{
	l->now_ns += ns;
	for (unsigned i = 0; i < NODES; i++) {
		struct node *n = &l->node[i];

		if (n->armed && n->strobe_ns <= l->now_ns) {
			uint8_t in = 0;

			chip_advance(&n->chip, n->strobe_ns);
			chip_transfer(&n->chip, &n->strobe, &in, 1);
			n->status = in;
			n->strobe_ns = INT64_MAX;
		}
		chip_advance(&n->chip, l->now_ns);
	}
	for (unsigned i = 0; i < NODES; i++)
		glossy_poll(&l->node[i].glossy);
}

/* To the middle between two seconds, by 5 us while a flood may be on. */
static void second(struct line *l, int64_t k)
{
	struct node *first = &l->node[0];

	while (l->now_ns < k * S - EARLY)
		step(l, 200000);
	first->pulsed = 1;
	first->pulse = count_at(first, k * S - EARLY);
	while (l->now_ns < k * S)
		step(l, 5000);
	while (l->now_ns < k * S + S / 2)
		step(l, 200000);
}

static void a_flood_goes_through_three_chips(void **state)
{
	static struct line l;

	(void)state;
	start(&l);
	for (int64_t k = 1; k <= 8; k++) {
		second(&l, k);
		for (unsigned i = 0; i < NODES; i++) {
			const struct node *n = &l.node[i];

			assert_int_equal(n->raises, k);
			assert_int_equal(n->glossy.hops, i);
			assert_int_equal(n->trx.bad, 0);
			assert_int_equal(n->trx.stuck, 0);
			assert_int_equal(n->sent, 2 * k);
			if (k > 4)
				assert_in_range(n->raised_ns - k * S + 1000, 0, 2000);
		}
	}
	assert_non_null(strstr(l.node[2].said, "hops 2 "));
	assert_non_null(strstr(l.node[2].said, "radio up absent 0 stuck 0 resets 1"));
}

static void spoilt_packets_are_not_passed_on(void **state)
{
	static struct line l;

	(void)state;
	start(&l);
	l.spoil = 3;
	for (int64_t k = 1; k <= 12; k++)
		second(&l, k);
	for (unsigned i = 0; i < NODES; i++) {
		const struct node *n = &l.node[i];

		assert_int_equal(n->glossy.wrong, 0);
		assert_int_equal(n->trx.stuck, 0);
		assert_int_equal(n->trx.resets, 1);
		assert_in_range(n->raises, 8, 12);
		assert_in_range(n->raised_ns - 12 * S + 2000, 0, 4000);
	}
	assert_in_range(l.node[1].trx.bad + l.node[2].trx.bad, 1, 100);
}

static void a_chip_that_dies_is_set_up_again(void **state)
{
	static struct line l;

	(void)state;
	start(&l);
	for (int64_t k = 1; k <= 4; k++)
		second(&l, k);
	l.node[1].chip.fault = CHIP_DEAD_HIGH;
	second(&l, 5);
	assert_in_range(l.node[1].trx.absent, 1, 100);
	/* the seconds go on without */
	assert_int_equal(l.node[1].raises, 5);
	assert_int_equal(l.node[2].raises, 5);
	l.node[1].chip.fault = CHIP_SOUND;
	chip_reset(&l.node[1].chip, l.now_ns);
	for (int64_t k = 6; k <= 9; k++)
		second(&l, k);
	assert_int_equal(l.node[2].glossy.missed_run, 0);
	assert_int_equal(l.node[2].raises, 9);
	assert_in_range(l.node[2].raised_ns - 9 * S + 1000, 0, 2000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_flood_goes_through_three_chips),
		cmocka_unit_test(spoilt_packets_are_not_passed_on),
		cmocka_unit_test(a_chip_that_dies_is_set_up_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
