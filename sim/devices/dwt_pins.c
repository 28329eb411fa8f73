/* SPDX-License-Identifier: MIT */
/*
 * What of an STM32 stands between the trace port and the timer: clock control, pins, timer 2, and
 * the debug port that owns the pin.
 */
#include "sim/devices/dwt_internal.h"

#include <assert.h>

#include "swotrace/stm32/stm32.h"

/* JTAG to SWD, least significant bit first: ones, this, ones, zeros. */
#define SWJ_KEY 0xe79eu
#define SWJ_ONES 50
enum { SWJ_JTAG, SWJ_SHIFT, SWJ_ONES_AGAIN, SWJ_ZERO, SWJ_SWD };

static const struct map {
	uint32_t gpioa, gpiob, gpio_clock, tim2_clock;
} maps[] = {
	[DWT_CHIP_L476] = { 0x48000000u, 0x48000400u, 0x4002104cu, 0x40021058u },
	[DWT_CHIP_F4] = { 0x40020000u, 0x40020400u, 0x40023830u, 0x40023840u },
};

static const struct map *map(const struct dwt_chip *c)
{
	return &maps[c->config.kind];
}

/* ---- registers that hold what is written ---- */

static uint32_t held(const struct dwt_chip *c, uint32_t address)
{
	for (unsigned i = 0; i < c->words; i++)
		if (c->word[i].address == address)
			return c->word[i].value;
	return 0;
}

static void hold(struct dwt_chip *c, uint32_t address, uint32_t value)
{
	unsigned i = 0;

	while (i < c->words && c->word[i].address != address)
		i++;
	assert(i < DWT_CHIP_WORDS);
	c->word[i].address = address;
	c->word[i].value = value;
	c->words += i == c->words;
}

static bool has_clock(const struct dwt_chip *c, uint32_t address)
{
	if (address >= TIM2 && address < TIM2 + 0x400)
		return held(c, map(c)->tim2_clock) & 1;
	if (address >= map(c)->gpioa && address < map(c)->gpioa + 0x400)
		return held(c, map(c)->gpio_clock) & 1;
	if (address >= map(c)->gpiob && address < map(c)->gpiob + 0x400)
		return held(c, map(c)->gpio_clock) & 2;
	return true;
}

/* ---- pins ---- */

static unsigned pin_mode(const struct dwt_chip *c, uint32_t port, unsigned pin)
{
	return held(c, port + GPIO_MODER) >> pin * 2 & 3;
}

static bool pin_is(const struct dwt_chip *c, uint32_t port, unsigned pin, unsigned af)
{
	return pin_mode(c, port, pin) == GPIO_ALTERNATE &&
	       (held(c, port + GPIO_AFR(pin)) >> pin % 8 * 4 & 15) == af;
}

bool dwt_pin_out(const struct dwt_chip *c)
{
	uint32_t debug = held(c, DBGMCU_CR);

	return (!c->config.jtag || c->swj == SWJ_SWD) && debug & DBGMCU_CR_TRACE_IOEN &&
	       !(debug & DBGMCU_CR_TRACE_MODE) && pin_is(c, map(c)->gpiob, PIN_SWO, 0);
}

bool dwt_timer_counts(const struct dwt_chip *c)
{
	return held(c, map(c)->tim2_clock) & 1 && held(c, TIM2_CR1) & TIM_CR1_CEN &&
	       (held(c, TIM2_SMCR) & 0x77) == TIM_SMCR_EXTERNAL_TI1 &&
	       (held(c, TIM2_CCMR1) & 0xff) == TIM_CCMR1_INPUT_TI1 && !(held(c, TIM2_CCER) & 0xa) &&
	       pin_is(c, map(c)->gpioa, PIN_EDGES, AF_TIM2);
}

/* ---- the debug port ---- */

static void swj_clock(struct dwt_chip *c, bool bit)
{
	switch (c->swj) {
	case SWJ_JTAG:
		if (!bit && c->swj_ones >= SWJ_ONES) {
			c->swj = SWJ_SHIFT;
			c->swj_bits = 1;
			c->swj_shift = 0;
		}
		break;
	case SWJ_SHIFT:
		c->swj_shift |= (uint32_t)bit << c->swj_bits;
		if (++c->swj_bits == 16) {
			c->swj = c->swj_shift == SWJ_KEY ? SWJ_ONES_AGAIN : SWJ_JTAG;
			c->swj_ones = 0;
			return;
		}
		break;
	case SWJ_ONES_AGAIN:
		if (!bit)
			c->swj = c->swj_ones >= SWJ_ONES ? SWJ_ZERO : SWJ_JTAG;
		break;
	case SWJ_ZERO: c->swj = bit ? SWJ_JTAG : SWJ_SWD; break;
	default: break;
	}
	c->swj_ones = bit ? c->swj_ones + 1 : 0;
}

static void set_pins(struct dwt_chip *c, uint32_t value)
{
	uint32_t port = map(c)->gpiob, levels = held(c, port + 0x14);
	bool driven = pin_mode(c, port, PIN_SWCLK) == GPIO_OUTPUT &&
		      pin_mode(c, port, PIN_SWDIO) == GPIO_OUTPUT;
	bool clock;

	levels = (levels & ~(value >> 16)) | (value & 0xffff);
	hold(c, port + 0x14, levels);
	clock = driven && levels >> PIN_SWCLK & 1;
	if (clock && !c->clock_level)
		swj_clock(c, levels >> PIN_SWDIO & 1);
	c->clock_level = clock;
}

/* ---- */

/*
 * Bits of the clock control of an L476 that follow others: oscillators that are on are ready, the
 * source asked for is in use.
 */
static uint32_t follows(const struct dwt_chip *c, uint32_t address, unsigned *shift)
{
	if (c->config.kind == DWT_CHIP_L476 && address == 0x40021000u) {
		*shift = 1;
		return 1u << 25 | 1u << 1;
	}
	if (c->config.kind == DWT_CHIP_L476 && address == 0x40021008u) {
		*shift = 2;
		return 3u << 2;
	}
	*shift = 0;
	return 0;
}

void dwt_pins_access(struct dwt_chip *c, uint32_t address, uint32_t *value, bool write)
{
	unsigned shift;
	uint32_t mask = follows(c, address, &shift);

	if (!has_clock(c, address)) {
		if (!write)
			*value = 0;
	} else if (address == TIM2_CNT) {
		if (write)
			c->timer = *value;
		else
			*value = c->timer;
	} else if (!write) {
		*value = held(c, address);
		*value |= *value << shift & mask;
	} else if (address == TIM2_EGR) {
		c->timer = 0;
	} else if (address == map(c)->gpiob + GPIO_BSRR) {
		set_pins(c, *value);
	} else {
		hold(c, address, *value & ~mask);
	}
}
