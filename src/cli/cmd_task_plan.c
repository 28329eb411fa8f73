/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"

static int run(int argc, char **argv, const struct verb *verb)
{
	(void)argc;
	(void)argv;
	return cli_usage(verb, "not there yet");
}

const struct verb task_plan = {
	.name = "task plan",
	.what = "",
	.usage = "task plan",
	.help = "",
	.run = run,
};
