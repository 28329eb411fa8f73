/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include <coeval/time.h>

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <coeval/flow.h>

enum { OPT_HEADER = 256, OPT_LEVELS, OPT_TOGETHER, OPT_SETTLE };

static const struct option options[] = {
	{ "pins", required_argument, NULL, 'k' },
	{ "output", required_argument, NULL, 'o' },
	{ "header", required_argument, NULL, OPT_HEADER },
	{ "levels", no_argument, NULL, OPT_LEVELS },
	{ "together", no_argument, NULL, OPT_TOGETHER },
	{ "settle", required_argument, NULL, OPT_SETTLE },
	CLI_HELP_OPTION,
	{ 0 },
};

struct request {
	const char *path, *output, *header;
	char *pins; /* a number, or names with commas */
	struct cvl_flow_assign_opts opts;
};

/* The first of those that the program names, or P0, P1 ..., or those that are named. */
static int take_pins(const struct verb *verb, const struct request *r, struct cvl_flow_map *map)
{
	const char *name[CVL_FLOW_PINS_MAX + 1];
	char *save = NULL;
	struct cvl_error err;
	unsigned n = 0;
	int rc;

	if (!r->pins)
		return map->n_pins ? 0 : cli_usage(verb, "say on how many pins, by -k");
	if (isdigit((unsigned char)*r->pins)) {
		rc = cli_number(verb, "-k", r->pins, CVL_FLOW_PINS_MAX, &n);
		if (rc)
			return rc;
		rc = cvl_flow_map_pins(map, NULL, n, &err);
	} else {
		for (char *s = strtok_r(r->pins, ",", &save); s && n <= CVL_FLOW_PINS_MAX;
		     s = strtok_r(NULL, ",", &save))
			name[n++] = s;
		if (!n)
			return cli_usage(verb, "-k names no pin");
		rc = cvl_flow_map_pins(map, name, n, &err);
	}
	return rc == CVL_E_USAGE ? cli_usage(verb, "-k: %s", err.text) : rc ? cli_fail(&err) : 0;
}

static int write_file(const char *path, const struct cvl_flow_map *map,
		      void (*put)(const struct cvl_flow_map *map, struct cvl_out *o),
		      struct cvl_error *err)
{
	struct cvl_out *o = malloc(sizeof(*o));
	int rc;

	if (!o)
		return cvl_no_memory(err);
	rc = cvl_out_open(o, path, err);
	if (!rc) {
		put(map, o);
		rc = cvl_out_close(o, err);
	}
	free(o);
	return rc;
}

static int assign(const struct verb *verb, const struct request *r)
{
	struct cvl_flow_map map;
	struct cvl_error err;
	int rc = cvl_flow_map_load(&map, r->path, true, &err);

	if (rc)
		return cli_fail(&err);
	rc = take_pins(verb, r, &map);
	if (!rc) {
		rc = cvl_flow_assign(&map, &r->opts, &err);
		if (!rc)
			rc = write_file(r->output, &map, cvl_flow_map_write, &err);
		if (!rc && r->header)
			rc = write_file(r->header, &map, cvl_flow_header_write, &err);
		if (rc)
			rc = cli_fail(&err);
	}
	cvl_flow_map_free(&map);
	return rc;
}

static int run(int argc, char **argv, const struct verb *verb)
{
	struct request r = { 0 };
	int c, rc;

	while ((c = getopt_long(argc, argv, "k:o:h", options, NULL)) != -1) {
		switch (c) {
		case 'k': r.pins = optarg; break;
		case 'o': r.output = optarg; break;
		case OPT_HEADER: r.header = optarg; break;
		case OPT_LEVELS: r.opts.levels = true; break;
		case OPT_TOGETHER: r.opts.together = true; break;
		case OPT_SETTLE:
			rc = cli_duration(verb, "--settle", optarg, &r.opts.settle_ns);
			if (rc)
				return rc;
			if (r.opts.settle_ns < 0)
				return cli_usage(verb, "--settle takes a time of 0 or more");
			r.opts.has_settle = true;
			break;
		default: return cli_option(c, verb);
		}
	}
	if (optind + 1 != argc)
		return cli_usage(verb, "name one file with the points of a program");
	r.path = argv[optind];
	return assign(verb, &r);
}

const struct verb flow_assign_verb = {
	.name = "flow assign",
	.what = "give the points of a program codes on pins, the shortest to the hottest",
	.usage = "flow assign [OPTIONS] PROGRAM.yaml",
	.help = "The file is a flow map without codes: points with name, at, weight, next (docs/flow.md).\n"
		"\n"
		"  -k, --pins N|A,B,..   on how many pins, or on which (default: those that the file names)\n"
		"  -o, --output FILE     write the map there (default: standard output)\n"
		"      --header FILE     write the macros for the program there\n"
		"      --levels          codes are levels of the pins, which go back to none; else pins change\n"
		"      --together        let several pins change at once: shorter codes, and a settle time\n"
		"      --settle T        changes within T of the first are one (default 100ns where several pins\n"
		"                        change at once, else 0)\n"
		"\n"
		"Example:\n"
		"  coeval flow assign blink.yaml -k D0,D1 -o map.yaml --header markers.h\n",
	.run = run,
};
