/* SPDX-License-Identifier: MIT */
/** Rows of the group "clocks". */
#ifndef BENCH_CLOCKS_H
#define BENCH_CLOCKS_H

#include "bench.h"

/** Errors of estimators in simulated worlds, against goals. */
int clocks_accuracy(const struct bench *b);

/** Whether bounds from messages hold, and how wide they are. */
int clocks_messages(const struct bench *b);

#endif
