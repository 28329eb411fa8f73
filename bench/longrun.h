/* SPDX-License-Identifier: MIT */
/**
 * Long captures of many clocks: what the smoother takes, without anything else around it. It runs
 * in a process of its own, for its memory to be seen.
 */
#ifndef BENCH_LONGRUN_H
#define BENCH_LONGRUN_H

#include "bench.h"

/**
 * First argument by which this program is started again as that process; then HOURS, and a FILE for
 * the result.
 */
#define LONGRUN_VERB "longrun"

/** That process. Returns its exit status. */
int longrun_main(const char *hours, const char *file);

int clocks_longrun(const struct bench *b);

#endif
