/* SPDX-License-Identifier: MIT */
#include "start.h"

#include "../bare/memory.h"

extern uint32_t bss_begin, bss_end;

void reset(void);

static void fault(void)
{
	for (;;)
		__asm__ volatile("csrci mstatus, 8\n\twfi");
}

__attribute__((weak)) void interrupt(unsigned number)
{
	(void)number;
	fault();
}

__attribute__((interrupt("machine"), aligned(4))) static void trap(void)
{
	uint32_t cause;

	__asm__ volatile("csrr %0, mcause" : "=r"(cause));
	if (!(cause >> 31))
		fault();
	interrupt(cause & 0x7fffffffu);
}

__attribute__((naked, section(".start"), used)) void start(void);
__attribute__((naked, section(".start"), used)) void start(void)
{
	__asm__ volatile("csrci mstatus, 8\n\t"
			 "csrw mie, zero\n"
			 "1:\tcsrr t0, mhartid\n\t"
			 "beqz t0, 2f\n\t"
			 "wfi\n\t"
			 "j 1b\n"
			 "2:\tla sp, stack_top\n\t"
			 "j reset");
}

void reset(void)
{
	for (uint32_t *to = &bss_begin; to < &bss_end;)
		*to++ = 0;
	__asm__ volatile("csrw mtvec, %0" ::"r"(trap));
	main();
	fault();
}
