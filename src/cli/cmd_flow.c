/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flow/view.h"

#define PAIRS_MAX 16

struct request {
	struct flow_view view;
	struct flow_times times[PAIRS_MAX];
	char *between[PAIRS_MAX];
	size_t pairs;
	struct cvl_timeline_opts timeline;
	struct progress progress;
	const char *map, *svg;
	bool path;
};

static int item(void *ctx, const struct flow_node *node, const struct flow_item *item)
{
	struct request *r = ctx;

	if (r->path) {
		progress_clear(&r->progress);
		flow_view_item(&r->view, node, item);
	} else {
		flow_view_keep(&r->view, node, item);
	}
	return 0;
}

static int find_point(const struct flow_map *map, const char *name, uint32_t *point,
		      struct cvl_error *err)
{
	*point = flow_map_find(map, name);
	if (*point == FLOW_NONE)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "--between: %s has no point '%s'",
				map->file, name);
	if (!map->point[*point].n_code)
		return cvl_fail(
			err, CVL_E_USAGE, CVL_NO_OFFSET,
			"--between: %s has no marker (%s:%u), so nobody knows when it is passed",
			name, map->file, map->point[*point].line);
	return 0;
}

static int find_pairs(struct request *r, struct cvl_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < r->pairs && !rc; i++) {
		char *colon = strchr(r->between[i], ':');

		*colon = '\0';
		rc = find_point(r->view.map, r->between[i], &r->times[i].pair.from, err);
		if (!rc)
			rc = find_point(r->view.map, colon + 1, &r->times[i].pair.to, err);
	}
	return rc;
}

static int study(struct request *r, struct cvl_session *session, struct cvl_error *err)
{
	struct flow_view *v = &r->view;
	struct cvl_timeline *tl = NULL;
	int rc = cvl_timeline_open(&tl, session, &r->timeline, err);

	v->study.map = v->map;
	v->study.times = r->times;
	v->study.pairs = r->pairs;
	v->study.item = item;
	v->study.ctx = r;
	if (!rc) {
		cvl_out_init(v->out, STDOUT_FILENO, "standard output");
		rc = flow_study_run(&v->study, tl, err);
		progress_clear(&r->progress);
	}
	if (!rc && !r->path)
		rc = v->json ? flow_view_json(v, err) : flow_view_text(v, err);
	if (!rc && r->svg)
		rc = flow_view_svg(v, r->svg, err);
	/* What was found before it went wrong is shown, too. */
	if (tl && (!rc || r->path)) {
		struct cvl_error late;
		int flushed = cvl_out_flush(v->out, rc ? &late : err);

		rc = rc ? rc : flushed;
	}
	flow_study_free(&v->study);
	cvl_timeline_close(tl);
	return rc;
}

static int take_between(const struct verb *verb, void *to, char *text)
{
	struct request *r = to;

	if (r->pairs == PAIRS_MAX)
		return cli_usage(verb, "--between: more than %d pairs", PAIRS_MAX);
	if (!strchr(text, ':'))
		return cli_usage(verb, "--between takes two points, A:B, not '%s'", text);
	r->between[r->pairs++] = text;
	return 0;
}

#define AT(member) offsetof(struct request, member)

static const struct cli_option options[] = {
	{ "between", 0, "A:B", OPTION_TEXT, 0,
	  "times from A to the next B: best, mean, percentiles, worst, histogram; may be repeated",
	  .take = take_between },
	{ "svg", 0, "FILE", OPTION_FILE, AT(svg), "also draw these histograms" },
	{ "path", 0, NULL, OPTION_FLAG, AT(path),
	  "instead each point passed, with its time and bound" },
	{ "from-start", 0, NULL, OPTION_FLAG, AT(view.study.from_start),
	  "the capture began before the program did" },
	RANGE_OPTIONS(AT(timeline)),
	{ "json", 0, NULL, OPTION_FLAG, AT(view.json), "print JSON; with --path an object a line" },
	STRICT_OPTION(AT(timeline.strict)),
	{ 0 },
};

/* Returns an exit status, or -1 to go on. */
static int parse_options(int argc, char **argv, const struct verb *verb, struct request *r)
{
	struct operands operands;
	int rc = options_read(verb, r, argc, argv, &operands);

	if (rc >= 0)
		return rc;
	if (r->svg && !r->pairs)
		return cli_usage(verb, "--svg draws the times that --between asks for");
	if (r->view.study.from_start && r->timeline.has_from)
		return cli_usage(verb, "--from-start or --from, not both");
	r->view.path = operands.v[0];
	r->map = operands.v[1];
	return -1;
}

static int show(struct request *r)
{
	struct problems problems;
	struct cvl_session *session;
	struct flow_map map;
	struct cvl_error err;
	int rc;

	problems_init(&problems);
	progress_init(&r->progress, "reading");
	r->timeline.report = &problems.report;
	r->timeline.progress = (struct cvl_progress){ progress_show, &r->progress };
	rc = flow_map_load(&map, r->map, false, &err);
	if (rc)
		return cli_fail(&err);
	r->view.map = &map;
	r->view.out = malloc(sizeof(*r->view.out));
	rc = r->view.out ? find_pairs(r, &err) : cvl_no_memory(&err);
	if (!rc)
		rc = cvl_session_open(&session, r->view.path, &problems.report, &err);
	if (!rc) {
		rc = study(r, session, &err);
		cvl_session_close(session);
	}
	for (size_t i = 0; i < r->pairs; i++)
		flow_times_free(&r->times[i]);
	flow_map_free(&map);
	free(r->view.out);
	return cli_end(rc, &err, &problems);
}

static int run(int argc, char **argv, const struct verb *verb)
{
	struct request *r;
	int rc;

	r = calloc(1, sizeof(*r));
	if (!r)
		abort();
	rc = parse_options(argc, argv, verb, r);
	if (rc < 0)
		rc = show(r);
	free(r);
	return rc;
}

extern const struct verb flow_assign_verb;

static const struct verb *const parts[] = { &flow_assign_verb, NULL };

const struct verb verb_flow = {
	.name = "flow",
	.group = VERB_ASK,
	.what = "follow a program by markers on pins: coverage, times",
	.operands = "SESSION MAP.yaml",
	.options = options,
	.parts = parts,
	.notes =
		"The map tells which changes of pins mean which point of the program (docs/flow.md); `coeval flow assign` makes one. Every clock that has the map's pins is decoded.\n",
	.examples = "  coeval flow s/ map.yaml --between loop:loop\n"
		    "  coeval flow s/ map.yaml --path --node n1\n",
	.run = run,
};
