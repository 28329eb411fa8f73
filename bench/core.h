/* SPDX-License-Identifier: MIT */
/** Parts of the group "core". */
#ifndef BENCH_CORE_H
#define BENCH_CORE_H

#include "bench.h"

/** Samples to edges, in this process. */
int core_scan(const struct bench *b);

/** Text and JSON of @session, and imports, by two threads. */
int core_jobs(const struct bench *b, const char *session);

/** Native edges, decoded and merged, in this process. */
int core_edges(const struct bench *b);

/** @n samples of 8 lines; on average one in @spacing differs from the one before it. */
void core_samples(uint8_t *samples, size_t n, double spacing);

#endif
