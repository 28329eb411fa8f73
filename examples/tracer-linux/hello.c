/* SPDX-License-Identifier: MIT */
/* A program on Linux that traces itself; with an argument, into a ring in memory of that name. */
#define TRACER_POINTS "hello_points.h"
#include "tracer/linux/program.h"

int main(int argc, char **argv)
{
	struct tracer *t = argc > 1 ? tracer_linux(.ring = argv[1], .node = "hello") :
				      tracer_linux(.to = "hello-trace", .node = "hello");

	for (uint32_t i = 0; i < 3; i++)
		trace_step(t, i, i == 1 ? trace_mood_busy : trace_mood_calm);
	return 0;
}
