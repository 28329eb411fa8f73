/* SPDX-License-Identifier: MIT */
/**
 * What a master and one of its slaves share in memory to tie their clocks, after section 5 of
 * Bertauld and Dagenais, Low-level trace correlation on heterogeneous embedded systems (2017). Each
 * slave has a page of its own, aligned to 4 bytes, which was zero once.
 *
 * An exchange has an even number n, which is never used again. The master traces sending n, writes
 * it to request and interrupts the slave. The slave traces receiving n, traces sending n + 1 and
 * writes that to answer. The master sees it there and traces receiving it.
 */
#ifndef TRACERSYNC_PAGE_H
#define TRACERSYNC_PAGE_H

#include <stdint.h>

#define TRACERSYNC_MAGIC 0x636e5374u /* "tSnc" in memory */

struct tracer;

/** A function of one of the two tracepoints (points.h). */
typedef void tracersync_trace(struct tracer *t, uint16_t slave, uint32_t seq);

struct tracersync_page {
	/* written by the slave */
	uint32_t magic;   /* last when it starts */
	uint32_t id;      /* who it takes itself for */
	uint32_t boot;    /* how often a slave began with this page */
	uint32_t answer;  /* number of the last one */
	uint32_t refused; /* requests whose number had been there */
	uint32_t twins;   /* how often one found that another began with its page meanwhile */
	/* written by the master */
	uint32_t request; /* number of the last one; 0: none */
	uint32_t reserved;
};

/**
 * Everything before is done, and seen by others, before anything after: stores and loads of memory
 * and the reading of clocks, be they devices or registers of the core. What the barrier of
 * tracer/port.h does not do is the latter.
 */
static inline __attribute__((always_inline, unused)) void tracersync_fence(void)
{
#if defined(__arm__)
#if __ARM_ARCH >= 7 || defined(__ARM_ARCH_6M__)
	__asm__ volatile("dsb\n\tisb" ::: "memory");
#else
#error "no barrier is known for this core"
#endif
#elif defined(__aarch64__)
	__asm__ volatile("dsb sy\n\tisb" ::: "memory");
#elif defined(__riscv)
	/* a read of the time counts as input (RISC-V unprivileged specification, Zicsr) */
	__asm__ volatile("fence iorw, iorw" ::: "memory");
#elif defined(__x86_64__)
	/*
	 * what was stored is to be seen before the time-stamp counter is read, and the other way
	 * round
	 */
	__asm__ volatile("mfence\n\tlfence" ::: "memory");
#else
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

static inline uint32_t tracersync_load(const uint32_t *word)
{
	return *(const volatile uint32_t *)word;
}

static inline void tracersync_store(uint32_t *word, uint32_t value)
{
	*(volatile uint32_t *)word = value;
}

#endif
