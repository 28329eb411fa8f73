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

enum { OPT_SVG = 256 };

static const struct option options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "svg", required_argument, NULL, OPT_SVG },
	SYNC_OPTIONS,
	CLI_HELP_OPTION,
	{ 0 },
};

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

/* Returns an exit status, or -1 to go on. */
static int parse_options(int argc, char **argv, const struct verb *verb, struct report *r)
{
	int c, rc;

	while ((c = getopt_long(argc, argv, "o:h", options, NULL)) != -1) {
		if (c == 'o') {
			r->output = optarg;
			continue;
		}
		if (c == OPT_SVG) {
			r->svg = optarg;
			continue;
		}
		rc = sync_option(&r->sync, c, optarg, verb);
		if (rc < 0)
			return cli_option(c, verb);
		if (rc)
			return rc;
	}
	if (optind + 1 != argc)
		return cli_usage(verb, "name one session");
	r->path = argv[optind];
	return -1;
}

static int know_estimator(const char *name, struct cvl_error *err)
{
	const struct cvl_estimator_info *info;

	for (size_t i = 0; (info = cvl_sync_estimator(i)); i++)
		if (!strcmp(info->name, name))
			return 0;
	return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
			"there is no estimator '%s'; `coeval help sync` tells of them", name);
}

static int make(struct report *r, struct cvl_session *session, struct problems *problems,
		struct cvl_error *err)
{
	struct cvl_sync_opts *opts = &r->sync.opts;
	const char *estimator = opts->estimator;
	struct progress progress;
	int rc = cvl_sync_load(&r->saved, session, err);

	if (rc >= 0 && estimator)
		rc = know_estimator(estimator, err);
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
	struct problems problems;
	struct cvl_error err;
	int rc;

	if (!r) {
		cvl_no_memory(&err);
		return cli_fail(&err);
	}
	problems_init(&problems);
	r->output = "report.html";
	rc = parse_options(argc, argv, verb, r);
	if (rc >= 0) {
		free(r);
		return rc;
	}
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
	.what = "how well a session is synchronised, as a page with figures",
	.usage = "report [OPTIONS] SESSION",
	.help = "  -o, --output FILE         the HTML file to write (default report.html)\n"
		"      --svg DIR             also each figure as an SVG file\n"
		"      --estimator NAME      look at this one in depth (default: the one in sync.json)\n"
		"\n"
		"Observations, as with sync (default: the rules of sync.json):\n"
		"      --match RULE          messages between events: lttng-tcp, tracer, or a YAML file of rules\n"
		"      --pulse LINE:EDGE:T   pulses: every rising or falling edge of LINE, T apart\n"
		"      --beacon T            time from one beacon to the next (default 1s)\n"
		"      --reference CLOCK     the clock whose time becomes the timeline\n"
		"      --max-drift [CLOCK=]PPM  how far a clock's rate may be off (default 200; of a pair they add)\n"
		"      --wander PPB_PER_S    how fast a rate may change (default: not limited)\n"
		"      --strict              stop at damaged input\n"
		"\n"
		"The session stays as it is. Every estimator that fits is tried; with truth.json beside the session\n"
		"(see coeval sim) also how far each is off. The page needs no network and no scripts.\n"
		"\n"
		"Examples:\n"
		"  coeval report s/ -o s.html\n"
		"  coeval report g/ --pulse PPS:rise:1s --svg figures/\n",
	.run = run,
};
