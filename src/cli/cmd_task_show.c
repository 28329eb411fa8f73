/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "task/view.h"

struct request {
	struct task_view view;
	struct cvl_timeline_opts timeline;
	const char *path;
	const char *current; /* channel of amperes */
	double tracing_mw;
	unsigned cycles; /* per packet */
	double volts, unit;
	bool json, csv, counting;
	struct cvl_selector pin[CVL_TASK_PINS_MAX], edges;
};

/* ---- options ---- */

static const char *const on_off[] = { "on", "off", NULL };

static int take_ports(const struct verb *verb, void *to, char *text)
{
	struct cvl_tasks_opts *o = &((struct request *)to)->view.opts;
	char *end;

	o->port_begin = strtoull(text, &end, 10);
	if (end != text && *end == ',') {
		const char *second = end + 1;

		o->port_end = strtoull(second, &end, 10);
		if (end != second && !*end && o->port_begin != o->port_end)
			return 0;
	}
	return cli_usage(verb, "--ports takes two stimulus ports, such as 30,31, not '%s'", text);
}

static int take_line(const struct verb *verb, const char *option, struct cvl_selector *to,
		     const char *text)
{
	struct cvl_error err;

	return cvl_selector_parse(to, text, strlen(text), &err) ?
		       cli_usage(verb, "%s: %s", option, err.text) :
		       0;
}

static int take_pin(const struct verb *verb, void *to, char *text)
{
	struct request *r = to;

	if (r->view.opts.n_pins == CVL_TASK_PINS_MAX)
		return cli_usage(verb, "--pin: more than %d lines", CVL_TASK_PINS_MAX);
	return take_line(verb, "--pin", &r->pin[r->view.opts.n_pins++], text);
}

static int take_edges(const struct verb *verb, void *to, char *text)
{
	struct request *r = to;

	cvl_selector_free(&r->edges);
	r->view.opts.edges = &r->edges;
	return take_line(verb, "--edges", &r->edges, text);
}

