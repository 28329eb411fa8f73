/* SPDX-License-Identifier: MIT */
/*
 * STM32F401 at 84 MHz, and others of the F4 line that have timer 2, PA15 and PB3 at the same
 * places. The voltage stays: it can be changed with the PLL off only (RM0368 section 5.1.3). The
 * frequency is that of the AHB divider, so the PLL runs on; wait states for 2.7 V and more (section
 * 3.4.1). The peripheral clocks are divided as they were.
 */
#include "stm32.h"

#define RCC 0x40023800u
#define RCC_CFGR (RCC + 0x08u)
#define RCC_AHB1ENR (RCC + 0x30u)
#define RCC_APB1ENR (RCC + 0x40u)
#define RCC_CFGR_HPRE (15u << 4)
#define FLASH_ACR 0x40023c00u
#define FLASH_ACR_LATENCY 7u

static const struct stm32_board board = {
	.gpioa = 0x40020000u,
	.gpiob = 0x40020400u,
	.gpio_clock = RCC_AHB1ENR,
	.gpio_clock_bits = 3u,
	.tim2_clock = RCC_APB1ENR,
	.tim2_clock_bit = 1u,
};

/* Power was not measured: estimates of energy say nothing here until a user fills it in. */
static const struct swo_point points[] = {
	{ 84000000, 1200, 2, 0 },
	{ 42000000, 1200, 1, 0 },
	{ 21000000, 1200, 0, 0 },
	{ 10500000, 1200, 0, 0 },
};
static const uint8_t divider[] = { 0, 8, 9, 10 }; /* by 1, 2, 4, 8 */

static int set(const struct swo_port *p, const struct swo_bus *b, uint32_t point)
{
	uint32_t wait_states;

	(void)p;
	if (point >= sizeof(divider))
		return -1;
	/* more wait states before the clock is faster, fewer after it is slower */
	wait_states = swo_read(b, FLASH_ACR) & FLASH_ACR_LATENCY;
	if (wait_states < points[point].wait_states) {
		swo_change(b, FLASH_ACR, FLASH_ACR_LATENCY, points[point].wait_states);
		if (stm32_wait(b, FLASH_ACR, FLASH_ACR_LATENCY, points[point].wait_states))
			return -1;
	}
	swo_change(b, RCC_CFGR, RCC_CFGR_HPRE, (uint32_t)divider[point] << 4);
	swo_read(b, RCC_CFGR);
	swo_change(b, FLASH_ACR, FLASH_ACR_LATENCY, points[point].wait_states);
	return stm32_wait(b, FLASH_ACR, FLASH_ACR_LATENCY, points[point].wait_states);
}

const struct swo_port swo_port_stm32f4 = {
	.board = &board,
	.count = TIM2_CNT,
	.count_on = stm32_count_on,
	.count_off = stm32_count_off,
	.wires = stm32_wires,
	.wire_bit = stm32_wire_bit,
	.device = { points, sizeof(points) / sizeof(points[0]), 0 },
	.set = set,
};
