/* SPDX-License-Identifier: MIT */
/*
 * Hooks for Zephyr with CONFIG_TRACING=y and CONFIG_TRACING_USER=y: they take the place of its weak
 * functions. Compiled against their prototypes only: nobody has run it yet.
 *
 * Zephyr calls the switch's hooks with interrupts locked, so that the core does not change. Not on
 * all architectures do they come in pairs: that a thread runs is taken as the truth.
 */
#include <zephyr/kernel.h>

#include "rtos/rtos.h"

#if RTOS_CORES > 1
#define CORE ((unsigned)arch_curr_cpu()->id)
#else
#define CORE 0u
#endif

static uint32_t number(const struct k_thread *t)
{
	return (uint32_t)(uintptr_t)t;
}

void sys_trace_thread_create_user(struct k_thread *thread)
{
	const char *name = k_thread_name_get(thread);

	rtos_create(CORE, number(thread), name ? name : "");
}

void sys_trace_thread_name_set_user(struct k_thread *thread)
{
	const char *name = k_thread_name_get(thread);

	if (name)
		rtos_name(CORE, number(thread), name);
}

void sys_trace_thread_abort_user(struct k_thread *thread)
{
	rtos_delete(CORE, number(thread));
}

void sys_trace_thread_switched_out_user(void)
{
	struct k_thread *t = k_sched_current_thread_query();

	rtos_out(CORE, number(t), z_is_thread_prevented_from_running(t));
}

void sys_trace_thread_switched_in_user(void)
{
	rtos_in(CORE, number(k_sched_current_thread_query()));
}

void sys_trace_thread_sched_ready_user(struct k_thread *thread)
{
	rtos_ready(CORE, number(thread));
}

void sys_trace_thread_suspend_user(struct k_thread *thread)
{
	if (thread == k_sched_current_thread_query())
		rtos_blocks(CORE, RTOS_SUSPENSION, 0);
}

void sys_trace_isr_enter_user(void)
{
	rtos_isr(CORE, rtos_exception(), 1);
}

void sys_trace_isr_exit_user(void)
{
	rtos_isr(CORE, rtos_exception(), 0);
}
