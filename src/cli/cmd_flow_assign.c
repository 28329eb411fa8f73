/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include <coeval/time.h>

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <coeval/flow.h>

struct request {
	const char *path, *output, *header;
	char *pins; /* a number, or names with commas */
	struct cvl_flow_assign_opts opts;
};

/* The program's first pins, or P0, P1 ..., or those named by the user. */
static int take_pins(const struct verb *verb, const struct request *r, struct cvl_flow_map *map)
{
	const char *name[CVL_FLOW_PINS_MAX + 1];
	char *save = NULL, *end;
	struct cvl_error err;
	unsigned long n = 0;
	int rc;

	if (!r->pins)
		return map->n_pins ? 0 : cli_usage(verb, "say on how many pins, by -k");
	if (isdigit((unsigned char)*r->pins)) {
		n = strtoul(r->pins, &end, 10);
		if (*end || !n || n > CVL_FLOW_PINS_MAX)
			return cli_usage(verb, "-k takes a number from 1 to %d, not '%s'",
					 CVL_FLOW_PINS_MAX, r->pins);
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

#define AT(member) offsetof(struct request, member)

static const struct cli_option options[] = {
	{ "pins", 'k', "N|A,B,...", OPTION_TEXT, AT(pins),
	  "on how many pins, or on which (default: those that the file names)" },
	{ "output", 'o', "FILE", OPTION_FILE, AT(output),
	  "write the map there (default: standard output)" },
	{ "header", 0, "FILE", OPTION_FILE, AT(header), "write the macros for the program there" },
	{ "levels", 0, NULL, OPTION_FLAG, AT(opts.levels),
	  "codes are levels of the pins, which go back to none; else pins change" },
	{ "together", 0, NULL, OPTION_FLAG, AT(opts.together),
	  "let several pins change at once: shorter codes, and a settle time" },
	{ "settle", 0, "TIME", OPTION_DURATION, AT(opts.settle_ns),
	  "changes within TIME of the first are one (default: 100ns where several pins change at once, else 0)",
	  0, INT64_MAX, OPTION_GIVEN(struct request, opts.has_settle) },
	{ 0 },
};

static int run(int argc, char **argv, const struct verb *verb)
{
	struct request r = { 0 };
	struct operands operands;
	int rc = options_read(verb, &r, argc, argv, &operands);

	if (rc >= 0)
		return rc;
	r.path = operands.v[0];
	return assign(verb, &r);
}

const struct verb flow_assign_verb = {
	.name = "flow assign",
	.what = "give the points of a program codes on pins",
	.operands = "PROGRAM.yaml",
	.options = options,
	.notes =
		"The shortest codes go to the hottest points. The file is a flow map without codes: points with name, at, weight, next (docs/flow.md).\n",
	.examples = "  coeval flow assign blink.yaml -k D0,D1 -o map.yaml --header markers.h\n",
	.run = run,
};
