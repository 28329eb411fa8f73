/* SPDX-License-Identifier: MIT */
#include "cli.h"
#include "show.h"

struct request {
	struct cvl_timeline_opts opts;
	struct show_style style;
};

#define AT(member) offsetof(struct request, member)

static const struct cli_option options[] = {
	RANGE_OPTIONS(AT(opts)),
	{ "event", 0, "GLOB", OPTION_EVENT, AT(style.event),
	  "only records of this name (edge, gap, beacon, sched_*)" },
	{ "bounds", 0, NULL, OPTION_FLAG, AT(style.bounds),
	  "with each time the half-width of its bound" },
	{ "absolute", 0, NULL, OPTION_FLAG, AT(style.absolute),
	  "dates and times of day in UTC instead of seconds since the start" },
	{ "ticks", 0, NULL, OPTION_FLAG, AT(style.ticks),
	  "the clock's own ticks instead of times" },
	NOMINAL_OPTION(AT(opts.nominal)),
	JSON_OPTION(AT(style.json)),
	STRICT_OPTION(AT(opts.strict)),
	{ 0 },
};

static int run(int argc, char **argv, const struct verb *verb)
{
	struct request r = { 0 };
	struct operands operands;
	struct problems problems;
	struct cvl_session *session;
	struct cvl_error err;
	struct show *show;
	int rc = options_read(verb, &r, argc, argv, &operands);

	if (rc >= 0)
		return rc;
	problems_init(&problems);
	r.opts.report = &problems.report;
	rc = cvl_session_open(&session, operands.v[0], &problems.report, &err);
	if (rc)
		return cli_fail(&err);
	show = show_new(&r.style);
	rc = show ? show_records(show, session, &r.opts, &err) : cvl_no_memory(&err);
	show_free(show);
	cvl_session_close(session);
	return cli_end(rc, &err, &problems);
}

const struct verb verb_show = {
	.name = "show",
	.group = VERB_LOOK,
	.what = "print the merged timeline as text or JSON lines",
	.operands = "SESSION|TRACE",
	.options = options,
	.examples = "  coeval show s/ --from 1.2 --until 1.3 --bounds\n",
	.run = run,
};
