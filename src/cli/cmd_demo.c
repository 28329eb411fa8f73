/* SPDX-License-Identifier: MIT */
/*
 * The whole of Coeval on a world whose truth is known: raw samples in, a timeline out, and how far it is off.
 */
#include "cli.h"

#include <coeval/files.h>
#include "sim/demo_world.h"

#include <coeval/format.h>
#include <coeval/sync.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPT_SEED = 256, OPT_SECONDS, OPT_JSON, OPT_TESTBED, OPT_NODES, OPT_FAULTS };

static const struct option options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "seconds", required_argument, NULL, OPT_SECONDS },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "testbed", no_argument, NULL, OPT_TESTBED },
	{ "nodes", required_argument, NULL, OPT_NODES },
	{ "faults", required_argument, NULL, OPT_FAULTS },
	CLI_HELP_OPTION,
	{ 0 },
};

struct demo {
	struct demo_world world;
	char dir[CVL_PATH_MAX], session[CVL_PATH_MAX], vcd[CVL_PATH_MAX], csv[CVL_PATH_MAX];
	bool json;
};

/* How the timeline's edges compare with the true ones. */
struct score {
	uint64_t edges, covered, unmatched;
	double sum, worst, worst_pair;
};

static int make_session(struct demo *d, struct cvl_error *err)
{
	struct cvl_session *s;
	int rc = cvl_session_create(&s, d->session, err);

	for (unsigned i = 0; i < DEMO_OBSERVERS && !rc; i++) {
		const struct demo_observer *o = &d->world.observer[i];
		char samples[CVL_PATH_MAX + 40], beacons[CVL_PATH_MAX + 40];
		const struct cvl_import_opts opts = {
			.node = o->name,
			.rate_hz = DEMO_RATE_HZ,
			.channels = 8,
			.names = "SLOT,SEND,RECEIVE,FRAME,D4,D5,D6,BEACON",
			.beacons = beacons,
		};

		snprintf(samples, sizeof(samples), "%s/%s.raw", d->dir, o->name);
		snprintf(beacons, sizeof(beacons), "%s/%s-beacons.csv", d->dir, o->name);
		rc = demo_write_samples(&d->world, o, samples, err);
		if (!rc)
			rc = demo_write_beacons(o, beacons, err);
		if (!rc)
			rc = cvl_import(s, samples, "raw", &opts, err);
		unlink(samples); /* hundreds of megabytes that the seed can make again */
	}
	if (s)
		cvl_session_close(s);
	return rc;
}

static int synchronise(struct demo *d, struct cvl_session *s, struct cvl_sync **sync,
		       struct cvl_error *err)
{
	const struct cvl_sync_opts opts = { 0 };
	int rc = cvl_sync_run(sync, s, &opts, err);

	(void)d;
	return rc ? rc : cvl_sync_save(*sync, s, err);
}

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

/*
 * Compare every edge with the truth. The timeline counts from where the first observer began, by whole beacon periods
 * from the sender's time: that many seconds are taken off.
 */
static int score(struct demo *d, struct cvl_session *s, bool nominal, struct score *out,
		 struct cvl_error *err)
{
	const struct cvl_timeline_opts opts = { .nominal = nominal };
	size_t next[DEMO_OBSERVERS] = { 0 };
	uint8_t level[DEMO_OBSERVERS] = { 0 };
	double low = INFINITY, high = -INFINITY, shift = NAN;
	struct cvl_timeline *tl;
	struct cvl_slice sl;
	int rc = cvl_timeline_open(&tl, s, &opts, err);

