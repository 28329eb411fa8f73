/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "capture/drivers/cc1101/spi.h"
#include "capture/drivers/driver.h"

enum { OPT_JSON = 256 };

static const struct option options[] = {
	{ "json", no_argument, NULL, OPT_JSON },
	CLI_HELP_OPTION,
	{ 0 },
};

struct listing {
	const char *driver;
	json_t *rows;
	struct table table;
	bool advice;
};

static void row(void *ctx, const struct device_row *r)
{
	struct listing *l = ctx;

	json_array_append_new(l->rows, json_pack("{s:s, s:s, s:s, s:s, s:s}", "driver", l->driver,
						 "where", r->where, "what", r->what, "state",
						 r->state, "advice", r->advice));
	table_cell(&l->table, "%s", l->driver);
	table_cell(&l->table, "%s", r->where);
	table_cell(&l->table, "%s", r->state);
	table_cell(&l->table, "%s", r->what);
	l->advice |= *r->advice != '\0';
}

/* What to do, below the table: sentences do not fit into columns. Each once. */
static void print_advice(const struct listing *l, struct cvl_out *o)
{
	const json_t *r, *before;
	size_t i, k;

	json_array_foreach(l->rows, i, r)
	{
		const char *text = json_string_value(json_object_get(r, "advice"));
		const char *state = json_string_value(json_object_get(r, "state"));
		bool said = !text || !*text;

		json_array_foreach(l->rows, k, before)
		{
			if (k >= i)
				break;
			said |= json_equal(json_object_get(before, "advice"),
					   json_object_get(r, "advice"));
		}
		if (!said)
			cvl_out_printf(o, "%s: %s\n", state, text);
	}
}

typedef int list_fn(void (*row)(void *ctx, const struct device_row *row), void *ctx,
		    struct cvl_error *err);

/* One kind of device that cannot be looked for does not hide the others. */
static void look(struct listing *l, const char *name, const char *what, list_fn *list)
{
	struct cvl_error err;

	l->driver = name;
	if (list(row, l, &err))
		row(l, &(struct device_row){ .where = "-",
					     .what = what,
					     .state = "cannot look",
					     .advice = err.text });
}

static int list_radios(void (*put)(void *ctx, const struct device_row *row), void *ctx,
		       struct cvl_error *err)
{
	return cc1101_list("/dev", put, ctx, err);
}

static int run(int argc, char **argv, const struct verb *verb)
{
	static const char *const heads[] = { "driver", "where", "state", "device", NULL };
	struct listing l = { 0 };
	bool json = false;
	struct cvl_error err;
	static struct cvl_out o;
	int c, rc = 0;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (c) {
		case OPT_JSON: json = true; break;
		default: return cli_option(c, verb);
		}
	}
	if (optind != argc)
		return cli_usage(verb, "it takes no arguments");
	l.rows = json_array();
	if (!l.rows) {
		cvl_no_memory(&err);
		return cli_fail(&err);
	}
	table_init(&l.table, 4);
	table_heads(&l.table, heads);
	for (size_t i = 0; drivers[i]; i++)
		if (drivers[i]->list)
			look(&l, drivers[i]->name, drivers[i]->what, drivers[i]->list);
	look(&l, "cc1101", "CC1101 radio", list_radios);
	cvl_out_init(&o, STDOUT_FILENO, "standard output");
	if (json) {
		char *text = json_dumps(l.rows, JSON_INDENT(2));

		cvl_out_text(&o, text ? text : "[]");
		cvl_out_char(&o, '\n');
		free(text);
		table_drop(&l.table);
	} else {
		table_print(&l.table, &o, "llll", "");
		if (l.advice)
			cvl_out_char(&o, '\n');
		print_advice(&l, &o);
	}
	json_decref(l.rows);
	rc = cvl_out_flush(&o, &err);
	return rc ? cli_fail(&err) : 0;
}

const struct verb verb_devices = {
	.name = "devices",
	.what = "which capture devices are there, and what is in the way of using them",
	.usage = "devices [--json]",
	.help = "      --json               for programs: one object a device\n"
		"\n"
		"Every device a driver knows is listed, with what is missing before it can be used: a permission (and\n"
		"the udev rule that gives it), firmware, or another program's leave.\n"
		"\n"
		"Example:\n"
		"  coeval devices\n",
	.run = run,
};
