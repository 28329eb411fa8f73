/* SPDX-License-Identifier: MIT */
#include "cli.h"
#include "output.h"

#include <coeval/format.h>

#include <string.h>

enum { OPT_TO = 256, OPT_FROM, OPT_UNTIL, OPT_NODE, OPT_NOMINAL, OPT_STRICT };

static const struct option options[] = {
	{ "to", required_argument, NULL, OPT_TO },
	{ "output", required_argument, NULL, 'o' },
	{ "from", required_argument, NULL, OPT_FROM },
	{ "until", required_argument, NULL, OPT_UNTIL },
	{ "node", required_argument, NULL, OPT_NODE },
	{ "nominal", no_argument, NULL, OPT_NOMINAL },
	{ "strict", no_argument, NULL, OPT_STRICT },
	CLI_HELP_OPTION,
	{ 0 },
};

static int export_to(const struct cvl_exporter *exporter, struct cvl_timeline *tl, const char *path,
		     struct cvl_error *err)
{
	struct output output;
	int rc;

	if (!strcmp(exporter->name, "null")) /* writes nothing */
		return exporter->write(tl, NULL, err);
	rc = output_begin(&output, path, !exporter->suffix[0], err);
	if (rc)
		return rc;
	return output_end(&output, exporter->write(tl, output_path(&output), err), err);
}

/* Most formats have no place for it. */
static void warn_of_ambiguous(const struct cvl_sync *sync)
{
	for (size_t i = 0; sync && i < sync->n; i++)
		if (sync->clock[i].verdict == CVL_AMBIGUOUS)
			fprintf(stderr,
				"coeval: warning: %s is ambiguous: its times may be off by whole periods against those of other "
				"clocks (`coeval info`)\n",
				sync->clock[i].clock);
}

static int run(int argc, char **argv, const struct verb *verb)
{
	struct cvl_timeline_opts opts = { 0 };
	const struct cvl_exporter *exporter = NULL;
	struct cvl_timeline *tl = NULL;
	struct cvl_session *session;
	const char *path = NULL;
	struct problems problems;
	struct progress progress;
	struct cvl_error err;
	int c, rc = 0;

	problems_init(&problems);
	progress_init(&progress, "exporting");
	opts.report = &problems.report;
	opts.progress = (struct cvl_progress){ progress_show, &progress };
	while ((c = getopt_long(argc, argv, "o:h", options, NULL)) != -1) {
		switch (c) {
		case OPT_TO:
			exporter = cvl_exporter_find(optarg);
			if (!exporter)
				return cli_usage(verb, "cannot export to '%s'", optarg);
			break;
		case 'o': path = optarg; break;
		case OPT_FROM:
			opts.has_from = true;
			rc = cli_duration(verb, "--from", optarg, &opts.from.ns);
			break;
		case OPT_UNTIL:
			opts.has_until = true;
			rc = cli_duration(verb, "--until", optarg, &opts.until.ns);
			break;
		case OPT_NODE: opts.node = optarg; break;
		case OPT_NOMINAL: opts.nominal = true; break;
		case OPT_STRICT: opts.strict = true; break;
		default: return cli_option(c, verb);
		}
		if (rc)
			return rc;
	}
	if (optind + 1 != argc)
		return cli_usage(verb, "name one session");
	if (!exporter)
		return cli_usage(
			verb,
			"say --to vcd, csv, ctf, perfetto, grace, flocklab, ett-text or null");
	rc = cvl_session_open(&session, argv[optind], &problems.report, &err);
	if (rc)
		return cli_fail(&err);
	rc = cvl_timeline_open(&tl, session, &opts, &err);
	if (!rc) {
		warn_of_ambiguous(cvl_timeline_sync(tl));
		rc = export_to(exporter, tl, path, &err);
	}
	progress_clear(&progress);
	cvl_timeline_close(tl);
	cvl_session_close(session);
	return cli_end(rc, &err, &problems);
}

const struct verb verb_export = {
	.name = "export",
	.what = "write the timeline for other tools",
	.usage =
		"export [OPTIONS] SESSION --to vcd|csv|ctf|perfetto|grace|flocklab|ett-text|null [-o OUT]",
	.help = "      --to FORMAT          vcd: GTKWave, Surfer; csv: one row a change; ctf: babeltrace2, Trace\n"
		"                           Compass; perfetto: ui.perfetto.dev; grace:\n"
		"                           timestamp,host,channel,state; flocklab: gpiotracing.csv; ett-text:\n"
		"                           ns, code, probe; null: nothing, to check or to measure\n"
		"  -o, --output OUT         file (default: standard output); a directory for ctf\n"
		"      --from T, --until T  only records in this range (1.2, 250ms, 10us)\n"
		"      --node GLOB          only these nodes or clocks\n"
		"      --nominal            leave sync.json aside\n"
		"      --strict             stop at damage instead of recording a gap\n"
		"\n"
		"Gaps stay visible: x and a wire called gap in VCD, rows in CSV, events in CTF, slices in\n"
		"Perfetto. Grace's, FlockLab's and ett-text files cannot hold them: how many are\n"
		"left out is told. A level that is unknown is x in VCD, an empty cell in CSV.\n"
		"OUT has its name when it is whole: a failure or a signal leaves what was there.\n"
		"\n"
		"Example:\n"
		"  coeval export s/ --to vcd -o out.vcd\n",
	.run = run,
};
