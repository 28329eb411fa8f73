/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "power_view.h"

/* No meter needs more, and no product of these goes out of range. */
#define FACTOR_MIN 1e-15
#define FACTOR_MAX 1e15

enum {
	OPT_POWER = 256,
	OPT_CURRENT,
	OPT_VOLTS,
	OPT_UNIT,
	OPT_ROUNDED,
	OPT_LINE,
	OPT_BETWEEN,
	OPT_EACH,
	OPT_FROM,
	OPT_TO,
	OPT_NODE,
	OPT_JSON,
	OPT_STRICT,
};

static const struct option options[] = {
	{ "power", required_argument, NULL, OPT_POWER },
	{ "current", required_argument, NULL, OPT_CURRENT },
	{ "volts", required_argument, NULL, OPT_VOLTS },
	{ "unit", required_argument, NULL, OPT_UNIT },
	{ "rounded", required_argument, NULL, OPT_ROUNDED },
	{ "line", required_argument, NULL, OPT_LINE },
	{ "between", required_argument, NULL, OPT_BETWEEN },
	{ "each", no_argument, NULL, OPT_EACH },
	{ "from", required_argument, NULL, OPT_FROM },
	{ "to", required_argument, NULL, OPT_TO },
	{ "node", required_argument, NULL, OPT_NODE },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "strict", no_argument, NULL, OPT_STRICT },
	CLI_HELP_OPTION,
	{ 0 },
};

struct request {
	struct power_view view;
	struct cvl_timeline_opts timeline;
	const char *path, *line;
};

static int positive(const struct verb *verb, const char *option, const char *text, double *out)
{
	char *end;

	errno = 0;
	*out = strtod(text, &end);
	if (*end || end == text || errno || !(*out >= FACTOR_MIN && *out <= FACTOR_MAX))
		return cli_usage(verb, "%s takes a number above 0 (1e-15 to 1e15), not '%s'",
				 option, text);
	return 0;
}

/* A number of volts, or the channel that they are read on. */
static int volts(const struct verb *verb, const char *text, struct power_opts *o)
{
	char *end;

	strtod(text, &end);
	o->volts = *end || end == text ? text : NULL;
	return o->volts ? 0 : positive(verb, "--volts", text, &o->fixed_volts);
}

static int option(int c, char *arg, const struct verb *verb, struct request *r)
{
	struct power_opts *o = &r->view.opts;

	switch (c) {
	case OPT_POWER: o->watts = arg; return 0;
	case OPT_CURRENT: o->amperes = arg; return 0;
	case OPT_VOLTS: return volts(verb, arg, o);
	case OPT_UNIT: return positive(verb, "--unit", arg, &o->unit);
	case OPT_ROUNDED: return positive(verb, "--rounded", arg, &o->rounded);
	case OPT_LINE: r->line = arg; return 0;
	case OPT_BETWEEN: r->view.points = arg; return 0;
	case OPT_EACH: r->view.each = true; return 0;
	case OPT_FROM:
		r->timeline.has_from = true;
		return cli_duration(verb, "--from", arg, &r->timeline.from.ns);
	case OPT_TO:
		r->timeline.has_until = true;
		return cli_duration(verb, "--to", arg, &r->timeline.until.ns);
	case OPT_NODE: r->timeline.node = arg; return 0;
	case OPT_JSON: r->view.json = true; return 0;
	case OPT_STRICT: r->timeline.strict = true; return 0;
	default: return -1;
	}
}

static int check(const struct verb *verb, const struct request *r)
{
	const struct power_opts *o = &r->view.opts;

	if (!o->watts == !o->amperes)
		return cli_usage(
			verb,
			"name the channel: --power CHANNEL, or --current CHANNEL --volts V (`coeval info` lists channels)");
	if (!o->amperes != !(o->volts || o->fixed_volts > 0))
		return cli_usage(verb, "--current CHANNEL and --volts go together");
	if (r->line && r->view.points)
		return cli_usage(verb, "--line or --between, not both");
	if (r->view.points && !strstr(r->view.points, ".."))
		return cli_usage(verb,
				 "--between takes two points, such as TX:rise..TX:fall, not '%s'",
				 r->view.points);
	if (r->view.each && !r->line && !r->view.points)
		return cli_usage(verb, "--each goes with --line or --between");
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

static int points(struct request *r, struct cvl_error *err)
{
	struct power_view *v = &r->view;
	const char *dots = v->points ? strstr(v->points, "..") : NULL;
	char *first;
	int rc;

	if (r->line) {
		v->opts.how = POWER_STATES;
		rc = power_point_parse(&v->opts.from, r->line, v->session, err);
		if (!rc && v->opts.from.when != POWER_PLAIN)
			rc = cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				      "--line takes a line, not an edge of it as '%s'", r->line);
		return rc;
	}
	if (!dots)
		return 0;
	v->opts.how = POWER_BETWEEN;
	first = strndup(v->points, (size_t)(dots - v->points));
	if (!first)
		return cvl_no_memory(err);
	rc = power_point_parse(&v->opts.from, first, v->session, err);
	free(first);
	return rc ? rc : power_point_parse(&v->opts.to, dots + 2, v->session, err);
}

