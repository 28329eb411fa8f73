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

/* Read the 8254 on from @last, whose count goes up. */
static struct ett_reading pit_read(const struct ett_reading *last, uint16_t *raw)
{
	struct ett_reading r;
	uint16_t now;

	r.before = tsc();
	now = pit_count();
	r.after = tsc();
	r.count = last->count + (uint16_t)(*raw - now);
	*raw = now;
	return r;
}

static struct ett_rate by_pit(void)
{
	struct ett_reading none = { 0, 0, 0 }, first, r;
	uint16_t raw;

	pit_start();
	raw = pit_count();
	for (int i = 0; i < 1000; i++) /* its first count may come late */
		pit_read(&none, &raw);
	first = pit_read(&none, &raw);
	r = first;
	for (uint64_t still = 0; r.count - first.count < ETT_PIT_HZ / WINDOW;) {
		uint64_t before = r.count;

		r = pit_read(&r, &raw);
		still = r.count == before ? still + 1 : 0;
		if (still == 100000)
			return (struct ett_rate){ 0, 0, 0 };
	}
	return ett_rate(&first, &r, ETT_PIT_HZ);
}

static struct ett_reading hpet_read(volatile uint32_t *hpet)
{
	struct ett_reading r;

	r.before = tsc();
	r.count = hpet[0xf0 / 4];
	r.after = tsc();
	return r;
}

static struct ett_rate by_hpet(void)
{
	volatile uint32_t *hpet = map_register(acpi_hpet());
	struct ett_rate none = { 0, 0, 0 };
	struct ett_reading first, r;
	uint64_t period_fs, hz, wrapped = 0, still = 0;

	if (!hpet)
		return none;
	period_fs = hpet[1];
	if (!period_fs || period_fs > 100000000)
		return none;
	hz = UINT64_C(1000000000000000) / period_fs;
	hpet[0x10 / 4] |= 1;
	first = r = hpet_read(hpet);
	while (r.count - first.count < hz / WINDOW) {
		uint64_t before = r.count;

		r = hpet_read(hpet);
		r.count += wrapped;
		if (r.count < before) {
			wrapped += UINT64_C(1) << 32;
			r.count += UINT64_C(1) << 32;
		}
		still = r.count == before ? still + 1 : 0;
		if (still == 100000)
			return none;
	}
	return ett_rate(&first, &r, hz);
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
