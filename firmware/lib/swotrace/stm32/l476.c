/* SPDX-License-Identifier: MIT */
/*
 * STM32L476, on a Nucleo-L476RG as in the thesis: TRACESWO is at CN4 pin 6 as well. Clock and
 * voltage: RM0351 sections 3.3.3 (wait states), 5.1.8 (voltage ranges), 6.2.4 (PLL). HCLK and both
 * peripheral clocks are the same, so timer 2 runs at HCLK.
 */
#include "stm32.h"

#define RCC 0x40021000u
#define RCC_CR (RCC + 0x00u)
#define RCC_CFGR (RCC + 0x08u)
#define RCC_PLLCFGR (RCC + 0x0cu)
#define RCC_AHB2ENR (RCC + 0x4cu)
#define RCC_APB1ENR1 (RCC + 0x58u)
#define RCC_CR_MSION (1u << 0)
#define RCC_CR_MSIRDY (1u << 1)
#define RCC_CR_MSIRGSEL (1u << 3)
#define RCC_CR_MSIRANGE (15u << 4)
#define RCC_CR_MSI_4_MHZ (6u << 4)
#define RCC_CR_PLLON (1u << 24)
#define RCC_CR_PLLRDY (1u << 25)
#define RCC_CFGR_SW 3u
#define RCC_CFGR_SWS (3u << 2)
#define RCC_CFGR_PRESCALERS (15u << 4 | 7u << 8 | 7u << 11)
#define RCC_APB1_PWR (1u << 28)
#define PWR_CR1 0x40007000u
#define PWR_SR2 0x40007014u
#define PWR_CR1_VOS (3u << 9)
#define PWR_SR2_VOSF (1u << 10)
#define FLASH_ACR 0x40022000u
#define FLASH_ACR_LATENCY 7u

static const struct stm32_board board = {
	.gpioa = 0x48000000u,
	.gpiob = 0x48000400u,
	.gpio_clock = RCC_AHB2ENR,
	.gpio_clock_bits = 3u,
	.tim2_clock = RCC_APB1ENR1,
	.tim2_clock_bit = 1u,
};

/*
 * The thesis's frequencies (section 8.4.1; low voltage goes before few wait states): the PLL makes
 * @n times 4 MHz, which is divided by @r. In the low range it makes 128 MHz at most. Static power:
 * 2.78 mW at 1.2 V in the thesis; at 1.0 V in proportion to the voltage.
 */
static const struct setting {
	uint8_t n, r, range;
} settings[] = {
	{ 80, 4, 1 }, { 80, 6, 1 }, { 80, 8, 1 }, { 26, 4, 2 }, { 26, 8, 2 },
};

static const struct swo_point points[] = {
	{ 80000000, 1200, 4, 2782 }, { 53333333, 1200, 3, 2782 }, { 40000000, 1200, 2, 2782 },
	{ 26000000, 1000, 3, 2318 }, { 13000000, 1000, 2, 2318 },
};

static int wait_states(const struct swo_bus *b, uint32_t n)
{
	swo_change(b, FLASH_ACR, FLASH_ACR_LATENCY, n);
	return stm32_wait(b, FLASH_ACR, FLASH_ACR_LATENCY, n);
}

static int voltage(const struct swo_bus *b, uint32_t range)
{
	swo_change(b, PWR_CR1, PWR_CR1_VOS, range << 9);
	return stm32_wait(b, PWR_SR2, PWR_SR2_VOSF, 0);
}

/* By way of 4 MHz without the PLL, which every voltage and every wait state allow. */
static int set(const struct swo_port *p, const struct swo_bus *b, uint32_t point)
{
	const struct setting *s = &settings[point];

	(void)p;
	if (point >= sizeof(settings) / sizeof(settings[0]))
		return -1;
	swo_change(b, RCC_APB1ENR1, 0, RCC_APB1_PWR);
	swo_read(b, RCC_APB1ENR1);
	swo_change(b, RCC_CR, 0, RCC_CR_MSION);
	if (stm32_wait(b, RCC_CR, RCC_CR_MSIRDY, RCC_CR_MSIRDY))
		return -1;
	swo_change(b, RCC_CFGR, RCC_CFGR_SW, 0);
	if (stm32_wait(b, RCC_CFGR, RCC_CFGR_SWS, 0))
		return -1;
	swo_change(b, RCC_CFGR, RCC_CFGR_PRESCALERS, 0);
	swo_change(b, RCC_CR, RCC_CR_MSIRANGE, RCC_CR_MSI_4_MHZ | RCC_CR_MSIRGSEL);
	swo_change(b, RCC_CR, RCC_CR_PLLON, 0);
	if (stm32_wait(b, RCC_CR, RCC_CR_PLLRDY, 0) || voltage(b, s->range) ||
	    wait_states(b, points[point].wait_states))
		return -1;
	/* source MSI, not divided; output R on */
	swo_write(b, RCC_PLLCFGR, 1u | (uint32_t)s->n << 8 | 1u << 24 | (s->r / 2u - 1u) << 25);
	swo_change(b, RCC_CR, 0, RCC_CR_PLLON);
	if (stm32_wait(b, RCC_CR, RCC_CR_PLLRDY, RCC_CR_PLLRDY))
		return -1;
	swo_change(b, RCC_CFGR, RCC_CFGR_SW, 3u);
	return stm32_wait(b, RCC_CFGR, RCC_CFGR_SWS, 3u << 2);
}

const struct swo_port swo_port_stm32l476 = {
	.board = &board,
	.count = TIM2_CNT,
	.count_on = stm32_count_on,
	.count_off = stm32_count_off,
	.wires = stm32_wires,
	.wire_bit = stm32_wire_bit,
	.device = { points, sizeof(points) / sizeof(points[0]), 387647 },
	.set = set,
};
