/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "power_view.h"

struct request {
	struct power_view view;
	struct cvl_timeline_opts timeline;
	const char *path, *line;
	struct cvl_selector select[2]; /* the line, or the pair */
};

/* A number of volts, or the channel they are measured on. */
static int take_volts(const struct verb *verb, void *to, char *text)
{
	struct cvl_power_opts *o = to;
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
	const struct cvl_power_opts *o = &r->view.opts;

	if (!o->watts == !o->amperes)
		return cli_usage(
			verb,
			"name the channel: --power CHANNEL, or --current CHANNEL --volts V (`coeval info` lists channels)");
	if (!o->amperes != !(o->volts || o->fixed_volts > 0))
		return cli_usage(verb, "--current CHANNEL and --volts go together");
	if (r->line && r->view.points)
		return cli_usage(verb, "--line or --between, not both");
	if (r->view.each && !r->line && !r->view.points)
		return cli_usage(verb, "--each goes with --line or --between");
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

static int parse_selectors(struct request *r, struct cvl_error *err)
{
	struct cvl_power_opts *o = &r->view.opts;
	int rc;

	if (r->view.points) {
		o->between = r->select;
		return cli_pair(r->select, r->view.points, r->timeline.report, err);
	}
	if (!r->line)
		return 0;
	o->line = r->select;
	rc = cvl_selector_parse(r->select, r->line, strlen(r->line), err);
	if (!rc)
		cvl_selector_tell_old(r->select, r->timeline.report);
	return rc == CVL_E_SYNTAX ? (int)(err->code = CVL_E_USAGE) : rc;
}

static int check_found(const struct power_view *v, struct cvl_error *err)
{
	const char *path = cvl_session_path(v->session);
	const struct cvl_power_result *result = v->result;

	for (size_t i = 0; i < result->n_rows; i++)
		if (result->row[i].sum.n)
			return 0;
	if (result->of == CVL_POWER_BETWEEN)
		return cvl_fail(
			err, CVL_E_NO, CVL_NO_OFFSET,
			"%s: no interval %s: %llu began without an end, %llu ended without a begin on the same node",
			path, v->points, (unsigned long long)result->left.unfinished,
			(unsigned long long)result->left.unbegun);
	return cvl_fail(err, CVL_E_NO, CVL_NO_OFFSET, "%s: no power readings in that range", path);
}

static int study(void *request, struct cvl_session *session, struct cvl_error *err)
{
	struct request *r = request;
	struct power_view *v = &r->view;
	struct cvl_analysis *a = NULL;
	int rc = parse_selectors(r, err);

	v->session = session;
	v->out = malloc(sizeof(*v->out));
	if (!rc && !v->out)
		rc = cvl_no_memory(err);
	if (!rc)
		rc = cvl_timeline_open(&v->tl, session, &r->timeline, err);
	if (v->each) {
		v->opts.put = power_view_put;
		v->opts.ctx = v;
	}
	if (!rc)
		rc = cvl_power_open(&a, v->tl, &v->opts, err);
	if (!rc) {
		cvl_out_init(v->out, STDOUT_FILENO, "standard output");
		v->result = cvl_power_result(a);
		rc = cvl_analyse(v->tl, &a, 1, err);
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
	cvl_analysis_free(a);
	cvl_timeline_close(v->tl);
	cvl_selector_free(&r->select[0]);
	cvl_selector_free(&r->select[1]);
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
		"A and B are lines (LINE, LINE:rise, LINE:fall), events or spans (NAME, NAME:begin, NAME:end), of any node or, as NODE.NAME, of one. A node's intervals are measured by its own power; if it has none, by all channels.\n",
	.examples = "  coeval power s/ --current I1 --volts V1\n"
		    "  coeval power s/ --current current --volts voltage --line LED1\n"
		    "  coeval power s/ --power watt --between n1.TX:rise..n2.RX:rise --each\n",
	.run = run,
};
