/* SPDX-License-Identifier: MIT */
#include "beside.h"

static int run(int argc, char **argv, const struct verb *verb)
{
	(void)argc;
	(void)verb;
	return become("coeval-lab", argv, "`make install` builds and installs it");
}

const struct verb task_bench = {
	.name = "task bench",
	.what = "measure tasks on a target: counters, energy, delays, at many settings, again and again",
	.usage = "task bench CONFIG.json [-o RESULTS.csv] [OPTIONS]",
	.help = "",
	.run = run,
};
