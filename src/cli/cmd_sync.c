/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"
#include "cli/report.h"
#include "cli/syncopts.h"

#include <coeval/sync.h>

#include <jansson.h>
#include <stdlib.h>
#include <unistd.h>

enum { OPT_JSON = 256 };

static const struct option options[] = {
	SYNC_OPTIONS,
	{ "json", no_argument, NULL, OPT_JSON },
	CLI_HELP_OPTION,
	{ 0 },
};

/* ---- what came of it ---- */

static void print_text(struct out *o, const struct cvl_sync *sync)
{
	out_printf(o, "estimator %s, reference %s\n\n", sync->estimator, sync->reference);
	report_sync_table(sync, o, "");
	out_char(o, '\n');
	for (size_t i = 0; i < sync->n; i++)
		out_printf(o, "%s: %s\n", sync->clock[i].clock, sync->clock[i].reason);
}

static void print_json(struct out *o, const struct cvl_sync *sync)
{
	json_t *clocks = json_array();

	for (size_t i = 0; i < sync->n; i++) {
		json_t *c = report_sync_json(&sync->clock[i]);

		json_object_set_new(c, "clock", json_string(sync->clock[i].clock));
		json_array_append_new(clocks, c);
	}
	report_json(o, json_pack("{s:s, s:s, s:o}", "estimator", sync->estimator, "reference",
				 sync->reference, "clocks", clocks));
}

static int run(int argc, char **argv, const struct verb *verb)
{
	struct sync_options given = { 0 };
	struct cvl_sync_opts *opts = &given.opts;
	struct cvl_session *session;
	struct cvl_sync *sync = NULL;
	struct problems problems;
	struct progress progress;
	struct cvl_error err;
	struct out *o;
	bool json = false, untied = false;
	int c, rc = 0;

	problems_init(&problems);
	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (c == OPT_JSON) {
			json = true;
			continue;
		}
		rc = sync_option(&given, c, optarg, verb);
		if (rc < 0)
			return cli_option(c, verb);
		if (rc)
			return rc;
	}
	if (optind + 1 != argc)
		return cli_usage(verb, "name one session");
	rc = cvl_session_open(&session, argv[optind], &problems.report, &err);
	if (rc)
		return cli_fail(&err);
	progress_init(&progress, "reading observations");
	opts->report = &problems.report;
	opts->progress = progress_show;
	opts->progress_ctx = &progress;
	rc = cvl_sync_run(&sync, session, opts, &err);
	progress_clear(&progress);
	if (!rc)
		rc = cvl_sync_save(sync, session, &err);
	o = rc ? NULL : malloc(sizeof(*o));
	if (o) {
		out_init(o, STDOUT_FILENO, "standard output");
		if (json)
			print_json(o, sync);
		else
			print_text(o, sync);
		rc = out_flush(o, &err);
		for (size_t i = 0; i < sync->n; i++)
			untied = untied || sync->clock[i].verdict == CVL_UNSYNCHRONISED;
	}
	free(o);
	cvl_sync_free(sync);
	cvl_session_close(session);
	rc = cli_end(rc, &err, &problems);
	return rc ? rc : untied ? 1 : 0;
}

const struct verb verb_sync = {
	.name = "sync",
	.what = "tie the clocks of a session; write its clock maps",
	.usage = "sync [OPTIONS] SESSION",
	.help = "      --match RULE          messages between events: lttng-tcp, or a YAML file of rules\n"
		"      --pulse LINE:EDGE:T   pulses: every rising or falling edge of LINE, T apart\n"
		"      --beacon T            time from one beacon to the next (default 1s)\n"
		"      --estimator NAME      interval: messages and a drift limit, guaranteed (default for messages)\n"
		"                            hull: messages and constant rates\n"
		"                            line: pulses and beacons, one robust line (default for them)\n"
		"      --reference CLOCK     the clock whose time becomes the timeline\n"
		"      --max-drift [CLOCK=]PPM  how far a clock's rate may be off (default 200; of a pair they add)\n"
		"      --wander PPB_PER_S    how fast a rate may change (default: not limited)\n"
		"      --strict              stop at damaged input\n"
		"      --json                the result as JSON\n"
		"\n"
		"Exit status 1 if a clock could not be tied. It can be run again at any time.\n"
		"\n"
		"Examples:\n"
		"  coeval sync s/ --match lttng-tcp\n"
		"  coeval sync g/ --pulse PPS:rising:1s\n",
	.run = run,
};
