/* SPDX-License-Identifier: MIT */
/*
 * Runs the workloads and prints a line for each: its name, events lost, and what it took, in
 * instructions, or in nanoseconds on Linux.
 */
#include "board.h"
#include "hooks.h"
#include "workloads.h"

#if defined(BOARD_MPS2) || defined(BOARD_VIRT)

uint32_t bench_clock(void)
{
	return *BOARD_COUNTER;
}

static uint64_t now(void)
{
	return (uint64_t)*BOARD_COUNTER * BOARD_INSTRUCTIONS;
}

#if defined(BOARD_MPS2)

#define UART(register) (*(volatile uint32_t *)(0x40004000u + (register)))

static void put(char c)
{
	UART(8) = 1; /* CTRL: send */
	while (UART(4) & 1)
		;
	UART(0) = (uint32_t)c;
}

static void end(void)
{
	register uint32_t call __asm__("r0") = 0x18, why __asm__("r1") = 0x20026;

	__asm__ volatile("bkpt 0xab" ::"r"(call),
			 "r"(why)); /* semihosting: the program has ended */
}

#else

static void put(char c)
{
	*(volatile uint8_t *)0x10000000 = (uint8_t)c;
}

static void end(void)
{
	*(volatile uint32_t *)0x100000 = 0x5555; /* the board's test device: all is well */
}

#endif

static void say(const char *s)
{
	while (*s)
		put(*s++);
}

static void say_number(uint64_t v)
{
	char digits[21];
	unsigned n = sizeof(digits) - 1;

	digits[n] = '\0';
	do
		digits[--n] = (char)('0' + v % 10);
	while (v /= 10);
	say(digits + n);
}

#else

#include <stdio.h>

/* The clock of a program that may read the processor's. */
uint32_t bench_clock(void)
{
#if defined(__x86_64__)
	return (uint32_t)__rdtsc();
#else
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint32_t)(t.tv_sec * 1000000000 + t.tv_nsec);
#endif
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void say(const char *s)
{
	fputs(s, stdout);
}

static void say_number(uint64_t v)
{
	printf("%llu", (unsigned long long)v);
}

static void end(void)
{
}

#endif

int main(void)
{
	for (const struct bench_workload *w = bench_workloads; w->name; w++) {
		uint64_t from;

		hooks_begin();
		from = now();
		w->run();
		from = now() - from;
		say_number(from);
		say(" ");
		say_number(hooks_lost());
		say(" ");
		say_number(bench_sum);
		say(" ");
		say(w->name);
		say("\n");
	}
	end();
	return 0;
}
