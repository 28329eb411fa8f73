/* SPDX-License-Identifier: MIT */
/*
 * The task bench on Arm's MPS2 board, which is what QEMU emulates. It has one frequency, no flash
 * and no trace pin: cycles come from a timer at the processor's clock, and other counters it cannot
 * trace.
 */
#include "cortexm/start.h"
#include "taskbench/mps2/mps2.h"
#include "taskbench/shell.h"
#ifdef WITH_BEEBS
#include "workloads/beebs.h"
#endif

/* A register that does not change in so many reads never will. */
#define PATIENCE 10000000u

static volatile int woken;

/* They only wake: a byte that came stays where it is. */
void interrupt(unsigned number)
{
	if (number == WAKE_LINE) {
		WAKE_CTRL = 0;
		WAKE_CLEAR = 1;
		woken = 1;
	}
	if (number == UART_LINE)
		UART_CLEAR = UART_CLEAR_RX;
}

/*
 * Sleep until a byte comes. An interrupt that is held back still ends the sleep, so that none is
 * missed.
 */
static void idle(void)
{
	__asm__ volatile("cpsid i" ::: "memory");
	if (!(UART_STATE & UART_RX_FULL))
		__asm__ volatile("wfi");
	__asm__ volatile("cpsie i" ::: "memory");
}

static int get(void *ctx, uint8_t *byte)
{
	(void)ctx;
	if (!(UART_STATE & UART_RX_FULL))
		return 0;
	*byte = (uint8_t)UART_DATA;
	return 1;
}

static void put(void *ctx, const char *bytes, unsigned n)
{
	(void)ctx;
	for (unsigned i = 0; i < n; i++) {
		for (uint32_t k = 0; k < PATIENCE && UART_STATE & UART_TX_FULL; k++)
			;
		UART_DATA = (uint8_t)bytes[i];
	}
}

/*
 * Cycles since the start, if this is called at least once in 171 s, which is when the timer wraps.
 */
static uint64_t now(void)
{
	static uint32_t last;
	static uint64_t sum;
	uint32_t count = ~TIMER_VALUE;

	sum += count - last;
	last = count;
	return sum;
}

static uint64_t now_us(void *ctx)
{
	(void)ctx;
	return now() / (MPS2_HZ / 1000000u);
}

static void trigger(void *ctx, unsigned line, int high)
{
	(void)ctx;
	if (high)
		GPIO_OUT |= 1u << line;
	else
		GPIO_OUT &= ~(1u << line);
}

static int set(void *ctx, struct bench_setting *s)
{
	(void)ctx;
	s->hz = MPS2_HZ;
	return BENCH_OK;
}

static uint64_t traced_from;

static int trace_start(void *ctx, const struct bench_trace *t)
{
	(void)ctx;
	if (t->counter != BENCH_CYCLES)
		return BENCH_CANNOT;
	traced_from = now();
	return BENCH_OK;
}

static int trace_stop(void *ctx, struct bench_counted *c)
{
	(void)ctx;
	c->count = now() - traced_from;
	return BENCH_OK;
}

static void reboot(void *ctx)
{
	(void)ctx;
	__asm__ volatile("dsb" ::: "memory");
	SCB_AIRCR = SCB_AIRCR_RESET;
	for (;;)
		;
}

static int spi(void *ctx, uint32_t hz, const uint8_t *out, uint8_t *in, unsigned n)
{
	uint32_t divider = hz ? (MPS2_HZ + hz - 1) / hz : 254;

	(void)ctx;
	divider += divider & 1;
	SPI_CR1 = 0;
	SPI_PRESCALE = divider < 2 ? 2 : divider > 254 ? 254 : divider;
	SPI_CR0 = 7; /* 8 bits */
	SPI_CR1 = SPI_ENABLE;
	for (unsigned i = 0; i < n; i++) {
		uint32_t k = 0;

		SPI_DATA = out[i];
		while (k < PATIENCE && !(SPI_STATUS & SPI_RX_THERE))
			k++;
		if (k == PATIENCE)
			return -1;
		in[i] = (uint8_t)SPI_DATA;
	}
	SPI_CR1 = 0;
	return 0;
}

static void sleep_ms(void *ctx, uint32_t ms)
{
	uint32_t most = UINT32_MAX / (MPS2_HZ / 1000);

	(void)ctx;
	if (!ms)
		return;
	woken = 0;
	WAKE_RELOAD = WAKE_VALUE = (ms < most ? ms : most) * (MPS2_HZ / 1000);
	WAKE_CTRL = WAKE_ON;
	/* held back, so that it cannot come between the look and the sleep */
	__asm__ volatile("cpsid i" ::: "memory");
	while (!woken)
		__asm__ volatile("wfi\n\tcpsie i\n\tisb\n\tcpsid i" ::: "memory");
	__asm__ volatile("cpsie i" ::: "memory");
}

int main(void)
{
	static const struct workload_io io = { 0, spi, sleep_ms };
	static const struct workload *const workloads[] = {
		workloads_synthetic,
#ifdef WITH_BEEBS
		workloads_beebs,
#endif
		0,
	};
	static const struct bench_hal hal = { .get = get,
					      .put = put,
					      .now_us = now_us,
					      .trigger = trigger,
					      .set = set,
					      .trace_start = trace_start,
					      .trace_stop = trace_stop,
					      .reboot = reboot,
					      .io = &io,
					      .workloads = workloads,
					      .board = "mps2-an386" };
	static const struct bench_setting start = { MPS2_HZ, BENCH_FAST_FLASH, 1, 1 };
	static struct bench_shell shell;

	TIMER_RELOAD = UINT32_MAX;
	TIMER_VALUE = UINT32_MAX;
	TIMER_CTRL = 1;
	GPIO_ENABLE_SET = 3;
	UART_BAUDDIV = MPS2_HZ / 115200;
	UART_CTRL = UART_ON;
	NVIC_ENABLE = 1u << UART_LINE | 1u << WAKE_LINE;
	bench_begin(&shell, &hal, start);
	for (;;) {
		bench_work(&shell);
		idle();
	}
}
