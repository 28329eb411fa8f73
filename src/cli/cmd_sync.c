/* SPDX-License-Identifier: MIT */
#include "advise.h"
#include "cli.h"
#include "compare.h"
#include "follow.h"
#include "rules.h"
#include "clocks_print.h"
#include "show.h"
#include "syncopts.h"

#include <coeval/sync.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- output ---- */

static void print_text(struct cvl_out *o, const struct cvl_sync *sync)
{
	cvl_out_printf(o, "estimator %s, reference %s\n\n", sync->estimator, sync->reference);
	clocks_table(sync, o, "");
	cvl_out_char(o, '\n');
	clocks_reasons(sync, o, true, "");
	if (*sync->note)
		cvl_out_printf(o, "%s\n", sync->note);
}

static void print_json(struct cvl_out *o, const struct cvl_sync *sync)
{
	struct js j = js_begin(o);

	js_texts(&j, "estimator reference note", sync->estimator, sync->reference, sync->note);
	js_open(&j, "clocks", '[');
	for (size_t i = 0; i < sync->n; i++) {
		js_open(&j, NULL, '{');
		js_text(&j, "clock", sync->clock[i].clock);
		clocks_put(&j, &sync->clock[i]);
		js_close(&j, '}');
	}
	js_close(&j, ']');
	js_end(&j);
}

/* The request, and the state needed for it. */
struct job {
	struct sync_options given;
	struct follow_options follow;
	bool json, compare, advise, show;
	int64_t wanted_ns; /* bound to advise a rate for, or 0 */
	bool reached;      /* some rate meets it */
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
	char folder[CVL_PATH_MAX];

	progress_clear(&j->progress);
	rc = rc ? rc : cvl_sync_save(*sync, session, &j->err);
	if (!rc && cvl_sync_folder(folder, session, false, &j->err) > 0)
		fprintf(stderr, "coeval: %s cannot be written: the result is in %s\n",
			cvl_session_path(session), folder);
	return rc;
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

static int sync_session(struct job *j, const char *path, bool *untied)
{
	struct cvl_session *session;
	struct cvl_sync *sync = NULL;
	int rc = cvl_session_open(&session, path, &j->problems.report, &j->err);

	if (rc)
		return rc;
	rc = sync_options_recall_of(&j->given, session, &j->err);
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

static int follow(struct job *j, const char *path)
{
	const struct show_style style = { .format = {
						  .json = j->json, .bounds = true, .jobs = 1 } };
	int rc = sync_options_recall_from(&j->given, path, &j->err);
	const struct cvl_follow_opts opts = {
		.sync = j->given.opts,
		.save = true,
		.silent_ms = follow_silent_ms(&j->follow),
		.report = &j->problems.report,
	};
	struct show *show = show_new(&style);

	if (!rc && !show)
		rc = cvl_no_memory(&j->err);
	if (!rc)
		rc = follow_session(path, &opts, &show_view, show, &j->err);
	show_free(show);
	return rc;
}

#define AT(member) offsetof(struct job, member)

static const struct cli_option options[] = {
	SYNC_OPTIONS(AT(given)),
	{ .kind = OPTION_HEADING, .what = "What to do instead (sync.json stays as it is)" },
	{ "compare", 0, NULL, OPTION_FLAG, AT(compare), "run every estimator and say how they do" },
	{ "advise", 0, "BOUND", OPTION_DURATION, AT(wanted_ns),
	  "how bounds from messages would change with fewer or more exchanges, and at what rate they keep to BOUND (10us)",
	  1, INT64_MAX, OPTION_GIVEN(struct job, advise), .optional = true },
	{ "show", 0, NULL, OPTION_FLAG, AT(show), "print the built-in rules NAME of --match" },
	{ .kind = OPTION_HEADING, .what = "What to do besides" },
	{ "calibrate", 0, "LINE", OPTION_LINE, AT(calibrate),
	  "find the receivers' fixed delays by LINE, one wire on several observers, and use them from now on (calibration.json)" },
	FOLLOW_OPTIONS(AT(follow), "of a growing session: synchronise and show it while it grows"),
	JSON_OPTION(AT(json)),
	{ 0 },
};

static int run(int argc, char **argv, const struct verb *verb)
{
	struct job j = { .reached = true };
	struct operands operands;
	bool untied = false;
	const char *path;
	int rc =
		rules_alone(argc, argv, "--match", cvl_match_builtin_name, cvl_match_builtin_rules);

	if (rc < 0)
		rc = options_read(verb, &j, argc, argv, &operands);
	if (rc >= 0)
		return rc;
	if (j.show)
		return cli_usage(verb,
				 "--show stands alone with the rules' name: --match NAME --show");
	rc = 0;
	path = operands.v[0];
	problems_init(&j.problems);
	if (j.compare + j.follow.on + j.advise + (j.calibrate != NULL) > 1)
		return cli_usage(
			verb, "--compare, --follow, --calibrate and --advise exclude each other");
	rc = follow_check(verb, &j.follow, NULL);
	if (rc)
		return rc;
	if (j.compare && j.given.opts.estimator)
		return cli_usage(verb, "--compare runs every estimator");
	j.given.opts.report = &j.problems.report;
	progress_init(&j.progress, "reading observations");
	j.given.opts.progress = (struct cvl_progress){ progress_show, &j.progress };
	j.out = malloc(sizeof(*j.out));
	if (!j.out)
		return cli_end(cvl_no_memory(&j.err), &j.err, &j.problems);
	cvl_out_init(j.out, STDOUT_FILENO, "standard output");
	if (!j.calibrate)
		rc = sync_options_calibrate(&j.given, path, &j.err);
	if (!rc && j.follow.on) {
		rc = follow(&j, path);
	} else if (!rc) {
		rc = sync_session(&j, path, &untied);
	}
	cvl_calibration_free(j.cal);
	sync_options_free(&j.given);
	free(j.out);
	rc = cli_end(rc, &j.err, &j.problems);
	return rc ? rc : untied || !j.reached ? 1 : 0;
}

const struct verb verb_sync = {
	.name = "sync",
	.group = VERB_TIE,
	.what = "work out how each clock ran, and tie them to one timeline",
	.operands = "SESSION",
	.options = options,
	.members = &estimator_members,
	.notes =
		"Without --match, --pulse and --beacon the rules of sync.json are used again. It can be run again at any time.\n"
		"`coeval sync --match help` lists the built-in rules.\n"
		"\n"
		"Exit status 1 if a clock could not be tied, or no rate keeps to BOUND.\n",
	.examples = "  coeval sync s/ --match lttng-tcp\n"
		    "  coeval sync g/ --pulse PPS:rise:1s\n"
		    "  coeval sync g/ --compare\n"
		    "  coeval sync s/ --match lttng-tcp --advise 10us\n",
	.run = run,
};
