/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "flow/view.h"

enum {
	OPT_BETWEEN = 256,
	OPT_PATH,
	OPT_SVG,
	OPT_FROM_START,
	OPT_NODE,
	OPT_FROM,
	OPT_TO,
	OPT_JSON,
	OPT_STRICT
};

static const struct option options[] = {
	{ "between", required_argument, NULL, OPT_BETWEEN },
	{ "path", no_argument, NULL, OPT_PATH },
	{ "svg", required_argument, NULL, OPT_SVG },
	{ "from-start", no_argument, NULL, OPT_FROM_START },
	{ "node", required_argument, NULL, OPT_NODE },
	{ "from", required_argument, NULL, OPT_FROM },
	{ "to", required_argument, NULL, OPT_TO },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "strict", no_argument, NULL, OPT_STRICT },
	CLI_HELP_OPTION,
	{ 0 },
};

struct request {
	struct cvl_timeline_opts timeline;
	struct cvl_flow_opts flow;
	char *between[CVL_FLOW_PAIRS_MAX];
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
			"--between: %s has no marker (%s:%u), so nobody knows when it is passed",
			name, map->file, map->point[*point].line);
	return 0;
}

static int find_pairs(struct request *r, struct cvl_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < r->flow.n_pairs && !rc; i++) {
		char *colon = strchr(r->between[i], ':');

		*colon = '\0';
		rc = find_point(r->flow.map, r->between[i], &r->flow.pair[i].from, err);
		if (!rc)
			rc = find_point(r->flow.map, colon + 1, &r->flow.pair[i].to, err);
	}
	return rc;
}

static int write_svg(const struct cvl_flow_result *r, const char *path, struct cvl_error *err)
{
	const struct cvl_durations *times[CVL_FLOW_PAIRS_MAX];
	char text[CVL_FLOW_PAIRS_MAX][3 * CVL_FLOW_NAME_MAX];
	const char *name[CVL_FLOW_PAIRS_MAX];
	struct cvl_out *o = malloc(sizeof(*o));
	int rc = o ? cvl_out_open(o, path, err) : cvl_no_memory(err);

	for (size_t i = 0; i < r->n_times; i++) {
		times[i] = &r->times[i].times;
		name[i] = text[i];
		snprintf(text[i], sizeof(text[i]), "%s to %s: %zu times",
			 r->map->point[r->times[i].pair.from].name,
			 r->map->point[r->times[i].pair.to].name, times[i]->n);
	}
	if (!rc) {
		cvl_durations_svg("times between points", name, times, r->n_times, o);
		rc = cvl_out_close(o, err);
	}
	free(o);
	return rc;
}

/* What to do about what the library says. */
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
	return r->svg ? write_svg(result, r->svg, err) : 0;
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
	cvl_out_init(r->out, STDOUT_FILENO, "standard output");
	rc = cvl_flow_open(&a, tl, &r->flow, err);
	if (!rc)
		rc = cvl_analyse(tl, &a, 1, err);
	advise(rc, err);
	progress_clear(r->timeline.progress.ctx);
	if (!rc)
		rc = print(r, cvl_flow_result(a), err);
	/* What was found before it went wrong is shown, too. */
	flushed = rc && !r->path ? 0 : cvl_out_flush(r->out, rc ? &late : err);
	cvl_analysis_free(a);
	cvl_timeline_close(tl);
	return rc ? rc : flushed;
}

/* Returns an exit status, or -1 to go on. */
static int parse_options(int argc, char **argv, const struct verb *verb, struct request *r)
{
	int c, rc = 0;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (c) {
		case OPT_BETWEEN:
			if (r->flow.n_pairs == CVL_FLOW_PAIRS_MAX)
				return cli_usage(verb, "--between: more than %d pairs",
						 CVL_FLOW_PAIRS_MAX);
			if (!strchr(optarg, ':'))
				return cli_usage(verb, "--between takes two points, A:B, not '%s'",
						 optarg);
			r->between[r->flow.n_pairs++] = optarg;
			break;
		case OPT_PATH: r->path = true; break;
		case OPT_SVG: r->svg = optarg; break;
		case OPT_FROM_START: r->flow.from_start = true; break;
		case OPT_NODE: r->timeline.node = optarg; break;
		case OPT_FROM:
			r->timeline.has_from = true;
			rc = cli_duration(verb, "--from", optarg, &r->timeline.from.ns);
			break;
		case OPT_TO:
			r->timeline.has_until = true;
			rc = cli_duration(verb, "--to", optarg, &r->timeline.until.ns);
			break;
		case OPT_JSON: r->json = true; break;
		case OPT_STRICT: r->timeline.strict = true; break;
		default: return cli_option(c, verb);
		}
		if (rc)
			return rc;
	}
	if (optind + 2 != argc)
		return cli_usage(verb, "name one session and one map");
	if (r->svg && !r->flow.n_pairs)
		return cli_usage(verb, "--svg draws the times that --between asks for");
	if (r->flow.from_start && r->timeline.has_from)
		return cli_usage(verb, "--from-start or --from, not both");
	r->session = argv[optind];
	r->map = argv[optind + 1];
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
	int rc;

	if (argc > 1 && !strcmp(argv[1], "assign"))
		return flow_assign_verb.run(argc - 1, argv + 1, &flow_assign_verb);
	rc = parse_options(argc, argv, verb, &r);
	return rc < 0 ? show(&r) : rc;
}

const struct verb verb_flow = {
	.name = "flow",
	.what = "which way programs went, by markers on pins: coverage, times between points",
	.usage = "flow [OPTIONS] SESSION MAP.yaml | flow assign ...",
	.help = "The map tells which pin changes mean which point of the program (docs/flow.md); `coeval flow assign`\n"
		"makes one. Every clock that has the map's pins is decoded.\n"
		"\n"
		"      --between A:B         times from A to the next B: best, mean, percentiles, worst, histogram;\n"
		"                            may be repeated\n"
		"      --svg FILE            these histograms as a picture, too\n"
		"      --path                instead each point passed, with its time and bound\n"
		"      --from-start          the capture began before the program did\n"
		"      --node GLOB           only these clocks or nodes\n"
		"      --from T, --to T      a part of the session\n"
		"      --json                one JSON object; with --path one a line\n"
		"      --strict              stop at damaged input\n"
		"\n"
		"Examples:\n"
		"  coeval flow s/ map.yaml --between loop:loop\n"
		"  coeval flow s/ map.yaml --path --node n1\n",
	.run = run,
};
