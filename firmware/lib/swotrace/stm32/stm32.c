/* SPDX-License-Identifier: MIT */
#include "stm32.h"

#define HALF_BIT \
	4u /* reads that a level lasts on a wire: the resistor loads the pin within 100 ns */
#define LIMIT 100000u /* turns of a loop that waits for a bit: some ms */

static void pin(const struct swo_bus *b, uint32_t port, uint32_t number, uint32_t mode, uint32_t af)
{
	uint32_t two = number * 2, four = number % 8 * 4;

	swo_change(b, port + GPIO_AFR(number), 15u << four, af << four);
	swo_change(b, port + GPIO_MODER, 3u << two, mode << two);
}

void stm32_count_on(const struct swo_port *p, const struct swo_bus *b)
{
	const struct stm32_board *board = p->board;

	swo_change(b, board->gpio_clock, 0, board->gpio_clock_bits);
	swo_change(b, board->tim2_clock, 0, board->tim2_clock_bit);
	swo_read(b, board->tim2_clock); /* it takes two cycles to hold */

	swo_change(b, DBGMCU_CR, DBGMCU_CR_TRACE_MODE, DBGMCU_CR_TRACE_IOEN);
	swo_change(b, board->gpiob + GPIO_OSPEEDR, 0, 3u << (PIN_SWO * 2)); /* the fastest */
	pin(b, board->gpiob, PIN_SWO, GPIO_ALTERNATE, 0);
	/* JTAG's pull-up would hold an open wire high */
	swo_change(b, board->gpioa + GPIO_PUPDR, 3u << (PIN_EDGES * 2), 0);
	pin(b, board->gpioa, PIN_EDGES, GPIO_ALTERNATE, AF_TIM2);

	swo_write(b, TIM2_CR1, 0);
	swo_write(b, TIM2_PSC, 0);
	swo_write(b, TIM2_ARR, UINT32_MAX);
	swo_write(b, TIM2_EGR, 1);  /* take them over; the count is 0 */
	swo_write(b, TIM2_CCER, 0); /* rising edges */
	swo_write(b, TIM2_CCMR1, TIM_CCMR1_INPUT_TI1);
	swo_write(b, TIM2_SMCR, TIM_SMCR_EXTERNAL_TI1);
	swo_write(b, TIM2_CR1, TIM_CR1_CEN);
}

void stm32_count_off(const struct swo_port *p, const struct swo_bus *b)
{
	const struct stm32_board *board = p->board;

	swo_write(b, TIM2_CR1, 0);
	swo_write(b, TIM2_SMCR, 0);
	swo_change(b, board->tim2_clock, board->tim2_clock_bit, 0);
	pin(b, board->gpioa, PIN_EDGES, GPIO_INPUT, 0);
	swo_change(b, DBGMCU_CR, DBGMCU_CR_TRACE_IOEN, 0);
}

void stm32_wires(const struct swo_port *p, const struct swo_bus *b, int drive)
{
	const struct stm32_board *board = p->board;
	uint32_t mode = drive ? GPIO_OUTPUT : GPIO_INPUT;

	swo_change(b, board->gpio_clock, 0, board->gpio_clock_bits);
	swo_read(b, board->gpio_clock);
	swo_write(b, board->gpiob + GPIO_BSRR, 1u << (PIN_SWCLK + 16));
	pin(b, board->gpiob, PIN_SWCLK, mode, 0);
	pin(b, board->gpiob, PIN_SWDIO, mode, 0);
}

static void hold(const struct swo_bus *b, uint32_t address)
{
	for (uint32_t i = 0; i < HALF_BIT; i++)
		swo_read(b, address);
}

void stm32_wire_bit(const struct swo_port *p, const struct swo_bus *b, int bit)
{
	const struct stm32_board *board = p->board;
	uint32_t set = board->gpiob + GPIO_BSRR;

	swo_write(b, set, 1u << (PIN_SWCLK + 16) | 1u << (bit ? PIN_SWDIO : PIN_SWDIO + 16));
	hold(b, board->gpiob + GPIO_MODER);
	swo_write(b, set, 1u << PIN_SWCLK);
	hold(b, board->gpiob + GPIO_MODER);
}

int stm32_wait(const struct swo_bus *b, uint32_t address, uint32_t mask, uint32_t value)
{
	for (uint32_t i = 0; i < LIMIT; i++)
		if ((swo_read(b, address) & mask) == value)
			return 0;
	return -1;
}
