/* SPDX-License-Identifier: MIT */
#include "sim/simbed/bed_run.h"

#include <coeval/files.h>
#include <coeval/out.h>
#include "sim/simbed/bed_collect.h"
#include "sim/simbed/judge.h"
#include "sim/simbed/node.h"
#include "sim/simbed/world_text.h"

#include <coeval/score.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NODES_MAX 64
#define EVENTS_MAX 256
/*
 * The least that a bound must hold, where 99.9 % are promised: of some hundred thousand differences
 * of a few hours' errors.
 */
#define COVERAGE_LEAST 0.99

/* ---- the world ---- */

/*
 * The clock room's nominal world, so long, with so many nodes; their pins move often enough to say
 * something.
 */
static int make_world(struct world *w, const struct bed_run_opts *o, struct cvl_error *err)
{
	int rc = world_parse(w, (const char *)world_text, world_text_bytes, "nominal.yaml", err);

	if (rc)
		return rc;
	w->seed = o->seed;
	w->duration_ns = o->duration_ns;
	w->clocks[0].count = o->nodes;
	for (size_t i = 0; i < w->n_programs; i++)
		w->program[i].period_ns = 1000000000;
	return world_check(w, err);
}

/* ---- faults ---- */

static const struct {
	const char *name;
	double least_s, most_s;
} faults[NODE_FAULTS] = {
	[NODE_OVERFLOW] = { "overflow", 20e-6, 5e-3 },
	[NODE_UNPLUG] = { "unplug", 0.3, 2 },
	[NODE_KILL] = { "kill", 0.3, 2 },
	[NODE_DIE] = { "die", 0, 0 },
	[NODE_DEAF] = { "deaf", 2, 4 },
	[NODE_STEP] = { "step", 0, 0 },
	[NODE_FULL] = { "full", 0.5, 1.5 },
};

static int by_tick(const void *pa, const void *pb)
{
	const struct node_event *a = pa, *b = pb;

	return a->tick < b->tick ? -1 : a->tick > b->tick;
}

/*
 * One fault of the list in so many nodes: without a count each of the kinds befalls a third of
 * them, once.
 */
static bool add_faults(struct node_event *event, size_t *n, const char *word, size_t len,
		       const struct bed_run_opts *o, size_t node, uint64_t rate_hz,
		       struct sim_random *r)
{
	const char *colon = memchr(word, ':', len);
	size_t name = colon ? (size_t)(colon - word) : len, k = 0;
	unsigned long count = colon ? strtoul(colon + 1, NULL, 10) : 1;
	double span = (double)o->duration_ns * 1e-9;

	while (k < NODE_FAULTS &&
	       (strlen(faults[k].name) != name || memcmp(faults[k].name, word, name) != 0))
		k++;
	if (k == NODE_FAULTS)
		return false;
	if (!colon && (node + k) % 3)
		return true;
	for (unsigned long i = 0; i < count && *n < EVENTS_MAX; i++) {
		double at = (0.1 + 0.8 * ((double)i + sim_uniform(r)) / (double)count) * span;
		double len_s =
			faults[k].least_s + (faults[k].most_s - faults[k].least_s) * sim_uniform(r);

		event[(*n)++] =
			(struct node_event){ (enum node_fault)k, (uint64_t)(at * (double)rate_hz),
					     (uint64_t)(len_s * (double)rate_hz) };
	}
	return true;
}

static int plan_faults(struct node_event *event, size_t *n, const struct bed_run_opts *o,
		       size_t node, const struct world_clock *c, struct cvl_error *err)
{
	struct sim_random r = world_random(o->seed, c->name, "faults");
	const char *at = o->faults ? o->faults : "";

	*n = 0;
	while (*at) {
		size_t len = strcspn(at, ",");

		if (!add_faults(event, n, at, len, o, node, c->group->rate_hz, &r))
			return cvl_fail(
				err, CVL_E_USAGE, CVL_NO_OFFSET,
				"unknown fault '%.*s'; expected one of overflow, unplug, kill, "
				"die, deaf, step, full; each may have a count, \"kill:3\"",
				(int)len, at);
		at += len + (at[len] == ',');
	}
	qsort(event, *n, sizeof(*event), by_tick);
	for (size_t i = 0; i < *n; i++)
		if (event[i].what == NODE_FULL && !o->disk_bytes)
			return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
					"a full disk takes disks of their own: pass --disk BYTES "
					"(it mounts: unshare -rm coeval-simbed ...)");
	return 0;
}

