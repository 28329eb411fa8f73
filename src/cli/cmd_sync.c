/* SPDX-License-Identifier: MIT */
#include "advise.h"
#include "cli.h"
#include "compare.h"
#include "follow.h"
#include "report/report.h"
#include "syncopts.h"

#include <coeval/sync.h>

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPT_JSON = 256, OPT_COMPARE, OPT_CALIBRATE, OPT_FOLLOW, OPT_ADVISE };

static const struct option options[] = {
	SYNC_OPTIONS,
	{ "compare", no_argument, NULL, OPT_COMPARE },
	{ "calibrate", required_argument, NULL, OPT_CALIBRATE },
	{ "follow", no_argument, NULL, OPT_FOLLOW },
	{ "advise", optional_argument, NULL, OPT_ADVISE },
	{ "json", no_argument, NULL, OPT_JSON },
	CLI_HELP_OPTION,
	{ 0 },
};

/* ---- what came of it ---- */

static void print_text(struct cvl_out *o, const struct cvl_sync *sync)
{
	cvl_out_printf(o, "estimator %s, reference %s\n\n", sync->estimator, sync->reference);
	report_sync_table(sync, o, "");
	cvl_out_char(o, '\n');
	for (size_t i = 0; i < sync->n; i++)
		cvl_out_printf(o, "%s: %s\n", sync->clock[i].clock, sync->clock[i].reason);
	if (*sync->note)
		cvl_out_printf(o, "%s\n", sync->note);
}

static void print_json(struct cvl_out *o, const struct cvl_sync *sync)
{
	json_t *clocks = json_array();

	for (size_t i = 0; i < sync->n; i++) {
		json_t *c = report_sync_json(&sync->clock[i]);

		json_object_set_new(c, "clock", json_string(sync->clock[i].clock));
		json_array_append_new(clocks, c);
	}
	report_json(o, json_pack("{s:s, s:s, s:s, s:o}", "estimator", sync->estimator, "reference",
				 sync->reference, "note", sync->note, "clocks", clocks));
}

/* What was asked for, and what is needed for it. */
struct job {
	struct sync_options given;
	struct cvl_sync *last; /* as the session was synchronised, or NULL */
	bool json, compare, follow, advise;
	int64_t wanted_ns; /* bound to advise a rate for, or 0 */
	bool reached;      /* some rate keeps to it */
	const char *calibrate;
	struct cvl_calibration *cal;
	struct problems problems;
	struct progress progress;
	struct cvl_out *out;
	struct cvl_error err;
};

static int solve(struct job *j, struct cvl_session *session, struct cvl_sync **sync)
{
	int rc = cvl_sync_run(sync, session, &j->given.opts, &j->err);

	progress_clear(&j->progress);
	return rc ? rc : cvl_sync_save(*sync, session, &j->err);
}

/* Solve without biases, find them, and solve again with them. */
static int calibrate(struct job *j, struct cvl_session *session, struct cvl_sync **sync)
{
	int rc = cvl_calibrate(&j->cal, session, j->calibrate, &j->given.opts.progress, &j->err);

	progress_clear(&j->progress);
	if (!rc)
		rc = cvl_calibration_save(j->cal, session, &j->err);
	if (rc)
		return rc;
	for (size_t i = 0; i < j->cal->n && !j->json; i++)
		cvl_out_printf(j->out, "%s hears %+.1f ns +-%.1f late, by %llu edges of %s\n",
			       j->cal->clock[i].clock, j->cal->clock[i].late_ns,
			       j->cal->clock[i].bound_ns,
			       (unsigned long long)j->cal->clock[i].edges, j->cal->line);
	if (!j->json)
		cvl_out_char(j->out, '\n');
	j->given.opts.calibration = j->cal;
	cvl_sync_free(*sync);
	*sync = NULL;
	return solve(j, session, sync);
}

