/* SPDX-License-Identifier: MIT */
/**
 * A whole test bed on one machine: nodes run as processes, their sessions joined, synchronised and
 * judged.
 */
#ifndef SIMBED_BED_RUN_H
#define SIMBED_BED_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include <coeval/error.h>

struct bed_run_opts {
	const char *output; /* directory, made */
	unsigned nodes;     /* 1 to 64 */
	int64_t duration_ns;
	uint64_t seed;
	/* "unplug,overflow,deaf,kill,step,die", or NULL; "kill:3": so many on every node */
	const char *faults;
	unsigned jobs;       /* nodes that run at once; 0: as many as there are processors */
	uint64_t disk_bytes; /* of a file system that is mounted for each node's session; 0: none */
	bool json;
	bool collect; /* what is judged is what a collector has, with kills of all that carries it there */
	const char *only; /* a node to run in this very process: what bed_run() starts */
};

/**
 * Run it and print the result. Returns the exit status: 1 if anything was invented, lost without a
 * gap, or out of its bound; or a negative code with @err filled.
 */
int bed_run(const struct bed_run_opts *opts, struct cvl_error *err);

#endif