/* Whether they can be had, before anything is made. */
static int check_faults(const struct bed_run_opts *o, const struct bed *bed, struct cvl_error *err)
{
	struct node_event event[EVENTS_MAX];
	size_t n;
	int rc = 0;

	for (size_t i = 0; i < bed->air.n_clocks && !rc; i++)
		rc = plan_faults(event, &n, o, i, &bed->air.clock[i], err);
	return rc;
}

/* ---- one node ---- */

static void place(char out[CVL_PATH_MAX], const struct bed_run_opts *o, const char *name,
		  const char *suffix)
{
	snprintf(out, CVL_PATH_MAX, "%s/%s%s", o->output, name, suffix);
}

/* @name beside this very program: in the build directory, or in libexec/coeval. */
static bool beside(char out[CVL_PATH_MAX], const char *name)
{
	ssize_t n = readlink("/proc/self/exe", out, CVL_PATH_MAX - 1);
	char *slash;

	if (n < 0)
		return false;
	out[n] = '\0';
	slash = strrchr(out, '/');
	if (!slash || (size_t)(slash - out) + strlen(name) + 2 > CVL_PATH_MAX)
		return false;
	strcpy(slash + 1, name);
	return access(out, R_OK) == 0;
}

/* ---- a node's statistics, in a file of numbers ---- */

static int save_usage(const struct node_usage *u, const char *path, int status,
		      struct cvl_error *err)
{
	FILE *f = fopen(path, "we");

	if (!f)
		return cvl_fail_errno(err, "create", path);
	fprintf(f, "%.6f %.6f %ld %ld", u->capture_cpu_s, u->samples_cpu_s, u->early_kib,
		u->peak_kib);
	for (size_t i = 0; i < NODE_FAULTS; i++)
		fprintf(f, " %u", u->faults[i]);
	fputc('\n', f);
	return fclose(f) ? cvl_fail_errno(err, "write", path) : status;
}

/* A node that could not run has none. */
static void add_usage(struct node_usage *sum, const char *path)
{
	struct node_usage u = { 0 };
	FILE *f = fopen(path, "re");
	bool good = f && fscanf(f, "%lf %lf %ld %ld", &u.capture_cpu_s, &u.samples_cpu_s,
				&u.early_kib, &u.peak_kib) == 4;

	for (size_t i = 0; good && i < NODE_FAULTS; i++)
		good = fscanf(f, "%u", &u.faults[i]) == 1;
	if (f)
		fclose(f);
	if (!good)
		return;
	sum->capture_cpu_s += u.capture_cpu_s;
	sum->samples_cpu_s += u.samples_cpu_s;
	sum->early_kib = u.early_kib > sum->early_kib ? u.early_kib : sum->early_kib;
	sum->peak_kib = u.peak_kib > sum->peak_kib ? u.peak_kib : sum->peak_kib;
	for (size_t i = 0; i < NODE_FAULTS; i++)
		sum->faults[i] += u.faults[i];
}

static int run_one(const struct bed_run_opts *o, const struct bed *bed, struct cvl_error *err)
{
	struct node_event event[EVENTS_MAX];
	char coeval[CVL_PATH_MAX], preload[CVL_PATH_MAX], session[CVL_PATH_MAX], log[CVL_PATH_MAX];
	struct node_opts opts = {
		.coeval = coeval,
		.preload = preload,
		.session = session,
		.log = log,
		.event = event,
		.disk_bytes = o->disk_bytes,
	};
	struct node_usage used;
	size_t i = 0;
	int rc;

	while (i < bed->air.n_clocks && strcmp(bed->air.clock[i].name, o->only))
		i++;
	if (i == bed->air.n_clocks)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "unknown node '%s'", o->only);
	if (!beside(coeval, "coeval") && !beside(coeval, "../../bin/coeval"))
		return cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET, "%s is missing", coeval);
	if (!beside(preload, "libcoeval-simclock.so"))
		return cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET, "%s is missing", preload);
	place(session, o, o->only, "");
	place(log, o, o->only, ".segments");
	rc = plan_faults(event, &opts.n_events, o, i, &bed->air.clock[i], err);
	if (!rc)
		rc = node_run(bed, i, &opts, &used, err);
	place(log, o, o->only, ".usage");
	return rc < 0 ? rc : save_usage(&used, log, rc, err);
}

