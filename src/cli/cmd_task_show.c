/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "task/view.h"
#include "wire/swo_marks.h"

enum {
	OPT_PORTS = 256,
	OPT_PIN,
	OPT_NAME,
	OPT_NAMES,
	OPT_CYCLES,
	OPT_CPU,
	OPT_COUNTERS,
	OPT_COMPARATOR,
	OPT_EDGES,
	OPT_COUNTING,
	OPT_CPA,
	OPT_POWER,
	OPT_CURRENT,
	OPT_VOLTS,
	OPT_UNIT,
	OPT_TRACING,
	OPT_FUNCTIONS,
	OPT_DELAY,
	OPT_EACH,
	OPT_FROM,
	OPT_TO,
	OPT_NODE,
	OPT_POLICY,
	OPT_ADAPTION,
	OPT_CACHE,
	OPT_JSON,
	OPT_CSV,
	OPT_STRICT,
};

static const struct option options[] = {
	{ "ports", required_argument, NULL, OPT_PORTS },
	{ "pin", required_argument, NULL, OPT_PIN },
	{ "name", required_argument, NULL, OPT_NAME },
	{ "names", required_argument, NULL, OPT_NAMES },
	{ "cycles-per-packet", required_argument, NULL, OPT_CYCLES },
	{ "cpu", required_argument, NULL, OPT_CPU },
	{ "counters", required_argument, NULL, OPT_COUNTERS },
	{ "comparator", required_argument, NULL, OPT_COMPARATOR },
	{ "edges", required_argument, NULL, OPT_EDGES },
	{ "counting", required_argument, NULL, OPT_COUNTING },
	{ "cycles-per-access", required_argument, NULL, OPT_CPA },
	{ "power", required_argument, NULL, OPT_POWER },
	{ "current", required_argument, NULL, OPT_CURRENT },
	{ "volts", required_argument, NULL, OPT_VOLTS },
	{ "unit", required_argument, NULL, OPT_UNIT },
	{ "tracing-mw", required_argument, NULL, OPT_TRACING },
	{ "delay", required_argument, NULL, OPT_DELAY },
	{ "functions", no_argument, NULL, OPT_FUNCTIONS },
	{ "each", no_argument, NULL, OPT_EACH },
	{ "from", required_argument, NULL, OPT_FROM },
	{ "to", required_argument, NULL, OPT_TO },
	{ "node", required_argument, NULL, OPT_NODE },
	{ "policy", required_argument, NULL, OPT_POLICY },
	{ "adaption", required_argument, NULL, OPT_ADAPTION },
	{ "cache", required_argument, NULL, OPT_CACHE },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "csv", no_argument, NULL, OPT_CSV },
	{ "strict", no_argument, NULL, OPT_STRICT },
	CLI_HELP_OPTION,
	{ 0 },
};

struct request {
	struct task_view view;
	struct cvl_timeline_opts timeline;
	const char *path;
	const char *current; /* channel of amperes */
	double volts, unit;
	bool json, csv, counting;
};

/* ---- values of options ---- */

static int positive(const struct verb *verb, const char *option, const char *text, double *out)
{
	char *end;

	errno = 0;
	*out = strtod(text, &end);
	if (*end || end == text || errno || !isfinite(*out) || *out <= 0)
		return cli_usage(verb, "%s takes a number above 0, not '%s'", option, text);
	return 0;
}

static int ports(const struct verb *verb, const char *text, struct task_opts *o)
{
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

/* Cuts @text. */
static int pin(const struct verb *verb, char *text, struct task_opts *o)
{
	char *colon = strrchr(text, ':');
	bool low = colon && !strcmp(colon, ":low");

	if (low || (colon && !strcmp(colon, ":high")))
		*colon = '\0';
	if (!*text)
		return cli_usage(verb, "--pin takes a line, such as task or task:low");
	/* Named twice it is one, or its runs would count twice. */
	for (size_t i = 0; i < o->n_pins; i++)
		if (o->pin[i].low == low && !strcmp(o->pin[i].line, text))
			return 0;
	if (o->n_pins == TASK_PINS_MAX)
		return cli_usage(verb, "--pin: more than %d lines", TASK_PINS_MAX);
	o->pin[o->n_pins++] = (struct task_pin){ text, low };
	return 0;
}

static int counters(const struct verb *verb, char *text, struct task_scale *s)
{
	char *save = NULL;

	for (char *name = strtok_r(text, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
		enum task_what what = task_what_find(name);

		if (what == TASK_WHATS)
			return cli_usage(
				verb,
				"--counters takes some of cyc,cpi,exc,sleep,lsu,fold,flash,ram,peripheral, not '%s'",
				name);
		s->enabled |= 1u << what;
	}
	return 0;
}

static int comparator(const struct verb *verb, const char *text, struct task_opts *o)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);
	enum task_what what = end != text && *end == '=' ? task_what_find(end + 1) : TASK_WHATS;

	if (number >= TASK_COMPARATORS || what == TASK_WHATS || what <= TASK_FOLD)
		return cli_usage(
			verb,
			"--comparator takes N=flash, N=ram or N=peripheral, N from 0 to %d, not '%s'",
			TASK_COMPARATORS - 1, text);
	o->region[number] = (uint8_t)what;
	return 0;
}

