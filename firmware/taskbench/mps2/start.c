/* SPDX-License-Identifier: MIT */
/* What comes before main: the vector table (ARMv7-M section B1.5), memory, the FPU. */
#include "taskbench/mps2/mps2.h"

#define INTERRUPTS 16

extern uint32_t stack_top, data_load, data_begin, data_end, bss_begin, bss_end;

int main(void);
void reset(void);
void interrupt(unsigned number);

/* The compiler calls these for copies of structures. */
void *memcpy(void *to, const void *from, unsigned n);
void *memset(void *to, int byte, unsigned n);

void *memcpy(void *to, const void *from, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		((uint8_t *)to)[i] = ((const uint8_t *)from)[i];
	return to;
}

void *memset(void *to, int byte, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		((uint8_t *)to)[i] = (uint8_t)byte;
	return to;
}

static void fault(void)
{
	SCB_AIRCR = SCB_AIRCR_RESET;
	for (;;)
		;
}

void reset(void)
{
	const uint32_t *from = &data_load;

	for (uint32_t *to = &data_begin; to < &data_end;)
		*to++ = *from++;
	for (uint32_t *to = &bss_begin; to < &bss_end;)
		*to++ = 0;
	SCB_CPACR |= 0xfu << 20;
	__asm__ volatile("dsb\n\tisb" ::: "memory");
	main();
	fault();
}

static void any_interrupt(void)
{
	uint32_t exception;

	__asm__ volatile("mrs %0, ipsr" : "=r"(exception));
	interrupt((exception & 0x1ff) - 16);
}

typedef void (*vector)(void);

__attribute__((section(".vectors"), used)) static const struct {
	uint32_t *stack;
	vector exception[15];
	vector interrupt[INTERRUPTS];
} vectors = {
	.stack = &stack_top,
	.exception = { reset, fault, fault, fault, fault, fault, 0, 0, 0, 0, fault, fault, 0, fault,
		       fault },
	.interrupt = { [0 ... INTERRUPTS - 1] = any_interrupt },
};