/* ---- all nodes ---- */

static pid_t start_node(const struct bed_run_opts *o, const char *name)
{
	char nodes[16], seconds[32], seed[24], disk[24], text[CVL_PATH_MAX];
	pid_t pid;

	snprintf(nodes, sizeof(nodes), "%u", o->nodes);
	snprintf(seconds, sizeof(seconds), "%.9f", (double)o->duration_ns * 1e-9);
	snprintf(seed, sizeof(seed), "%" PRIu64, o->seed);
	snprintf(disk, sizeof(disk), "%" PRIu64, o->disk_bytes);
	place(text, o, name, ".txt");
	pid = fork();
	if (pid)
		return pid;
	if (!freopen(text, "we", stdout) || dup2(STDOUT_FILENO, STDERR_FILENO) < 0)
		_exit(4);
	execl("/proc/self/exe", "coeval-simbed", "--bed", o->output, "--nodes", nodes, "--seconds",
	      seconds, "--seed", seed, "--only", name, "--faults", o->faults ? o->faults : "",
	      "--disk", disk, (char *)NULL);
	_exit(4);
}

/* Its end is waited for, and that of what collects beside it. */
static pid_t wait_for_node(struct bed_collect *collect, int *status, struct cvl_error *err)
{
	const struct timespec tick = { .tv_nsec = 20000000 };

	for (;;) {
		pid_t pid = waitpid(-1, status, collect ? WNOHANG : 0);

		if (pid > 0 && !(collect && bed_collect_ended(collect, pid, *status)))
			return pid;
		if (pid < 0 || (collect && bed_collect_work(collect, err)))
			return -1;
		if (!pid)
			nanosleep(&tick, NULL);
	}
}

static int run_nodes(const struct bed_run_opts *o, const struct bed *bed,
		     struct bed_collect *collect, struct cvl_error *err)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned jobs = o->jobs ? o->jobs : processors > 0 ? (unsigned)processors : 1, running = 0;
	bool tty = isatty(STDERR_FILENO);
	size_t next = 0, done = 0;

	while (done < bed->air.n_clocks) {
		int status;

		if (next < bed->air.n_clocks && running < jobs) {
			const char *name = bed->air.clock[next++].name;
			int rc;

			if (start_node(o, name) < 0)
				return cvl_fail_errno(err, "start", "a node");
			rc = collect ? bed_collect_node(collect, name, err) : 0;
			if (rc)
				return rc;
			running++;
			continue;
		}
		if (wait_for_node(collect, &status, err) < 0)
			return cvl_fail_errno(err, "wait for", "a node");
		running--;
		done++;
		if (tty)
			fprintf(stderr, "\r%zu of %zu nodes%s", done, bed->air.n_clocks,
				done == bed->air.n_clocks ? "\r\033[K" : "");
	}
	return 0;
}

/* ---- the end ---- */

struct outcome {
	struct judgement sum;
	struct cvl_score score, ideal;
	unsigned good, degraded, lost;
	unsigned unopened; /* sessions */
	unsigned killed;   /* of what carries them to the collector */
	uint64_t records;
	struct node_usage used;
};

static void add_up(struct judgement *sum, const struct judgement *j)
{
	sum->ticks += j->ticks;
	sum->edges += j->edges;
	sum->invented += j->invented;
	sum->missing += j->missing;
	sum->in_gaps += j->in_gaps;
	sum->beacons += j->beacons;
	sum->wrong_beacons += j->wrong_beacons;
	sum->gaps += j->gaps;
	sum->slips += j->slips;
	sum->narrow += j->narrow;
	sum->worst_slip = j->worst_slip > sum->worst_slip ? j->worst_slip : sum->worst_slip;
}

static int new_truth(struct cvl_sync **out, const struct cvl_session *s, size_t n,
		     struct cvl_error *err)
{
	struct cvl_sync *t = calloc(1, sizeof(*t));