static int counting(const struct verb *verb, const char *text, struct request *r)
{
	r->view.opts.counting = r->view.scale.counting = task_what_find(text);
	r->counting = true;
	if (r->view.opts.counting == TASK_WHATS)
		return cli_usage(
			verb,
			"--counting takes one of cyc, cpi, exc, sleep, lsu, fold, flash, ram, peripheral, not '%s'",
			text);
	r->view.scale.enabled |= 1u << r->view.opts.counting;
	return 0;
}

static int on_off(const struct verb *verb, const char *option, const char *text, const char **out)
{
	*out = text;
	if (strcmp(text, "on") && strcmp(text, "off"))
		return cli_usage(verb, "%s is on or off, not '%s'", option, text);
	return 0;
}

/* ---- options ---- */

static int names_of(const struct verb *verb, int c, char *arg, struct task_view *v)
{
	struct cvl_error err;
	int rc = c == OPT_NAMES ? task_names_load(v, arg, &err) : task_names_add(v, arg, &err);

	if (rc < 0)
		return cli_fail(&err);
	return c == OPT_NAME && !rc ? cli_usage(verb, "--name takes N=NAME, not '%s'", arg) : 0;
}

static int option(int c, char *arg, const struct verb *verb, struct request *r)
{
	struct task_view *v = &r->view;
	double number;
	int rc = 0;

	switch (c) {
	case OPT_PORTS: return ports(verb, arg, &v->opts);
	case OPT_PIN: return pin(verb, arg, &v->opts);
	case OPT_NAME:
	case OPT_NAMES: return names_of(verb, c, arg, v);
	case OPT_CYCLES:
		rc = positive(verb, "--cycles-per-packet", arg, &number);
		v->scale.cycles_per_packet = rc || number > 1e9 ? 1 : (uint64_t)number;
		return rc ? rc :
		       number != (double)v->scale.cycles_per_packet ?
			    cli_usage(verb, "--cycles-per-packet takes a whole number, not '%s'",
				      arg) :
			    0;
	case OPT_CPU:
		if (cvl_rate_parse(arg, &v->hz))
			return cli_usage(verb, "--cpu takes a rate such as 80MHz, not '%s'", arg);
		v->scale.cpu_hz = (double)v->hz;
		return 0;
	case OPT_COUNTERS: return counters(verb, arg, &v->scale);
	case OPT_COMPARATOR: return comparator(verb, arg, &v->opts);
	case OPT_EDGES: v->opts.edges = arg; return 0;
	case OPT_COUNTING: return counting(verb, arg, r);
	case OPT_CPA:
		return positive(verb, "--cycles-per-access", arg, &v->scale.cycles_per_access);
	case OPT_POWER: v->opts.power = arg; return 0;
	case OPT_CURRENT: r->current = arg; return 0;
	case OPT_VOLTS: return positive(verb, "--volts", arg, &r->volts);
	case OPT_UNIT: return positive(verb, "--unit", arg, &r->unit);
	case OPT_TRACING:
		rc = positive(verb, "--tracing-mw", arg, &number);
		v->scale.tracing_w = number * 1e-3;
		return rc;
	case OPT_FUNCTIONS: v->opts.functions = true; return 0;
	case OPT_DELAY:
		v->opts.has_delay = true;
		rc = cli_duration(verb, "--delay", arg, &v->opts.delay_ns);
		return !rc && v->opts.delay_ns < 0 ?
			       cli_usage(verb, "--delay takes a time of 0 or more, not '%s'", arg) :
			       rc;
	case OPT_EACH: v->each = true; return 0;
	case OPT_FROM:
		r->timeline.has_from = true;
		return cli_duration(verb, "--from", arg, &r->timeline.from.ns);
	case OPT_TO:
		r->timeline.has_until = true;
		return cli_duration(verb, "--to", arg, &r->timeline.until.ns);
	case OPT_NODE: r->timeline.node = arg; return 0;
	case OPT_POLICY: v->policy = arg; return 0;
	case OPT_ADAPTION: return on_off(verb, "--adaption", arg, &v->adaption);
	case OPT_CACHE: return on_off(verb, "--cache", arg, &v->cache);
	case OPT_JSON: r->json = true; return 0;
	case OPT_CSV: r->csv = true; return 0;
	case OPT_STRICT: r->timeline.strict = true; return 0;
	default: return -1;
	}
}