	*out = (struct score){ 0 };
	if (rc)
		return rc;
	while ((rc = cvl_timeline_next(tl, &sl, err)) > 0)
		for (size_t i = sl.begin; i < sl.end; i++) {
			const struct demo_observer *o = &d->world.observer[sl.clock];
			uint64_t tick = sl.batch->tick[i].count;
			int64_t bound;

			if (sl.batch->kind[i] != CVL_EDGE || sl.batch->flags[i] & CVL_STATE)
				continue;
			bound = cvl_timeline_bound(tl, &sl, i);
			/* one record may hold the edges of several lines */
			while (next[sl.clock] < o->n_edges &&
			       demo_tick(o, o->edge[next[sl.clock]].true_ns) <= tick) {
				const struct demo_edge *e = &o->edge[next[sl.clock]++];
				double error = (double)sl.time[i].ns - e->true_ns;

				level[sl.clock] = (uint8_t)((level[sl.clock] & ~(1u << e->line)) |
							    (unsigned)e->level << e->line);
				if (isnan(shift))
					shift = nominal ? error : round(error / 1e9) * 1e9;
				error -= shift;
				out->edges++;
				out->covered +=
					bound != CVL_BOUND_UNKNOWN && fabs(error) <= (double)bound;
				out->sum += fabs(error);
				out->worst = fmax(out->worst, fabs(error));
				low = fmin(low, error);
				high = fmax(high, error);
			}
			out->unmatched += level[sl.clock] != sl.batch->value[i];
		}
	for (unsigned i = 0; i < DEMO_OBSERVERS; i++)
		out->unmatched += d->world.observer[i].n_edges - next[i];
	out->worst_pair = high - low;
	cvl_timeline_close(tl);
	return rc;
}

/* ---- telling ---- */

static void print_text(const struct demo *d, const struct cvl_sync *sync,
		       const struct score *before, const struct score *after, struct cvl_out *o)
{
	static const char *const heads[] = { "clock",    "true rate off", "found",    "beacons",
					     "rejected", "median bound",  "at worst", NULL };
	char text[3][CVL_TIME_TEXT];
	struct table t;

	cvl_out_printf(
		o,
		"%d observers sampled 8 lines at 8 MHz for %u s (simulated, seed %llu), each on a clock of its own.\n",
		DEMO_OBSERVERS, d->world.seconds, (unsigned long long)d->world.seed);
	cvl_out_printf(o,
		       "They heard the same beacon once a second; that ties their clocks (%s).\n\n",
		       sync->reference);
	table_init(&t, 7);
	table_heads(&t, heads);
	for (unsigned i = 0; i < DEMO_OBSERVERS; i++) {
		const struct cvl_clock_sync *c = &sync->clock[i];

		cvl_bound_text(text[0], c->bound_median);
		cvl_bound_text(text[1], c->bound_max);
		table_cell(&t, "%s", c->clock);
		table_cell(&t, "%+.3f ppm", d->world.observer[i].rate_off_ppm);
		table_cell(&t, "%+.3f +-%.3f ppm", c->rate_ppb / 1000, c->rate_bound_ppb / 1000);
		table_cell(&t, "%llu", (unsigned long long)c->used);
		table_cell(&t, "%llu", (unsigned long long)c->rejected);
		table_cell(&t, "%s", c->map ? text[0] : "-");
		table_cell(&t, "%s", c->map ? text[1] : "-");
	}
	table_print(&t, o, "lrrrrrr", "  ");
	cvl_bound_text(text[0], (int64_t)before->worst_pair);
	cvl_bound_text(text[1], (int64_t)(after->sum / (double)(after->edges ? after->edges : 1)));
	cvl_bound_text(text[2], (int64_t)after->worst);
	cvl_out_printf(
		o,
		"\n%llu edges against the truth: apart by up to %s before; now %s off on average, %s at worst.\n",
		(unsigned long long)after->edges, text[0], text[1], text[2]);
	cvl_out_printf(o, "Bounds that hold the true time: %.2f %% (promised: 99.9 %%).",
		       100.0 * (double)after->covered / (double)(after->edges ? after->edges : 1));
	if (after->unmatched)
		cvl_out_printf(o, " %llu edges lost or invented!",
			       (unsigned long long)after->unmatched);
	cvl_out_printf(o, "\n\n  session  %s\n  VCD      %s\n  CSV      %s\n\n", d->session, d->vcd,
		       d->csv);
	cvl_out_printf(
		o,
		"Look further:  coeval info %s\n               coeval show %s --from 2 --to 2.1 --bounds\n",
		d->session, d->session);
}

