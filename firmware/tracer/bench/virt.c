/* SPDX-License-Identifier: MIT */
/* What comes before main() on QEMU's RISC-V board. */
#include <stddef.h>
#include <stdint.h>

extern uint32_t bss_begin, bss_end;

int main(void);
void begin(void);
void *memcpy(void *to, const void *from, size_t n);
void *memset(void *to, int byte, size_t n);

void *memcpy(void *to, const void *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((uint8_t *)to)[i] = ((const uint8_t *)from)[i];
	return to;
}

void *memset(void *to, int byte, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((uint8_t *)to)[i] = (uint8_t)byte;
	return to;
}

__asm__(".section .start\n.globl _start\n_start:\n\tla sp, stack_top\n\tj begin\n");

void begin(void)
{
	for (uint32_t *to = &bss_begin; to < &bss_end;)
		*to++ = 0;
	main();
	for (;;)
		;
}
