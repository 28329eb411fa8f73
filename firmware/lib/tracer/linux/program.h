/* SPDX-License-Identifier: MIT */
/**
 * Tracing a program on Linux. In one of its files, with its tracepoints declared as points.h says:
 *
 *   #define TRACER_POINTS "my_points.h"
 *   #include "tracer/linux/program.h"
 *
 *   struct tracer *t = tracer_linux(.to = "trace");
 *   trace_sample(t, 5);
 *
 * and compiled with the tracer, all files alike:
 *
 *   t=coeval/firmware/lib/tracer
 *   cc -I. -Icoeval/firmware -DTRACER_CONFIG='"linux/config.h"' my.c $(ls $t/{,linux/}*.c)
 *
 * Other files that trace include the same two lines, and hand the pointer on. `coeval import trace`
 * reads the result.
 */
#ifndef TRACER_LINUX_PROGRAM_H
#define TRACER_LINUX_PROGRAM_H

#ifndef TRACER_CONFIG
#define TRACER_CONFIG "linux/config.h"
#endif
#include "../points.h"

#include "../metadata.h"
#include "start.h"

/** Begin to trace; the options are members of struct tracer_linux. */
#define tracer_linux(...) \
	tracer_linux_start(&(struct tracer_linux){ __VA_ARGS__ }, &tracer_declared)

#endif
