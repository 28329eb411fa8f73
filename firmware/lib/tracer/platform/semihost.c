/* SPDX-License-Identifier: MIT */
#include "semihost.h"

enum { SYS_OPEN = 0x01, SYS_CLOSE = 0x02, SYS_WRITE = 0x05, SYS_EXIT = 0x18 };

#define MODE_WB 5u
#define APPLICATION_EXIT 0x20026u

static uintptr_t call(uintptr_t operation, uintptr_t parameter)
{
#if defined(__riscv)
	register uintptr_t a0 __asm__("a0") = operation;
	register uintptr_t a1 __asm__("a1") = parameter;

	/* three instructions of four bytes within one page tell it from other breakpoints */
	__asm__ volatile(".option push\n\t.option norvc\n\t.balign 16\n\t"
			 "slli x0, x0, 0x1f\n\tebreak\n\tsrai x0, x0, 7\n\t.option pop"
			 : "+r"(a0)
			 : "r"(a1)
			 : "memory");
	return a0;
#else
	register uintptr_t r0 __asm__("r0") = operation;
	register uintptr_t r1 __asm__("r1") = parameter;

	__asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
	return r0;
#endif
}

int tracer_semihost_open(const char *name)
{
	uintptr_t length = 0, block[3];

	while (name[length])
		length++;
	block[0] = (uintptr_t)name;
	block[1] = MODE_WB;
	block[2] = length;
	return (int)call(SYS_OPEN, (uintptr_t)block);
}

int tracer_semihost_send(struct tracer_link *l, int handle)
{
	const uint8_t *bytes;
	uint32_t n;
	int failed = 0;

	while ((n = tracer_link_take(l, UINT32_MAX, &bytes))) {
		uintptr_t block[3] = { (uintptr_t)handle, (uintptr_t)bytes, n };

		/* it returns how many were not written */
		failed |= call(SYS_WRITE, (uintptr_t)block) != 0;
	}
	return -failed;
}

int tracer_semihost_close(int handle)
{
	uintptr_t block[1] = { (uintptr_t)handle };

	return (int)call(SYS_CLOSE, (uintptr_t)block);
}

void tracer_semihost_exit(void)
{
#if defined(__riscv) && __riscv_xlen == 64
	uintptr_t block[2] = { APPLICATION_EXIT, 0 };

	call(SYS_EXIT, (uintptr_t)block);
#else
	call(SYS_EXIT, APPLICATION_EXIT);
#endif
}
