/* SPDX-License-Identifier: MIT */
/** What the workloads tell: nothing, or to our tracer, or to barectf's. */
#ifndef TRACER_BENCH_HOOKS_H
#define TRACER_BENCH_HOOKS_H

#include <stdint.h>

/** Of the clock of what the workloads run on, ticks. */
uint32_t bench_clock(void);
/** Make ready to trace. */
void hooks_begin(void);
/** Events that were dropped. */
uint32_t hooks_lost(void);

/* Memory that is traced into, in either case: packets of 2 KiB. */
#define HOOKS_PACKET_LOG2 11

#if defined(HOOKS_OURS)

#define TRACER_POINTS "bench/bench_points.h"
#include "../points.h"

extern struct tracer hooks_tracer;
#define hook_hash(value) trace_hash(&hooks_tracer, value)
#define hook_pi(value) trace_pi(&hooks_tracer, value)
#define hook_sort(depth, elements) trace_sort(&hooks_tracer, depth, elements)
#define hook_done(what) trace_done(&hooks_tracer, what)

#elif defined(HOOKS_BARECTF)

#include "barectf_.h"

extern struct barectf__main_ctx hooks_barectf;
#define hook_hash(value) barectf__main_trace_hash(&hooks_barectf, value)
#define hook_pi(value) barectf__main_trace_pi(&hooks_barectf, value)
#define hook_sort(depth, elements) barectf__main_trace_sort(&hooks_barectf, depth, elements)
#define hook_done(what) barectf__main_trace_done(&hooks_barectf, what)

#elif defined(HOOKS_LTTNG)

#include "lttng_points.h"

#define hook_hash(value) tracepoint(coeval_bench, hash, value)
#define hook_pi(value) tracepoint(coeval_bench, pi, value)
#define hook_sort(depth, elements) tracepoint(coeval_bench, sort, depth, elements)
#define hook_done(what) tracepoint(coeval_bench, done, what)

#else

/* What leads to an event stays where it is. */
#define hook_hash(value) hook_nothing(value)
#define hook_pi(value) hook_nothing(value)
#define hook_sort(depth, elements) (hook_nothing(depth), hook_nothing(elements))
#define hook_done(what) hook_nothing(what)

static inline void hook_nothing(uint32_t value)
{
	__asm__ volatile("" ::"r"(value));
}

#endif
#endif
