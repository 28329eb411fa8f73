/* SPDX-License-Identifier: MIT */
/** Sessions of edges. */
#ifndef BENCH_EDGES_H
#define BENCH_EDGES_H

#include "bench.h"

/**
 * Make session @path of @clocks clocks of 100 MHz with @edges edges in all, of eight lines each, 1 us
 * apart for each clock on average, at random.
 */
int edges_session(const struct bench *b, const char *path, unsigned clocks, unsigned edges);

#endif
