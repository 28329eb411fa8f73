/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <unistd.h>

#include "precision_view.h"

enum { OPT_BETWEEN = 256, OPT_ACROSS, OPT_GAPS, OPT_SVG, OPT_NODE, OPT_JSON, OPT_STRICT };

static const struct option options[] = {
	{ "between", required_argument, NULL, OPT_BETWEEN },
	{ "across", no_argument, NULL, OPT_ACROSS },
	{ "gaps", required_argument, NULL, OPT_GAPS },
	{ "svg", required_argument, NULL, OPT_SVG },
	{ "node", required_argument, NULL, OPT_NODE },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "strict", no_argument, NULL, OPT_STRICT },
	CLI_HELP_OPTION,
	{ 0 },
};

struct request {
	struct precision_view view;
	struct precision_opts opts;
	struct precision_point from, to;
	struct cvl_timeline_opts timeline;
	const char *path;
};

/* Returns an exit status, or -1 to go on. */
static int parse_options(int argc, char **argv, const struct verb *verb, struct request *r)
{
	int c, rc = 0;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (c) {
		case OPT_BETWEEN: r->view.between = optarg; break;
		case OPT_ACROSS: r->opts.across = true; break;
		case OPT_GAPS:
			rc = cli_number(verb, "--gaps", optarg, PRECISION_GAPS, &r->view.gaps);
			break;
		case OPT_SVG: r->view.svg = optarg; break;
		case OPT_NODE: r->timeline.node = optarg; break;
		case OPT_JSON: r->view.json = true; break;
		case OPT_STRICT: r->timeline.strict = true; break;
		default: return cli_option(c, verb);
		}
		if (rc)
			return rc;
	}
	if (optind + 1 != argc)
		return cli_usage(verb, "name one session");
	r->path = argv[optind];
	if ((r->opts.across || r->view.svg) && !r->view.between)
		return cli_usage(verb, "--across and --svg go with --between");
	if (r->view.between && !strstr(r->view.between, ".."))
		return cli_usage(verb,
				 "--between takes two points, such as A:rise..B:rise, not '%s'",
				 r->view.between);
	return -1;
}

static int read_points(struct request *r, struct cvl_error *err)
{
	const char *dots = r->view.between ? strstr(r->view.between, "..") : NULL;
	int rc;

	if (!dots)
		return 0;
	rc = precision_point_parse(&r->from, r->view.between, (size_t)(dots - r->view.between),
				   err);
	if (!rc)
		rc = precision_point_parse(&r->to, dots + 2, strlen(dots + 2), err);
	r->opts.from = &r->from;
	r->opts.to = &r->to;
	return rc;
}

static int check_found(const struct request *r, struct cvl_error *err)
{
	const struct precision *p = &r->view.study;

	if (r->view.between && !p->times.n && !p->times.broken)
		return cvl_fail(
			err, CVL_E_NO, CVL_NO_OFFSET,
			"%s: nothing %s on one clock; `coeval info` lists lines, `coeval show` events",
			r->path, r->view.between);
	if (!p->n && !r->view.between)
		return cvl_fail(
			err, CVL_E_NO, CVL_NO_OFFSET,
			"%s: no clock of it tells of a loop, and no event has a bracket of its own",
			r->path);
	return 0;
}

static int study(void *request, struct cvl_session *session, struct cvl_error *err)
{
	struct request *r = request;
	struct precision_view *v = &r->view;
	struct cvl_timeline *tl = NULL;
	int rc = read_points(r, err);

	v->session = session;
	if (!rc)
		rc = cvl_timeline_open(&tl, v->session, &r->timeline, err);
	if (!rc)
		rc = precision_study(&v->study, tl, &r->opts, err);
	progress_clear(r->timeline.progress.ctx);
	if (!rc)
		rc = check_found(r, err);
	if (!rc)
		rc = precision_view_put(v, err);
	if (!rc && v->svg)
		rc = precision_view_svg(v, err);
	precision_free(&v->study);
	cvl_timeline_close(tl);
	return rc;
}

static int run(int argc, char **argv, const struct verb *verb)
{
	struct request r = { .view.gaps = 10, .timeline.nominal = true };
	int rc = parse_options(argc, argv, verb, &r);

	return rc >= 0 ? rc : cli_study(r.path, "reading", &r.timeline, study, &r);
}

const struct verb verb_precision = {
	.name = "precision",
	.what = "how precise the stamps of a polling loop are; durations with their bounds",
	.usage = "precision [OPTIONS] SESSION",
	.help = "      --between A..B   durations from each A to the next B of the same clock\n"
		"      --across         also those within which nobody looked for a while\n"
		"      --svg FILE       draw their histogram\n"
		"      --gaps N         list the N longest gaps (default: 10)\n"
		"      --node GLOB      these clocks and nodes only\n"
		"      --json           all of it as one JSON object\n"
		"      --strict         stop at damaged input\n"
		"A and B are LINE, LINE:rise, LINE:fall, EVENT or EVENT:FIELD=NUMBER,...\n"
		"\n"
		"Examples:\n"
		"  coeval precision s/\n"
		"  coeval precision s/ --between D0:rise..D1:rise --svg times.svg\n",
	.run = run,
};
