/* SPDX-License-Identifier: MIT */
#include "bench.h"

#define AT(member) offsetof(struct bench_request, member)

static const struct cli_option options[] = {
	{ "output", 'o', "FILE", OPTION_FILE, AT(output),
	  "results, a row for each task, setting and repetition (default: results.csv); what is in it already is not measured again" },
	{ "table", 't', "FILE", OPTION_FILE, AT(table),
	  "medians of the repetitions, for `coeval task freq`" },
	{ "dry-run", 0, NULL, OPTION_FLAG, AT(dry_run),
	  "check the configuration, say what would be done, touch no port" },
	{ "simulated", 0, NULL, OPTION_FLAG, AT(simulated),
	  "run it on a simulated target and simulated instruments" },
	{ "seed", 0, "N", OPTION_NUMBER, AT(seed), "of the simulation (default: 1)", 1,
	  UINT32_MAX },
	JSON_OPTION(AT(json)),
	{ 0 },
};

const struct verb task_bench = {
	.name = "task bench",
	.what = "measure tasks on a target with instruments",
	.operands = "CONFIG.json",
	.options = options,
	.notes =
		"SIGINT ends it cleanly: what was measured is kept. Exit status 1: some runs failed or remain. docs/task-bench.md describes the wiring and the configuration.\n",
	.examples =
		"  coeval task bench examples/taskbench/nucleo-l476.json --dry-run\n"
		"  coeval task bench examples/taskbench/nucleo-l476.json -o results.csv -t table.csv\n",
	.run = bench_run,
};
