/* SPDX-License-Identifier: MIT */
#include "devices.h"
#include "output.h"

#include <string.h>

void devices_json(struct js *j, const char *key, const struct cvl_devices *l)
{
	js_open(j, key, '[');
	for (size_t i = 0; i < l->n; i++) {
		const struct cvl_device *d = &l->device[i];

		js_open(j, NULL, '{');
		js_texts(j, "driver where what state advice", d->driver, d->where, d->what,
			 d->state, d->advice);
		js_close(j, '}');
	}
	js_close(j, ']');
}

/* Remedies are printed below the table, each once: sentences do not fit into columns. */
static void put_text(struct cvl_out *o, const void *devices)
{
	const struct cvl_devices *l = devices;
	bool any = false;
	struct table t;

	table_heads(&t, "driver|where|state|device");
	for (size_t i = 0; i < l->n; i++) {
		const struct cvl_device *d = &l->device[i];

		table_row(&t, d->driver, d->where, d->state, d->what);
	}
	table_print(&t, o, "llll", "");
	for (size_t i = 0; i < l->n; i++) {
		const struct cvl_device *d = &l->device[i];
		bool said = !*d->advice;

		for (size_t k = 0; k < i && !said; k++)
			said = !strcmp(l->device[k].advice, d->advice);
		if (!said)
			cvl_out_printf(o, "%s%s: %s\n", any ? "" : "\n", d->state, d->advice);
		any |= !said;
	}
}

static void put_json(struct cvl_out *o, const void *devices)
{
	devices_json(&(struct js){ .o = o }, NULL, devices);
	cvl_out_char(o, '\n');
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
	struct cvl_devices *l;
	struct request r = { 0 };
	struct operands operands;
	struct cvl_error err;
	int rc = options_read(verb, &r, argc, argv, &operands);

	if (rc >= 0)
		return rc;
	rc = cvl_devices_find(&l, &err);
	if (rc)
		return cli_fail(&err);
	rc = output_print(r.json ? put_json : put_text, l, &err);
	cvl_devices_free(l);
	return rc ? cli_fail(&err) : 0;
}

const struct verb doctor_devices = {
	.name = "doctor devices",
	.what = "list capture devices, and what is missing to use them",
	.options = options,
	.notes =
		"Every device that a driver knows is listed, with what is missing before it can be used: a permission (and the udev rule that grants it), firmware, or that another program releases it.\n",
	.examples = "  coeval doctor devices\n",
	.run = run,
};