	*out = t;
	if (t) {
		t->clock = calloc(n + 1, sizeof(*t->clock));
		t->estimator = strdup("truth");
		t->reference = strdup("true time");
		t->settings = strdup("{\"world\":\"testbed\"}");
		snprintf(t->session, sizeof(t->session), "%s", cvl_session_uuid(s));
	}
	return t && t->clock && t->estimator && t->reference && t->settings ? 0 :
									      cvl_no_memory(err);
}

/* What the collector has. */
static int open_collected(struct cvl_session **out, const struct bed_run_opts *o,
			  const struct bed *bed, struct outcome *oc, struct cvl_error *err)
{
	char path[CVL_PATH_MAX];
	int rc;

	place(path, o, "joined", "");
	rc = cvl_session_open(out, path, NULL, err);
	for (size_t i = 0; i < bed->air.n_clocks && !rc; i++) {
		place(path, o, bed->air.clock[i].name, ".usage");
		add_usage(&oc->used, path);
		if (cvl_session_find(*out, bed->air.clock[i].name) < 0) {
			oc->lost++;
			oc->unopened++;
		}
	}
	return rc;
}

/* Sessions of the nodes that came to anything, as one. */
static int join(struct cvl_session **out, const struct bed_run_opts *o, const struct bed *bed,
		struct outcome *oc, struct cvl_error *err)
{
	char path[CVL_PATH_MAX];
	int rc;

	place(path, o, "joined", "");
	rc = cvl_session_create(out, path, err);
	for (size_t i = 0; i < bed->air.n_clocks && !rc; i++) {
		struct cvl_session *from;

		place(path, o, bed->air.clock[i].name, ".usage");
		add_usage(&oc->used, path);
		place(path, o, bed->air.clock[i].name, "");
		if (cvl_session_open(&from, path, NULL, err)) {
			fprintf(stderr, "coeval-simbed: %s\n", err->text);
			oc->lost++;
			oc->unopened++;
			continue;
		}
		rc = cvl_session_join(*out, from, true, NULL, err);
		cvl_session_close(from);
	}
	return rc;
}

static bool is_wrong(const struct judgement *j)
{
	return j->invented || j->missing || j->narrow || j->wrong_beacons;
}

static int judge_all(struct outcome *oc, struct cvl_sync *truth, const struct cvl_session *s,
		     const struct bed_run_opts *o, const struct bed *bed, struct cvl_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < bed->air.n_clocks && !rc; i++) {
		const char *name = bed->air.clock[i].name;
		struct judgement j;
		struct bed_course course;
		char log[CVL_PATH_MAX];
		int clock = cvl_session_find(s, name);

		if (clock < 0)
			continue;
		place(log, o, name, ".segments");
		rc = bed_course_make(&course, bed, i, err);
		if (!rc)
			rc = judge_clock(&j, &truth->clock[truth->n], s, (size_t)clock, &course,
					 log, err);
		bed_course_free(&course);
		if (!rc) {
			truth->n++;
			add_up(&oc->sum, &j);
			if (is_wrong(&j))
				fprintf(stderr,
					"coeval-simbed: %s: %" PRIu64 " edges invented, %" PRIu64
					" lost without a gap, %u of %u slips wider than they say, %" PRIu64
					" beacons wrong\n",
					name, j.invented, j.missing, j.narrow, j.slips,
					j.wrong_beacons);
		}
	}
	return rc;
}

static int score_session(struct cvl_score *score, struct outcome *oc, struct cvl_session *s,
			 const struct cvl_sync *truth, struct cvl_error *err)
{
	const struct cvl_sync_opts opts = { 0 };
	const struct cvl_score_opts how = { .seed = 1, .instants = 4000 };
	struct cvl_sync *sync = NULL;
	int rc = cvl_sync_run(&sync, s, &opts, err);

	if (!rc)
		rc = cvl_sync_save(sync, s, err);
	if (!rc)
		rc = cvl_score(score, sync, truth, s, &how, NULL, err);
	for (size_t i = 0; !rc && oc && i < sync->n; i++) {
		oc->good += sync->clock[i].verdict == CVL_GOOD;
		oc->degraded += sync->clock[i].verdict == CVL_DEGRADED;
		oc->lost += sync->clock[i].verdict == CVL_UNSYNCHRONISED;
	}
	cvl_sync_free(sync);
	return rc;
}

