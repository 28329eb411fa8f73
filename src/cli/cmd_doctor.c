/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <coeval/capture.h>

enum { OPT_CPU = 256, OPT_ROOT, OPT_JSON };

static const struct option options[] = {
	{ "cpu", required_argument, NULL, OPT_CPU },
	{ "root", required_argument, NULL, OPT_ROOT },
	{ "json", no_argument, NULL, OPT_JSON },
	CLI_HELP_OPTION,
	{ 0 },
};

static void put_text(struct cvl_out *o, const struct cvl_host *h)
{
	struct table t;
	size_t bad = 0, unknown = 0;

	cvl_out_printf(o, "processor %u, for a loop of coeval capture --driver poll\n\n", h->cpu);
	table_init(&t, 3);
	for (size_t i = 0; i < h->n; i++) {
		table_cell(&t, "%s", h->fact[i].name);
		table_cell(&t, "%s", cvl_fact_state_name(h->fact[i].state));
		table_cell(&t, "%s", h->fact[i].value);
		bad += h->fact[i].state == CVL_FACT_BAD;
		unknown += h->fact[i].state == CVL_FACT_UNKNOWN;
	}
	table_print(&t, o, "lll", "  ");
	for (size_t i = 0; i < h->n; i++)
		if (h->fact[i].state == CVL_FACT_BAD)
			cvl_out_printf(o, "\n%s: %s\n  costs: %s\n  do: %s\n", h->fact[i].name,
				       h->fact[i].value, h->fact[i].costs, h->fact[i].advice);
	if (!bad)
		cvl_out_printf(o, "\nnothing to do%s\n",
			       unknown ? ", as far as it can be told" : "");
}

static void put_json(struct cvl_out *o, const struct cvl_host *h)
{
	cvl_out_printf(o, "{\n  \"cpu\": %u,\n  \"points\": [", h->cpu);
	for (size_t i = 0; i < h->n; i++) {
		const struct cvl_host_fact *f = &h->fact[i];
		const char *const pair[][2] = { { "name", f->name },
						{ "state", cvl_fact_state_name(f->state) },
						{ "value", f->value },
						{ "costs", f->costs },
						{ "advice", f->advice } };

		for (size_t k = 0; k < sizeof(pair) / sizeof(*pair); k++) {
			cvl_out_printf(o, "%s\n      \"%s\": ",
				       k ? "," :
				       i ? ",\n    {" :
					   "\n    {",
				       pair[k][0]);
			cvl_out_json(o, pair[k][1], strlen(pair[k][1]));
		}
		cvl_out_text(o, "\n    }");
	}
	cvl_out_text(o, "\n  ]\n}\n");
}

static int run(int argc, char **argv, const struct verb *verb)
{
	struct cvl_host host;
	const char *root = "";
	bool bad = false;
	long cpu = -1;
	struct cvl_error err;
	static struct cvl_out o;
	bool json = false;
	char *end;
	int c;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (c) {
		case OPT_CPU:
			cpu = strtol(optarg, &end, 10);
			if (*end || end == optarg || cpu < 0 || cpu > 4095)
				return cli_usage(verb,
						 "--cpu takes the number of a processor, not '%s'",
						 optarg);
			break;
		case OPT_ROOT: root = optarg; break;
		case OPT_JSON: json = true; break;
		default: return cli_option(c, verb);
		}
	}
	if (optind != argc)
		return cli_usage(verb, "it takes no arguments");
	if (cvl_host_look(&host, root, (int)cpu, &err))
		return cli_fail(&err);
	for (size_t i = 0; i < host.n; i++)
		bad |= host.fact[i].state == CVL_FACT_BAD;
	cvl_out_init(&o, STDOUT_FILENO, "standard output");
	if (json)
		put_json(&o, &host);
	else
		put_text(&o, &host);
	if (cvl_out_close(&o, NULL))
		return 4;
	return bad ? 1 : 0;
}

const struct verb verb_doctor = {
	.name = "doctor",
	.what = "check what keeps a polling loop on this machine from looking often",
	.usage = "doctor [--cpu N] [--root DIR] [--json]",
	.help = "      --cpu N      the processor that the loop is to have (default: an isolated one, or the last)\n"
		"      --root DIR   look into DIR/proc and DIR/sys, of another machine\n"
		"      --json       print JSON\n"
		"\n"
		"Exit status: 0 nothing to do; 1 something is bad, and what it costs and what to do is told.\n"
		"\n"
		"Example:\n"
		"  coeval doctor\n",
	.run = run,
};
