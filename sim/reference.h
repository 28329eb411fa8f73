/* SPDX-License-Identifier: MIT */
/**
 * How far a reference's pulses stand off true time: the slow part of their error, which all that
 * hear them share.
 */
#ifndef SIM_REFERENCE_H
#define SIM_REFERENCE_H

#include "sim/world.h"

struct reference {
	size_t n;
	double *slow;   /* ns, of each pulse */
	double *factor; /* by which its jitter is larger, in bursts */
};

/**
 * Draw the @n pulses of a reference, @period_ns apart, in the world seeded by @seed. CVL_E_NOMEM;
 * freed by reference_free() in any case.
 */
int reference_make(struct reference *r, const struct world_reference *spec, uint64_t seed,
		   const char *line, size_t n, int64_t period_ns, struct cvl_error *err);
void reference_free(struct reference *r);

#endif
