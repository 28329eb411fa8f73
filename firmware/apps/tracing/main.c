/* SPDX-License-Identifier: MIT */
/*
 * A Cortex-M4 on Arm's MPS2 board, as QEMU has it, that traces itself and gets it out by one of
 * three ways: LINE_UART, LINE_SEMIHOST, LINE_SHARED (memory that the host sees, and a byte on the
 * UART as the doorbell). It works in bursts that are more than the line takes, so that events are
 * dropped; the last event says how many there were.
 */
#include "cortexm/start.h"
#include "tracing/uart.h"
#include "tracer/platform/semihost.h"

#define TRACER_POINTS "tracing/points.h"
#include "tracer/points.h"

#define REG(address) (*(volatile uint32_t *)(address))
#define HZ 25000000u
#define TIMER_CTRL REG(0x40000000) /* APB timer 0: counts down */
#define TIMER_VALUE REG(0x40000004)
#define TIMER_RELOAD REG(0x40000008)
#define TICK_CTRL REG(0x40001000) /* timer 1: interrupts */
#define TICK_RELOAD REG(0x40001008)
#define TICK_CLEAR REG(0x4000100c)
#define TICK_ON 9u
#define TICK_LINE 9u
#define NVIC_ENABLE REG(0xe000e100)
#define NVIC_PENDING REG(0xe000e200)
#define UART0 0x40004000u
#define UART0_TX_LINE 1u
#define SHARED 0x21000000u /* the PSRAM, which QEMU can keep in a file */

#define PACKET_LOG2 9
#define PACKETS 8
#define RING_BYTES TRACER_RING_BYTES(PACKET_LOG2, PACKETS)
#define BURSTS 12u

static struct tracer tracer;
#ifndef LINE_SEMIHOST
static struct tracer_uart uart;
#endif
static volatile uint32_t ticks;

static uint32_t now(void *ctx)
{
	(void)ctx;
	return ~TIMER_VALUE;
}

#if defined(LINE_SHARED)

static void *const memory = (void *)SHARED;

static void done(void *ctx, uint32_t end)
{
	(void)ctx, (void)end;
	tracer_uart_ring(&uart);
}

static int is_drained(void)
{
	const struct tracer_ring *r = memory;

	return *(const volatile uint32_t *)&r->consumed + (8u << PACKET_LOG2) > r->head;
}

static void set_up(void)
{
	tracer_uart_init(&uart, UART0, 16, 0);
}

#else

static uint64_t ring[(RING_BYTES + 7) / 8];
static void *const memory = ring;
static struct tracer_link link;

#ifdef LINE_SEMIHOST
static int file;

static int is_drained(void)
{
	return !tracer_link_waits(&link);
}

static void done(void *ctx, uint32_t end)
{
	(void)ctx, (void)end;
}

static void set_up(void)
{
	tracer_link_init(&link, memory, RING_BYTES);
	file = tracer_semihost_open("trace.bin");
}
#else
static int is_drained(void)
{
	int waits;

	/* the interrupt feeds the line */
	__asm__ volatile("cpsid i" ::: "memory");
	waits = tracer_link_waits(&link) || tracer_uart_busy(&uart);
	__asm__ volatile("cpsie i" ::: "memory");
	return !waits;
}

/* The line is fed from one interrupt alone. */
static void done(void *ctx, uint32_t end)
{
	(void)ctx, (void)end;
	NVIC_PENDING = 1u << UART0_TX_LINE;
}

static void set_up(void)
{
	tracer_link_init(&link, memory, RING_BYTES);
	tracer_uart_init(&uart, UART0, 16, &link);
	NVIC_ENABLE = 1u << UART0_TX_LINE;
}
#endif
#endif

void interrupt(unsigned number)
{
	if (number == TICK_LINE) {
		TICK_CLEAR = 1;
		trace_tick(&tracer, ticks++);
		tracer_keep_time(&tracer);
	}
#ifdef LINE_UART
	if (number == UART0_TX_LINE)
		tracer_uart_interrupt(&uart);
#endif
}

/* Until what is complete has left, and two ticks have passed. */
static void rest(void)
{
	uint32_t until = ticks + 2;

	while (TICK_CTRL && (int32_t)(ticks - until) < 0)
		__asm__ volatile("wfi");
	tracer_flush(&tracer);
#ifdef LINE_SEMIHOST
	tracer_semihost_send(&link, file);
#endif
	while (!is_drained())
		;
}

int main(void)
{
	const struct tracer_config config = { .platform = { .clock32 = now, .packet_done = done },
					      .mode = TRACE_STREAM,
					      .packet_log2 = PACKET_LOG2,
					      .packets = PACKETS,
					      .rate_hz = HZ };
	uint32_t works = 0;

	TIMER_RELOAD = TIMER_VALUE = UINT32_MAX;
	TIMER_CTRL = 1;
	if (tracer_init(&tracer, memory, RING_BYTES, &config, &tracer_layout))
		return 1;
	set_up();
	TICK_RELOAD = HZ / 1000;
	TICK_CTRL = TICK_ON;
	NVIC_ENABLE = 1u << TICK_LINE;
	trace_enter(&tracer, trace_phase_begin);
	for (uint8_t burst = 0; burst < BURSTS; burst++) {
		trace_enter(&tracer, trace_phase_burst);
		/* of the longest the line gets nothing before they end */
		if (burst % 6 == 5)
			__asm__ volatile("cpsid i" ::: "memory");
		for (uint32_t n = 20u << burst % 6; n; n--)
			trace_work(&tracer, works++, burst);
		__asm__ volatile("cpsie i" ::: "memory");
		trace_enter(&tracer, trace_phase_rest);
		rest();
	}
	TICK_CTRL = 0;
	rest();
	trace_finish(&tracer, works, ticks);
	rest();
#ifdef LINE_SEMIHOST
	tracer_semihost_close(file);
#endif
	tracer_semihost_exit();
	return 0;
}