/* The rules of the last time, unless there are some. What cannot be read is written anew: it is no reason to fail. */
static int recall(struct job *j, const struct cvl_session *session)
{
	const struct cvl_sync_opts *o = &j->given.opts;
	struct cvl_error err;
	int rc;

	if (o->n_match || o->n_pulse || o->beacon_period_ns)
		return 0;
	rc = cvl_sync_load(&j->last, session, &err);
	if (rc > 0)
		rc = sync_options_recall(&j->given, j->last, &err);
	if (rc == CVL_E_NOMEM)
		return cvl_fail(&j->err, rc, CVL_NO_OFFSET, "out of memory");
	if (rc < 0)
		fprintf(stderr, "coeval: the rules of the last synchronisation are not used: %s\n",
			err.text);
	return 0;
}

/* --follow opens the session itself, again and again. */
static int recall_from(struct job *j, const char *path)
{
	struct cvl_session *session;
	int rc = cvl_session_open(&session, path, NULL, &j->err);

	if (rc)
		return 0; /* it may not be there yet */
	rc = recall(j, session);
	cvl_session_close(session);
	return rc;
}

static int sync_session(struct job *j, const char *path, bool *untied)
{
	struct cvl_session *session;
	struct cvl_sync *sync = NULL;
	int rc = cvl_session_open(&session, path, &j->problems.report, &j->err);

	if (rc)
		return rc;
	rc = recall(j, session);
	if (rc) {
		cvl_session_close(session);
		return rc;
	}
	if (j->compare) {
		rc = compare_print(j->out, session, &j->given.opts, j->json, &j->err);
	} else if (j->advise) {
		rc = advise_print(j->out, session, &j->given.opts, j->wanted_ns, j->json,
				  &j->reached, &j->err);
		progress_clear(&j->progress);
	} else {
		rc = solve(j, session, &sync);
		if (!rc && j->calibrate)
			rc = calibrate(j, session, &sync);
		if (!rc && j->json)
			print_json(j->out, sync);
		else if (!rc)
			print_text(j->out, sync);
	}
	if (!rc)
		rc = cvl_out_flush(j->out, &j->err);
	for (size_t i = 0; sync && i < sync->n; i++)
		*untied = *untied || sync->clock[i].verdict <= CVL_AMBIGUOUS;
	cvl_sync_free(sync);
	cvl_session_close(session);
	return rc;
}

/* "--advise 10us SESSION" is "--advise=10us SESSION": of two words, the one that is a time. */
static const char *find_wanted(int *argc, char **argv)
{
	int64_t ns;

	for (int k = 0; k < 2 && *argc == optind + 2; k++) {
		char *word = argv[optind + k];

		if (cvl_duration_parse(word, &ns))
			continue;
		argv[optind] = argv[optind + !k];
		--*argc;
		return word;
	}
	return NULL;
}

