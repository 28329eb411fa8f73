/* SPDX-License-Identifier: MIT */
/* The events of bench_points.h for LTTng-UST, which reads this several times. */
#undef TRACEPOINT_PROVIDER
#define TRACEPOINT_PROVIDER coeval_bench
#undef TRACEPOINT_INCLUDE
#define TRACEPOINT_INCLUDE "lttng_points.h"

#if !defined(TRACER_BENCH_LTTNG_H) || defined(TRACEPOINT_HEADER_MULTI_READ)
#define TRACER_BENCH_LTTNG_H

#include <lttng/tracepoint.h>

TRACEPOINT_EVENT(coeval_bench, hash, TP_ARGS(uint32_t, value),
		 TP_FIELDS(ctf_integer(uint32_t, value, value)))
TRACEPOINT_EVENT(coeval_bench, pi, TP_ARGS(uint32_t, value),
		 TP_FIELDS(ctf_integer(uint32_t, value, value)))
TRACEPOINT_EVENT(coeval_bench, sort, TP_ARGS(uint8_t, depth, uint32_t, elements),
		 TP_FIELDS(ctf_integer(uint8_t, depth, depth)
				   ctf_integer(uint32_t, elements, elements)))
TRACEPOINT_EVENT(coeval_bench, done, TP_ARGS(uint16_t, what),
		 TP_FIELDS(ctf_integer(uint16_t, what, what)))

#endif

#include <lttng/tracepoint-event.h>
