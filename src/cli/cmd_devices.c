/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include <string.h>
#include <unistd.h>

#include <coeval/capture.h>

enum { OPT_JSON = 256 };

static const struct option options[] = {
	{ "json", no_argument, NULL, OPT_JSON },
	CLI_HELP_OPTION,
	{ 0 },
};

static void put_json(struct cvl_out *o, const struct cvl_devices *l)
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
			cvl_out_printf(o, "%s\n    \"%s\": ", k ? "," : i ? ",\n  {" : "\n  {",
				       pair[k][0]);
			cvl_out_json(o, pair[k][1], strlen(pair[k][1]));
		}
		cvl_out_text(o, "\n  }");
	}
	cvl_out_text(o, "\n]\n");
}

/* What to do stands below the table, each once: sentences do not fit into columns. */
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

static int run(int argc, char **argv, const struct verb *verb)
{
	struct cvl_devices *l;
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
	rc = cvl_devices_find(&l, &err);
	if (rc)
		return cli_fail(&err);
	cvl_out_init(&o, STDOUT_FILENO, "standard output");
	if (json)
		put_json(&o, l);
	else
		put_text(&o, l);
	cvl_devices_free(l);
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
