/* SPDX-License-Identifier: MIT */
#include "cli.h"
#include "report/figures.h"
#include "report/page.h"
#include "report/study.h"
#include "syncopts.h"

#include <coeval/files.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FIGURES_MAX 16

struct report {
	struct sync_options sync;
	const char *path, *output, *svg;
	struct cvl_sync *saved; /* sync.json, or NULL */
	struct study study;
	char *figure[FIGURES_MAX]; /* as SVG, or NULL: nothing to draw */
};

/* ---- figures ---- */

static int draw(struct report *r, struct cvl_error *err)
{
	for (size_t i = 0; figures[i] && i < FIGURES_MAX; i++) {
		size_t n;
		FILE *f;

		if (!figures[i]->fits(&r->study))
			continue;
		f = open_memstream(&r->figure[i], &n);
		if (!f)
			return cvl_no_memory(err);
		figures[i]->draw(&r->study, figures[i]->title, f);
		if (ferror(f) | fclose(f))
			return cvl_no_memory(err);
	}
	return 0;
}

static int write_svgs(const struct report *r, struct cvl_error *err)
{
	int rc = 0;

	if (mkdir(r->svg, 0777) && errno != EEXIST)
		return cvl_fail_errno(err, "create", r->svg);
	for (size_t i = 0; figures[i] && !rc; i++) {
		char path[CVL_PATH_MAX], name[80], *text = NULL;
		size_t n;
		FILE *f;

		if (!r->figure[i])
			continue;
		snprintf(name, sizeof(name), "%s.svg", figures[i]->name);
		if (!cvl_path_join(path, r->svg, name))
			return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long",
					r->svg);
		f = open_memstream(&text, &n);
		if (!f)
			return cvl_no_memory(err);
		fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", f);
		fputs(r->figure[i], f);
		rc = ferror(f) | fclose(f) ? cvl_no_memory(err) :
					     cvl_write_whole(path, text, n, err);
		free(text);
	}
	return rc;
}

static int write_html(const struct report *r, struct cvl_error *err)
{
	const struct page page = {
		.path = r->path,
		.saved = r->saved,
		.opts = &r->sync.opts,
		.study = &r->study,
		.figure = r->figure,
	};
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);
	int rc;

	if (!f)
		return cvl_no_memory(err);
	page_put(&page, f);
	rc = ferror(f) | fclose(f) ? cvl_no_memory(err) : cvl_write_whole(r->output, text, n, err);
	free(text);
	return rc;
}

/* ---- the verb ---- */

#define AT(member) offsetof(struct report, member)

static const struct cli_option options[] = {
	{ "output", 'o', "FILE", OPTION_FILE, AT(output),
	  "the HTML file to write (default: report.html)" },
	{ "svg", 0, "DIR", OPTION_DIR, AT(svg), "also each figure as an SVG file" },
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
	rc = study_make(&r->study, session, opts, estimator, err);
	progress_clear(&progress);
	if (!rc && opts->estimator &&
	    strcmp(r->study.result[r->study.main].info->name, opts->estimator))
		rc = cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
			      "--estimator: '%s' cannot be used on these observations",
			      opts->estimator);
	if (!rc)
		rc = draw(r, err);
	if (!rc && r->svg)
		rc = write_svgs(r, err);
	return rc ? rc : write_html(r, err);
}

static void tell(const struct report *r)
{
	size_t n = 0;

	for (size_t i = 0; i < FIGURES_MAX; i++)
		n += r->figure[i] != NULL;
	printf("%s: %zu clocks, %zu estimators, %zu figures\n", r->output, r->study.n_clocks,
	       r->study.n, n);
	if (r->svg)
		printf("%s/: the figures as SVG\n", r->svg);
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
		if (!rc) {
			tell(r);
			rc = cli_flush();
		}
		study_free(&r->study);
		cvl_session_close(session);
	}
	for (size_t i = 0; i < FIGURES_MAX; i++)
		free(r->figure[i]);
	cvl_sync_free(r->saved);
	sync_options_free(&r->sync);
	free(r);
	return rc > 0 ? rc : cli_end(rc, &err, &problems);
}

const struct verb verb_report = {
	.name = "report",
	.group = VERB_LOOK,
	.what = "write a page of figures on how well it is synchronised",
	.operands = "SESSION",
	.options = options,
	.members = &estimator_members,
	.notes =
		"The session stays as it is. Every estimator that fits is tried, and one is shown in depth: the one of --estimator, or else of sync.json; with truth.json beside the session (see `coeval help sim`) the page also says how far each is off. It is one file that needs no network and no scripts.\n",
	.examples = "  coeval report s/ -o s.html\n"
		    "  coeval report g/ --pulse PPS:rise:1s --svg figures/\n",
	.run = run,
};
