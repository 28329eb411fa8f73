/* SPDX-License-Identifier: MIT */
/** The true count of a clock: its nominal time as a piecewise linear function of true time. */
#ifndef SIM_OSCILLATOR_H
#define SIM_OSCILLATOR_H

#include "core/random.h"
#include "sim/world.h"

/**
 * x(t) = t + ahead(t), ns; @ahead is known at every step and straight between, but for the jumps.
 */
struct oscillator {
	double step_ns;
	size_t n; /* steps; ahead has n + 1 entries, without the jumps */
	double *ahead;
	struct {
		double at, ns; /* x jumps by ns at true time at */
	} jump[WORLD_LIST];
	size_t n_jumps;
};

/**
 * Draw an oscillator for the whole of @w, with the faults that name @who. Fails with CVL_E_NOMEM;
 * freed by oscillator_free() in any case.
 */
int oscillator_make(struct oscillator *o, const struct world *w,
		    const struct world_oscillator *spec, const char *who, struct cvl_error *err);
void oscillator_free(struct oscillator *o);

/** x at true time @t, ns; outside the world the first and last rates hold. */
double oscillator_x(const struct oscillator *o, double t);

/** True time at which x was first reached. */
double oscillator_when(const struct oscillator *o, double x);

/** A stream of draws of its own for @who and @what in the world seeded by @seed. */
struct sim_random world_random(uint64_t seed, const char *who, const char *what);

#endif
