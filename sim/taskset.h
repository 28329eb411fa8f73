/* SPDX-License-Identifier: MIT */
/**
 * Tasks of a simulated processor, measured as `coeval task bench` would: to test rules that choose
 * a frequency with known truth. Nothing here was measured; its assumptions:
 *
 * - Cycles: those that the program takes, and those of a wait state for every fetch or load that
 *   the flash cache does not have. About a third of the tasks miss often, as 19 of the thesis's 69
 *   save energy and 25 save cycles at lower frequencies (10.4.6, 10.4.7); up to a tenth of the
 *   program's cycles a wait state. Without the cache every access waits.
 * - Some tasks wait for a time rather than cycles: asleep, or for a serial line whose status they
 *   read (10.2, 10.3).
 * - Energy: equation 2.6 with the device's constants. alpha * C differs by 7 % (standard deviation)
 *   between tasks, by the range of powers that the thesis measured, 42.7 to 56.6 mW at 80 MHz
 *   (10.4.1). A cycle that waits switches less than one that works, by a share that is drawn for
 *   each task: the thesis finds alpha to rise at low frequencies for tasks that save cycles
 *   (10.4.1), and its own estimate, which holds alpha constant, off by up to 10 %.
 * - Measurements: counters in steps of 256, accesses bounded by what the line carries and counted
 *   from edges, and 0.02 % (cycles), 0.2 % (accesses) and 0.5 % (energy) of noise.
 */
#ifndef SIM_TASKSET_H
#define SIM_TASKSET_H

#include "analysis/freq/device.h"
#include "analysis/freq/table.h"

#define TASKSET_TASKS 69

enum taskset_kind {
	TASKSET_MIXED,     /* all of the above */
	TASKSET_COMPUTING, /* no task waits for a time, as in the benchmark suite of the thesis */
	TASKSET_CONSTANT,  /* nor do waiting cycles switch less: energy is exactly equation 2.6 */
	TASKSET_KINDS
};

extern const char *const taskset_kinds[TASKSET_KINDS];

/**
 * Append @n tasks, each under every policy of @d, with and without wait-state adaption and cache,
 * at every frequency, with their true energies. The same @seed gives the same rows. Returns 0 or
 * CVL_E_NOMEM.
 */
int taskset_make(struct task_table *t, const struct device *d, enum taskset_kind kind,
		 uint64_t seed, size_t n, struct cvl_error *err);

#endif
