/* SPDX-License-Identifier: MIT */
/*
 * Threads whose waits are known, for tests of the hooks: what each waits for is said beside it.
 */
#include "cpu.h"
#include "irq.h"
#include "msg.h"
#include "mutex.h"
#include "panic.h"
#include "sched.h"
#include "thread.h"

#include "../board.h"
#include "rtos/riot/hooks.h"
#include "rtos/rtos.h"

#define TRACER_POINTS "app_points.h"
#include "tracer/points.h"

enum { HI = 1, MID, LO };

static mutex_t tick_hi = MUTEX_INIT_LOCKED, tick_lo = MUTEX_INIT_LOCKED;
static kernel_pid_t mid_pid;

static void job(uint8_t n, uint32_t us)
{
	trace_job_begin(&board_tracer, n);
	board_spin(us);
	trace_job_end(&board_tracer, n);
}

/* A mutex that the tick gives, every 4 ms. */
static void *hi(void *unused)
{
	for (;;) {
		mutex_lock(&tick_hi);
		job(HI, 1000);
	}
	return unused;
}

/* A message of lo. */
static void *mid(void *unused)
{
	msg_t m;

	for (;;) {
		msg_receive(&m);
		job(MID, 2000);
	}
	return unused;
}

/* A mutex that the tick gives, every 20 ms. */
static void *lo(void *unused)
{
	msg_t m = { 0 };

	for (int i = 0; i < 8; i++) {
		mutex_lock(&tick_lo);
		job(LO, 10000);
		msg_send(&m, mid_pid);
	}
	irq_disable();
	board_end();
	return unused;
}

static void *idle(void *unused)
{
	for (;;)
		__WFI();
	return unused;
}

void isr_systick(void)
{
	static unsigned n;

	rtos_isr(0, 15, 1);
	n++;
	if (n % 4 == 0)
		mutex_unlock(&tick_hi);
	if (n % 20 == 0)
		mutex_unlock(&tick_lo);
	rtos_isr(0, 15, 0);
	cortexm_isr_end();
}

int main(void)
{
	static char stack_idle[512], stack_hi[1024], stack_mid[1024], stack_lo[1536];

	if (board_start(&tracer_layout))
		return 1;
	irq_disable();
	thread_create(stack_idle, sizeof(stack_idle), 15, THREAD_CREATE_WOUT_YIELD, idle, 0,
		      "idle");
	thread_create(stack_hi, sizeof(stack_hi), 1, THREAD_CREATE_WOUT_YIELD, hi, 0, "hi");
	mid_pid = thread_create(stack_mid, sizeof(stack_mid), 2, THREAD_CREATE_WOUT_YIELD, mid, 0,
				"mid");
	thread_create(stack_lo, sizeof(stack_lo), 3, THREAD_CREATE_WOUT_YIELD, lo, 0, "lo");
	rtos_riot_start(&board_tracer);
	NVIC_SetPriority(PendSV_IRQn, 7);
	NVIC_SetPriority(SysTick_IRQn, 1);
	SysTick->LOAD = CLOCK_HZ / 1000 - 1;
	SysTick->VAL = 0;
	SysTick->CTRL = 7;
	cpu_switch_context_exit();
}

/* ---- what the kernel wants of the rest of RIOT ---- */

void core_panic(core_panic_t code, const char *message)
{
	(void)code, (void)message;
	for (;;)
		;
}

void pm_set_lowest(void)
{
	__WFI();
}

int printf(const char *format, ...)
{
	(void)format;
	return 0;
}

int puts(const char *s)
{
	(void)s;
	return 0;
}