static void print_json(const struct demo *d, const struct score *before, const struct score *after,
		       struct cvl_out *o)
{
	cvl_out_printf(
		o,
		"{\"seed\":%llu,\"seconds\":%u,\"edges\":%llu,\"unmatched\":%llu,\"apart_before_ns\":%.0f,",
		(unsigned long long)d->world.seed, d->world.seconds,
		(unsigned long long)after->edges, (unsigned long long)after->unmatched,
		before->worst_pair);
	cvl_out_printf(
		o, "\"error_mean_ns\":%.1f,\"error_max_ns\":%.1f,\"coverage\":%.6f,\"session\":",
		after->sum / (double)(after->edges ? after->edges : 1), after->worst,
		(double)after->covered / (double)(after->edges ? after->edges : 1));
	cvl_out_json(o, d->session, strlen(d->session));
	cvl_out_text(o, ",\"vcd\":");
	cvl_out_json(o, d->vcd, strlen(d->vcd));
	cvl_out_text(o, ",\"csv\":");
	cvl_out_json(o, d->csv, strlen(d->csv));
	cvl_out_text(o, "}\n");
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
	    !cvl_path_join(d->vcd, base, "timeline.vcd") ||
	    !cvl_path_join(d->csv, base, "timeline.csv"))
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long", base);
	memcpy(d->dir, base, sizeof(base));
	if (cvl_is_dir(d->session))
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				"%s is there already; name another directory", d->session);
	return 0;
}

static int demonstrate(struct demo *d, struct cvl_error *err)
{
	struct cvl_session *s = NULL;
	struct cvl_sync *sync = NULL;
	struct score before, after;
	struct cvl_out *o = malloc(sizeof(*o));
	int rc = o ? make_session(d, err) : cvl_no_memory(err);

	if (!rc)
		rc = cvl_session_open(&s, d->session, NULL, err);
	if (!rc)
		rc = synchronise(d, s, &sync, err);
	if (!rc)
		rc = score(d, s, true, &before, err);
	if (!rc)
		rc = score(d, s, false, &after, err);
	if (!rc)
		rc = export(s, "vcd", d->vcd, err);
	if (!rc)
		rc = export(s, "csv", d->csv, err);
	if (!rc) {
		cvl_out_init(o, STDOUT_FILENO, "standard output");
		if (d->json)
			print_json(d, &before, &after, o);
		else
			print_text(d, sync, &before, &after, o);
		rc = cvl_out_flush(o, err);
		if (!rc && after.unmatched)
			rc = cvl_fail(err, CVL_E_NO, CVL_NO_OFFSET,
				      "the timeline does not hold the edges that happened");
	}
	cvl_sync_free(sync);
	cvl_session_close(s);
	free(o);
	return rc;
}

/* ---- a test bed of processes ---- */

struct testbed {
	bool wanted;
	const char *nodes, *faults;
};

/* Become the program that runs the test bed: beside this one, or where it is installed. Returns only if it is not there. */
static int exec_testbed(const struct testbed *t, const char *output, const char *seconds,
			const char *seed, bool json)
{
	static const char *const places[] = { "coeval-testbed",
					      "../libexec/coeval/coeval-testbed" };
	char self[CVL_PATH_MAX], path[CVL_PATH_MAX];
	const char *argv[13] = { "coeval-testbed" };
	const char *const pairs[][2] = { { "--bed", output },
					 { "--nodes", t->nodes },
					 { "--seconds", seconds },
					 { "--seed", seed },
					 { "--faults", t->faults } };
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	struct cvl_error err;
	int argn = 1;

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		if (pairs[i][1]) {
			argv[argn++] = pairs[i][0];
			argv[argn++] = pairs[i][1];
		}
	if (json)
		argv[argn++] = "--json";
	self[n > 0 ? n : 0] = '\0';
	if (strrchr(self, '/'))
		*strrchr(self, '/') = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (cvl_path_join(path, self, places[i]))
			execv(path, (char *const *)argv);
	cvl_fail(&err, CVL_E_ENV, CVL_NO_OFFSET,
		 "coeval-testbed is not there; install libumockdev-dev and build again");
	return cli_fail(&err);
}

