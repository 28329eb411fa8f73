/* SPDX-License-Identifier: MIT */
#include "cli.h"
#include "rules.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calls/config.h"
#include "calls/view.h"
#include "view/save.h"

struct request {
	struct cvl_timeline_opts opts;
	struct cvl_calls_config *config;
	struct calls_options calls;
	const char *session, *chosen, *svg, *html;
	unsigned top;
	bool json, folded, off_cpu, show;
};

enum document { FOLDED, FLAME };

static int put(const struct calls_view *v, enum document what, struct cvl_out *o,
	       struct cvl_error *err)
{
	return what == FOLDED ? cvl_calls_folded(v->a, v->off_cpu, o, err) :
				cvl_calls_flame(v->a, v->session, v->off_cpu, o, err);
}

static int write_file(const struct calls_view *v, const char *path, enum document what,
		      struct cvl_out *o, struct cvl_error *err)
{
	int rc = path ? cvl_out_open(o, path, err) : 0;

	if (rc || !path)
		return rc;
	rc = put(v, what, o, err);
	return cvl_out_close(o, rc ? NULL : err) && !rc ? CVL_E_IO : rc;
}

static int print(const struct calls_view *v, const struct request *r, struct cvl_error *err)
{
	struct cvl_out *o = malloc(sizeof(*o));
	int rc;

	if (!o)
		return cvl_no_memory(err);
	rc = write_file(v, r->svg, FLAME, o, err);
	cvl_out_init(o, STDOUT_FILENO, "standard output");
	if (!rc && r->json)
		calls_view_json(v, o);
	else if (!rc && r->folded)
		rc = put(v, FOLDED, o, err);
	else if (!rc)
		calls_view_text(v, o);
	rc = rc ? rc : cvl_out_flush(o, err);
	free(o);
	return rc;
}

static void warn_of_program(const struct calls_view *v, const struct request *r)
{
	struct cvl_error problem;

	cvl_fail(
		&problem, CVL_E_MISMATCH, CVL_NO_OFFSET,
		"%s: no address of the trace lies in its code (0x%llx is the first): is it the program that ran? One that is position-independent is "
		"loaded somewhere else each time: --elf FILE@ADDRESS, with the address of its first mapping",
		r->calls.program, (unsigned long long)v->r->first_address);
	cvl_tell(r->opts.report, &problem);
}

/* Add a hint to the error. */
static void advise(struct cvl_error *err)
{
	size_t n = strlen(err->text);

	snprintf(
		err->text + n, sizeof(err->text) - n,
		"; name yours by --rules FILE (`coeval calls --rules help` prints the built-in ones)");
}

static int write_page(const struct request *r, struct cvl_session *session, struct cvl_error *err)
{
	const struct cvl_view_save_opts opts = { .has_from = r->opts.has_from,
						 .has_until = r->opts.has_until,
						 .from = r->opts.from,
						 .until = r->opts.until,
						 .report = r->opts.report,
						 .studies = { .calls = r->config } };
	struct cvl_view_saved saved;
	int rc = view_save(r->html, session, &opts, &saved, err);

	if (!rc)
		view_save_tell(r->html, &saved);
	return rc;
}

static int calls(void *request, struct cvl_session *session, struct cvl_error *err)
{
	const struct request *r = request;
	const struct cvl_calls_opts opts = { .config = r->config, .path = r->chosen };
	struct cvl_timeline *tl;
	struct cvl_analysis *a = NULL;
	struct calls_view v = { .session = r->session, .top = r->top, .off_cpu = r->off_cpu };
	int rc = cvl_timeline_open(&tl, session, &r->opts, err);

	if (rc)
		return rc;
	rc = cvl_calls_open(&a, tl, &opts, err);
	if (!rc)
		rc = cvl_analyse(tl, &a, 1, err);
	if (rc == CVL_E_NO)
		advise(err);
	progress_clear(r->opts.progress.ctx);
	v.a = a;
	v.r = rc ? NULL : cvl_calls_result(a);
	if (!rc && v.r->other_program)
		warn_of_program(&v, r);
	if (!rc && r->chosen && !v.r->chosen)
		rc = cvl_fail(err, CVL_E_NO, CVL_NO_OFFSET,
			      "%s: --path %s: no such function or lane", r->session, r->chosen);
	if (!rc && r->html)
		rc = write_page(r, session, err);
	if (!rc)
		rc = print(&v, r, err);
	cvl_analysis_free(a);
	cvl_timeline_close(tl);
	return rc;
}

/* ---- the command line ---- */

#define AT(member) offsetof(struct request, member)

static const struct cli_option options[] = {
	CALLS_OPTIONS(struct request, calls),
	{ "show", 0, NULL, OPTION_FLAG, AT(show), "print the built-in rules NAME of --rules" },
	{ "path", 0, "[NODE.]GLOB", OPTION_TEXT, AT(chosen),
	  "critical path of the longest span of this name, or of the thread (default: of the longest span of all)" },
	RANGE_OPTIONS(AT(opts)),
	{ .kind = OPTION_HEADING, .what = "Output" },
	{ "top", 0, "N", OPTION_NUMBER, AT(top), "rows of each table (default: 30)", 1, 1000000 },
	{ "folded", 0, NULL, OPTION_FLAG, AT(folded),
	  "folded stacks, with self times in ns, instead of tables" },
	{ "svg", 0, "FILE", OPTION_FILE, AT(svg), "also write a flame graph" },
	{ "off-cpu", 0, NULL, OPTION_FLAG, AT(off_cpu),
	  "of --folded and --svg: times when the thread did not run" },
	{ "html", 0, "FILE", OPTION_FILE, AT(html),
	  "also write the page of `coeval view` with its data" },
	JSON_OPTION(AT(json)),
	NOMINAL_OPTION(AT(opts.nominal)),
	STRICT_OPTION(AT(opts.strict)),
	{ 0 },
};

static int run(int argc, char **argv, const struct verb *verb)
{
	struct request r = { .top = 30, .config = cvl_calls_config_new() };
	struct operands operands;
	struct cvl_error err;
	int status;

	if (!r.config) {
		cvl_no_memory(&err);
		return cli_fail(&err);
	}
	status =
		rules_alone(argc, argv, "--rules", cvl_calls_builtin_name, cvl_calls_builtin_rules);
	if (status >= 0) {
		cvl_calls_config_free(r.config);
		return status;
	}
	status = options_read(verb, &r, argc, argv, &operands);
	if (status < 0 && r.json && r.folded)
		status = cli_usage(verb, "--json and --folded exclude each other");
	if (status < 0 && r.show)
		status = cli_usage(verb,
				   "--show stands alone with the rules' name: --rules NAME --show");
	if (status < 0 && r.off_cpu && !r.folded && !r.svg)
		status = cli_usage(verb, "--off-cpu is for --folded or --svg");
	if (status < 0 && calls_options_load(&r.calls, r.config, &err))
		status = cli_fail(&err);
	if (status < 0) {
		r.session = operands.v[0];
		status = cli_study(r.session, "reading", &r.opts, calls, &r);
	}
	cvl_calls_config_free(r.config);
	return status;
}

const struct verb verb_calls = {
	.name = "calls",
	.group = VERB_ASK,
	.what = "call stacks of all cores: where time went, who waited for whom",
	.operands = "SESSION|TRACE",
	.options = options,
	.examples = "  coeval calls s/ --html calls.html\n",
	.run = run,
};
