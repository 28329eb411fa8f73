/* SPDX-License-Identifier: MIT */
#include "lab/simulated/taskbench_chip.h"

#include <stdlib.h>
#include <string.h>

/* Iterations of a workload that are really done. */
#define REALLY 1000u

/*
 * What one iteration (8 operations, see firmware/apps/workloads/synthetic.c) costs: cycles of one
 * and more per instruction, and accesses. Made up from what the Cortex-M4's manual says of
 * instructions; the chip has no pipeline.
 */
struct cost {
	const char *name;
	double instructions, cpi, lsu, ram, flash;
};

static const struct cost costs[] = {
	{ "reg-add", 10, 2, 0, 0, 0 },        { "reg-mul", 10, 2, 0, 0, 0 },
	{ "reg-div", 10, 50, 0, 0, 0 },       { "ram-add", 34, 2, 16, 16, 0 },
	{ "ram-mul", 34, 2, 16, 16, 0 },      { "ram-div", 34, 50, 16, 16, 0 },
	{ "flash-add", 18, 2, 8, 0, 8 },      { "flash-mul", 18, 2, 8, 0, 8 },
	{ "flash-div", 18, 50, 8, 0, 8 },     { "float-add", 12, 6, 2, 2, 0 },
	{ "float-mul", 12, 6, 2, 2, 0 },      { "float-div", 12, 110, 2, 2, 0 },
	{ "double-add", 400, 90, 4, 4, 0 },   { "double-mul", 320, 80, 4, 4, 0 },
	{ "double-div", 1400, 300, 4, 4, 0 },
};

/* Those of firmware/lib/swotrace, near the thesis's (section 8.4.1). */
static const uint32_t frequencies[] = { 13000000, 26000000, 40000000, 53333333, 80000000 };

/* RM0351 table 11: wait states by frequency, in voltage ranges 1 and 2. */
static unsigned wait_states(const struct bench_setting *s, bool low)
{
	uint32_t mhz = (s->hz + 999999) / 1000000;

	if (!s->adaption)
		return 4;
	if (low)
		return mhz <= 6 ? 0 : mhz <= 12 ? 1 : mhz <= 18 ? 2 : 3;
	return mhz <= 16 ? 0 : mhz <= 32 ? 1 : mhz <= 48 ? 2 : mhz <= 64 ? 3 : 4;
}

/* The range of 1.0 V goes up to 26 MHz (RM0351 section 5.1.8). */
static bool low_voltage(const struct bench_setting *s)
{
	return s->hz <= 26000000 && s->policy == BENCH_LOW_VOLTAGE;
}

/* Current at 3.3 V: the thesis's constants for dynamic and static power. */
static double amperes(const struct bench_setting *s, double awake)
{
	double volts = low_voltage(s) ? 1.0 : 1.2;
	double watts = 3.876473e-10 * volts * volts * s->hz * (0.3 + 0.7 * awake) +
		       2.78207e-3 * volts / 1.2;

	return watts / 3.3;
}

static int get(void *ctx, uint8_t *byte)
{
	struct sim_chip *c = ctx;

	if (!c->in_left)
		return 0;
	*byte = *c->in++;
	c->in_left--;
	return 1;
}

static void put(void *ctx, const char *bytes, unsigned n)
{
	struct sim_chip *c = ctx;

	if (c->out_n + n > c->out_capacity) {
		size_t more = 2 * (c->out_n + n) + 256;
		char *grown = realloc(c->out, more);

		if (!grown)
			abort();
		c->out = grown;
		c->out_capacity = more;
	}
	memcpy(c->out + c->out_n, bytes, n);
	c->out_n += n;
}

static uint64_t now_us(void *ctx)
{
	return ((struct sim_chip *)ctx)->us;
}

static void trigger(void *ctx, unsigned line, int high)
{
	struct sim_chip *c = ctx;

	if (line == 0 && high)
		c->measured = (struct sim_measured){ .happened = true };
}

static int set(void *ctx, struct bench_setting *s)
{
	struct sim_chip *c = ctx;
	uint32_t best = frequencies[0];

	if (s->hz > 80000000)
		return BENCH_FAILED;
	for (size_t i = 0; i < sizeof(frequencies) / sizeof(*frequencies); i++)
		if (frequencies[i] <= s->hz)
			best = frequencies[i];
	s->hz = best;
	c->setting = *s;
	return BENCH_OK;
}

static int trace_start(void *ctx, const struct bench_trace *t)
{
	((struct sim_chip *)ctx)->trace = *t;
	return BENCH_OK;
}

/* Four comparators of up to 32 KiB. */
static uint32_t passes(const struct bench_trace *t)
{
	uint64_t blocks = 0;

	for (unsigned i = 0; i < t->n_ranges; i++)
		blocks += ((uint64_t)t->range[i].to - t->range[i].from) / 0x8000 + 1;
	return (uint32_t)((blocks + 3) / 4);
}

static double accesses(const struct sim_chip *c)
{
	double sum = 0;

	for (unsigned i = 0; i < c->trace.n_ranges; i++) {
		uint32_t from = c->trace.range[i].from;

		sum += from >= 0x40000000 ? c->peripheral : from >= 0x20000000 ? c->ram : c->flash;
	}
	/* all that the workloads use lies in the first pass */
	return c->trace.pass ? 0 : sum;
}

