/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <unistd.h>

#include "precision_view.h"

struct request {
	struct precision_view view;
	struct cvl_precision_opts opts;
	struct cvl_selector select[2];
	struct cvl_timeline_opts timeline;
	const char *path;
};

#define AT(member) offsetof(struct request, member)

static const struct cli_option options[] = {
	{ "between", 0, "A..B", OPTION_SELECTOR, AT(view.between),
	  "durations from each A to the next B of the same clock" },
	{ "across", 0, NULL, OPTION_FLAG, AT(opts.across),
	  "also those within which nothing was polled for a while" },
	{ "svg", 0, "FILE", OPTION_FILE, AT(view.svg), "draw their histogram" },
	{ "gaps", 0, "N", OPTION_NUMBER, AT(view.gaps), "list the N longest gaps (default: 10)", 1,
	  CVL_PRECISION_GAPS },
	{ "node", 0, "GLOB", OPTION_NODE, AT(timeline.node), "only these nodes or clocks" },
	JSON_OPTION(AT(view.json)),
	STRICT_OPTION(AT(timeline.strict)),
	{ 0 },
};

/* Returns an exit status, or -1 to continue. */
static int parse_options(int argc, char **argv, const struct verb *verb, struct request *r)
{
	struct operands operands;
	int rc = options_read(verb, r, argc, argv, &operands);

	if (rc >= 0)
		return rc;
	r->path = operands.v[0];
	if ((r->opts.across || r->view.svg) && !r->view.between)
		return cli_usage(verb, "--across and --svg go with --between");
	return -1;
}

static int check_found(const struct request *r, struct cvl_error *err)
{
	const struct cvl_precision_result *p = r->view.study;

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
	struct cvl_analysis *a = NULL;
	struct cvl_timeline *tl = NULL;
	int rc = v->between ? cli_pair(r->select, v->between, r->timeline.report, err) : 0;

	r->opts.between = v->between ? r->select : NULL;
	v->session = session;
	if (!rc)
		rc = cvl_timeline_open(&tl, session, &r->timeline, err);
	if (!rc)
		rc = cvl_precision_open(&a, tl, &r->opts, err);
	if (!rc)
		rc = cvl_analyse(tl, &a, 1, err);
	progress_clear(r->timeline.progress.ctx);
	if (!rc) {
		v->study = cvl_precision_result(a);
		rc = check_found(r, err);
	}
	if (!rc)
		rc = precision_view_put(v, err);
	if (!rc && v->svg)
		rc = precision_view_svg(v, err);
	cvl_analysis_free(a);
	cvl_timeline_close(tl);
	cvl_selector_free(&r->select[0]);
	cvl_selector_free(&r->select[1]);
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
	.group = VERB_ASK,
	.what = "how precise the timestamps of a polling loop are",
	.operands = "SESSION",
	.options = options,
	.notes = "A and B are LINE, LINE:rise, LINE:fall, EVENT or EVENT{FIELD=VALUE,...}.\n",
	.examples = "  coeval precision s/\n"
		    "  coeval precision s/ --between D0:rise..D1:rise --svg times.svg\n",
	.run = run,
};
