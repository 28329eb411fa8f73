/* SPDX-License-Identifier: MIT */
/* The program that make.py's SWO capture pretends to trace: a blinking main loop and a timer's interrupt. Nothing runs it. */
#include <stdint.h>

#define PORT_C_OUT (*(volatile uint32_t *)0x4001100C)

volatile uint32_t ticks, numbers[16];
volatile uint16_t order;

void reset(void);
void unused(void);
void TIM2_IRQ(void);
void HardFault(void);

static __attribute__((noinline)) void delay(uint32_t n)
{
	for (volatile uint32_t i = 0; i < n; i++)
		ticks++;
}

static __attribute__((noinline)) void bubble_sort(void)
{
	for (unsigned i = 0; i < 16; i++)
		for (unsigned k = 0; k + 1 < 16 - i; k++)
			if (numbers[k] > numbers[k + 1]) {
				uint32_t held = numbers[k];

				numbers[k] = numbers[k + 1];
				numbers[k + 1] = held;
			}
	order++;
}

void TIM2_IRQ(void)
{
	PORT_C_OUT ^= 1u << 9;
	bubble_sort();
	PORT_C_OUT ^= 1u << 9;
}

void unused(void)
{
	for (;;)
		;
}

void HardFault(void)
{
	unused();
}

void reset(void)
{
	for (;;) {
		delay(1000);
		PORT_C_OUT ^= 1u << 8;
	}
}

__attribute__((section(".vectors"), used)) static void (*const vectors[76])(void) = {
	(void (*)(void))(uintptr_t)0x20001000,
	reset,
	unused,
	HardFault,
	[4 ... 43] = unused,
	TIM2_IRQ,
	[45 ... 75] = unused,
};
