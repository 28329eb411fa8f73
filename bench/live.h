/* SPDX-License-Identifier: MIT */
/** Shared by the files of the group `live`. */
#ifndef BENCH_LIVE_H
#define BENCH_LIVE_H

#include "bench.h"

/**
 * Run @argv, and print its CPU time (goal @cpu_ms; the median of several runs if it is short; 0: do
 * not print it) and its peak memory (goal @mib).
 */
int live_measure(const struct bench *b, const char *const *argv, const char *what, double cpu_ms,
		 double mib);

/** A day of 100 clocks: live_day.c. */
int live_day(const struct bench *b);

#endif