static int take_counters(const struct verb *verb, void *to, char *text)
{
	struct cvl_tasks_opts *s = &((struct request *)to)->view.opts;
	char *save = NULL;

	for (char *name = strtok_r(text, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
		enum cvl_task_what what = cvl_task_what_find(name);

		if (what == CVL_TASK_WHATS)
			return cli_usage(
				verb,
				"--counters takes some of cyc,cpi,exc,sleep,lsu,fold,flash,ram,peripheral, not '%s'",
				name);
		s->enabled |= 1u << what;
	}
	return 0;
}

static int take_comparator(const struct verb *verb, void *to, char *text)
{
	struct cvl_tasks_opts *o = &((struct request *)to)->view.opts;
	char *end;
	unsigned long number = strtoul(text, &end, 10);
	enum cvl_task_what what =
		end != text && *end == '=' ? cvl_task_what_find(end + 1) : CVL_TASK_WHATS;

	if (number >= CVL_TASK_COMPARATORS || what == CVL_TASK_WHATS || what <= CVL_TASK_FOLD)
		return cli_usage(
			verb,
			"--comparator takes N=flash, N=ram or N=peripheral, N from 0 to %d, not '%s'",
			CVL_TASK_COMPARATORS - 1, text);
	o->region[number] = (uint8_t)what;
	return 0;
}

static int take_counting(const struct verb *verb, void *to, char *text)
{
	struct request *r = to;

	r->view.opts.counting = cvl_task_what_find(text);
	r->counting = true;
	if (r->view.opts.counting == CVL_TASK_WHATS)
		return cli_usage(
			verb,
			"--counting takes one of cyc, cpi, exc, sleep, lsu, fold, flash, ram, peripheral, not '%s'",
			text);
	r->view.opts.enabled |= 1u << r->view.opts.counting;
	return 0;
}

static int take_name(const struct verb *verb, void *to, char *text)
{
	struct cvl_error err;
	int rc = task_names_add(&((struct request *)to)->view, text, &err);

	if (rc < 0)
		return cli_fail(&err);
	return rc ? 0 : cli_usage(verb, "--name takes N=NAME, not '%s'", text);
}

static int take_names(const struct verb *verb, void *to, char *text)
{
	struct cvl_error err;

	(void)verb;
	return task_names_load(&((struct request *)to)->view, text, &err) < 0 ? cli_fail(&err) : 0;
}

#define AT(member) offsetof(struct request, member)

static const struct cli_option options[] = {
	{ .kind = OPTION_HEADING,
	  .what = "Runs of tasks (all that are marked; nested ones count for the outer one, too)" },
	{ "ports", 0, "BEGIN,END", OPTION_TEXT, 0,
	  "stimulus ports that a task's number is written to (default: 30,31)",
	  .take = take_ports },
	{ "pin", 0, "LINE[:low]", OPTION_LINE, 0,
	  "a line that is high (low) while a task runs; may be repeated; spans need no option",
	  .take = take_pin },
	{ "name", 0, "N=NAME", OPTION_TEXT, 0, "a name for a number; may be repeated",
	  .take = take_name },
	{ "names", 0, "FILE", OPTION_FILE, 0, "names for numbers: `N NAME` a line",
	  .take = take_names },
	{ "each", 0, NULL, OPTION_FLAG, AT(view.each), "every run, not only the means" },
	RANGE_OPTIONS(AT(timeline)),
	{ .kind = OPTION_HEADING, .what = "Counters, from the event counter packets of a DWT" },
	{ "cpu", 0, "RATE", OPTION_RATE, AT(view.hz),
	  "cycles are time by this rate (default: counted by CYC packets)" },
	{ "cycles-per-packet", 0, "N", OPTION_NUMBER, AT(cycles),
	  "that a CYC packet stands for (default: 1024)", 1, 1000000000 },
	{ "counters", 0, "LIST", OPTION_TEXT, 0,
	  "what was enabled, though it may not have come up: cpi,exc,...", .take = take_counters },
	{ "comparator", 0, "N=WHAT", OPTION_TEXT, 0,
	  "accesses that comparator N sees: flash, ram or peripheral", .take = take_comparator },
	{ "cycles-per-access", 0, "X", OPTION_REAL, AT(view.opts.cycles_per_access),
	  "of the RAM, for LSU without RAM (default: 1)" },
	{ "edges", 0, "LINE", OPTION_LINE, 0,
	  "instead count edges of a line that carries packets of one kind, that of",
	  .take = take_edges },
	{ "counting", 0, "WHAT", OPTION_TEXT, 0,
	  "cyc, cpi, exc, sleep, lsu, fold, flash, ram or peripheral", .take = take_counting },
	{ "delay", 0, "TIME", OPTION_DURATION, AT(view.opts.delay_ns),
	  "packets come out at most TIME after their cause, where marks are on another line (default: the last two times that packets came out before)",
	  0, INT64_MAX, OPTION_GIVEN(struct request, view.opts.has_delay) },
	{ "functions", 0, NULL, OPTION_FLAG, AT(view.opts.functions),
	  "what the program counter samples say of functions" },
	{ .kind = OPTION_HEADING, .what = "Energy" },
	{ "power", 0, "CHANNEL", OPTION_SELECTOR, AT(view.opts.power), "samples in watts; or" },
	{ "current", 0, "CHANNEL", OPTION_SELECTOR, AT(current), "samples in amperes, at" },
	{ "volts", 0, "V", OPTION_REAL, AT(volts), "this voltage" },
	{ "unit", 0, "X", OPTION_REAL, AT(unit),
	  "what one of the channel's units is: 0.001 for mW or mA" },
	{ "tracing-mw", 0, "X", OPTION_REAL, AT(tracing_mw), "what tracing takes, off the result" },
	{ .kind = OPTION_HEADING, .what = "Output" },
	JSON_OPTION(AT(json)),
	{ "csv", 0, NULL, OPTION_FLAG, AT(csv),
	  "for `coeval task freq`; needs --cpu; a row a task, or a run with --each" },
	{ "policy", 0, "NAME", OPTION_TEXT, AT(view.policy), "a column of --csv" },
	{ "adaption", 0, "on|off", OPTION_WORD, AT(view.adaption), "a column of --csv",
	  .words = on_off },
	{ "cache", 0, "on|off", OPTION_WORD, AT(view.cache), "a column of --csv", .words = on_off },
	STRICT_OPTION(AT(timeline.strict)),
	{ 0 },
};

static int check(const struct verb *verb, struct request *r)
{
	struct task_view *v = &r->view;

	v->opts.cycles_per_packet = r->cycles;
	v->opts.cpu_hz = (double)v->hz;
	v->opts.tracing_w = r->tracing_mw * 1e-3;
	if (!v->opts.edges != !r->counting)
		return cli_usage(verb, "--edges LINE and --counting WHAT go together");
	if (v->opts.power && r->current)
		return cli_usage(verb, "--power or --current, not both");
	if (!r->current != !(r->volts > 0))
		return cli_usage(verb, "--current CHANNEL and --volts V go together");
	if (r->json && r->csv)
		return cli_usage(verb, "--json or --csv, not both");
	if (r->csv && !v->hz)
		return cli_usage(verb, "--csv: say the processor's frequency by --cpu");
	v->opts.watts = r->unit;
	if (r->current) {
		v->opts.power = r->current;
		v->opts.watts = r->unit * r->volts;
	}
	return 0;
}

/* Returns an exit status, or -1 to continue. */
static int parse_options(int argc, char **argv, const struct verb *verb, struct request *r)
{
	struct operands operands;
	int rc = options_read(verb, r, argc, argv, &operands);

	if (rc >= 0)
		return rc;
	r->path = operands.v[0];
	rc = check(verb, r);
	return rc ? rc : -1;
}

/* ---- the verb ---- */

static int study(void *request, struct cvl_session *session, struct cvl_error *err)
{
	struct request *r = request;
	struct task_view *v = &r->view;
	struct cvl_analysis *a = NULL;
	struct cvl_out *o = malloc(sizeof(*o));
	int rc = o ? cvl_timeline_open(&v->tl, session, &r->timeline, err) : cvl_no_memory(err);

	v->session = session;
	for (size_t i = 0; i < v->opts.n_pins; i++)
		cvl_selector_tell_old(&r->pin[i], r->timeline.report);
	cvl_selector_tell_old(&r->edges, r->timeline.report);
	if (!rc)
		rc = cvl_tasks_open(&a, v->tl, &v->opts, err);
	if (!rc)
		rc = cvl_analyse(v->tl, &a, 1, err);
	progress_clear(r->timeline.progress.ctx);
	if (!rc) {
		v->tasks = cvl_tasks_result(a);
		cvl_out_init(o, STDOUT_FILENO, "standard output");
		(r->json ? task_view_json : r->csv ? task_view_csv : task_view_text)(v, o);
		rc = cvl_out_flush(o, err);
	}
	cvl_analysis_free(a);
	cvl_timeline_close(v->tl);
	free(o);
	return rc;
}

static int run(int argc, char **argv, const struct verb *verb)
{
	struct request r = { .unit = 1, .cycles = 1024 };
	int rc;

	r.view.opts.pin = r.pin;
	rc = parse_options(argc, argv, verb, &r);
	if (rc < 0)
		rc = cli_study(r.path, "reading", &r.timeline, study, &r);
	for (size_t i = 0; i < r.view.opts.n_pins; i++)
		cvl_selector_free(&r.pin[i]);
	cvl_selector_free(&r.edges);
	task_names_free(&r.view);
	return rc;
}

extern const struct verb task_plan, task_freq, task_bench;

static const struct verb *const parts[] = { &task_plan, &task_freq, &task_bench, NULL };

const struct verb verb_task = {
	.name = "task",
	.group = VERB_ASK,
	.what = "what tasks cost: time, cycles, instructions, accesses, energy",
	.operands = "SESSION",
	.options = options,
	.parts = parts,
	.notes =
		"Each figure is given with a bound; a gap during a run makes its counts lower bounds.\n",
	.examples = "  coeval task s/ --name 1=fft --cpu 80MHz\n"
		    "  coeval task s/ --pin busy --current shunt --volts 3.3 --unit 0.001\n",
	.run = run,
};
