/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "follow.h"
#include "power_view.h"

struct request {
	struct power_view view;
	struct cvl_timeline_opts timeline;
	struct follow_options follow;
	struct cvl_analysis *power; /* at work, or NULL */
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
	FOLLOW_OPTIONS(AT(follow),
		       "of a growing session: read as it grows, until its writer ends or ^C"),
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
	if (!rc)
		rc = follow_check(verb, &r->follow, &r->timeline);
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

/* What does not depend on the session. */
static int prepare(void *request, struct cvl_error *err)
{
	struct request *r = request;
	struct power_view *v = &r->view;

	v->out = malloc(sizeof(*v->out));
	if (!v->out)
		return cvl_no_memory(err);
	cvl_out_init(v->out, STDOUT_FILENO, "standard output");
	if (v->each) {
		v->opts.put = power_view_put;
		v->opts.ctx = v;
	}
	return parse_selectors(r, err);
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

static int begin(void *request, struct cvl_timeline *tl, struct cvl_error *err)
{
	struct request *r = request;
	struct power_view *v = &r->view;
	int rc = cvl_power_open(&r->power, tl, &v->opts, err);

	if (rc)
		return rc;
	v->session = cvl_timeline_session(tl);
	v->tl = tl;
	v->listed = 0;
	v->result = cvl_power_result(r->power);
	return 0;
}

static int report(struct power_view *v, struct cvl_error *err)
{
	int rc = check_found(v, err);

	if (rc)
		return rc;
	if (v->json)
		power_view_json(v);
	else
		power_view_text(v);
	return cvl_out_flush(v->out, err);
}

static void drop(struct request *r)
{
	cvl_analysis_free(r->power);
	r->power = NULL;
}

static int study(void *request, struct cvl_session *session, struct cvl_error *err)
{
	struct request *r = request;
	struct cvl_timeline *tl = NULL;
	int rc = prepare(r, err);

	if (!rc)
		rc = cvl_timeline_open(&tl, session, &r->timeline, err);
	if (!rc)
		rc = begin(r, tl, err);
	if (!rc)
		rc = cvl_analyse(tl, &r->power, 1, err);
	progress_clear(r->timeline.progress.ctx);
	if (!rc)
		rc = report(&r->view, err);
	drop(r);
	cvl_timeline_close(tl);
	return rc;
}

/* ---- --follow ---- */

static int push(void *request, const struct cvl_slice *slice, struct cvl_error *err)
{
	return cvl_analysis_push(((struct request *)request)->power, slice, err);
}

/* Intervals are shown as they come. */
static int flush(void *request, const struct cvl_follow *f, bool last, struct cvl_error *err)
{
	struct cvl_out *o = ((struct request *)request)->view.out;
	int rc = cvl_out_flush(o, err);

	(void)f, (void)last;
	return rc ? rc : o->closed;
}

static int end(void *request, struct cvl_time last, struct cvl_error *err)
{
	struct request *r = request;
	int rc = cvl_analysis_end(r->power, last, err);

	if (!rc)
		rc = report(&r->view, err);
	drop(r);
	return rc;
}

static const struct follow_view view = {
	.prepare = prepare,
	.begin = begin,
	.slice = push,
	.flush = flush,
	.end = end,
};

static int run(int argc, char **argv, const struct verb *verb)
{
	struct request r = { .view.opts.unit = 1 };
	int rc = parse_options(argc, argv, verb, &r);

	if (rc >= 0)
		return rc;
	if (r.follow.on)
		rc = follow_study(r.path, &r.follow, &r.timeline, &view, &r);
	else
		rc = cli_study(r.path, "reading", &r.timeline, study, &r);
	drop(&r);
	cvl_selector_free(&r.select[0]);
	cvl_selector_free(&r.select[1]);
	free(r.view.out);
	return rc;
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
		    "  coeval power s/ --power watt --between n1.TX:rise..n2.RX:rise --each\n"
		    "  coeval power s/ --power watt --line LED1 --follow\n",
	.run = run,
};
