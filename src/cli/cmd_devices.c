/* SPDX-License-Identifier: MIT */
#include "devices.h"

#include <string.h>
#include <unistd.h>

void devices_json(struct cvl_out *o, const struct cvl_devices *l, const char *indent)
{
	cvl_out_char(o, '[');
	for (size_t i = 0; i < l->n; i++) {
		const struct cvl_device *d = &l->device[i];
		const char *const pair[][2] = { { "driver", d->driver },
						{ "where", d->where },
						{ "what", d->what },
						{ "state", d->state },
						{ "advice", d->advice } };

		for (size_t k = 0; k < sizeof(pair) / sizeof(*pair); k++) {
			if (!k)
				cvl_out_printf(o, "%s\n%s  {", i ? "," : "", indent);
			cvl_out_printf(o, "%s\n%s    \"%s\": ", k ? "," : "", indent, pair[k][0]);
			cvl_out_json(o, pair[k][1], strlen(pair[k][1]));
		}
		cvl_out_printf(o, "\n%s  }", indent);
	}
	cvl_out_printf(o, "\n%s]", indent);
}

/* Remedies are printed below the table, each once: sentences do not fit into columns. */
static void put_text(struct cvl_out *o, const struct cvl_devices *l)
{
	static const char *const heads[] = { "driver", "where", "state", "device", NULL };
	bool any = false;
	struct table t;

	table_init(&t, 4);
	table_heads(&t, heads);
	for (size_t i = 0; i < l->n; i++) {
		const struct cvl_device *d = &l->device[i];

		table_cell(&t, "%s", d->driver);
		table_cell(&t, "%s", d->where);
		table_cell(&t, "%s", d->state);
		table_cell(&t, "%s", d->what);
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
	static struct cvl_out o;
	int rc = options_read(verb, &r, argc, argv, &operands);

	if (rc >= 0)
		return rc;
	rc = cvl_devices_find(&l, &err);
	if (rc)
		return cli_fail(&err);
	cvl_out_init(&o, STDOUT_FILENO, "standard output");
	if (r.json) {
		devices_json(&o, l, "");
		cvl_out_char(&o, '\n');
	} else {
		put_text(&o, l);
	}
	cvl_devices_free(l);
	rc = cvl_out_flush(&o, &err);
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
