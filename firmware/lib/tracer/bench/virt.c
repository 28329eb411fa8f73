/* SPDX-License-Identifier: MIT */
/* What comes before main() on QEMU's RISC-V board. */
#include "bare/memory.h"

extern uint32_t bss_begin, bss_end;

int main(void);
void begin(void);

__asm__(".section .start\n.globl _start\n_start:\n\tla sp, stack_top\n\tj begin\n");

void begin(void)
{
	for (uint32_t *to = &bss_begin; to < &bss_end;)
		*to++ = 0;
	main();
	for (;;)
		;
}
