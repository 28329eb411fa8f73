/* SPDX-License-Identifier: MIT */
/* What the hooks of firmware/rtos/zephyr use of Zephyr, as its headers declare it (3.4 to 4.2). */
#ifndef STUB_KERNEL_H
#define STUB_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

struct k_thread;
typedef struct k_thread *k_tid_t;
struct _cpu {
	uint8_t id;
};

struct _cpu *arch_curr_cpu(void);
const char *k_thread_name_get(k_tid_t thread);
k_tid_t k_sched_current_thread_query(void);
bool z_is_thread_prevented_from_running(struct k_thread *thread);

void sys_trace_thread_create_user(struct k_thread *thread);
void sys_trace_thread_abort_user(struct k_thread *thread);
void sys_trace_thread_suspend_user(struct k_thread *thread);
void sys_trace_thread_name_set_user(struct k_thread *thread);
void sys_trace_thread_switched_in_user(void);
void sys_trace_thread_switched_out_user(void);
void sys_trace_thread_sched_ready_user(struct k_thread *thread);
void sys_trace_isr_enter_user(void);
void sys_trace_isr_exit_user(void);

#endif
