/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include <stdlib.h>
#include <unistd.h>

#include "check_print.h"
#include "follow.h"
#include <coeval/check.h>

struct request {
	struct cvl_timeline_opts opts;
	struct cvl_check_rules *rules;
	struct follow_options follow;
	const char *session, *junit;
	bool json, strict;
	struct cvl_analysis *check; /* at work, or NULL */
	bool late;   /* while it was followed records came too late to decide by them */
	bool again;  /* and without them it cannot be told: there is a second pass */
	bool second; /* this is it */
};

#define AT(member) offsetof(struct request, member)

static const struct cli_option options[] = {
	RANGE_OPTIONS(AT(opts)),
	{ "junit", 0, "FILE", OPTION_FILE, AT(junit),
	  "also write the verdicts as JUnit XML, for continuous integration" },
	{ "strict", 0, NULL, OPTION_FLAG, AT(strict),
	  "exit status 1 also for rules that are undecided or were not tried" },
	NOMINAL_OPTION(AT(opts.nominal)),
	FOLLOW_OPTIONS(
		AT(follow),
		"of a growing session: check as it grows, until a rule is violated, its writer ends or ^C"),
	JSON_OPTION(AT(json)),
	{ 0 },
};

static int print(const struct cvl_check_result *result, const struct request *r,
		 struct cvl_error *err)
{
	struct cvl_out *o = malloc(sizeof(*o));
	int rc = o ? 0 : cvl_no_memory(err);

	if (!rc && r->junit) {
		rc = cvl_out_open(o, r->junit, err);
		if (!rc) {
			check_print_junit(result, r->session, r->strict, o);
			rc = cvl_out_close(o, err);
		}
	}
	if (!rc) {
		cvl_out_init(o, STDOUT_FILENO, "standard output");
		if (r->json)
			check_print_json(result, r->session, o);
		else
			check_print_text(result, o);
		rc = cvl_out_flush(o, err);
	}
	free(o);
	return rc;
}

/* The result as a status: 0, or CVL_E_NO with the reason. */
static int answer(const struct cvl_check_result *result, const struct request *r,
		  struct cvl_error *err)
{
	size_t violated = result->count[CVL_CHECK_VIOLATED];
	size_t open = result->count[CVL_CHECK_CANNOT_TELL] + result->count[CVL_CHECK_VACUOUS];

	if (violated)
		return cvl_fail(err, CVL_E_NO, CVL_NO_OFFSET, "%s: %zu of %zu rules violated",
				r->session, violated, result->n);
	if (r->strict && open)
		return cvl_fail(err, CVL_E_NO, CVL_NO_OFFSET,
				"%s: of %zu of %zu rules it cannot be said that they hold",
				r->session, open, result->n);
	return 0;
}

static int report(const struct request *r, struct cvl_error *err)
{
	const struct cvl_check_result *result = cvl_check_result(r->check);
	int rc = print(result, r, err);

	return rc ? rc : answer(result, r, err);
}

static int begin(void *request, struct cvl_timeline *tl, struct cvl_error *err)
{
	struct request *r = request;
	const struct cvl_check_opts opts = { .rules = r->rules };

	return cvl_check_open(&r->check, tl, &opts, err);
}

static void drop(struct request *r)
{
	cvl_analysis_free(r->check);
	r->check = NULL;
}

static int check(void *request, struct cvl_session *session, struct cvl_error *err)
{
	struct request *r = request;
	struct cvl_timeline *tl = NULL;
	int rc = cvl_timeline_open(&tl, session, &r->opts, err);

	if (!rc)
		rc = begin(r, tl, err);
	if (!rc)
		rc = cvl_analyse(tl, &r->check, 1, err);
	progress_clear(r->opts.progress.ctx);
	if (!rc)
		rc = report(r, err);
	drop(r);
	cvl_timeline_close(tl);
	return rc;
}

/* ---- --follow ---- */

static int push(void *request, const struct cvl_slice *slice, struct cvl_error *err)
{
	struct request *r = request;
	int rc = cvl_analysis_push(r->check, slice, err);

	for (size_t i = slice->begin; i < slice->end && !r->late; i++)
		r->late = slice->batch->flags[i] & CVL_LATE;
	return rc ? rc : cvl_check_violated(r->check);
}

/* Whether what came late could decide it. */
static bool is_open(const struct cvl_check_result *result)
{
	return !result->count[CVL_CHECK_VIOLATED] && result->count[CVL_CHECK_CANNOT_TELL];
}

static int end(void *request, struct cvl_time last, struct cvl_error *err)
{
	struct request *r = request;
	int rc = cvl_analysis_end(r->check, last, err);
	const bool wait = !rc && r->late && !r->second && !follow_interrupted() &&
			  is_open(cvl_check_result(r->check));

	r->again = r->again || wait;
	if (!rc && !wait)
		rc = report(r, err);
	drop(r);
	return rc;
}

static const struct follow_view view = { .begin = begin, .slice = push, .end = end };

/* Of a session that has ended nobody is waited for in vain: all is in order. */
static int follow_all(struct request *r)
{
	int rc = follow_study(r->session, &r->follow, &r->opts, &view, r);

	if (rc || !r->again)
		return rc;
	r->second = true;
	return follow_study(r->session, &r->follow, &r->opts, &view, r);
}

static int run(int argc, char **argv, const struct verb *verb)
{
	struct request r = { 0 };
	struct operands operands;
	struct cvl_error err;
	int rc = options_read(verb, &r, argc, argv, &operands);

	if (rc >= 0)
		return rc;
	rc = follow_check(verb, &r.follow, &r.opts);
	if (rc)
		return rc;
	r.session = operands.v[0];
	rc = cvl_check_rules_load(&r.rules, operands.v[1], &err);
	if (rc)
		rc = cli_fail(&err);
	else if (r.follow.on)
		rc = follow_all(&r);
	else
		rc = cli_study(r.session, "checking", &r.opts, check, &r);
	drop(&r);
	cvl_check_rules_free(r.rules);
	return rc;
}

const struct verb verb_check = {
	.name = "check",
	.group = VERB_ASK,
	.what = "check the timeline against rules on order, times and counts",
	.operands = "SESSION RULES.yaml",
	.options = options,
	.notes = "Rules are a YAML list (docs/check.md):\n"
		 "  - { after: n1.TX:rise, then: other.RX:rise, within: 500us }\n"
		 "  - { after: SLEEP:rise, never: TX:rise, within: 1ms to 5ms }\n"
		 "  - { state: LED:high, at most: 2ms, at least: 100us }\n"
		 "  - { never: TX:high, while: other.TX:high }\n"
		 "  - { order: [boot, ready, TX:rise] }\n"
		 "  - { count: any n*.TX:rise, at most: 5, in: 1s }\n"
		 "  - { event: n1.TICK:rise, every: 100ms +- 2ms }\n"
		 "A rule that names no node is checked on each node separately.\n"
		 "\n"
		 "Exit status: 0 if no rule is violated, 1 if one is.\n",
	.examples = "  coeval check s/ rules.yaml --junit results.xml\n"
		    "  coeval check s/ rules.yaml --follow --silent-after 1min\n",
	.run = run,
};
