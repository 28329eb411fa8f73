/* SPDX-License-Identifier: MIT */
/* What bench/oracle.c relies on: worlds that differ in one number are drawn alike in all else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../sim/happen.h"

static void load(struct world *w, const char *name)
{
	char path[4096];
	struct cvl_error err;

	snprintf(path, sizeof(path), "%s/examples/worlds/%s.yaml", COEVAL_SOURCE_DIR, name);
	if (world_load(w, path, &err))
		fail_msg("%s", err.text);
}

static void make(struct oscillator *o, const struct world *w, const struct world_oscillator *spec)
{
	struct cvl_error err;

	if (oscillator_make(o, w, spec, "node3", &err))
		fail_msg("%s", err.text);
}

static void rates_without_their_walk_are_drawn_alike(void **state)
{
	struct oscillator o, known, walk, straight;
	struct world_oscillator spec;
	struct world w;
	double most = 0;

	(void)state;
	load(&w, "harsh");
	spec = w.clocks[0].oscillator;
	make(&o, &w, &spec);
	spec.sine_ppm = spec.rate_step_ppm = 0;
	make(&walk, &w, &spec);
	spec.walk_ppb = 0;
	make(&straight, &w, &spec);
	spec = w.clocks[0].oscillator;
	spec.walk_ppb = 0;
	make(&known, &w, &spec);
	for (double t = 0; t < 3600e9; t += 7.3e9) {
		double with = oscillator_x(&o, t) - oscillator_x(&known, t);
		double alone = oscillator_x(&walk, t) - oscillator_x(&straight, t);

		assert_true(fabs(with - alone) < 0.01);
		most = fmax(most, fabs(alone));
	}
	assert_true(most > 1000);
	oscillator_free(&o);
	oscillator_free(&known);
	oscillator_free(&walk);
	oscillator_free(&straight);
}

static void beacons_are_heard_alike_without_outliers(void **state)
{
	struct happenings with, without;
	struct world_air air, clean;
	struct world w, v;
	struct cvl_error err;
	size_t off = 0;

	(void)state;
	load(&w, "nominal");
	v = w;
	v.sender[0].receiver.outliers = 0;
	assert_int_equal(air_make(&air, &w, &err), 0);
	assert_int_equal(air_make(&clean, &v, &err), 0);
	assert_int_equal(clock_happenings(&with, &air, &air.clock[2], &err), 0);
	assert_int_equal(clock_happenings(&without, &clean, &clean.clock[2], &err), 0);
	assert_int_equal(with.n, without.n);
	for (size_t i = 0; i < with.n; i++) {
		double by = fabs(with.at[i].t - without.at[i].t);

		if (with.at[i].kind != HAPPEN_BEACON || by < 1e-3)
			continue;
		assert_true(by >= 999 && by <= 3201);
		off++;
	}
	assert_in_range(off, 10, 70); /* 1 % of 3528 */
	free(with.at);
	free(without.at);
	air_free(&air);
	air_free(&clean);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates_without_their_walk_are_drawn_alike),
		cmocka_unit_test(beacons_are_heard_alike_without_outliers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
