/* SPDX-License-Identifier: MIT */
/**
 * What a real-time kernel's hooks tell the tracer. The hooks of each kernel are in a folder of its
 * own: freertos, riot, zephyr.
 *
 * All functions may be called at any interrupt level, before rtos_start() too: nothing is traced
 * then. They call nothing of the kernel. Tasks are numbers, not 0, which is no task.
 */
#ifndef RTOS_RTOS_H
#define RTOS_RTOS_H

#include <stdint.h>

/** Cores that switch tasks, each with a ring of its own. */
#ifndef RTOS_CORES
#define RTOS_CORES 1
#endif

/** What a task waits for: the names are those of the rules in rules/calls/tasks.yaml. */
enum rtos_on {
	RTOS_DELAY,
	RTOS_QUEUE,
	RTOS_MUTEX,
	RTOS_SEMAPHORE,
	RTOS_NOTIFICATION,
	RTOS_STREAM,
	RTOS_MESSAGE,
	RTOS_EVENT,
	RTOS_SUSPENSION,
};

struct tracer;

/** Trace @core to @t from here on; NULL: no more. */
void rtos_start(unsigned core, struct tracer *t);

/** @name: "" if it has none yet. */
void rtos_create(unsigned core, uint32_t task, const char *name);
/** It is called @name from here on. */
void rtos_name(unsigned core, uint32_t task, const char *name);
void rtos_delete(unsigned core, uint32_t task);
/** @task stops running on @core; @blocked: 0 if it could go on, else why not. */
void rtos_out(unsigned core, uint32_t task, uint8_t blocked);
/** @task runs on @core; that it is the one that just stopped is not told. */
void rtos_in(unsigned core, uint32_t task);
/** @task can run. */
void rtos_ready(unsigned core, uint32_t task);
/** The task that runs on @core is about to wait for @object, or 0. */
void rtos_blocks(unsigned core, enum rtos_on on, uint32_t object);
void rtos_isr(unsigned core, uint8_t irq, int enters);
/** Number of the exception that runs, 0: none; 255: the core does not tell it. */
static inline uint8_t rtos_exception(void)
{
#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
	uint32_t n;

	__asm__ volatile("mrs %0, ipsr" : "=r"(n));
	return (uint8_t)n;
#else
	return 255;
#endif
}

void rtos_queue(unsigned core, uint32_t object, int sends);
void rtos_heap(unsigned core, uint32_t address, uint32_t bytes, int allocates);

#endif
