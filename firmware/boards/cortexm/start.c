/* SPDX-License-Identifier: MIT */
#include "start.h"

#include "../bare/memory.h"

/* ARMv7-M Architecture Reference Manual, B3.2 */
#define SCB_CPACR (*(volatile uint32_t *)0xe000ed88u)
#define SCB_AIRCR (*(volatile uint32_t *)0xe000ed0cu)
#define SCB_AIRCR_RESET 0x05fa0004u
#define INTERRUPTS 96 /* more than the chips here have */

extern uint32_t stack_top, data_load, data_begin, data_end, bss_begin, bss_end;

void reset(void);

/* Unexpected exception: restart. */
static void fault(void)
{
	SCB_AIRCR = SCB_AIRCR_RESET;
	for (;;)
		;
}

__attribute__((weak)) void interrupt(unsigned number)
{
	(void)number;
	fault();
}

/* A kernel's, if the image has one. */
void svc_handler(void) __attribute__((weak, alias("fault")));
void pendsv_handler(void) __attribute__((weak, alias("fault")));
void systick_handler(void) __attribute__((weak, alias("fault")));

static void any_interrupt(void)
{
	uint32_t exception;

	__asm__ volatile("mrs %0, ipsr" : "=r"(exception));
	interrupt((exception & 0x1ff) - 16);
}

void reset(void)
{
	const uint32_t *from = &data_load;

	for (uint32_t *to = &data_begin; to < &data_end;)
		*to++ = *from++;
	for (uint32_t *to = &bss_begin; to < &bss_end;)
		*to++ = 0;
	SCB_CPACR |= 0xfu << 20; /* the FPU, which the compiler may use */
	__asm__ volatile("dsb\n\tisb" ::: "memory");
	main();
	fault();
}

typedef void (*vector)(void);

__attribute__((section(".vectors"), used)) static const struct {
	uint32_t *stack;
	vector exception[15];
	vector interrupt[INTERRUPTS];
} vectors = {
	.stack = &stack_top,
	.exception = { reset, fault, fault, fault, fault, fault, 0, 0, 0, 0, svc_handler, fault, 0,
		       pendsv_handler, systick_handler },
	.interrupt = { [0 ... INTERRUPTS - 1] = any_interrupt },
};
