/* SPDX-License-Identifier: MIT */
/**
 * The processor's own counter, read in order with loads from memory: earlier reads are complete,
 * and later reads have not begun, when it is read.
 *
 * x86: RDTSCP waits until all earlier loads are done, and LFENCE lets no later one begin before it
 * is (Intel SDM 2B, RDTSCP; AMD APM 3). It also tells which processor it ran on. Elsewhere
 * CLOCK_MONOTONIC_RAW, ns.
 */
#ifndef DRIVERS_POLL_CLOCK_H
#define DRIVERS_POLL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/** @cpu: changes when the thread was moved to another processor. */
static inline uint64_t poll_clock(uint32_t *cpu)
{
#ifdef __x86_64__
	uint32_t low, high;

	__asm__ volatile("rdtscp\n\tlfence" : "=a"(low), "=d"(high), "=c"(*cpu) : : "memory");
	return (uint64_t)high << 32 | low;
#else
	struct timespec t;

	*cpu = 0;
	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
#endif
}

/** Whether this machine has it. */
bool poll_clock_there(void);

/**
 * Ticks a second, measured against CLOCK_MONOTONIC for @ms, and how far that may be off, in parts
 * of 1e9.
 */
uint64_t poll_clock_rate(unsigned ms, uint64_t *off_ppb);

#endif
