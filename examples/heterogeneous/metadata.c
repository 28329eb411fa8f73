/* SPDX-License-Identifier: MIT */
/* Prints the metadata of the tracepoints in TRACER_POINTS for a clock of RATE_HZ. */
#include "tracer/points.h"

#include "tracer/metadata.h"

int main(void)
{
	return tracer_metadata(stdout, &tracer_declared,
			       &(struct tracer_origin){ .rate_hz = RATE_HZ }) ?
		       4 :
		       0;
}
