/* SPDX-License-Identifier: MIT */
/**
 * What is shown of the tracer by running it rather than by timing it: by a test, and by an example
 * in QEMU.
 */
#ifndef BENCH_TRACER_SYSTEM_H
#define BENCH_TRACER_SYSTEM_H

#include "bench.h"

/**
 * Interrupted after every instruction, by the test that was built beside the command; a SKIP line
 * if it was not.
 */
int tracer_steps_row(const struct bench *b);

/**
 * examples/heterogeneous: contradictions to the truth, and bounds in halves of the shortest round
 * trip. A SKIP line without the compilers, QEMU or python3.
 */
int tracer_system_rows(const struct bench *b);

#endif
