/* SPDX-License-Identifier: MIT */
#include "cli.h"
#include "clocks_print.h"
#include "compare.h"
#include "output.h"
#include "syncopts.h"
#include "view/save.h"

#include <coeval/files.h>
#include <coeval/report.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct report {
	struct sync_options sync;
	const char *path, *output, *svg;
	bool json;
	struct cvl_sync *saved; /* sync.json, or NULL */
	struct cvl_study *study;
	size_t figures;
};

/* ---- files ---- */

struct svg {
	const struct cvl_study *study;
	size_t figure;
};

static void put_svg(struct cvl_out *out, const void *ctx)
{
	const struct svg *svg = ctx;

	cvl_out_text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	cvl_report_figure(out, svg->figure, svg->study);
}

static int write_svg(const struct report *r, size_t i, struct cvl_error *err)
{
	const struct svg svg = { r->study, i };
	char path[CVL_PATH_MAX], name[80];

	snprintf(name, sizeof(name), "%s.svg", cvl_report_figure_name(i));
	if (!cvl_path_join(path, r->svg, name))
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long", r->svg);
	return output_write(path, put_svg, &svg, err);
}

static int write_page(struct report *r, struct cvl_session *session, struct problems *problems,
		      struct cvl_error *err)
{
	const struct cvl_report_page page = { r->path, r->saved, &r->sync.opts };
	const struct cvl_view_save_opts opts = { .report = &problems->report,
						 .study = r->study,
						 .page = &page };
	struct cvl_view_saved saved;
	int rc = view_save(r->output, session, &opts, &saved, err);

	if (!rc)
		view_save_tell(r->output, &saved);
	return rc;
}

static int write_files(struct report *r, struct cvl_session *session, struct problems *problems,
		       struct cvl_error *err)
{
	int rc = 0;

	if (r->svg && mkdir(r->svg, 0777) && errno != EEXIST)
		return cvl_fail_errno(err, "create", r->svg);
	for (size_t i = 0; cvl_report_figure_name(i) && !rc; i++) {
		if (!cvl_report_figure_fits(i, r->study))
			continue;
		r->figures++;
		if (r->svg)
			rc = write_svg(r, i, err);
	}
	return rc ? rc : write_page(r, session, problems, err);
}

/* ---- what was written ---- */

static void put_json(struct cvl_out *o, const void *report)
{
	const struct report *r = report;
	struct js j = js_begin(o);

	js_texts(&j, "session output svg", r->path, r->output, r->svg);
	js_counts(&j, "clocks figures", r->study->n_clocks, r->figures);
	js_texts(&j, "estimator reference", r->study->result[r->study->main].info->name,
		 r->study->result[r->study->main].sync->reference);
	js_real(&j, "length_s", r->study->length_s);
	compare_put(&j, r->study);
	js_open(&j, "by_clock", '[');
	for (size_t i = 0; i < r->study->n_clocks; i++) {
		js_open(&j, NULL, '{');
		js_text(&j, "clock", r->study->clock[i].sync->clock);
		clocks_put(&j, r->study->clock[i].sync);
		js_close(&j, '}');
	}
	js_close(&j, ']');
	js_end(&j);
}

static void put_text(struct cvl_out *o, const void *report)
{
	const struct report *r = report;

	cvl_out_printf(o, "%s: %zu clocks, %zu estimators, %zu figures\n", r->output,
		       r->study->n_clocks, r->study->n, r->figures);
	if (r->svg)
		cvl_out_printf(o, "%s/: the figures as SVG\n", r->svg);
}

/* ---- the verb ---- */

#define AT(member) offsetof(struct report, member)

static const struct cli_option options[] = {
	{ "output", 'o', "FILE", OPTION_FILE, AT(output),
	  "the HTML file to write (default: report.html)" },
	{ "svg", 0, "DIR", OPTION_DIR, AT(svg), "also each figure as an SVG file" },
	{ "json", 0, NULL, OPTION_FLAG, AT(json), "what was written, and the numbers, as JSON" },
	SYNC_OPTIONS(AT(sync)),
	{ 0 },
};

static int make(struct report *r, struct cvl_session *session, struct problems *problems,
		struct cvl_error *err)
{
	struct cvl_sync_opts *opts = &r->sync.opts;
	const char *estimator = opts->estimator;
	struct progress progress;
	int rc = cvl_sync_load(&r->saved, session, err);

	if (rc < 0)
		return rc;
	if (r->saved)
		rc = sync_options_recall(&r->sync, r->saved, err);
	if (rc < 0)
		return rc;
	if (!estimator && r->saved)
		estimator = r->saved->estimator;
	rc = sync_options_calibrate(&r->sync, r->path, err);
	if (rc)
		return rc;
	progress_init(&progress, "reading observations");
	opts->report = &problems->report;
	opts->progress = (struct cvl_progress){ progress_show, &progress };
	rc = cvl_study_make(&r->study, session, opts, estimator, err);
	progress_clear(&progress);
	if (!rc && opts->estimator &&
	    strcmp(r->study->result[r->study->main].info->name, opts->estimator))
		rc = cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
			      "--estimator: '%s' cannot be used on these observations",
			      opts->estimator);
	return rc ? rc : write_files(r, session, problems, err);
}

static int run(int argc, char **argv, const struct verb *verb)
{
	struct report *r = calloc(1, sizeof(*r));
	struct cvl_session *session;
	struct operands operands;
	struct problems problems;
	struct cvl_error err;
	int rc;

	if (!r) {
		cvl_no_memory(&err);
		return cli_fail(&err);
	}
	problems_init(&problems);
	r->output = "report.html";
	rc = options_read(verb, r, argc, argv, &operands);
	if (rc >= 0) {
		free(r);
		return rc;
	}
	r->path = operands.v[0];
	rc = cvl_session_open(&session, r->path, &problems.report, &err);
	if (!rc) {
		rc = make(r, session, &problems, &err);
		if (!rc)
			rc = output_print(r->json ? put_json : put_text, r, &err);
		cvl_study_free(r->study);
		cvl_session_close(session);
	}
	cvl_sync_free(r->saved);
	sync_options_free(&r->sync);
	free(r);
	return cli_end(rc, &err, &problems);
}

const struct verb verb_report = {
	.name = "report",
	.group = VERB_LOOK,
	.what = "write a page of it, with figures on how well it is synchronised",
	.operands = "SESSION",
	.options = options,
	.members = &estimator_members,
	.notes =
		"The session is not changed. Every estimator that fits is tried, and one is shown in depth: the one of --estimator, or else of sync.json; with truth.json beside the session (see `coeval help sim`) the page also shows the error of each. It is one file that needs no network: the page of `coeval view` with its data, at most 20 MB; Esc shows the timeline, Y the figures.\n",
	.examples = "  coeval report s/ -o s.html\n"
		    "  coeval report g/ --pulse PPS:rise:1s --svg figures/\n",
	.run = run,
};
