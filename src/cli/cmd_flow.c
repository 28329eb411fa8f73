/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "flow/view.h"
#include "output.h"

struct request {
	struct cvl_timeline_opts timeline;
	struct cvl_flow_opts flow;
	const char *between[CVL_FLOW_PAIRS_MAX][2];
	const char *old; /* what is new, of an old spelling */
	const char *session, *map, *svg;
	struct cvl_out *out;
	bool path, json;
};

static int item(void *ctx, const char *clock, const struct cvl_flow_item *item)
{
	struct request *r = ctx;

	progress_clear(r->timeline.progress.ctx);
	flow_view_item(r->flow.map, clock, item, r->json, r->out);
	return 0;
}

static int find_point(const struct cvl_flow_map *map, const char *name, uint32_t *point,
		      struct cvl_error *err)
{
	*point = cvl_flow_map_find(map, name);
	if (*point == CVL_FLOW_NONE)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "--between: %s has no point '%s'",
				map->file, name);
	if (!map->point[*point].n_code)
		return cvl_fail(
			err, CVL_E_USAGE, CVL_NO_OFFSET,
			"--between: %s has no marker (%s:%u), so the time of passing it is unknown",
			name, map->file, map->point[*point].line);
	return 0;
}

static int find_pairs(struct request *r, struct cvl_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < r->flow.n_pairs && !rc; i++) {
		rc = find_point(r->flow.map, r->between[i][0], &r->flow.pair[i].from, err);
		if (!rc)
			rc = find_point(r->flow.map, r->between[i][1], &r->flow.pair[i].to, err);
	}
	return rc;
}

static void put_svg(struct cvl_out *o, const void *result)
{
	const struct cvl_flow_result *r = result;
	const struct cvl_durations *times[CVL_FLOW_PAIRS_MAX];
	char text[CVL_FLOW_PAIRS_MAX][3 * CVL_FLOW_NAME_MAX];
	const char *name[CVL_FLOW_PAIRS_MAX];

	for (size_t i = 0; i < r->n_times; i++) {
		times[i] = &r->times[i].times;
		name[i] = text[i];
		snprintf(text[i], sizeof(text[i]), "%s to %s: %zu times",
			 r->map->point[r->times[i].pair.from].name,
			 r->map->point[r->times[i].pair.to].name, times[i]->n);
	}
	cvl_durations_svg("times between points", name, times, r->n_times, o);
}

/* Add a hint to the library's error. */
static void advise(int rc, struct cvl_error *err)
{
	const size_t n = strlen(err->text);
	const char *hint =
		rc == CVL_E_UNKNOWN_ID ?
			"; `coeval info` lists clocks and lines, --node leaves clocks out" :
		rc == CVL_E_LIMIT ? " by --from and --to" :
				    "";

	snprintf(err->text + n, sizeof(err->text) - n, "%s", hint);
}

static int print(const struct request *r, const struct cvl_flow_result *result,
		 struct cvl_error *err)
{
	if (r->json && !r->path)
		flow_view_json(result, r->session, r->out);
	else if (!r->path)
		flow_view_text(result, r->out);
	return r->svg ? output_write(r->svg, put_svg, result, err) : 0;
}

static int study(void *request, struct cvl_session *session, struct cvl_error *err)
{
	struct request *r = request;
	struct cvl_timeline *tl;
	struct cvl_analysis *a;
	struct cvl_error late;
	int flushed, rc = cvl_timeline_open(&tl, session, &r->timeline, err);

	if (rc)
		return rc;
	if (r->old) {
		cvl_fail(&late, CVL_OK, CVL_NO_OFFSET, "%s", r->old);
		cvl_tell(r->timeline.report, &late);
	}
	cvl_out_init(r->out, STDOUT_FILENO, "standard output");
	rc = cvl_flow_open(&a, tl, &r->flow, err);
	if (!rc)
		rc = cvl_analyse(tl, &a, 1, err);
	advise(rc, err);
	progress_clear(r->timeline.progress.ctx);
	if (!rc)
		rc = print(r, cvl_flow_result(a), err);
	/* Results from before the error are shown, too. */
	flushed = rc && !r->path ? 0 : cvl_out_flush(r->out, rc ? &late : err);
	cvl_analysis_free(a);
	cvl_timeline_close(tl);
	return rc ? rc : flushed;
}

