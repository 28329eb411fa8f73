/* SPDX-License-Identifier: MIT */
/* The task bench on a Nucleo-L476RG, tracing by firmware/lib/swotrace. */
#include "cortexm/start.h"
#include "swotrace/swotrace.h"
#include "taskbench/l476/board.h"
#include "taskbench/shell.h"
#ifdef WITH_BEEBS
#include "workloads/beebs.h"
#endif

#define PORT swo_port_stm32l476

static uint32_t bus_read(void *ctx, uint32_t address)
{
	(void)ctx;
	return *(volatile uint32_t *)(uintptr_t)address;
}

static void bus_write(void *ctx, uint32_t address, uint32_t value)
{
	(void)ctx;
	*(volatile uint32_t *)(uintptr_t)address = value;
}

static const struct swo_bus bus = { 0, bus_read, bus_write };
static struct swo swo;
static uint32_t passes;

static int set(void *ctx, struct bench_setting *s)
{
	uint32_t point = swo_point_near(&PORT.device, s->hz);

	(void)ctx;
	board_flush();
	/* a program that reads its flash too fast is one that reads nonsense: slow it down first */
	if (board_flash_slow() || PORT.set(&PORT, &bus, point))
		return BENCH_FAILED;
	s->hz = PORT.device.point[point].hz;
	board_clock(s->hz);
	return board_flash(s) ? BENCH_FAILED : BENCH_OK;
}

static enum swo_why start(const struct bench_trace *t)
{
	static const enum swo_counter counters[] = { SWO_CYC,   SWO_CPI, SWO_EXC,
						     SWO_SLEEP, SWO_LSU, SWO_FOLD };
	struct swo_range range[BENCH_MAX_RANGES];

	passes = 1;
	if (t->counter != BENCH_RANGES)
		return swo_start(&swo, counters[t->counter], 0);
	for (unsigned i = 0; i < t->n_ranges; i++)
		range[i] = (struct swo_range){ t->range[i].from, t->range[i].to };
	passes = swo_passes(&swo, range, t->n_ranges);
	return swo_start_pass(&swo, range, t->n_ranges, t->pass, 0);
}

static int trace_start(void *ctx, const struct bench_trace *t)
{
	/* prescalers that lose least: thesis section 7.2 */
	static const struct swo_config config = { .bus = &bus,
						  .port = &PORT,
						  .prescaler_counter = 1,
						  .prescaler_comparator = 0,
						  .switch_to_swd = 1 };

	(void)ctx;
	if (swo_init(&swo, &config))
		return BENCH_FAILED;
	if (!start(t))
		return BENCH_OK;
	swo_deinit(&swo);
	return BENCH_CANNOT;
}

static int trace_stop(void *ctx, struct bench_counted *c)
{
	struct swo_data data;
	enum swo_why why = swo_stop(&swo, &data);

	(void)ctx;
	swo_deinit(&swo);
	/* packets that were still on their way are missing */
	if (why || !data.settled)
		return BENCH_FAILED;
	c->edges = data.edges;
	c->count = swo_data_exact(&data);
	c->passes = passes;
	return BENCH_OK;
}

int main(void)
{
	static const struct workload_io io = { 0, board_spi, board_sleep_ms };
	static const struct workload *const workloads[] = {
		workloads_synthetic,
#ifdef WITH_BEEBS
		workloads_beebs,
#endif
		0,
	};
	static const struct bench_hal hal = { .get = board_get,
					      .put = board_put,
					      .now_us = board_now_us,
					      .trigger = board_trigger,
					      .set = set,
					      .trace_start = trace_start,
					      .trace_stop = trace_stop,
					      .reboot = board_reboot,
					      .io = &io,
					      .workloads = workloads,
					      .board = "nucleo-l476" };
	static const struct bench_setting first = { 80000000, BENCH_FAST_FLASH, 1, 1 };
	static struct bench_shell shell;

	board_init();
	bench_begin(&shell, &hal, first);
	for (;;)
		bench_work(&shell);
}