static int run(int argc, char **argv, const struct verb *verb)
{
	struct job j = { .reached = true };
	const char *wanted = NULL;
	bool untied = false;
	int c, rc = 0;

	problems_init(&j.problems);
	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (c) {
		case OPT_JSON: j.json = true; break;
		case OPT_COMPARE: j.compare = true; break;
		case OPT_CALIBRATE: j.calibrate = optarg; break;
		case OPT_FOLLOW: j.follow = true; break;
		case OPT_ADVISE:
			j.advise = true;
			wanted = optarg;
			break;
		default: rc = sync_option(&j.given, c, optarg, verb);
		}
		if (rc < 0)
			return cli_option(c, verb);
		if (rc)
			return rc;
	}
	if (j.advise && !wanted)
		wanted = find_wanted(&argc, argv);
	if (optind + 1 != argc)
		return cli_usage(verb, "name one session");
	if (wanted && (cvl_duration_parse(wanted, &j.wanted_ns) || j.wanted_ns <= 0))
		return cli_usage(verb, "--advise takes a bound such as 10us, not '%s'", wanted);
	if (j.compare + j.follow + j.advise + (j.calibrate != NULL) > 1)
		return cli_usage(
			verb, "--compare, --follow, --calibrate and --advise exclude each other");
	if ((j.follow || j.compare) && j.given.opts.estimator)
		return cli_usage(verb, "%s",
				 j.follow ? "--follow works with the estimator kalman" :
					    "--compare runs every estimator");
	j.given.opts.report = &j.problems.report;
	progress_init(&j.progress, "reading observations");
	j.given.opts.progress = (struct cvl_progress){ progress_show, &j.progress };
	j.out = malloc(sizeof(*j.out));
	if (!j.out)
		return cli_end(cvl_no_memory(&j.err), &j.err, &j.problems);
	cvl_out_init(j.out, STDOUT_FILENO, "standard output");
	if (!j.calibrate)
		rc = sync_options_calibrate(&j.given, argv[optind], &j.err);
	if (!rc && j.follow) {
		j.given.opts.progress.fn = NULL;
		rc = recall_from(&j, argv[optind]);
		if (!rc)
			rc = follow_session(argv[optind], &j.given.opts, j.json, &j.err);
	} else if (!rc) {
		rc = sync_session(&j, argv[optind], &untied);
	}
	cvl_calibration_free(j.cal);
	cvl_sync_free(j.last);
	sync_options_free(&j.given);
	free(j.out);
	rc = cli_end(rc, &j.err, &j.problems);
	return rc ? rc : untied || !j.reached ? 1 : 0;
}

const struct verb verb_sync = {
	.name = "sync",
	.what = "tie the clocks of a session; write its clock maps",
	.usage = "sync [OPTIONS] SESSION",
	.help = "      --match RULE          messages between events: lttng-tcp, tracer, or a YAML file of rules\n"
		"      --pulse LINE:EDGE:T[:+-E[:max]]  pulses: every rise or fall of LINE, T apart; E: each clock has a\n"
		"                            source of its own, off by E (99.9 % of the time; or at most)\n"
		"      --align LINE          the first edge of LINE is the same one at all clocks: which pulses they heard\n"
		"      --start-bound S       captures began within S of when they claim, where nothing is stated\n"
		"      --beacon T            time from one beacon to the next (default 1s)\n"
		"      --estimator NAME      messages: interval (a drift limit, guaranteed bounds; default), hull\n"
		"                            pulses and beacons: smooth (offline, default), line; online: kalman,\n"
		"                            lag, regress; to compare with: tracelab, grace (docs/sync.md)\n"
		"      --reference CLOCK     the clock whose time becomes the timeline\n"
		"      --max-drift [CLOCK=]PPM  how far a clock's rate may be off (default: as stated of it, `coeval\n"
		"                            help import`; of a pair they add)\n"
		"      --wander PPB_PER_S    how fast a rate may change (default: not limited)\n"
		"      --compare             run every estimator and say how they do; sync.json stays as it is\n"
		"      --calibrate LINE      find the receivers' fixed delays by LINE, one wire on several observers,\n"
		"                            and use them from now on (calibration.json)\n"
		"      --calibration FILE    use the delays found in that session or file; none: use none\n"
		"      --follow              of a growing session: sync and show it while it grows\n"
		"      --advise [BOUND]      how bounds from messages would change with fewer or more exchanges, and at\n"
		"                            what rate they keep to BOUND (10us); sync.json stays as it is\n"
		"      --strict              stop at damaged input\n"
		"      --json                the result as JSON\n"
		"\n"
		"Where no --match, --pulse or --beacon is given, the rules of sync.json are used again.\n"
		"Exit status 1 if a clock could not be tied, or no rate keeps to BOUND. It can be run again at any time.\n"
		"\n"
		"Examples:\n"
		"  coeval sync s/ --match lttng-tcp\n"
		"  coeval sync g/ --pulse PPS:rise:1s\n"
		"  coeval sync g/ --compare\n"
		"  coeval sync s/ --match lttng-tcp --advise 10us\n",
	.run = run,
};