/* A..B, or the old A:B. */
static int take_between(const struct verb *verb, void *to, char *text)
{
	struct request *r = to;
	char *dots = strstr(text, ".."), *colon = strchr(text, ':');
	size_t i = r->flow.n_pairs;

	if (i == CVL_FLOW_PAIRS_MAX)
		return cli_usage(verb, "--between: more than %d pairs", CVL_FLOW_PAIRS_MAX);
	if (!dots && !colon)
		return cli_usage(verb, "--between takes two points, A..B, not '%s'", text);
	r->old = dots ? r->old : "--between A:B is now --between A..B";
	r->between[i][0] = text;
	r->between[i][1] = dots ? dots + 2 : colon + 1;
	*(dots ? dots : colon) = '\0';
	r->flow.n_pairs++;
	return 0;
}

#define AT(member) offsetof(struct request, member)

static const struct cli_option options[] = {
	{ "between", 0, "A..B", OPTION_TEXT, 0,
	  "times from A to the next B: best, mean, percentiles, worst, histogram; may be repeated",
	  .take = take_between },
	{ "svg", 0, "FILE", OPTION_FILE, AT(svg), "also draw these histograms" },
	{ "path", 0, NULL, OPTION_FLAG, AT(path),
	  "instead each point passed, with its time and bound" },
	{ "from-start", 0, NULL, OPTION_FLAG, AT(flow.from_start),
	  "the capture began before the program did" },
	RANGE_OPTIONS(AT(timeline)),
	{ "json", 0, NULL, OPTION_FLAG, AT(json), "print JSON; with --path an object a line" },
	STRICT_OPTION(AT(timeline.strict)),
	{ 0 },
};

/* Returns an exit status, or -1 to continue. */
static int parse_options(int argc, char **argv, const struct verb *verb, struct request *r)
{
	struct operands operands;
	int rc = options_read(verb, r, argc, argv, &operands);

	if (rc >= 0)
		return rc;
	if (r->svg && !r->flow.n_pairs)
		return cli_usage(verb, "--svg draws the times that --between asks for");
	if (r->flow.from_start && r->timeline.has_from)
		return cli_usage(verb, "--from-start or --from, not both");
	r->session = operands.v[0];
	r->map = operands.v[1];
	return -1;
}

static int show(struct request *r)
{
	struct cvl_flow_map map;
	struct cvl_error err;
	int rc = cvl_flow_map_load(&map, r->map, false, &err);

	if (rc)
		return cli_fail(&err);
	r->flow.map = &map;
	r->flow.item = r->path ? item : NULL;
	r->flow.ctx = r;
	r->out = malloc(sizeof(*r->out));
	rc = r->out ? find_pairs(r, &err) : cvl_no_memory(&err);
	rc = rc ? cli_fail(&err) : cli_study(r->session, "reading", &r->timeline, study, r);
	cvl_flow_map_free(&map);
	free(r->out);
	return rc;
}

static int run(int argc, char **argv, const struct verb *verb)
{
	struct request r = { 0 };
	int rc = parse_options(argc, argv, verb, &r);

	return rc < 0 ? show(&r) : rc;
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
		"The map says which pin changes mark which point of the program (docs/flow.md); `coeval flow assign` makes one. Every clock that has the map's pins is decoded.\n",
	.examples = "  coeval flow s/ map.yaml --between loop..loop\n"
		    "  coeval flow s/ map.yaml --path --node n1\n",
	.run = run,
};
