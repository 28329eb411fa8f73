/* SPDX-License-Identifier: MIT */
/**
 * What the STM32 ports share: pins, timer 2 and the debug unit are the same but for addresses.
 * Sources: reference manuals RM0351 (L4) and RM0090/RM0368 (F4); data sheets DS10198 (L476) and
 * DS8626/DS10086 (F4), tables of alternate functions.
 *
 *   PB3  TRACESWO (AF0), leads to
 *   PA15 TIM2_CH1 (AF1): timer 2 counts its rising edges (external clock mode 1 on TI1FP1)
 *   PB14 to SWCLK, PB13 to SWDIO, each through 1 kOhm: only to switch the debug port over
 */
#ifndef COEVAL_SWOTRACE_STM32_H
#define COEVAL_SWOTRACE_STM32_H

#include "../port.h"

#define DBGMCU_CR 0xe0042004u
#define DBGMCU_CR_TRACE_MODE (3u << 6) /* 0: the asynchronous pin */
#define DBGMCU_CR_TRACE_IOEN (1u << 5)

#define TIM2 0x40000000u
#define TIM2_CR1 (TIM2 + 0x00u)
#define TIM2_SMCR (TIM2 + 0x08u)
#define TIM2_EGR (TIM2 + 0x14u)
#define TIM2_CCMR1 (TIM2 + 0x18u)
#define TIM2_CCER (TIM2 + 0x20u)
#define TIM2_CNT (TIM2 + 0x24u)
#define TIM2_PSC (TIM2 + 0x28u)
#define TIM2_ARR (TIM2 + 0x2cu)
#define TIM_CR1_CEN 1u
#define TIM_SMCR_EXTERNAL_TI1 (7u | 5u << 4) /* SMS: external clock mode 1; TS: TI1FP1 */
#define TIM_CCMR1_INPUT_TI1 1u               /* no filter, no prescaler */

#define GPIO_MODER 0x00u
#define GPIO_OSPEEDR 0x08u
#define GPIO_PUPDR 0x0cu
#define GPIO_BSRR 0x18u
#define GPIO_AFR(pin) (0x20u + (pin) / 8u * 4u)
enum { GPIO_INPUT, GPIO_OUTPUT, GPIO_ALTERNATE, GPIO_ANALOG };

#define PIN_SWO 3u    /* of port B */
#define PIN_SWDIO 13u /* of port B */
#define PIN_SWCLK 14u /* of port B */
#define PIN_EDGES 15u /* of port A */
#define AF_TIM2 1u

/** What differs from one chip to the other. */
struct stm32_board {
	uint32_t gpioa, gpiob;
	uint32_t gpio_clock, gpio_clock_bits; /* register of the clock control that turns both on */
	uint32_t tim2_clock, tim2_clock_bit;
};

void stm32_count_on(const struct swo_port *p, const struct swo_bus *b);
void stm32_count_off(const struct swo_port *p, const struct swo_bus *b);
void stm32_wires(const struct swo_port *p, const struct swo_bus *b, int drive);
void stm32_wire_bit(const struct swo_port *p, const struct swo_bus *b, int bit);

/** Read @address until its bits of @mask are @value. Returns 0, or -1 if that took too long. */
int stm32_wait(const struct swo_bus *b, uint32_t address, uint32_t mask, uint32_t value);

#endif
