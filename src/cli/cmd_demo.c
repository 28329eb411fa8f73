/* SPDX-License-Identifier: MIT */
/*
 * All of Coeval on a world with known truth: raw samples in, a timeline out, and its errors.
 */
#include "beside.h"
#include "cli.h"
#include "json.h"
#include "output.h"
#include "view/save.h"

#include <coeval/files.h>
#include <coeval/format.h>
#include <coeval/sim.h>
#include <coeval/sync.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct demo {
	struct cvl_sim_demo *world;
	uint64_t seed;
	unsigned seconds;
	char dir[CVL_PATH_MAX], session[CVL_PATH_MAX], page[CVL_PATH_MAX], vcd[CVL_PATH_MAX],
		csv[CVL_PATH_MAX];
	bool json;
	struct cvl_sync *sync;
	struct cvl_sim_demo_score before, after;
};

static int export(struct cvl_session *s, const char *format, const char *path,
		  struct cvl_error *err)
{
	struct cvl_timeline *tl;
	int rc = cvl_timeline_open(&tl, s, NULL, err);

	if (!rc)
		rc = cvl_exporter_find(format)->write(tl, path, err);
	if (tl)
		cvl_timeline_close(tl);
	return rc;
}

/* ---- output ---- */

static void print_text(struct cvl_out *o, const void *demo)
{
	const struct demo *d = demo;
	const struct cvl_sim_demo_score *before = &d->before, *after = &d->after;
	char text[3][CVL_TIME_TEXT];
	struct table t;

	cvl_out_printf(
		o,
		"%d observers sampled 8 lines at 8 MHz for %u s (simulated, seed %llu), each on a clock of its own.\n",
		CVL_SIM_DEMO_OBSERVERS, d->seconds, (unsigned long long)d->seed);
	cvl_out_printf(o,
		       "They heard the same beacon once a second; that ties their clocks (%s).\n\n",
		       d->sync->reference);
	table_heads(&t, "clock|true rate off|found|beacons|rejected|median bound|at worst");
	for (unsigned i = 0; i < CVL_SIM_DEMO_OBSERVERS; i++) {
		const struct cvl_clock_sync *c = &d->sync->clock[i];

		table_cell(&t, "%s", c->clock);
		table_cell(&t, "%+.3f ppm", cvl_sim_demo_rate_off_ppm(d->world, i));
		table_cell(&t, "%+.3f +-%.3f ppm", c->rate_ppb / 1000, c->rate_bound_ppb / 1000);
		table_counts(&t, c->used, c->rejected);
		table_bound(&t, c->map, c->bound_median);
		table_bound(&t, c->map, c->bound_max);
	}
	table_print(&t, o, "lrrrrrr", "  ");
	cvl_bound_text(text[0], (int64_t)before->apart_ns);
	cvl_bound_text(text[1], (int64_t)after->mean_ns);
	cvl_bound_text(text[2], (int64_t)after->worst_ns);
	cvl_out_printf(
		o,
		"\n%llu edges against the truth: apart by up to %s before; now %s off on average, %s at worst.\n",
		(unsigned long long)after->edges, text[0], text[1], text[2]);
	cvl_out_printf(o, "Bounds that hold the true time: %.2f %% (promised: 99.9 %%).",
		       100.0 * (double)after->covered / (double)(after->edges ? after->edges : 1));
	if (after->unmatched)
		cvl_out_printf(o, " %llu edges lost or invented!",
			       (unsigned long long)after->unmatched);
	cvl_out_printf(o, "\n\n  session  %s\n  page     %s\n  VCD      %s\n  CSV      %s\n\n",
		       d->session, d->page, d->vcd, d->csv);
	/* As invoked: a fresh build need not be on the PATH. */
	cvl_out_printf(o,
		       "Look further:  %s view %s\n               %s info %s\n"
		       "               %s show %s --from 2 --until 2.1 --bounds\n",
		       program_invocation_name, d->session, program_invocation_name, d->session,
		       program_invocation_name, d->session);
}

static void print_json(struct cvl_out *o, const void *demo)
{
	const struct demo *d = demo;
	const struct cvl_sim_demo_score *after = &d->after;
	double edges = (double)(after->edges ? after->edges : 1);
	struct js j = js_begin(o);

	js_counts(&j, "seed seconds edges unmatched", d->seed, d->seconds, after->edges,
		  after->unmatched);
	js_int(&j, "apart_before_ns", llround(d->before.apart_ns));
	js_reals(&j, "error_mean_ns error_max_ns coverage", round(10 * after->mean_ns) / 10,
		 round(10 * after->worst_ns) / 10,
		 round(1e6 * (double)after->covered / edges) / 1e6);
	js_texts(&j, "session page vcd csv", d->session, d->page, d->vcd, d->csv);
	js_end(&j);
}

static int make_dir(struct demo *d, const char *wanted, struct cvl_error *err)
{
	const char *tmp = getenv("TMPDIR");
	char base[CVL_PATH_MAX];

	if (wanted) {
		if (mkdir(wanted, 0777) && errno != EEXIST)
			return cvl_fail_errno(err, "make the directory", wanted);
		snprintf(base, sizeof(base), "%s", wanted);
	} else {
		if (!cvl_path_join(base, tmp && *tmp ? tmp : "/tmp", "coeval-demo-XXXXXX") ||
		    !mkdtemp(base))
			return cvl_fail_errno(err, "make the directory", base);
	}
	if (!cvl_path_join(d->session, base, "session") ||
	    !cvl_path_join(d->page, base, "timeline.html") ||
	    !cvl_path_join(d->vcd, base, "timeline.vcd") ||
	    !cvl_path_join(d->csv, base, "timeline.csv"))
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long", base);
	memcpy(d->dir, base, sizeof(base));
	if (cvl_is_dir(d->session))
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				"%s already exists; name another directory", d->session);
	return 0;
}