/* The same world, recorded by the clock room itself. */
static int score_ideal(struct cvl_score *score, const struct bed_run_opts *o, const struct world *w,
		       struct cvl_error *err)
{
	struct cvl_session *s = NULL;
	struct cvl_sync *truth = NULL;
	char path[CVL_PATH_MAX];
	int rc;

	place(path, o, "ideal", "");
	rc = world_run(w, path, NULL, err);
	if (!rc)
		rc = cvl_session_open(&s, path, NULL, err);
	if (!rc)
		rc = cvl_truth_load(&truth, s, err) < 0 ? (int)err->code : 0;
	if (!rc)
		rc = score_session(score, NULL, s, truth, err);
	cvl_sync_free(truth);
	cvl_session_close(s);
	return rc;
}

static void print_text(struct cvl_out *out, const struct bed_run_opts *o, const struct outcome *oc)
{
	const struct judgement *j = &oc->sum;

	cvl_out_printf(
		out,
		"Simulated: %u nodes, each a simulated analyzer at 8 MHz and a simulated radio, for %.0f s (seed %" PRIu64
		").\n",
		o->nodes, (double)o->duration_ns * 1e-9, o->seed);
	cvl_out_text(
		out,
		"Real: `coeval capture` on every node, libusb, spidev, and the sync node's program.\n\n");
	if (o->collect)
		cvl_out_printf(
			out,
			"Collected: by `coeval send` and `coeval collect` through nats-server; %u of these were killed.\n\n",
			oc->killed);
	cvl_out_printf(out, "  edges of the pins that are stored  %" PRIu64 "\n", j->edges);
	cvl_out_printf(out, "  edges invented                     %" PRIu64 "\n", j->invented);
	cvl_out_printf(out, "  edges lost without a gap           %" PRIu64 "\n", j->missing);
	cvl_out_printf(out, "  edges lost within gaps             %" PRIu64 ", in %u gaps\n",
		       j->in_gaps, j->gaps);
	cvl_out_printf(out, "  slips wider than they say          %u of %u\n", j->narrow, j->slips);
	cvl_out_printf(out, "  beacons given to a wrong edge      %" PRIu64 " of %" PRIu64 "\n\n",
		       j->wrong_beacons, j->beacons);
	cvl_out_printf(
		out,
		"  clocks                             %u good, %u degraded, %u unsynchronised\n",
		oc->good, oc->degraded, oc->lost);
	cvl_out_printf(out, "  error of a pair of clocks          %.0f ns rms, %.0f ns at worst\n",
		       oc->score.rms, oc->score.max);
	cvl_out_printf(out, "  in the same world without devices  %.0f ns rms, %.0f ns at worst\n",
		       oc->ideal.rms, oc->ideal.max);
	cvl_out_printf(
		out,
		"  bounds that hold the true time     %.3f %% (promised: 99.9 %%), median %" PRId64
		" ns\n\n",
		100 * oc->score.coverage, oc->score.median_bound);
	cvl_out_printf(out,
		       "  sessions  %s/NODE; what each capture said: %s/NODE.txt\n"
		       "  joined    %s/joined\n\n"
		       "Look further:  coeval info %s/joined\n"
		       "               coeval report %s/joined -o testbed.html\n",
		       o->output, o->output, o->output, o->output, o->output);
}

