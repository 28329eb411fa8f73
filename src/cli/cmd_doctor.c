/* SPDX-License-Identifier: MIT */
#include "devices.h"

#include <unistd.h>

static void put_text(struct cvl_out *o, const struct cvl_host *h)
{
	struct table t;
	size_t bad = 0, unknown = 0;

	cvl_out_printf(o, "processor %u, for a loop of coeval capture --driver poll\n\n", h->cpu);
	table_init(&t, 3);
	for (size_t i = 0; i < h->n; i++) {
		table_row(&t, h->fact[i].name, cvl_fact_state_name(h->fact[i].state),
			  h->fact[i].value);
		bad += h->fact[i].state == CVL_FACT_BAD;
		unknown += h->fact[i].state == CVL_FACT_UNKNOWN;
	}
	table_print(&t, o, "lll", "  ");
	for (size_t i = 0; i < h->n; i++)
		if (h->fact[i].state == CVL_FACT_BAD)
			cvl_out_printf(o, "\n%s: %s\n  costs: %s\n  do: %s\n", h->fact[i].name,
				       h->fact[i].value, h->fact[i].costs, h->fact[i].advice);
	if (!bad)
		cvl_out_printf(o, "\nnothing to do%s\n", unknown ? ", as far as known" : "");
}

static void put_json(struct cvl_out *o, const struct cvl_host *h, const struct cvl_devices *l)
{
	struct js j = js_begin(o);

	js_int(&j, "cpu", h->cpu);
	js_open(&j, "points", '[');
	for (size_t i = 0; i < h->n; i++) {
		const struct cvl_host_fact *f = &h->fact[i];

		js_open(&j, NULL, '{');
		js_texts(&j, "name state value costs advice", f->name,
			 cvl_fact_state_name(f->state), f->value, f->costs, f->advice);
		js_close(&j, '}');
	}
	js_close(&j, ']');
	if (l)
		devices_json(&j, "devices", l);
	js_end(&j);
}

/* A summary of this machine. */
static void put_devices(struct cvl_out *o, const struct cvl_devices *l)
{
	bool unready = false;
	struct table t;

	cvl_out_text(o, "\ncapture devices\n\n");
	table_init(&t, 3);
	for (size_t i = 0; i < l->n; i++) {
		table_row(&t, l->device[i].driver, l->device[i].state, l->device[i].where);
		unready |= *l->device[i].advice;
	}
	table_print(&t, o, "lll", "  ");
	if (unready)
		cvl_out_text(o, "\n`coeval doctor devices` says what each is, and what to do\n");
}

struct request {
	unsigned cpu; /* if given */
	bool chosen, json;
	const char *root;
};

#define AT(member) offsetof(struct request, member)

static const struct cli_option options[] = {
	{ "cpu", 0, "N", OPTION_NUMBER, AT(cpu),
	  "the processor that the loop is to have (default: an isolated one, or the last)", 0, 4095,
	  OPTION_GIVEN(struct request, chosen) },
	{ "root", 0, "DIR", OPTION_DIR, AT(root),
	  "look into DIR/proc and DIR/sys, of another machine; its devices are not looked for" },
	JSON_OPTION(AT(json)),
	{ 0 },
};

static int run(int argc, char **argv, const struct verb *verb)
{
	struct request r = { .root = "" };
	struct cvl_devices *devices = NULL;
	struct operands operands;
	struct cvl_host host;
	bool bad = false;
	struct cvl_error err;
	static struct cvl_out o;
	int rc = options_read(verb, &r, argc, argv, &operands);

	if (rc >= 0)
		return rc;
	if (cvl_host_look(&host, r.root, r.chosen ? (int)r.cpu : -1, &err) ||
	    (!*r.root && cvl_devices_find(&devices, &err)))
		return cli_fail(&err);
	for (size_t i = 0; i < host.n; i++)
		bad |= host.fact[i].state == CVL_FACT_BAD;
	cvl_out_init(&o, STDOUT_FILENO, "standard output");
	if (r.json)
		put_json(&o, &host, devices);
	else
		put_text(&o, &host);
	if (devices && !r.json)
		put_devices(&o, devices);
	cvl_devices_free(devices);
	if (cvl_out_close(&o, NULL))
		return 4;
	return bad ? 1 : 0;
}

extern const struct verb doctor_devices;

static const struct verb *const parts[] = { &doctor_devices, NULL };

const struct verb verb_doctor = {
	.name = "doctor",
	.group = VERB_HARDWARE,
	.what = "check this machine: what disturbs captures, which devices",
	.options = options,
	.parts = parts,
	.notes =
		"Exit status: 0 nothing to do; 1 something of the machine is bad: its effect and the remedy are printed.\n",
	.examples = "  coeval doctor\n",
	.run = run,
};