static int demonstrate(struct demo *d, struct cvl_error *err)
{
	struct cvl_session *s = NULL;
	int rc = cvl_sim_demo_capture(d->world, d->dir, d->session, err);

	if (!rc)
		rc = cvl_session_open(&s, d->session, NULL, err);
	if (!rc)
		rc = cvl_sync_run(&d->sync, s, &(struct cvl_sync_opts){ 0 }, err);
	if (!rc)
		rc = cvl_sync_save(d->sync, s, err);
	if (!rc)
		rc = cvl_sim_demo_compare(d->world, s, true, &d->before, err);
	if (!rc)
		rc = cvl_sim_demo_compare(d->world, s, false, &d->after, err);
	if (!rc)
		rc = view_save(d->page, s, &(struct cvl_view_save_opts){ 0 },
			       &(struct cvl_view_saved){ 0 }, err);
	if (!rc)
		rc = export(s, "vcd", d->vcd, err);
	if (!rc)
		rc = export(s, "csv", d->csv, err);
	if (!rc)
		rc = output_print(d->json ? print_json : print_text, d, err);
	if (!rc && d->after.unmatched)
		rc = cvl_fail(err, CVL_E_NO, CVL_NO_OFFSET,
			      "the timeline does not hold the edges that happened");
	cvl_sync_free(d->sync);
	cvl_session_close(s);
	return rc;
}

/* ---- the command ---- */

struct request {
	struct demo demo;
	bool testbed, collect, has_seconds, has_seed;
	unsigned nodes; /* 0: not given */
	const char *output, *faults;
};

static int exec_testbed(const struct request *r)
{
	char nodes[24], seconds[24], seed[24];
	const char *argv[14] = { "coeval-simbed" };
	const char *const pairs[][2] = { { "--bed", r->output ? r->output : "testbed" },
					 { "--nodes", r->nodes ? nodes : NULL },
					 { "--seconds", r->has_seconds ? seconds : NULL },
					 { "--seed", r->has_seed ? seed : NULL },
					 { "--faults", r->faults } };
	int argn = 1;

	snprintf(nodes, sizeof(nodes), "%u", r->nodes);
	snprintf(seconds, sizeof(seconds), "%u", r->demo.seconds);
	snprintf(seed, sizeof(seed), "%llu", (unsigned long long)r->demo.seed);
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		if (pairs[i][1]) {
			argv[argn++] = pairs[i][0];
			argv[argn++] = pairs[i][1];
		}
	if (r->demo.json)
		argv[argn++] = "--json";
	if (r->collect)
		argv[argn++] = "--collect";
	return become("coeval-simbed", (char *const *)argv,
		      "install the package coeval-simbed, or libumockdev-dev and build again");
}

#define AT(member) offsetof(struct request, member)

static const struct cli_option options[] = {
	{ "output", 'o', "DIR", OPTION_DIR, AT(output),
	  "where everything goes (default: a new temporary directory; with --testbed: testbed)" },
	{ "seconds", 0, "N", OPTION_NUMBER, AT(demo.seconds),
	  "length of the capture, 8 to 600 (default: 20; with --testbed: 60)", 8, 600,
	  OPTION_GIVEN(struct request, has_seconds) },
	{ "seed", 0, "N", OPTION_WHOLE, AT(demo.seed), "another world (default: 1)",
	  OPTION_GIVEN(struct request, has_seed) },
	JSON_OPTION(AT(demo.json)),
	{ .kind = OPTION_HEADING, .what = "Test bed" },
	{ "testbed", 0, NULL, OPTION_FLAG, AT(testbed),
	  "run real `coeval capture` processes on simulated analyzers and radios" },
	{ "nodes", 0, "N", OPTION_NUMBER, AT(nodes), "its number of nodes, 1 to 64 (default: 16)",
	  1, 64 },
	{ "faults", 0, "LIST", OPTION_TEXT, AT(faults),
	  "what goes wrong there: overflow,unplug,kill,die,deaf,step,full; \"kill:3\": three times on every node; without a number on a third of them" },
	{ "collect", 0, NULL, OPTION_FLAG, AT(collect),
	  "its nodes send to a collector, and senders, server and collector are killed now and then: what the collector has is compared with the truth" },
	{ 0 },
};

static int run(int argc, char **argv, const struct verb *verb)
{
	struct request r = { .demo = { .seconds = 20, .seed = 1 } };
	struct demo *d = &r.demo;
	struct operands operands;
	struct cvl_error err;
	int rc = options_read(verb, &r, argc, argv, &operands);

	if (rc >= 0)
		return rc;
	if (r.testbed)
		return exec_testbed(&r);
	if (r.nodes || r.faults || r.collect)
		return cli_usage(verb, "--nodes, --faults and --collect are for --testbed");
	rc = make_dir(d, r.output, &err);
	if (!rc)
		rc = cvl_sim_demo_make(&d->world, d->seed, d->seconds, &err);
	if (!rc)
		rc = demonstrate(d, &err);
	cvl_sim_demo_free(d->world);
	return rc ? cli_fail(&err) : 0;
}

const struct verb verb_demo = {
	.name = "demo",
	.group = VERB_GET,
	.what = "try everything on a simulated testbed whose truth is known",
	.options = options,
	.notes =
		"Exit status 1: something was invented, lost without a gap, or outside its bound.\n",
	.examples = "  coeval demo\n"
		    "  coeval demo --testbed --nodes 4 --faults overflow:1,kill:1 -o bed\n"
		    "  coeval demo --testbed --nodes 4 --collect -o bed\n",
	.run = run,
};
