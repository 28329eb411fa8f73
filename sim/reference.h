/* SPDX-License-Identifier: MIT */
/**
 * Slow part of the error of a reference's pulses, shared by all that hear them.
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
