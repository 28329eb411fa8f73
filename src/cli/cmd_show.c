/* SPDX-License-Identifier: MIT */
#include "cli.h"
#include "show.h"

#include <string.h>

struct request {
	struct cvl_timeline_opts opts;
	struct follow_options follow;
	struct show_style style;
	const char *select[CVL_SELECTION_MAX];
	size_t n_select;
	struct cvl_selector sel[CVL_SELECTION_MAX], *list[CVL_SELECTION_MAX];
};

#define AT(member) offsetof(struct request, member)

static const struct cli_option options[] = {
	RANGE_OPTIONS(AT(opts)),
	{ "select", 0, "SELECTOR", OPTION_SELECTOR, OPTION_MANY(struct request, select, n_select),
	  .what = "only what it matches: n1.TX:rise, boot{reason=3}, sched_*, gap" },
	{ "event", 0, "SELECTOR", .now = "select" },
	{ "bounds", 0, NULL, OPTION_FLAG, AT(style.format.bounds),
	  "with each time the half-width of its bound" },
	{ "absolute", 0, NULL, OPTION_FLAG, AT(style.format.utc),
	  "dates and times of day in UTC instead of seconds since the start" },
	{ "ticks", 0, NULL, OPTION_FLAG, AT(style.format.ticks),
	  "the clock's own ticks instead of times" },
	NOMINAL_OPTION(AT(opts.nominal)),
	FOLLOW_OPTIONS(AT(follow),
		       "of a growing session: go on as it grows, until its writer ends or ^C"),
	JSON_OPTION(AT(style.format.json)),
	JOBS_OPTION(AT(style.format.jobs)),
	STRICT_OPTION(AT(opts.strict)),
	{ 0 },
};

static int show_session(struct cvl_session *session, const struct request *r, struct cvl_error *err)
{
	struct show *show = show_new(&r->style);
	struct cvl_timeline *tl = NULL;
	int rc = show ? cvl_timeline_open(&tl, session, &r->opts, err) : cvl_no_memory(err);

	if (!rc)
		rc = show_timeline(show, tl, err);
	show_free(show);
	cvl_timeline_close(tl);
	return rc;
}

static int parse_selectors(struct request *r, struct cvl_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < r->n_select && !rc; i++) {
		r->list[i] = &r->sel[i];
		rc = cvl_selector_parse(&r->sel[i], r->select[i], strlen(r->select[i]), err);
		cvl_selector_tell_old(&r->sel[i], r->opts.report);
	}
	r->style.select = r->list;
	r->style.n_select = r->n_select;
	return rc;
}

static int show_stored(const char *path, struct request *r, struct cvl_error *err)
{
	struct cvl_session *session;
	int rc = cvl_session_open(&session, path, r->opts.report, err);

	if (rc)
		return rc;
	rc = parse_selectors(r, err);
	if (!rc)
		rc = show_session(session, r, err);
	cvl_session_close(session);
	return rc;
}

static int show_growing(const char *path, struct request *r, struct cvl_error *err)
{
	int rc = parse_selectors(r, err);
	struct show *show;

	r->style.format.jobs = 1; /* little comes at a time */
	show = rc ? NULL : show_new(&r->style);

	if (!rc && !show)
		rc = cvl_no_memory(err);
	if (!rc)
		rc = follow_recalled(path, &r->follow, &r->opts, &show_view, show, err);
	show_free(show);
	return rc;
}

static int run(int argc, char **argv, const struct verb *verb)
{
	struct request r = { 0 };
	struct operands operands;
	struct problems problems;
	struct cvl_error err;
	int rc = options_read(verb, &r, argc, argv, &operands);

	if (rc >= 0)
		return rc;
	rc = follow_check(verb, &r.follow, &r.opts);
	if (rc)
		return rc;
	problems_init(&problems);
	r.opts.report = &problems.report;
	rc = (r.follow.on ? show_growing : show_stored)(operands.v[0], &r, &err);
	for (size_t i = 0; i < r.n_select; i++)
		cvl_selector_free(&r.sel[i]);
	return cli_end(rc, &err, &problems);
}

const struct verb verb_show = {
	.name = "show",
	.group = VERB_LOOK,
	.what = "print the merged timeline as text or JSON lines",
	.operands = "SESSION|TRACE",
	.options = options,
	.examples = "  coeval show s/ --from 1.2 --until 1.3 --bounds\n"
		    "  coeval show s/ --select n1.TX:rise --select 'boot{reason=3}'\n"
		    "  coeval show s/ --follow --select boot\n",
	.run = run,
};
