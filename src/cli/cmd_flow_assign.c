/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include <coeval/time.h>

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/flow/flow.h"

/* Wires and port writes of microcontrollers are closer; a marker takes longer. */
#define SETTLE_NS 100

struct request {
	const char *path, *output, *header;
	char *pins; /* a number, or names with commas */
	struct flow_assign_opts opts;
	bool has_settle;
	int64_t settle_ns;
};

static void forget_pins(struct flow_map *map, size_t from)
{
	for (size_t i = from; i < map->n_pins; i++)
		free(map->pin[i]);
	map->n_pins = from;
}

static int add_pin(const struct verb *verb, struct flow_map *map, const char *name)
{
	if (!name[strspn(name, "0123456789")] || strlen(name) > FLOW_NAME_MAX ||
	    name[strcspn(name, "-?+[]{}#&*!|>'\"%@`\\: \t\r\n")] || !strcmp(name, "none"))
		return cli_usage(verb, "-k: '%s' cannot be the name of a pin", name);
	for (size_t i = 0; i < map->n_pins; i++)
		if (!strcmp(map->pin[i], name))
			return cli_usage(verb, "-k names pin %s twice", name);
	if (map->n_pins == FLOW_PINS_MAX)
		return cli_usage(verb, "-k: more than %d pins", FLOW_PINS_MAX);
	map->pin[map->n_pins] = strdup(name);
	if (!map->pin[map->n_pins])
		abort();
	map->n_pins++;
	return 0;
}

/* The first of those that the program names, or P0, P1 ... */
static int take_pins(const struct verb *verb, const struct request *r, struct flow_map *map)
{
	char *save = NULL, name[16];
	unsigned long n;
	char *end;
	int rc = 0;

	if (!r->pins)
		return map->n_pins ? 0 : cli_usage(verb, "say on how many pins, by -k");
	if (isdigit((unsigned char)*r->pins)) {
		n = strtoul(r->pins, &end, 10);
		if (*end || !n || n > FLOW_PINS_MAX)
			return cli_usage(verb, "-k takes a number from 1 to %d, not '%s'",
					 FLOW_PINS_MAX, r->pins);
		if (map->n_pins && n > map->n_pins)
			return cli_usage(verb, "-k %lu, but %s names %zu pins", n, r->path,
					 map->n_pins);
		if (map->n_pins)
			forget_pins(map, n);
		for (unsigned i = 0; !rc && map->n_pins < n; i++) {
			snprintf(name, sizeof(name), "P%u", i);
			rc = add_pin(verb, map, name);
		}
		return rc;
	}
	forget_pins(map, 0);
	for (char *s = strtok_r(r->pins, ",", &save); s && !rc; s = strtok_r(NULL, ",", &save))
		rc = add_pin(verb, map, s);
	return !rc && !map->n_pins ? cli_usage(verb, "-k names no pin") : rc;
}

static int write_file(const char *path, const struct flow_map *map,
		      void (*put)(const struct flow_map *map, struct cvl_out *o),
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
	struct flow_map map;
	struct cvl_error err;
	int rc = flow_map_load(&map, r->path, true, &err);

	if (rc)
		return cli_fail(&err);
	rc = take_pins(verb, r, &map);
	if (!rc) {
		if (r->has_settle)
			map.settle_ns = r->settle_ns;
		else if (!map.settle_ns && (r->opts.levels || r->opts.together))
			map.settle_ns = SETTLE_NS;
		rc = flow_assign(&map, &r->opts, &err);
		if (!rc)
			rc = write_file(r->output, &map, flow_map_write, &err);
		if (!rc && r->header)
			rc = write_file(r->header, &map, flow_header_write, &err);
		if (rc)
			rc = cli_fail(&err);
	}
	flow_map_free(&map);
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
	{ "settle", 0, "TIME", OPTION_DURATION, AT(settle_ns),
	  "changes within TIME of the first are one (default: 100ns where several pins change at once, else 0)",
	  0, INT64_MAX, OPTION_GIVEN(struct request, has_settle) },
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
