/* SPDX-License-Identifier: MIT */
#include "cli.h"
#include "show.h"

enum {
	OPT_FROM = 256,
	OPT_TO,
	OPT_NODE,
	OPT_EVENT,
	OPT_BOUNDS,
	OPT_TICKS,
	OPT_ABSOLUTE,
	OPT_JSON,
	OPT_STRICT,
	OPT_NOMINAL
};

static const struct option options[] = {
	{ "from", required_argument, NULL, OPT_FROM },
	{ "to", required_argument, NULL, OPT_TO },
	{ "node", required_argument, NULL, OPT_NODE },
	{ "event", required_argument, NULL, OPT_EVENT },
	{ "bounds", no_argument, NULL, OPT_BOUNDS },
	{ "ticks", no_argument, NULL, OPT_TICKS },
	{ "absolute", no_argument, NULL, OPT_ABSOLUTE },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "nominal", no_argument, NULL, OPT_NOMINAL },
	{ "strict", no_argument, NULL, OPT_STRICT },
	CLI_HELP_OPTION,
	{ 0 },
};

static int run(int argc, char **argv, const struct verb *verb)
{
	struct cvl_timeline_opts opts = { 0 };
	struct problems problems;
	struct cvl_session *session;
	struct cvl_error err;
	struct show_style style = { 0 };
	struct show *show;
	int c, rc = 0;

	problems_init(&problems);
	opts.report = &problems.report;
	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (c) {
		case OPT_FROM:
			opts.has_from = true;
			rc = cli_duration(verb, "--from", optarg, &opts.from.ns);
			break;
		case OPT_TO:
			opts.has_until = true;
			rc = cli_duration(verb, "--to", optarg, &opts.until.ns);
			break;
		case OPT_NODE: opts.node = optarg; break;
		case OPT_EVENT: style.event = optarg; break;
		case OPT_BOUNDS: style.bounds = true; break;
		case OPT_TICKS: style.ticks = true; break;
		case OPT_ABSOLUTE: style.absolute = true; break;
		case OPT_JSON: style.json = true; break;
		case OPT_NOMINAL: opts.nominal = true; break;
		case OPT_STRICT: opts.strict = true; break;
		default: return cli_option(c, verb);
		}
		if (rc)
			return rc;
	}
	if (optind + 1 != argc)
		return cli_usage(verb, "name one session");
	rc = cvl_session_open(&session, argv[optind], &problems.report, &err);
	if (rc)
		return cli_fail(&err);
	show = show_new(&style);
	rc = show ? show_records(show, session, &opts, &err) : cvl_no_memory(&err);
	show_free(show);
	cvl_session_close(session);
	return cli_end(rc, &err, &problems);
}

const struct verb verb_show = {
	.name = "show",
	.what = "print the merged timeline as text or JSON lines",
	.usage = "show [OPTIONS] SESSION|TRACE",
	.help = "      --from T, --to T   only records in this range (1.2, 250ms, 10us)\n"
		"      --node GLOB        only these nodes or clocks\n"
		"      --event GLOB       only records of this name (edge, gap, beacon, sched_*)\n"
		"      --bounds           with each time the half-width of its bound\n"
		"      --absolute         dates and times of day in UTC instead of seconds since the start\n"
		"      --ticks            the clock's own ticks instead of times\n"
		"      --nominal          leave sync.json aside: times as the clocks themselves claim them\n"
		"      --json             one JSON object a line\n"
		"      --strict           stop at damage instead of showing a gap\n"
		"\n"
		"Example:\n"
		"  coeval show s/ --from 1.2 --to 1.3 --bounds\n",
	.run = run,
};
