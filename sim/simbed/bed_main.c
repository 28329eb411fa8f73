/* SPDX-License-Identifier: MIT */
#include "sim/simbed/bed_main.h"

#include "sim/simbed/bed_run.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

static const struct option options[] = {
	{ "bed", required_argument, NULL, 'b' },
	{ "nodes", required_argument, NULL, 'n' },
	{ "seconds", required_argument, NULL, 's' },
	{ "seed", required_argument, NULL, 'r' },
	{ "faults", required_argument, NULL, 'f' },
	{ "jobs", required_argument, NULL, 'j' },
	{ "disk", required_argument, NULL, 'd' },
	{ "only", required_argument, NULL, 'o' },
	{ "json", no_argument, NULL, 'J' },
	{ "collect", no_argument, NULL, 'c' },
	{ 0 },
};

int bed_main(int argc, char **argv)
{
	struct bed_run_opts o = { .nodes = 16, .duration_ns = 60000000000, .seed = 1 };
	struct cvl_error err;
	int c, rc;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'b': o.output = optarg; break;
		case 'n': o.nodes = (unsigned)strtoul(optarg, NULL, 10); break;
		case 's': o.duration_ns = (int64_t)(strtod(optarg, NULL) * 1e9); break;
		case 'r': o.seed = strtoull(optarg, NULL, 10); break;
		case 'f': o.faults = optarg; break;
		case 'j': o.jobs = (unsigned)strtoul(optarg, NULL, 10); break;
		case 'd': o.disk_bytes = strtoull(optarg, NULL, 10); break;
		case 'o': o.only = optarg; break;
		case 'J': o.json = true; break;
		case 'c': o.collect = true; break;
		default: return 2;
		}
	}
	if (!o.output || o.duration_ns <= 0)
		return 2;
	rc = bed_run(&o, &err);
	if (rc >= 0)
		return rc;
	fprintf(stderr, "coeval-simbed: %s\n", err.text);
	return cvl_exit_status(err.code);
}
