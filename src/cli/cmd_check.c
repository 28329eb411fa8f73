/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include <stdlib.h>
#include <unistd.h>

#include "check_print.h"
#include <coeval/files.h>

#define FILE_MAX (1u << 20)

struct request {
	struct cvl_timeline_opts opts;
	struct check_rules rules;
	const char *session, *junit;
	bool json, strict;
};

#define AT(member) offsetof(struct request, member)

static const struct cli_option options[] = {
	RANGE_OPTIONS(AT(opts)),
	{ "junit", 0, "FILE", OPTION_FILE, AT(junit),
	  "also write the verdicts as JUnit XML, for continuous integration" },
	{ "strict", 0, NULL, OPTION_FLAG, AT(strict),
	  "exit status 1 also for rules that cannot be told or were not tried" },
	NOMINAL_OPTION(AT(opts.nominal)),
	JSON_OPTION(AT(json)),
	{ 0 },
};

static int read_rules(struct check_rules *rules, const char *path, struct cvl_error *err)
{
	size_t n;
	char *text = cvl_read_whole(path, FILE_MAX, &n, err);
	int rc;

	if (!text)
		return (int)err->code;
	rc = check_rules_parse(rules, text, n, path, err);
	free(text);
	return rc;
}

static int study(struct check *check, struct cvl_timeline *tl, const struct request *r,
		 struct cvl_error *err)
{
	struct cvl_slice slice;
	int rc;

	while ((rc = cvl_timeline_next(tl, &slice, err)) > 0) {
		rc = check_push(check, &slice, err);
		if (rc)
			return rc;
	}
	return rc ? rc : check_end(check, r->opts.has_until ? r->opts.until : CVL_TIME_MAX, err);
}

static int print(const struct check_report *report, const struct request *r, struct cvl_out *o,
		 struct cvl_error *err)
{
	int rc = 0;

	if (r->junit) {
		rc = cvl_out_open(o, r->junit, err);
		if (rc)
			return rc;
		check_print_junit(report, o);
		rc = cvl_out_close(o, err);
	}
	cvl_out_init(o, STDOUT_FILENO, "standard output");
	if (!rc && r->json)
		check_print_json(report, o);
	else if (!rc)
		check_print_text(report, o);
	return rc ? rc : cvl_out_flush(o, err);
}

/* The answer as a status: 0, or CVL_E_NO and why. */
static int answer(const struct check_report *r, struct cvl_error *err)
{
	size_t violated = check_count(r, CHECK_VIOLATED);
	size_t open = check_count(r, CHECK_CANNOT_TELL) + check_count(r, CHECK_VACUOUS);

	if (violated)
		return cvl_fail(err, CVL_E_NO, CVL_NO_OFFSET, "%s: %zu of %zu rules violated",
				r->session, violated, r->rules->n);
	if (r->strict && open)
		return cvl_fail(err, CVL_E_NO, CVL_NO_OFFSET,
				"%s: of %zu of %zu rules it cannot be said that they hold",
				r->session, open, r->rules->n);
	return 0;
}

static int check(void *request, struct cvl_session *session, struct cvl_error *err)
{
	const struct request *r = request;
	struct check_report report = { .rules = &r->rules,
				       .session = r->session,
				       .strict = r->strict };
	struct cvl_out *o = malloc(sizeof(*o));
	struct cvl_timeline *tl = NULL;
	struct check *check = NULL;
	int rc;

	rc = o ? cvl_timeline_open(&tl, session, &r->opts, err) : cvl_no_memory(err);
	if (!rc)
		rc = check_open(&check, &r->rules, tl, err);
	if (!rc)
		rc = study(check, tl, r, err);
	progress_clear(r->opts.progress.ctx);
	report.check = check;
	if (!rc)
		rc = print(&report, r, o, err);
	if (!rc)
		rc = answer(&report, err);
	check_close(check);
	cvl_timeline_close(tl);
	free(o);
	return rc;
}

static int run(int argc, char **argv, const struct verb *verb)
{
	struct request r = { 0 };
	struct operands operands;
	struct cvl_error err;
	int rc = options_read(verb, &r, argc, argv, &operands);

	if (rc >= 0)
		return rc;
	r.session = operands.v[0];
	rc = read_rules(&r.rules, operands.v[1], &err);
	rc = rc ? cli_fail(&err) : cli_study(r.session, "checking", &r.opts, check, &r);
	check_rules_free(&r.rules);
	return rc;
}

const struct verb verb_check = {
	.name = "check",
	.group = VERB_ASK,
	.what = "check the timeline against rules on order, times and counts",
	.operands = "SESSION RULES.yaml",
	.options = options,
	.notes = "Rules are a YAML list (docs/check.md):\n"
		 "  - { after: n1.TX rises, then: other.RX rises, within: 500us }\n"
		 "  - { after: SLEEP rises, never: TX rises, within: 1ms to 5ms }\n"
		 "  - { state: LED is high, at most: 2ms, at least: 100us }\n"
		 "  - { never: TX is high, while: other.TX is high }\n"
		 "  - { order: [boot, ready, TX rises] }\n"
		 "  - { count: any n*.TX rises, at most: 5, in: 1s }\n"
		 "  - { event: n1.TICK rises, every: 100ms +- 2ms }\n"
		 "A rule that names no node is checked on each node by itself.\n"
		 "\n"
		 "Exit status: 0 if no rule is violated, 1 if one is.\n",
	.examples = "  coeval check s/ rules.yaml --junit results.xml\n",
	.run = run,
};
