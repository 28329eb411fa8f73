/* SPDX-License-Identifier: MIT */
/**
 * The command line of `coeval task bench`, executed by coeval-lab: both parse it with one table.
 */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include "cli.h"

/** Its parsed options. */
struct bench_request {
	const char *output, *table;
	bool dry_run, json, simulated;
	unsigned seed;
};

extern const struct verb task_bench;

/** Its run(): the command passes the arguments on, coeval-lab executes them. */
int bench_run(int argc, char **argv, const struct verb *verb);

#endif