static int check_found(const struct power_view *v, struct cvl_error *err)
{
	const char *path = cvl_session_path(v->session);

	for (size_t i = 0; i < v->n_rows; i++)
		if (v->row[i].sum.n)
			return 0;
	if (v->opts.how == POWER_BETWEEN)
		return cvl_fail(
			err, CVL_E_NO, CVL_NO_OFFSET,
			"%s: no interval %s: %llu began without an end, %llu ended without a begin on the same node",
			path, v->points, (unsigned long long)v->result.left.unfinished,
			(unsigned long long)v->result.left.unbegun);
	return cvl_fail(err, CVL_E_NO, CVL_NO_OFFSET,
			"%s: there are no readings of power in that part", path);
}

static int study(void *request, struct cvl_session *session, struct cvl_error *err)
{
	struct request *r = request;
	struct power_view *v = &r->view;
	int rc;

	v->session = session;
	rc = points(r, err);
	v->out = malloc(sizeof(*v->out));
	if (!rc && !v->out)
		rc = cvl_no_memory(err);
	if (!rc)
		rc = cvl_timeline_open(&v->tl, v->session, &r->timeline, err);
	if (!rc) {
		cvl_out_init(v->out, STDOUT_FILENO, "standard output");
		rc = power_study(&v->result, v->tl, &v->opts, power_view_put, v, err);
	}
	progress_clear(r->timeline.progress.ctx);
	if (!rc)
		rc = check_found(v, err);
	if (!rc) {
		if (v->json)
			power_view_json(v);
		else
			power_view_text(v);
		rc = cvl_out_flush(v->out, err);
	}
	power_free(&v->result);
	free(v->row);
	cvl_timeline_close(v->tl);
	free(v->out);
	return rc;
}

static int run(int argc, char **argv, const struct verb *verb)
{
	struct request r = { .view.opts.unit = 1 };
	int rc = parse_options(argc, argv, verb, &r);

	return rc >= 0 ? rc : cli_study(r.path, "reading", &r.timeline, study, &r);
}

const struct verb verb_power = {
	.name = "power",
	.what = "mean power, energy and peak: of nodes, of the states of a line, between events",
	.usage = "power [OPTIONS] SESSION",
	.help = "Which readings:\n"
		"      --power CHANNEL       samples in watts; or\n"
		"      --current CHANNEL --volts V   in amperes; V is a number, or a channel read together with it\n"
		"      --unit X              what one of the channel's units is: 0.001 for mW or mA\n"
		"      --rounded X           readings are rounded to multiples of X (in their unit): half of it joins the bounds\n"
		"      --from T, --to T, --node GLOB   a part of the session\n"
		"\n"
		"Of what (default: all that was read, a row a clock):\n"
		"      --line LINE           while that line is high, and while it is low\n"
		"      --between A..B        from each A to the next B on the same node\n"
		"      --each                every interval, not only the sums\n"
		"A and B are lines (LINE, LINE:rise, LINE:fall), events or spans (NAME, NAME:begin, NAME:end), of any node or, as\n"
		"NODE.NAME, of one. A node's intervals are held against its own power; where it has none, against all there is.\n"
		"\n"
		"Output:\n"
		"      --json                all of it as one JSON object\n"
		"      --strict              stop at damaged input\n"
		"\n"
		"Examples:\n"
		"  coeval power s/ --current I1 --volts V1\n"
		"  coeval power s/ --current current --volts voltage --line LED1\n"
		"  coeval power s/ --power watt --between n1.TX:rise..n2.RX:rise --each\n",
	.run = run,
};
