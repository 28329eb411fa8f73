/* SPDX-License-Identifier: MIT */
/* Four events as functions, for their text; what a tracer needs of RAM besides packets. */
#define TRACER_POINTS "bench/bench_points.h"
#include "points.h"

#include "sizes.h"

void event_hash(struct tracer *t, uint32_t value)
{
	trace_hash(t, value);
}

void event_pi(struct tracer *t, uint32_t value)
{
	trace_pi(t, value);
}

void event_sort(struct tracer *t, uint8_t depth, uint32_t elements)
{
	trace_sort(t, depth, elements);
}

void event_done(struct tracer *t, uint16_t what)
{
	trace_done(t, what);
}

/* as large as the RAM of each */
char ram_tracer[sizeof(struct tracer)];
char ram_ring[sizeof(struct tracer_ring)];
