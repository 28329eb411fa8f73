/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "capture/drivers/cc1101/spi.h"
#include "capture/drivers/driver.h"

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

struct request {
	bool json;
};

static const struct cli_option options[] = {
	JSON_OPTION(offsetof(struct request, json)),
	{ 0 },
};

static int run(int argc, char **argv, const struct verb *verb)
{
	static const char *const heads[] = { "driver", "where", "state", "device", NULL };
	struct listing l = { 0 };
	struct request r = { 0 };
	struct operands operands;
	struct cvl_error err;
	static struct cvl_out o;
	int rc = options_read(verb, &r, argc, argv, &operands);

	if (rc >= 0)
		return rc;
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
	if (r.json) {
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

const struct verb doctor_devices = {
	.name = "doctor devices",
	.what = "list capture devices, and what is missing to use them",
	.options = options,
	.notes =
		"Every device that a driver knows is listed, with what is missing before it can be used: a permission (and the udev rule that gives it), firmware, or that another program lets it go.\n",
	.examples = "  coeval doctor devices\n",
	.run = run,
};
