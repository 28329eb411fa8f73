/* SPDX-License-Identifier: MIT */
/* The observer's clock over hours of PPS: how far its seconds are from the pulses. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/random.h"
#include "sim/devices/tracelab_clock.h"
#include "wire/tracelab_wire.h"

#define SECONDS 19800 /* 5.5 h */

struct offsets {
	int64_t absolute[SECONDS];
	int n;
};

static void keep(void *ctx, int kind, int64_t cycle, int64_t value)
{
	struct offsets *o = ctx;

	(void)cycle;
	if (kind == TL_CLOCK_OFFSET)
		o->absolute[o->n++] = llabs(value);
}

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/*
 * 99th percentile in ns, after the first minute, for a crystal 50 ppm off that wanders by 1 ppb a
 * second.
 */
static int64_t percentile(double jitter_ns)
{
	static struct offsets o;
	struct tracelab_clock clock;
	struct sim_random random = { 1 };
	double at = 1e6, rate = 50e-6;

	o.n = 0;
	tracelab_clock_init(&clock, &tracelab_clock_usual, keep, &o);
	for (int i = 0; i < SECONDS; i++) {
		tracelab_clock_edge(&clock, llround(at + jitter_ns / 10 * sim_normal(&random)));
		rate += 1e-9 * sim_normal(&random);
		at += 1e8 * (1 + rate);
	}
	assert_true(o.n > SECONDS - 10);
	qsort(o.absolute + 60, (size_t)(o.n - 60), sizeof(o.absolute[0]), by_size);
	return 10 * o.absolute[60 + (o.n - 60) * 99 / 100];
}

static void with_10_ns_of_jitter_99_percent_are_within_40_ns(void **state)
{
	(void)state;
	assert_in_range(percentile(10), 1, 40);
}

static void with_30_ns_of_jitter_99_percent_are_within_120_ns(void **state)
{
	(void)state;
	assert_in_range(percentile(30), 1, 120);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(with_10_ns_of_jitter_99_percent_are_within_40_ns),
		cmocka_unit_test(with_30_ns_of_jitter_99_percent_are_within_120_ns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
