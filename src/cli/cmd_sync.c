/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"
#include "cli/report.h"

#include <coeval/sync.h>

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	OPT_MATCH = 256,
	OPT_PULSE,
	OPT_BEACON,
	OPT_ESTIMATOR,
	OPT_REFERENCE,
	OPT_DRIFT,
	OPT_WANDER,
	OPT_STRICT,
	OPT_JSON
};

static const struct option options[] = {
	{ "match", required_argument, NULL, OPT_MATCH },
	{ "pulse", required_argument, NULL, OPT_PULSE },
	{ "beacon", required_argument, NULL, OPT_BEACON },
	{ "estimator", required_argument, NULL, OPT_ESTIMATOR },
	{ "reference", required_argument, NULL, OPT_REFERENCE },
	{ "max-drift", required_argument, NULL, OPT_DRIFT },
	{ "wander", required_argument, NULL, OPT_WANDER },
	{ "strict", no_argument, NULL, OPT_STRICT },
	{ "json", no_argument, NULL, OPT_JSON },
	CLI_HELP_OPTION,
	{ 0 },
};

/* LINE:rising:1s; the line's own name may hold colons. */
static int parse_pulse(const struct verb *verb, char *text, struct cvl_sync_opts *o)
{
	struct cvl_pulse_rule *r = &o->pulse[o->n_pulse];
	char *period = strrchr(text, ':'), *edge = NULL;

	if (o->n_pulse == CVL_RULES_MAX)
		return cli_usage(verb, "at most %d pulse rules", CVL_RULES_MAX);
	if (period) {
		*period++ = '\0';
		edge = strrchr(text, ':');
	}
	if (edge)
		*edge++ = '\0';
	if (!edge || !*text || strlen(text) >= sizeof(r->line) ||
	    (strcmp(edge, "rising") && strcmp(edge, "falling")) ||
	    cvl_duration_parse(period, &r->period_ns) || r->period_ns <= 0)
		return cli_usage(
			verb,
			"--pulse takes LINE:rising:PERIOD or LINE:falling:PERIOD, such as PPS:rising:1s");
	snprintf(r->line, sizeof(r->line), "%s", text);
	r->rising = edge[0] == 'r';
	o->n_pulse++;
	return 0;
}

static int parse_drift(const struct verb *verb, char *text, struct cvl_sync_opts *o)
{
	char *number = strrchr(text, '='), *end;
	double ppm;

	ppm = strtod(number ? number + 1 : text, &end);
	if (*end || end == text || !(ppm > 0 && ppm < 100000))
		return cli_usage(verb,
				 "--max-drift takes parts per million, such as 50 or CLOCK=50");
	if (!number) {
		o->max_drift_ppm = ppm;
		return 0;
	}
	if (o->n_drift == sizeof(o->drift) / sizeof(*o->drift))
		return cli_usage(verb, "too many --max-drift");
	*number = '\0';
	o->drift[o->n_drift].clock = text;
	o->drift[o->n_drift++].ppm = ppm;
	return 0;
}

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
	const char *match[CVL_RULES_MAX];
	struct cvl_sync_opts opts = { .match = match };
	struct cvl_session *session;
	struct cvl_sync *sync = NULL;
	struct problems problems;
	struct progress progress;
	struct cvl_error err;
	struct out *o;
	bool json = false, untied = false;
	char *end;
	int c, rc = 0;

	problems_init(&problems);
	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (c) {
		case OPT_MATCH:
			if (opts.n_match == CVL_RULES_MAX)
				return cli_usage(verb, "at most %d rules", CVL_RULES_MAX);
			match[opts.n_match++] = optarg;
			break;
		case OPT_PULSE: rc = parse_pulse(verb, optarg, &opts); break;
		case OPT_BEACON:
			rc = cli_duration(verb, "--beacon", optarg, &opts.beacon_period_ns);
			if (!rc && opts.beacon_period_ns <= 0)
				rc = cli_usage(verb, "--beacon takes a period above 0");
			break;
		case OPT_ESTIMATOR: opts.estimator = optarg; break;
		case OPT_REFERENCE: opts.reference = optarg; break;
		case OPT_DRIFT: rc = parse_drift(verb, optarg, &opts); break;
		case OPT_WANDER:
			opts.wander_ppb_s = strtod(optarg, &end);
			opts.has_wander = true;
			if (*end || end == optarg || !(opts.wander_ppb_s >= 0))
				rc = cli_usage(verb,
					       "--wander takes ppb a second, such as 10, not '%s'",
					       optarg);
			break;
		case OPT_STRICT: opts.strict = true; break;
		case OPT_JSON: json = true; break;
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
	progress_init(&progress, "reading observations");
	opts.report = &problems.report;
	opts.progress = progress_show;
	opts.progress_ctx = &progress;
	rc = cvl_sync_run(&sync, session, &opts, &err);
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
