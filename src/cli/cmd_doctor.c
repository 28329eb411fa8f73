/* SPDX-License-Identifier: MIT */
#include <jansson.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"
#include "capture/drivers/poll/clock.h"
#include "capture/drivers/poll/facts.h"
#include "capture/drivers/poll/skew.h"

#define UNCHOSEN UINT_MAX
#define EXCHANGES 100000
#define EXCHANGE_MS 300

/* Of this machine only; one that has a single processor has nothing to compare. */
static size_t look_at_counters(unsigned cpu, struct fact *f)
{
	struct poll_skew_opts o = { .cpu = { (int)cpu, poll_skew_other((int)cpu) },
				    .exchanges = EXCHANGES,
				    .ms = EXCHANGE_MS };
	struct poll_skew skew;

	poll_skew_open(&skew);
	if (o.cpu[1] >= 0 && cpu < CPU_SETSIZE && poll_clock_there())
		poll_skew_measure(&skew, &o);
	facts_counters(&skew, o.cpu[1], f);
	return 1;
}

static void put_text(struct cvl_out *o, const struct fact *f, size_t n, unsigned cpu)
{
	struct table t;
	size_t bad = 0, unknown = 0;

	cvl_out_printf(o, "processor %u, for a loop of coeval capture --driver poll\n\n", cpu);
	table_init(&t, 3);
	for (size_t i = 0; i < n; i++) {
		table_cell(&t, "%s", f[i].name);
		table_cell(&t, "%s", fact_state_name(f[i].state));
		table_cell(&t, "%s", f[i].value);
		bad += f[i].state == FACT_BAD;
		unknown += f[i].state == FACT_UNKNOWN;
	}
	table_print(&t, o, "lll", "  ");
	for (size_t i = 0; i < n; i++)
		if (f[i].state == FACT_BAD)
			cvl_out_printf(o, "\n%s: %s\n  costs: %s\n  do: %s\n", f[i].name,
				       f[i].value, f[i].costs, f[i].advice);
	if (!bad)
		cvl_out_printf(o, "\nnothing to do%s\n",
			       unknown ? ", as far as it can be told" : "");
}

static void put_json(struct cvl_out *o, const struct fact *f, size_t n, unsigned cpu)
{
	json_t *points = json_array(), *all;
	char *text;

	for (size_t i = 0; i < n; i++)
		json_array_append_new(
			points, json_pack("{s:s, s:s, s:s, s:s, s:s}", "name", f[i].name, "state",
					  fact_state_name(f[i].state), "value", f[i].value, "costs",
					  f[i].costs, "advice", f[i].advice));
	all = json_pack("{s:I, s:o}", "cpu", (json_int_t)cpu, "points", points);
	text = json_dumps(all, JSON_INDENT(2));
	cvl_out_text(o, text ? text : "{}");
	cvl_out_char(o, '\n');
	free(text);
	json_decref(all);
}

struct request {
	unsigned cpu;
	const char *root;
	bool json;
};

#define AT(member) offsetof(struct request, member)

static const struct cli_option options[] = {
	{ "cpu", 0, "N", OPTION_NUMBER, AT(cpu),
	  "the processor that the loop is to have (default: an isolated one, or the last)", 0,
	  4095 },
	{ "root", 0, "DIR", OPTION_DIR, AT(root),
	  "look into DIR/proc and DIR/sys, of another machine" },
	JSON_OPTION(AT(json)),
	{ 0 },
};

static int run(int argc, char **argv, const struct verb *verb)
{
	struct fact facts[FACTS_MAX];
	struct request r = { .cpu = UNCHOSEN, .root = "" };
	struct operands operands;
	unsigned others, bad = 0, known = 0;
	struct cvl_error err;
	static struct cvl_out o;
	size_t n;
	int rc = options_read(verb, &r, argc, argv, &operands);

	if (rc >= 0)
		return rc;
	if (r.cpu == UNCHOSEN)
		r.cpu = facts_best_cpu(r.root, &others);
	n = facts_read(r.root, r.cpu, facts);
	if (!*r.root)
		n += look_at_counters(r.cpu, &facts[n]);
	for (size_t i = 0; i < n; i++) {
		bad += facts[i].state == FACT_BAD;
		known += facts[i].state != FACT_UNKNOWN;
	}
	if (!known) {
		cvl_fail(&err, CVL_E_ENV, CVL_NO_OFFSET,
			 "%s/proc and %s/sys tell nothing: name the directory that holds both",
			 r.root, r.root);
		return cli_fail(&err);
	}
	cvl_out_init(&o, STDOUT_FILENO, "standard output");
	if (r.json)
		put_json(&o, facts, n, r.cpu);
	else
		put_text(&o, facts, n, r.cpu);
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
		"Exit status: 0 nothing to do; 1 something is bad: what it costs and what to do is told.\n",
	.examples = "  coeval doctor\n",
	.run = run,
};
