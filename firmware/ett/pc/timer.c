/* SPDX-License-Identifier: MIT */
/*
 * The TSC against the 8254's channel 2 (ports 42h, 43h, its gate in port 61h), or against the HPET where a machine stops the 8254's
 * clock. Intel 8254 data sheet; IA-PC HPET specification 1.0a, 2.3.
 */
#include "machine.h"

#include "io.h"

#define WINDOW 2 /* a second's parts that are measured over */
#define PIT_CHANNEL2_MODE2 0xb4
#define PIT_LATCH2 0x80
#define READINGS 200
#define PATIENCE 100000 /* readings without a count */
/* words of the HPET */
#define HPET_PERIOD (0x04 / 4)
#define HPET_CONFIG (0x10 / 4)
#define HPET_COUNT (0xf0 / 4)
#define HPET_PERIOD_MAX 100000000 /* fs, by its specification */

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

/* What is read while it goes up: the 8254, or the HPET. */
struct counter {
	volatile uint32_t *hpet; /* NULL: the 8254 */
	uint64_t hz, count;
	uint32_t raw, mask;
};

static struct ett_reading look(struct counter *c)
{
	struct ett_reading r;
	uint32_t now;

	r.before = tsc();
	now = c->hpet ? c->hpet[HPET_COUNT] : 0xffffu - pit_count();
	r.after = tsc();
	c->count += (now - c->raw) & c->mask;
	c->raw = now;
	r.count = c->count;
	return r;
}

/* The quickest of some readings, which is the one that tells most. */
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
	struct ett_reading first, last;

	look_well(c); /* its first counts may come late */
	first = look_well(c);
	for (uint64_t still = 0; c->count - first.count < c->hz / WINDOW;) {
		uint64_t before = c->count;

		look(c);
		still = c->count == before ? still + 1 : 0;
		if (still == PATIENCE)
			return (struct ett_rate){ 0, 0, 0 };
	}
	last = look_well(c);
	return ett_rate(&first, &last, c->hz);
}

static struct ett_rate by_pit(void)
{
	struct counter c = { .hz = ETT_PIT_HZ, .mask = 0xffff };

	pit_start();
	return measure(&c);
}

static struct ett_rate by_hpet(void)
{
	struct counter c = { .hpet = map_register(acpi_hpet()), .mask = UINT32_MAX };
	uint64_t period_fs;

	if (!acpi_hpet() || !c.hpet)
		return (struct ett_rate){ 0, 0, 0 };
	period_fs = c.hpet[HPET_PERIOD];
	if (!period_fs || period_fs > HPET_PERIOD_MAX)
		return (struct ett_rate){ 0, 0, 0 };
	c.hz = UINT64_C(1000000000000000) / period_fs;
	c.hpet[HPET_CONFIG] |= 1;
	return measure(&c);
}

struct timer timer_calibrate(enum ett_timer by)
{
	uint32_t top[4], leaf15[4] = { 0 }, leaf16[4] = { 0 }, ext[4];
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
	if (by == ETT_TIMER_PIT)
		t.rate = by_pit();
	if (!t.rate.hz) {
		t.rate = by_hpet();
		t.by = ETT_TIMER_HPET;
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
