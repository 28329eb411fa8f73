/* SPDX-License-Identifier: MIT */
/**
 * A few threads that wait for work.
 *
 * They block all signals, so that handlers run in the thread that opened them. One batch of tasks at
 * a time.
 */
#ifndef CORE_JOBS_H
#define CORE_JOBS_H

#include <stddef.h>

struct jobs;

/** Processors that this process may use. */
unsigned jobs_processors(void);

/** @threads in all, the caller's included; fewer if the system has no more. NULL: out of memory. */
struct jobs *jobs_open(unsigned threads);
/** NULL is allowed; no batch is at work. */
void jobs_close(struct jobs *j);

/** How many threads there are. */
unsigned jobs_threads(const struct jobs *j);

/** Begin a batch: @task(@ctx, i) for each i below @n, in any order, until jobs_finish(). */
void jobs_begin(struct jobs *j, size_t n, void (*task)(void *ctx, size_t i), void *ctx);
/** Take part in the batch until all of it is done. What the tasks wrote is visible then. */
void jobs_finish(struct jobs *j);

#endif