static int check(const struct verb *verb, struct request *r)
{
	struct task_view *v = &r->view;

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
	v->scale.edges = v->opts.edges != NULL;
	v->opts.watts = r->unit;
	if (r->current) {
		v->opts.power = r->current;
		v->opts.watts = r->unit * r->volts;
	}
	return 0;
}

/* Returns an exit status, or -1 to go on. */
static int parse_options(int argc, char **argv, const struct verb *verb, struct request *r)
{
	int c, rc;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		rc = option(c, optarg, verb, r);
		if (rc)
			return rc > 0 ? rc : cli_option(c, verb);
	}
	if (optind + 1 != argc)
		return cli_usage(verb, "name one session");
	r->path = argv[optind];
	rc = check(verb, r);
	return rc ? rc : -1;
}

/* ---- the verb ---- */

static int study(void *request, struct cvl_session *session, struct cvl_error *err)
{
	struct request *r = request;
	struct task_view *v = &r->view;
	struct cvl_out *o = malloc(sizeof(*o));
	int rc = o ? cvl_timeline_open(&v->tl, session, &r->timeline, err) : cvl_no_memory(err);

	v->session = session;

	if (!rc)
		rc = tasks_study(&v->tasks, v->tl, &v->opts, err);
	if (!rc && task_view_sum(v))
		rc = cvl_no_memory(err);
	if (!rc) {
		progress_clear(r->timeline.progress.ctx);
		cvl_out_init(o, STDOUT_FILENO, "standard output");
		if (r->json)
			task_view_json(v, o);
		else if (r->csv)
			task_view_csv(v, o);
		else
			task_view_text(v, o);
		rc = cvl_out_flush(o, err);
	}
	tasks_free(&v->tasks);
	free(v->sum);
	free(v->whole);
	progress_clear(r->timeline.progress.ctx);
	cvl_timeline_close(v->tl);
	free(o);
	return rc;
}

static int run(int argc, char **argv, const struct verb *verb)
{
	struct request r = { .unit = 1 };
	int rc;

	r.view.opts.port_begin = SWO_PORT_BEGIN;
	r.view.opts.port_end = SWO_PORT_END;
	memset(r.view.opts.region, TASK_WHATS, sizeof(r.view.opts.region));
	r.view.scale.cycles_per_packet = 1024;
	r.view.scale.cycles_per_access = 1;
	rc = parse_options(argc, argv, &task_show, &r);
	(void)verb;
	if (rc < 0)
		rc = cli_study(r.path, "reading", &r.timeline, study, &r);
	task_names_free(&r.view);
	return rc;
}

const struct verb task_show = {
	.name = "task",
	.what = "what tasks cost: time, cycles, instructions, accesses, energy",
	.usage = "task [OPTIONS] SESSION",
	.help = "Runs of tasks (all that are marked; nested ones count for the outer one, too):\n"
		"      --ports BEGIN,END     stimulus ports that a task's number is written to (default 30,31)\n"
		"      --pin LINE[:low]      a line that is high (low) while a task runs; may be repeated\n"
		"                            spans need no option\n"
		"      --name N=NAME, --names FILE   names for numbers; the file has `N NAME` a line\n"
		"      --each                every run, not only the means\n"
		"      --from T, --to T, --node GLOB   a part of the session\n"
		"\n"
		"Counters, from the event counter packets of a DWT:\n"
		"      --cpu RATE            cycles are time by this rate (default: counted by CYC packets)\n"
		"      --cycles-per-packet N   that a CYC packet stands for (default 1024)\n"
		"      --counters LIST       what was enabled, though it may not have come up: cpi,exc,...\n"
		"      --comparator N=WHAT   accesses that comparator N sees: flash, ram or peripheral\n"
		"      --cycles-per-access X   of the RAM, for LSU without RAM (default 1)\n"
		"      --edges LINE --counting WHAT   instead count edges of a line that carries packets of one kind\n"
		"      --delay T             packets come out at most T after what they tell of, where marks are on another\n"
		"                            line (default: the last two times that packets came out before)\n"
		"      --functions           what the program counter samples say of functions\n"
		"\n"
		"Energy:\n"
		"      --power CHANNEL       samples in watts; or --current CHANNEL --volts V, in amperes\n"
		"      --unit X              what one of the channel's units is: 0.001 for mW or mA\n"
		"      --tracing-mw X        what tracing takes, off the result\n"
		"\n"
		"Output:\n"
		"      --json                all of it as one JSON object\n"
		"      --csv                 for `coeval task freq`; needs --cpu; a row a task, or a run with --each\n"
		"      --policy NAME, --adaption on|off, --cache on|off   columns for --csv\n"
		"      --strict              stop at damaged input\n"
		"\n"
		"Each figure is given with a bound; a gap during a run makes its counts lower bounds.\n"
		"\n"
		"Examples:\n"
		"  coeval task s/ --name 1=fft --cpu 80MHz\n"
		"  coeval task s/ --pin busy --current shunt --volts 3.3 --unit 0.001\n",
	.run = run,
};
