/* SPDX-License-Identifier: MIT */
/**
 * Benchmarks of BEEBS (the Bristol/Embecosm Embedded Benchmark Suite) as workloads. None of its
 * source is here: `firmware/apps/workloads/beebs` compiles what a checkout of yours has.
 *
 * A BEEBS benchmark has three functions, called the same in each of them:
 *
 *     initialise_benchmark()   made before each run of the benchmark
 *     int benchmark(void)      one run
 *     int verify_benchmark(int result)   1 right, 0 wrong, -1 it cannot tell
 *
 * The build renames them to NAME_initialise_benchmark and so on, where NAME has '_' for whatever no
 * identifier may have. A benchmark may lack the first and the last: then they are nothing, and
 * "cannot tell".
 */
#ifndef COEVAL_WORKLOADS_BEEBS_H
#define COEVAL_WORKLOADS_BEEBS_H

#include "workload.h"

/** Define the function that runs benchmark @id. Once a benchmark, at file scope. */
#define BEEBS_DEFINE(id)                                                                       \
	void id##_initialise_benchmark(void) __attribute__((weak));                            \
	int id##_benchmark(void);                                                              \
	int id##_verify_benchmark(int result) __attribute__((weak));                           \
	static int id##_run(const struct workload_io *io, uint32_t iterations, uint32_t arg)   \
	{                                                                                      \
		volatile int result = 0;                                                       \
                                                                                               \
		(void)io;                                                                      \
		(void)arg;                                                                     \
		for (uint32_t n = 0; n < iterations; n++) {                                    \
			if (id##_initialise_benchmark)                                         \
				id##_initialise_benchmark();                                   \
			result = id##_benchmark();                                             \
		}                                                                              \
		/* -1: the benchmark cannot tell; only a plain "wrong" is one */               \
		return iterations && id##_verify_benchmark && !id##_verify_benchmark(result) ? \
			       WORKLOAD_WRONG :                                                \
			       WORKLOAD_OK;                                                    \
	}

/** Its entry in a list of workloads. */
#define BEEBS_ENTRY(id, text)                                \
	{                                                    \
		text, "a benchmark of BEEBS", id##_run, 0, 0 \
	}

/** The list that `firmware/apps/workloads/beebs` writes. */
extern const struct workload workloads_beebs[];

#endif
