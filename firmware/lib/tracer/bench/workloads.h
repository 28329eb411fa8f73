/* SPDX-License-Identifier: MIT */
/**
 * The workloads of Bertauld and Dagenais, Tracing heterogeneous systems (2017), 6.1: how much
 * longer do they take when they are traced?
 */
#ifndef TRACER_BENCH_WORKLOADS_H
#define TRACER_BENCH_WORKLOADS_H

#include <stdint.h>

struct bench_workload {
	const char *name;
	void (*run)(void);
	uint32_t events;
};

/**
 * Ends with a row without a name. The first is a loop that does nothing else but an event, then one
 * of two fields.
 */
extern const struct bench_workload bench_workloads[];

/** A number out of all that was computed, so that nothing is left out. */
extern uint32_t bench_sum;

#endif
