/* SPDX-License-Identifier: MIT */
/*
 * Hooks for RIOT, with its module sched_cb (one callback: schedstatistics takes it too). RIOT has no
 * hook for what makes a thread ready, nor for interrupts: in your handlers, rtos_isr().
 */
#include "hooks.h"

#include "sched.h"
#include "thread.h"

#include "../rtos.h"

/* 0, if @pid could go on, else its state: 2 sleeps, 3 waits for a mutex, 4 for a message ... */
static uint8_t blocked(kernel_pid_t pid)
{
	const thread_t *t = thread_get(pid);

	return !t ? 0xff : t->status < STATUS_ON_RUNQUEUE ? (uint8_t)t->status : 0;
}

/* What its state says that it waits for. */
static void tell_wait(uint8_t status)
{
	static const struct {
		uint8_t status, on;
	} waits[] = {
		{ STATUS_SLEEPING, RTOS_SUSPENSION },     { STATUS_MUTEX_BLOCKED, RTOS_MUTEX },
		{ STATUS_RECEIVE_BLOCKED, RTOS_MESSAGE }, { STATUS_SEND_BLOCKED, RTOS_MESSAGE },
		{ STATUS_REPLY_BLOCKED, RTOS_MESSAGE },   { STATUS_MBOX_BLOCKED, RTOS_MESSAGE },
		{ STATUS_FLAG_BLOCKED_ANY, RTOS_EVENT },  { STATUS_FLAG_BLOCKED_ALL, RTOS_EVENT },
		{ STATUS_COND_BLOCKED, RTOS_EVENT },
	};

	for (unsigned i = 0; i < sizeof(waits) / sizeof(*waits); i++)
		if (waits[i].status == status)
			rtos_blocks(0, (enum rtos_on)waits[i].on, 0);
}

/* In two calls: one stops, another runs. Between them the core sleeps, if it has no idle thread. */
static void on_switch(kernel_pid_t active, kernel_pid_t next)
{
	if (active != KERNEL_PID_UNDEF) {
		const uint8_t why = blocked(active);

		tell_wait(why);
		rtos_out(0, (uint32_t)active, why);
#ifndef MODULE_CORE_IDLE_THREAD
		rtos_in(0, RTOS_RIOT_IDLE);
#endif
	}
	if (next != KERNEL_PID_UNDEF)
		rtos_in(0, (uint32_t)next);
}

void rtos_riot_start(struct tracer *t)
{
	rtos_start(0, t);
#ifndef MODULE_CORE_IDLE_THREAD
	rtos_create(0, RTOS_RIOT_IDLE, "idle");
#endif
	for (kernel_pid_t pid = KERNEL_PID_FIRST; pid <= KERNEL_PID_LAST; pid++) {
		const char *name = thread_get(pid) ? thread_getname(pid) : NULL;

		if (name)
			rtos_create(0, (uint32_t)pid, name);
	}
	sched_register_cb(on_switch);
}
