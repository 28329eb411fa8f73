/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include <string.h>

static const struct verb *const parts[] = { &task_plan, &task_freq, &task_bench };

static int run(int argc, char **argv, const struct verb *verb)
{
	(void)verb;
	for (size_t i = 0; argc > 1 && i < sizeof(parts) / sizeof(*parts); i++)
		if (!strcmp(argv[1], strchr(parts[i]->name, ' ') + 1))
			return parts[i]->run(argc - 1, argv + 1, parts[i]);
	return task_show.run(argc, argv, &task_show);
}

const struct verb verb_task = {
	.name = "task",
	.what = "what tasks cost a processor: cycles, instructions, accesses, energy; its best frequency",
	.usage = "task SESSION | plan | freq | bench ...",
	.help = "",
	.run = run,
};