static bool is_number(const char *text, unsigned long long least, unsigned long long most,
		      unsigned long long *out)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno && *out >= least && *out <= most;
}

static int run(int argc, char **argv, const struct verb *verb)
{
	struct demo d = { 0 };
	struct testbed testbed = { 0 };
	unsigned long long seed = 1, seconds = 20, nodes;
	const char *output = NULL, *seconds_text = NULL, *seed_text = NULL;
	struct cvl_error err;
	int c, rc;

	while ((c = getopt_long(argc, argv, "o:h", options, NULL)) != -1) {
		switch (c) {
		case 'o': output = optarg; break;
		case OPT_SEED:
			if (!is_number(optarg, 0, UINT64_MAX, &seed))
				return cli_usage(verb, "--seed takes a number, not '%s'", optarg);
			seed_text = optarg;
			break;
		case OPT_SECONDS:
			if (!is_number(optarg, 8, 600, &seconds))
				return cli_usage(verb, "--seconds takes a number from 8 to 600");
			seconds_text = optarg;
			break;
		case OPT_NODES:
			if (!is_number(optarg, 1, 64, &nodes))
				return cli_usage(verb, "--nodes takes a number from 1 to 64");
			testbed.nodes = optarg;
			break;
		case OPT_FAULTS: testbed.faults = optarg; break;
		case OPT_TESTBED: testbed.wanted = true; break;
		case OPT_JSON: d.json = true; break;
		default: return cli_option(c, verb);
		}
	}
	if (optind != argc)
		return cli_usage(verb, "'%s' is one word too many", argv[optind]);
	if (testbed.wanted)
		return exec_testbed(&testbed, output ? output : "testbed", seconds_text, seed_text,
				    d.json);
	if (testbed.nodes || testbed.faults)
		return cli_usage(verb, "--nodes and --faults are for --testbed");
	rc = make_dir(&d, output, &err);
	if (!rc)
		rc = demo_world_make(&d.world, seed, (unsigned)seconds, &err);
	if (!rc)
		rc = demonstrate(&d, &err);
	demo_world_free(&d.world);
	return rc ? cli_fail(&err) : 0;
}

const struct verb verb_demo = {
	.name = "demo",
	.what = "try it all on a simulated testbed whose truth is known",
	.usage =
		"demo [-o DIR] [--seconds N] [--seed N] [--testbed [--nodes N] [--faults LIST]] [--json]",
	.help = "  -o, --output DIR  where everything goes (default: a new temporary directory; ./testbed)\n"
		"      --seconds N   length of the capture, 8 to 600 (default 20; with --testbed 60)\n"
		"      --seed N      another world (default 1)\n"
		"      --testbed     real `coeval capture` processes on simulated analyzers and radios\n"
		"      --nodes N     of the test bed, 1 to 64 (default 16)\n"
		"      --faults LIST what goes wrong there: overflow,unplug,kill,die,deaf,step,full; \"kill:3\": three\n"
		"                    times on every node; without a number on a third of them\n"
		"      --json        the figures as one JSON object\n"
		"\n"
		"Exit status 1: something was invented, lost without a gap, or out of its bound.\n"
		"\n"
		"Examples:\n"
		"  coeval demo\n"
		"  coeval demo --testbed --nodes 4 --faults overflow:1,kill:1 -o bed\n",
	.run = run,
};
