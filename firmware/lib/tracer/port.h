/* SPDX-License-Identifier: MIT */
/**
 * The few atomic steps that a tracer takes, on a word that interrupts, other threads and a drain
 * look at too.
 *
 * A word is changed by port_begin(), which reads it, and port_end(), which writes it and fails if
 * it was written in between. Cores that have exclusives (LDREX, LR) or compare-and-swap use them,
 * so that events may come from interrupts of any priority. Where there are none (Cortex-M0+, RISC-V
 * without A) interrupts are masked for a few instructions, and events may not come from an NMI.
 */
#ifndef TRACER_PORT_H
#define TRACER_PORT_H

#include <stdint.h>

#if !defined(__GNUC__)
#error "the tracer needs the builtins of GCC or clang"
#endif
#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the tracer writes traces of little-endian machines only"
#endif

#define PORT_INLINE static inline __attribute__((always_inline, unused))
#define PORT_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

#if defined(__ARM_ARCH_7M__) || defined(__ARM_ARCH_7EM__) || defined(__ARM_ARCH_8M_MAIN__)

/*
 * An exception in between makes port_end() fail (ARMv7-M Architecture Reference Manual, A3.4),
 * whatever it did.
 */
PORT_INLINE uint32_t port_begin(volatile uint32_t *word)
{
	uint32_t value;

	__asm__ volatile("ldrex %0, %1" : "=r"(value) : "Q"(*word) : "memory");
	return value;
}

PORT_INLINE int port_end(volatile uint32_t *word, uint32_t was, uint32_t value)
{
	uint32_t failed;

	(void)was;
	__asm__ volatile("strex %0, %2, %1" : "=&r"(failed), "=Q"(*word) : "r"(value) : "memory");
	return !failed;
}

PORT_INLINE void port_barrier(void)
{
	__asm__ volatile("dmb" ::: "memory");
}

#elif (defined(__ARM_ARCH) && !defined(__aarch64__) && __ARM_ARCH < 7) || \
	(defined(__riscv) && !defined(__riscv_atomic))

#define PORT_MASKS_INTERRUPTS 1

PORT_INLINE uint32_t port_mask(void)
{
	uint32_t was;

#if defined(__riscv)
	__asm__ volatile("csrrci %0, mstatus, 8" : "=r"(was)::"memory");
#else
	__asm__ volatile("mrs %0, primask\n\tcpsid i" : "=r"(was)::"memory");
#endif
	return was;
}

PORT_INLINE void port_unmask(uint32_t was)
{
#if defined(__riscv)
	__asm__ volatile("csrs mstatus, %0" ::"r"(was & 8) : "memory");
#else
	__asm__ volatile("msr primask, %0" ::"r"(was) : "memory");
#endif
}

PORT_INLINE uint32_t port_begin(volatile uint32_t *word)
{
	return *word;
}

PORT_INLINE int port_end(volatile uint32_t *word, uint32_t was, uint32_t value)
{
	uint32_t mask = port_mask();
	int same = *word == was;

	if (same)
		*word = value;
	port_unmask(mask);
	return same;
}

PORT_INLINE void port_barrier(void)
{
#if defined(__riscv)
	__asm__ volatile("fence rw, rw" ::: "memory");
#else
	__asm__ volatile("dmb" ::: "memory");
#endif
}

#else

PORT_INLINE uint32_t port_begin(volatile uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

PORT_INLINE int port_end(volatile uint32_t *word, uint32_t was, uint32_t value)
{
	return __atomic_compare_exchange_n(word, &was, value, 0, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

PORT_INLINE void port_barrier(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

#define PORT_ADDS 1

/** Add to a word, after everything written before. Returns what it is then. */
PORT_INLINE uint32_t port_add(volatile uint32_t *word, uint32_t add)
{
	return __atomic_add_fetch(word, add, __ATOMIC_ACQ_REL);
}

#endif

#ifndef PORT_ADDS
PORT_INLINE uint32_t port_add(volatile uint32_t *word, uint32_t add)
{
	uint32_t was;

	port_barrier();
	do
		was = port_begin(word);
	while (!port_end(word, was, was + add));
	return was + add;
}
#endif

/** Read a word that others write, before everything after. */
PORT_INLINE uint32_t port_load(const uint32_t *word)
{
	uint32_t value = *(const volatile uint32_t *)word;

	port_barrier();
	return value;
}

#endif
