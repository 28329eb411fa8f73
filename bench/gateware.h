/* SPDX-License-Identifier: MIT */
/** What the verilated gateware of a TraceLab observer does, by its own bench (gateware/tb). */
#ifndef BENCH_GATEWARE_H
#define BENCH_GATEWARE_H

#include "bench.h"

/**
 * How many edges there are before the first loss, when they come 1, 16 and 350 cycles apart. Builds
 * the bench if Verilator is there and COEVAL_GATEWARE_BENCH does not name one; a SKIP line if
 * neither is.
 */
int gateware_rows(const struct bench *b);

#endif