static void print_json(struct cvl_out *out, const struct bed_run_opts *o, const struct outcome *oc)
{
	const struct judgement *j = &oc->sum;

	cvl_out_printf(out,
		       "{\"nodes\":%u,\"seconds\":%.3f,\"seed\":%" PRIu64 ",\"beacons\":%" PRIu64
		       ",\"wrong_beacons\":%" PRIu64 ",\"edges\":%" PRIu64 ",\"invented\":%" PRIu64
		       ",\"missing\":%" PRIu64 ",\"in_gaps\":%" PRIu64
		       ",\"gaps\":%u,\"slips\":%u,\"narrow_slips\":%u,\"worst_slip\":%.3f,",
		       o->nodes, (double)o->duration_ns * 1e-9, o->seed, j->beacons,
		       j->wrong_beacons, j->edges, j->invented, j->missing, j->in_gaps, j->gaps,
		       j->slips, j->narrow, j->worst_slip);
	cvl_out_printf(
		out,
		"\"good\":%u,\"degraded\":%u,\"unsynchronised\":%u,\"rms_ns\":%.1f,\"max_ns\":%.1f,"
		"\"coverage\":%.6f,\"median_bound_ns\":%" PRId64
		",\"nominal_rms_ns\":%.1f,\"nominal_max_ns\":%.1f,\"unopened\":%u",
		oc->good, oc->degraded, oc->lost, oc->score.rms, oc->score.max, oc->score.coverage,
		oc->score.median_bound, oc->ideal.rms, oc->ideal.max, oc->unopened);
	if (o->collect)
		cvl_out_printf(out, ",\"killed_carriers\":%u", oc->killed);
	cvl_out_printf(out,
		       ",\"capture_cpu_s\":%.6f,\"samples_cpu_s\":%.6f,\"early_kib\":%ld,"
		       "\"peak_kib\":%ld",
		       oc->used.capture_cpu_s, oc->used.samples_cpu_s, oc->used.early_kib,
		       oc->used.peak_kib);
	for (size_t i = 0; i < NODE_FAULTS; i++)
		cvl_out_printf(out, ",\"faults_%s\":%u", faults[i].name, oc->used.faults[i]);
	cvl_out_text(out, "}\n");
}

static int finish(const struct bed_run_opts *o, const struct world *w, const struct bed *bed,
		  unsigned killed, struct cvl_error *err)
{
	struct outcome oc = { 0 };
	struct cvl_session *s = NULL;
	struct cvl_sync *truth = NULL;
	struct cvl_out out;
	int rc = o->collect ? open_collected(&s, o, bed, &oc, err) : join(&s, o, bed, &oc, err);

	oc.killed = killed;

	if (!rc)
		rc = new_truth(&truth, s, bed->air.n_clocks, err);
	if (!rc)
		rc = judge_all(&oc, truth, s, o, bed, err);
	if (!rc)
		rc = cvl_truth_save(truth, s, err);
	if (!rc)
		rc = score_session(&oc.score, &oc, s, truth, err);
	if (!rc)
		rc = score_ideal(&oc.ideal, o, w, err);
	cvl_sync_free(truth);
	cvl_session_close(s);
	if (rc)
		return rc;
	cvl_out_init(&out, STDOUT_FILENO, "standard output");
	if (o->json)
		print_json(&out, o, &oc);
	else
		print_text(&out, o, &oc);
	rc = cvl_out_close(&out, err);
	if (rc)
		return rc;
	return is_wrong(&oc.sum) || (oc.score.n && !(oc.score.coverage >= COVERAGE_LEAST));
}

static int run_all(const struct bed_run_opts *o, const struct world *w, const struct bed *bed,
		   struct cvl_error *err)
{
	char coeval[CVL_PATH_MAX];
	struct bed_collect_opts how = { coeval, o->output, o->seed, true };
	struct bed_collect *collect = NULL;
	unsigned killed = 0;
	int rc = 0;

	if (o->collect && !beside(coeval, "coeval") && !beside(coeval, "../../bin/coeval"))
		rc = cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET, "%s is missing", coeval);
	else if (o->collect)
		rc = bed_collect_start(&collect, &how, err);
	if (!rc)
		rc = run_nodes(o, bed, collect, err);
	if (!rc && collect)
		rc = bed_collect_end(collect, &killed, err);
	bed_collect_free(collect);
	return rc ? rc : finish(o, w, bed, killed, err);
}

int bed_run(const struct bed_run_opts *o, struct cvl_error *err)
{
	struct world *w = malloc(sizeof(*w));
	struct bed bed = { 0 };
	int rc;

	if (!w)
		return cvl_no_memory(err);
	if (o->nodes < 1 || o->nodes > NODES_MAX)
		rc = cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "1 to %d nodes", NODES_MAX);
	else
		rc = make_world(w, o, err);
	if (!rc)
		rc = bed_make(&bed, w, err);
	if (!rc)
		rc = check_faults(o, &bed, err);
	if (!rc && o->only)
		rc = run_one(o, &bed, err);
	else if (!rc && mkdir(o->output, 0777))
		rc = errno == EEXIST ?
			     cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				      "%s already exists; name another directory", o->output) :
			     cvl_fail_errno(err, "make the directory", o->output);
	else if (!rc) {
		rc = run_all(o, w, &bed, err);
	}
	bed_free(&bed);
	free(w);
	return rc;
}
