/* SPDX-License-Identifier: MIT */
/* The metadata of the tests' tracepoints. */
#define TRACER_POINTS "tracer_points.h"
#include "tracer/points.h"

#include "tracer/metadata.h"

int main(void)
{
	return tracer_metadata(stdout, &tracer_declared,
			       &(struct tracer_origin){ .node = "m4", .rate_hz = 25000000 }) != 0;
}