static int trace_stop(void *ctx, struct bench_counted *r)
{
	struct sim_chip *c = ctx;

	if (c->trace.counter == BENCH_RANGES) {
		r->passes = passes(&c->trace);
		r->count = (uint64_t)accesses(c);
		r->edges = r->count * 33 / 4;
		return BENCH_OK;
	}
	/* whole packets only, of 256 cycles and five edges each */
	r->edges = (uint64_t)(c->counted[c->trace.counter] / 256) * 5;
	r->count = r->edges / 5 * 256;
	return BENCH_OK;
}

static void reboot(void *ctx)
{
	struct sim_chip *c = ctx;
	const struct bench_setting start = { 80000000, BENCH_FAST_FLASH, 1, 1 };

	/* what a UART sends while it is reset */
	put(c, "\xff\xfe", 2);
	bench_begin(&c->shell, &c->hal, start);
	/* the shell itself prompts behind the command */
	c->out_n -= strlen(BENCH_PROMPT);
}

static int spi(void *ctx, uint32_t hz, const uint8_t *out, uint8_t *in, unsigned n)
{
	(void)ctx;
	(void)hz;
	memcpy(in, out, n);
	return 0;
}

static void sleep_ms(void *ctx, uint32_t ms)
{
	(void)ctx;
	(void)ms;
}

static const struct workload_io io = { NULL, spi, sleep_ms };
static const struct workload *const workloads[] = { workloads_synthetic, NULL };

/* Cycles awake and asleep of @iterations; the counters are set. */
static double work(struct sim_chip *c, const struct workload *w, double iterations, double arg)
{
	const struct cost *cost = costs;
	bool low = low_voltage(&c->setting);
	unsigned ws = wait_states(&c->setting, low);
	double *n = c->counted, stall;

	memset(c->counted, 0, sizeof(c->counted));
	c->ram = c->flash = c->peripheral = 0;
	if (!strcmp(w->name, "sleep")) {
		n[BENCH_SLEEP] = n[BENCH_CYCLES] = iterations * arg / 1000 * c->setting.hz;
		return n[BENCH_CYCLES];
	}
	if (!strcmp(w->name, "spi")) {
		/*
		 * two accesses to the peripheral and one to RAM a byte, or as long as the bus takes
		 */
		double bus = 1024 * 8 * c->setting.hz / (arg > 0 ? arg : 1), busy = 1024 * 12;

		n[BENCH_CYCLES] = iterations * (bus > busy ? bus : busy);
		n[BENCH_LSU] = 0.42 * n[BENCH_CYCLES];
		c->ram = iterations * 2048;
		c->peripheral = iterations * 2048;
		return n[BENCH_CYCLES];
	}
	while (strcmp(cost->name, w->name))
		cost++;
	/* instructions come from flash too: the cache spares most of it */
	stall = ws * cost->instructions * (c->setting.cache ? 0.02 : 0.5);
	n[BENCH_CPI] = iterations * (cost->cpi + stall);
	n[BENCH_LSU] = iterations * (cost->lsu + cost->flash * ws * (c->setting.cache ? 0.3 : 1));
	n[BENCH_CYCLES] = iterations * cost->instructions + n[BENCH_CPI] + n[BENCH_LSU];
	c->ram = iterations * cost->ram;
	c->flash = iterations * cost->flash;
	return n[BENCH_CYCLES];
}

static int run(void *ctx, const struct workload *w, uint32_t iterations, uint32_t arg)
{
	struct sim_chip *c = ctx;
	int result = w->run(&io, iterations < REALLY ? iterations : REALLY, arg);
	double cycles = work(c, w, iterations, arg), seconds;

	/* oscillator and interrupts: some millionths */
	seconds = cycles / c->setting.hz * (1 + 2e-6 * sim_normal(&c->random));
	c->works++;
	if (c->outlier_every && c->works % c->outlier_every == 0) {
		seconds *= 1.2;
		c->counted[BENCH_CYCLES] *= 1.2;
	}
	c->us += (uint64_t)(seconds * 1e6);
	c->measured.seconds = seconds;
	c->measured.delay_s = seconds;
	c->measured.amperes = amperes(&c->setting, 1 - c->counted[BENCH_SLEEP] / cycles) *
			      (1 + 1e-4 * sim_normal(&c->random));
	return result;
}

void sim_chip_init(struct sim_chip *c, uint64_t seed, unsigned outlier_every)
{
	const struct bench_setting start = { 80000000, BENCH_FAST_FLASH, 1, 1 };

	*c = (struct sim_chip){ .random = { seed }, .outlier_every = outlier_every };
	c->hal = (struct bench_hal){ .ctx = c,
				     .get = get,
				     .put = put,
				     .now_us = now_us,
				     .trigger = trigger,
				     .set = set,
				     .trace_start = trace_start,
				     .trace_stop = trace_stop,
				     .reboot = reboot,
				     .run = run,
				     .io = &io,
				     .workloads = workloads,
				     .board = "simulated" };
	bench_begin(&c->shell, &c->hal, start);
}

void sim_chip_feed(struct sim_chip *c, const uint8_t *bytes, size_t n)
{
	c->in = bytes;
	c->in_left = n;
	bench_work(&c->shell);
}

void sim_chip_free(struct sim_chip *c)
{
	free(c->out);
	c->out = NULL;
}
