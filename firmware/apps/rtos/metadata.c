/* SPDX-License-Identifier: MIT */
/* For the host: what the image's tracepoints are, as CTF metadata. */
#define TRACER_POINTS "app_points.h"
#include "tracer/points.h"

#include "tracer/metadata.h"

int main(void)
{
	return tracer_metadata(stdout, &tracer_declared,
			       &(struct tracer_origin){ .node = "rtos", .rate_hz = 25000000 }) != 0;
}
