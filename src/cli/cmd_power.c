/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "power_view.h"

struct request {
	struct power_view view;
	struct cvl_timeline_opts timeline;
	const char *path, *line;
};

/* A number of volts, or the channel that they are read on. */
static int take_volts(const struct verb *verb, void *to, char *text)
{
	struct power_opts *o = to;
	char *end;

	o->fixed_volts = strtod(text, &end);
	o->volts = *end || end == text ? text : NULL;
	if (o->volts || (o->fixed_volts >= OPTION_REAL_MIN && o->fixed_volts <= OPTION_REAL_MAX))
		return 0;
	return cli_usage(verb,
			 "--volts takes a channel or a number above 0 (1e-15 to 1e15), not '%s'",
			 text);
}

#define AT(member) offsetof(struct request, member)

static const struct cli_option options[] = {
	{ .kind = OPTION_HEADING, .what = "Which readings" },
	{ "power", 0, "CHANNEL", OPTION_SELECTOR, AT(view.opts.watts), "samples in watts; or" },
	{ "current", 0, "CHANNEL", OPTION_SELECTOR, AT(view.opts.amperes),
	  "samples in amperes, times" },
	{ "volts", 0, "V|CHANNEL", OPTION_SELECTOR, AT(view.opts),
	  "this number of volts, or those of a channel read together with the current",
	  .take = take_volts },
	{ "unit", 0, "X", OPTION_REAL, AT(view.opts.unit),
	  "what one of the channel's units is: 0.001 for mW or mA" },
	{
		"rounded",
		0,
		"X",
		OPTION_REAL,
		AT(view.opts.rounded),
		"readings are rounded to multiples of X (in their unit): half of it joins the bounds",
	},
	RANGE_OPTIONS(AT(timeline)),
	{ .kind = OPTION_HEADING, .what = "Of what (default: all that was read, a row a clock)" },
	{ "line", 0, "LINE", OPTION_LINE, AT(line),
	  "while that line is high, and while it is low" },
	{ "between", 0, "A..B", OPTION_SELECTOR, AT(view.points),
	  "from each A to the next B on the same node" },
	{ "each", 0, NULL, OPTION_FLAG, AT(view.each), "every interval, not only the sums" },
	{ .kind = OPTION_HEADING, .what = "Output" },
	JSON_OPTION(AT(view.json)),
	STRICT_OPTION(AT(timeline.strict)),
	{ 0 },
};

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
	struct operands operands;
	int rc = options_read(verb, r, argc, argv, &operands);

	if (rc >= 0)
		return rc;
	r->path = operands.v[0];
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
	.group = VERB_ASK,
	.what = "energy and power of nodes, of states of a line, between events",
	.operands = "SESSION",
	.options = options,
	.notes =
		"A and B are lines (LINE, LINE:rise, LINE:fall), events or spans (NAME, NAME:begin, NAME:end), of any node or, as NODE.NAME, of one. A node's intervals are measured by its own power; where it has none, by all there is.\n",
	.examples = "  coeval power s/ --current I1 --volts V1\n"
		    "  coeval power s/ --current current --volts voltage --line LED1\n"
		    "  coeval power s/ --power watt --between n1.TX:rise..n2.RX:rise --each\n",
	.run = run,
};
