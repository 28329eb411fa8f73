/* SPDX-License-Identifier: MIT */
/** Instructions of the processor without a C equivalent. */
#ifndef ETT_IO_H
#define ETT_IO_H

#include <stdint.h>

static inline uint8_t in8(uint16_t port)
{
	uint8_t v;

	__asm__ volatile("inb %w1, %0" : "=a"(v) : "Nd"(port) : "memory");
	return v;
}

static inline void out8(uint16_t port, uint8_t v)
{
	__asm__ volatile("outb %0, %w1" : : "a"(v), "Nd"(port) : "memory");
}

static inline uint32_t in32(uint16_t port)
{
	uint32_t v;

	__asm__ volatile("inl %w1, %0" : "=a"(v) : "Nd"(port) : "memory");
	return v;
}

static inline void out32(uint16_t port, uint32_t v)
{
	__asm__ volatile("outl %0, %w1" : : "a"(v), "Nd"(port) : "memory");
}

static inline void in16_many(uint16_t port, void *to, uint64_t n)
{
	__asm__ volatile("rep insw" : "+D"(to), "+c"(n) : "d"(port) : "memory");
}

static inline void out16_many(uint16_t port, const void *from, uint64_t n)
{
	__asm__ volatile("rep outsw" : "+S"(from), "+c"(n) : "d"(port) : "memory");
}

/**
 * The TSC, read after everything before it and before everything after it: RDTSC alone is
 * not ordered (Intel's manual, volume 2B, RDTSC). On AMD's processors LFENCE takes timer_order()
 * for that.
 */
static inline uint64_t tsc(void)
{
	uint32_t low, high;

	__asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}

static inline void cpuid(uint32_t leaf, uint32_t out[4])
{
	__asm__ volatile("cpuid"
			 : "=a"(out[0]), "=b"(out[1]), "=c"(out[2]), "=d"(out[3])
			 : "a"(leaf), "c"(0));
}

static inline uint64_t rdmsr(uint32_t msr)
{
	uint32_t low, high;

	__asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(msr));
	return (uint64_t)high << 32 | low;
}

static inline void wrmsr(uint32_t msr, uint64_t v)
{
	__asm__ volatile("wrmsr" : : "c"(msr), "a"((uint32_t)v), "d"((uint32_t)(v >> 32)));
}

static inline void pause(void)
{
	__asm__ volatile("pause" : : : "memory");
}

#endif
