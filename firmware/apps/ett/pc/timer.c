/* SPDX-License-Identifier: MIT */
/*
 * The TSC against the 8254's channel 2 (ports 42h, 43h, its gate in port 61h), or against the HPET
 * where a machine stops the 8254's clock. Intel 8254 data sheet; IA-PC HPET specification 1.0a,
 * 2.3.
 */
#include "machine.h"

#include "io.h"

/*
 * Measured over a fraction of a second: 1/2, and when that was disturbed several times, as on a
 * busy host of a virtual machine, 1/16, in which a disturbance is less likely.
 */
#define WINDOW 2
#define SHORT_WINDOW 16
#define PIT_CHANNEL2_MODE2 0xb4
#define PIT_LATCH2 0x80
#define READINGS 200
#define PATIENCE 100000 /* readings without a count */
/* words of the HPET */
#define HPET_PERIOD (0x04 / 4)
#define HPET_CONFIG (0x10 / 4)
#define HPET_COUNT (0xf0 / 4)
#define HPET_PERIOD_MAX 100000000 /* fs, by its specification */
#define TRIES 16                  /* of the one timer and the other, in turns */
#define LONG_TRIES 4
/* CPUID's vendor: "Auth...", "Hygo..." */
#define AMD 0x68747541
#define HYGON 0x6f677948
#define DE_CFG_MSR 0xc0011029
#define DE_CFG_LFENCE 2

static uint16_t pit_count(void)
{
	uint8_t low;

	out8(0x43, PIT_LATCH2);
	low = in8(0x42);
	return (uint16_t)(low | in8(0x42) << 8);
}

static void pit_start(void)
{
	/* gate on, loudspeaker off; counts down from 65536 over and over */
	out8(0x61, (uint8_t)((in8(0x61) & ~2) | 1));
	out8(0x43, PIT_CHANNEL2_MODE2);
	out8(0x42, 0);
	out8(0x42, 0);
}

/* A counter that goes up: the 8254, or the HPET. */
struct counter {
	volatile uint32_t *hpet; /* NULL: the 8254 */
	uint64_t hz, count, window;
	uint32_t raw, mask;
	uint64_t last, longest; /* TSC of the last look; ticks between two */
};

static struct ett_reading look(struct counter *c)
{
	struct ett_reading r;
	uint32_t now;

	r.before = tsc();
	now = c->hpet ? c->hpet[HPET_COUNT] : 0xffffu - pit_count();
	r.after = tsc();
	if (r.after - c->last > c->longest)
		c->longest = r.after - c->last;
	c->last = r.before;
	c->count += (now - c->raw) & c->mask;
	c->raw = now;
	r.count = c->count;
	return r;
}

/* The quickest of some readings, which is the tightest. */
static struct ett_reading look_well(struct counter *c)
{
	struct ett_reading best = look(c);

	for (int i = 0; i < READINGS; i++) {
		struct ett_reading r = look(c);

		if (r.after - r.before < best.after - best.before)
			best = r;
	}
	return best;
}

static struct ett_rate measure(struct counter *c)
{
	const struct ett_rate none = { 0, 0, 0 };
	struct ett_reading first, last;
	struct ett_rate r;

	look_well(c); /* its first counts may come late */
	first = look_well(c);
	c->longest = 0;
	for (uint64_t still = 0; c->count - first.count < c->hz / c->window;) {
		uint64_t before = c->count;

		look(c);
		still = c->count == before ? still + 1 : 0;
		if (still == PATIENCE)
			return none;
	}
	last = look_well(c);
	r = ett_rate(&first, &last, c->hz);
	/* If not read for that long, it may have wrapped unnoticed. */
	return 2 * ett_ns(c->longest, r.hz) < ett_ns(c->mask, c->hz) ? r : none;
}

static struct ett_rate by_pit(uint64_t window)
{
	struct counter c = { .hz = ETT_PIT_HZ, .mask = 0xffff, .window = window };

	pit_start();
	return measure(&c);
}

static struct ett_rate by_hpet(uint64_t window)
{
	struct counter c = { .mask = UINT32_MAX, .window = window };
	uint64_t at = acpi_hpet(), period_fs;

	c.hpet = at ? map_register(at) : NULL;
	if (!c.hpet)
		return (struct ett_rate){ 0, 0, 0 };
	period_fs = c.hpet[HPET_PERIOD];
	if (!period_fs || period_fs > HPET_PERIOD_MAX)
		return (struct ett_rate){ 0, 0, 0 };
	c.hz = UINT64_C(1000000000000000) / period_fs;
	c.hpet[HPET_CONFIG] |= 1;
	return measure(&c);
}

/*
 * AMD's LFENCE waits for all that was begun before it only where bit 1 of MSR C001_1029 is set
 * ("Software Techniques for Managing Speculation on AMD Processors", 2018); families Fh and 11h do
 * without. A hypervisor sees to it itself.
 */
void timer_order(void)
{
	uint32_t vendor[4], id[4], family;

	cpuid(0, vendor);
	cpuid(1, id);
	family = (id[0] >> 8 & 15) + (id[0] >> 20 & 255);
	if (vendor[1] != AMD && vendor[1] != HYGON)
		return;
	if (id[2] >> 31 || family < 0x10 || family == 0x11)
		return;
	wrmsr(DE_CFG_MSR, rdmsr(DE_CFG_MSR) | DE_CFG_LFENCE);
}

struct timer timer_calibrate(enum ett_timer by)
{
	uint32_t top[4], leaf15[4] = { 0 }, leaf16[4] = { 0 }, ext[4];
	const enum ett_timer other = by == ETT_TIMER_PIT ? ETT_TIMER_HPET : ETT_TIMER_PIT;
	struct timer t = { .by = by };

	cpuid(0, top);
	if (top[0] >= 0x15)
		cpuid(0x15, leaf15);
	if (top[0] >= 0x16)
		cpuid(0x16, leaf16);
	t.cpuid_hz = ett_rate_cpuid(leaf15, leaf16);
	cpuid(0x80000000, ext);
	if (ext[0] >= 0x80000007) {
		cpuid(0x80000007, ext);
		t.invariant = ext[3] >> 8 & 1;
	}
	for (int i = 0; i < TRIES && !t.rate.hz; i++) {
		const uint64_t window = i < LONG_TRIES ? WINDOW : SHORT_WINDOW;

		t.by = i & 1 ? other : by;
		t.rate = t.by == ETT_TIMER_PIT ? by_pit(window) : by_hpet(window);
	}
	t.hz = t.rate.hz ? t.rate.hz : t.cpuid_hz;
	return t;
}

void wait_us(const struct timer *t, uint64_t us)
{
	uint64_t until = tsc() + ett_ticks(us, t->hz);

	while (tsc() < until)
		pause();
}
