/* SPDX-License-Identifier: MIT */
/*
 * Whether bounds hold: pulses of a reference are withheld from an estimator, and looked at
 * afterwards. Only clocks that it calls good count; their number is printed, too.
 */
#include "bench.h"

#include <coeval/error.h>

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "columns.h"
#include "traps.h"

#define COLUMNS 350 /* of 300 withheld pulses each: 105,000 where all are good */
#define SEED 1
#define NORMAL_95 1.959964
#define TRAPS 100 /* worlds of each kind that are made to mislead */

/*
 * Wilson's interval of the share @within / @n, in %. Pulses of one gap are not independent: what is
 * within or not is mostly a whole gap, so @n are gaps here.
 */
static void interval(double share, double n, double *low, double *high)
{
	double z2 = NORMAL_95 * NORMAL_95, mid = (share + z2 / (2 * n)) / (1 + z2 / n);
	double half = NORMAL_95 / (1 + z2 / n) * sqrt(share * (1 - share) / n + z2 / (4 * n * n));

	*low = 100 * (mid - half);
	*high = 100 * (mid + half);
}

static double share_of(uint64_t within, uint64_t n)
{
	return n ? (double)within / (double)n : NAN;
}

static int score(const struct bench *b, const struct column_world *w, const struct estimator *e,
		 struct column_sums *s)
{
	static struct column c;
	struct cvl_error err;
	int rc = 0;

	for (unsigned i = 0; i < COLUMNS && !rc; i++) {
		struct cvl_clock_sync told = { 0 };

		if (bench_stopped())
			return CVL_E_NO;
		if (i % 16 == 0)
			bench_doing(b, "%s in world %s: %u of %d", e->info.name, w->name, i,
				    COLUMNS);
		rc = column_make(&c, w, SEED, i, &err);
		if (!rc)
			rc = column_score(s, &c, e, &told, &err);
		cvl_map_free(told.map);
	}
	return rc ? bench_fail(b, rc, "world %s: %s", w->name, err.text) : 0;
}

static int row(const struct bench *b, const struct column_world *w, const struct estimator *e)
{
	struct bench_figure f = { .unit = "%", .goal = 99.9, .less_is_better = false };
	struct column_sums s = { 0 };
	char name[120];
	double low, high, n;
	int at, rc = score(b, w, e, &s);

	if (rc) {
		column_sums_free(&s);
		return rc;
	}
	n = (double)s.n;
	snprintf(name, sizeof(name), "%s %s: withheld pulses within %s's bound", w->name, w->what,
		 e->info.name);
	f.name = name;
	bench_add(&f.measured, 100 * share_of(s.within, s.n));
	interval(s.n ? share_of(s.within, s.n) : 0, fmax(n / COLUMN_GAP, 1), &low, &high);
	at = snprintf(f.note, sizeof(f.note), "%u good, %u degraded", s.good, s.degraded);
	if (s.n)
		snprintf(
			f.note + at, sizeof(f.note) - (size_t)at,
			"; of %.0f (%.0f gaps: 95 %% %.2f..%.2f); bound %.0f ns, at marks %.0f (%.2f %%)%s",
			n, n / COLUMN_GAP, low, high, median_of(s.gap, s.n_gap),
			median_of(s.mark, s.n_mark), 100 * share_of(s.within_marks, s.n_marks),
			w->goal > 0 ? "" : "; kicks in a gap of a capture that saw none");
	bench_figure_put(b, &f);
	column_sums_free(&s);
	return 0;
}

/* ---- a real capture ---- */

#define CAPTURE "sigrok/dcf77/dcf77_480s.sr"
#define EDGES_MAX 4096
#define EVERY_NS INT64_C(30000000000) /* of which the last HIDDEN_NS are withheld */
#define HIDDEN_NS INT64_C(10000000000)
#define SECOND_NS 1000000000
#define BLOCK_LEAST 5 /* pulses, of whose errors the middle one is looked at */

/* Rising edges of the line DATA in a VCD, ns. */
static size_t read_edges(const char *path, int64_t edge[EDGES_MAX])
{
	FILE *f = fopen(path, "r");
	char line[256], code = 0;
	int64_t at = 0, unit = 1;
	bool was_low = false;
	size_t n = 0;

	while (f && fgets(line, sizeof(line), f) && n < EDGES_MAX) {
		if (!strncmp(line, "$timescale", 10))
			unit = strstr(line, "us") ? 1000 : 1;
		if (strstr(line, " DATA $end"))
			sscanf(line, "$var wire 1 %c", &code);
		if (line[0] == '#')
			at = strtoll(line + 1, NULL, 10) * unit;
		if ((line[0] != '0' && line[0] != '1') || line[1] != code)
			continue;
		if (line[0] == '1' && was_low)
			edge[n++] = at;
		was_low = line[0] == '0';
	}
	if (f)
		fclose(f);
	return n;
}

static bool is_hidden(int64_t x)
{
	return x % EVERY_NS >= EVERY_NS - HIDDEN_NS;
}

/*
 * How far the edge is off the whole second that it is nearest to; false: so far that it is no
 * pulse.
 */
static bool off_second(const struct cvl_map *map, int64_t edge, double *off, int64_t *bound)
{
	int64_t t = cvl_map_time(map, (struct cvl_tick){ (uint64_t)edge }, bound).ns % SECOND_NS;

	*off = (double)(t > SECOND_NS / 2 ? t - SECOND_NS : t);
	return fabs(*off) < SECOND_NS / 8.0;
}

/*
 * Of the pulses of each hidden stretch the middle error: it tests the map, and not the jitter of a
 * pulse.
 */
static void score_capture(const struct cvl_map *map, const int64_t *edge, size_t n,
			  struct column_sums *s)
{
	double all[EDGES_MAX], in[EDGES_MAX], off, sd;
	size_t n_all = 0;
	int64_t bound;

	for (size_t i = 0; i < n; i++)
		if (off_second(map, edge[i], &off, &bound))
			all[n_all++] = fabs(off);
	sd = 1.4826 * median_of(all, n_all);
	for (size_t i = 0, end; i < n; i = end) {
		double widest = 0;
		size_t k = 0;

		for (end = i; end < n && edge[end] / EVERY_NS == edge[i] / EVERY_NS; end++)
			if (is_hidden(edge[end]) && off_second(map, edge[end], &off, &bound)) {
				in[k++] = off;
				widest = fmax(widest, (double)bound);
			}
		if (k < BLOCK_LEAST)
			continue;
		s->n++;
		s->within += fabs(median_of(in, k)) <=
			     hypot(widest, TRACK_999 * 1.25 * sd / sqrt((double)k));
	}
}

static int solve_capture(const struct estimator *e, const int64_t *edge, size_t n,
			 struct cvl_clock_sync *told, struct cvl_error *err)
{
	static struct sync_mark mark[EDGES_MAX];
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (!is_hidden(edge[i]))
			mark[kept++] = (struct sync_mark){ .tick = (uint64_t)edge[i] };
	return column_tie(mark, kept, SECOND_NS, (uint64_t)edge[n - 1], e, told, err);
}

static int capture(const struct bench *b, const struct estimator *e)
{
	const char *shared = getenv("COEVAL_SHARED");
	char from[BENCH_PATH_MAX], session[BENCH_PATH_MAX], vcd[BENCH_PATH_MAX], name[120];
	const char *const import[] = { b->coeval, "import", "-o", session, from, NULL };
	const char *const export[] = {
		b->coeval, "export", session, "--to", "vcd", "-o", vcd, NULL
	};
	struct bench_figure f = {
		.unit = "%", .goal = 99.9, .less_is_better = false, .real = true
	};
	struct cvl_clock_sync told = { 0 };
	static int64_t edge[EDGES_MAX];
	struct column_sums s = { 0 };
	struct bench_usage u = { 0 };
	struct cvl_error err;
	size_t n;
	int rc;

	snprintf(from, sizeof(from), "%s/" CAPTURE,
		 shared ? shared : COEVAL_SOURCE_DIR "/../shared/data");
	if (access(from, R_OK)) {
		if (!b->json)
			printf("truth  SKIP " CAPTURE ": it is not here\n");
		return 0;
	}
	bench_path(b, session, "dcf77");
	bench_path(b, vcd, "dcf77.vcd");
	bench_remove(session);
	bench_remove(vcd);
	rc = bench_run(b, &(struct bench_command){ .argv = import }, &u);
	rc = rc ? rc : bench_run(b, &(struct bench_command){ .argv = export }, &u);
	if (rc)
		return rc;
	n = read_edges(vcd, edge);
	rc = n ? solve_capture(e, edge, n, &told, &err) : CVL_E_MISSING;
	if (rc)
		return bench_fail(b, rc, CAPTURE ": %s", n ? err.text : "no edges");
	if (told.map && told.verdict == CVL_GOOD)
		score_capture(told.map, edge, n, &s);
	snprintf(name, sizeof(name), "DCF77, a real capture: middle pulses within %s's bound",
		 e->info.name);
	f.name = name;
	bench_add(&f.measured, s.n ? 100 * share_of(s.within, s.n) : NAN);
	snprintf(f.note, sizeof(f.note), "%s; %llu stretches of 10 s that were withheld",
		 cvl_verdict_name(told.verdict), (unsigned long long)s.n);
	bench_figure_put(b, &f);
	cvl_map_free(told.map);
	return 0;
}

static void trap_figure(const struct bench *b, const char *name, const char *unit, double is,
			double goal, bool less, const char *note)
{
	struct bench_figure f = {
		.name = name, .unit = unit, .goal = goal, .less_is_better = less, .real = false
	};

	bench_add(&f.measured, is);
	snprintf(f.note, sizeof(f.note), "%s", note);
	bench_figure_put(b, &f);
}

/*
 * Worlds made to mislead: what is proven or good in them is not wrong, and what something decides
 * is decided.
 */
static int traps(const struct bench *b)
{
	struct trap_tally all = { 0 };
	char dir[BENCH_PATH_MAX], note[200];
	struct cvl_error err;
	int rc = 0;

	bench_path(b, dir, "traps");
	bench_remove(dir);
	if (mkdir(dir, 0777))
		return bench_fail(b, CVL_E_IO, "%s: cannot be made", dir);
	for (int ties = 0; ties < TRAP_TIES && !rc; ties++)
		for (unsigned i = 0; i < TRAPS && !rc; i++) {
			if (bench_stopped())
				return CVL_E_NO;
			if (i % 16 == 0)
				bench_doing(b, "%s: %u of %d", trap_names[ties], i, TRAPS);
			rc = trap_run(SEED + i, (enum trap_ties)ties, dir, &all, &err);
		}
	bench_remove(dir);
	if (rc)
		return bench_fail(b, rc, "%s", err.text);
	snprintf(note, sizeof(note), "%u worlds; %llu times of pairs", all.worlds,
		 (unsigned long long)all.proven);
	trap_figure(b, "made to mislead: outside a proven bound", "", (double)all.proven_outside, 0,
		    true, note);
	snprintf(note, sizeof(note), "%u clocks good, %u ambiguous of %u", all.good, all.ambiguous,
		 all.clocks);
	trap_figure(b, "made to mislead: good, but off by a period", "", all.by_period, 0, true,
		    note);
	snprintf(note, sizeof(note), "%llu times of pairs called good",
		 (unsigned long long)all.likely);
	trap_figure(b, "made to mislead: within 99.9 % bounds", "%",
		    100 * share_of(all.likely - all.likely_outside, all.likely), 99.9, false, note);
	snprintf(note, sizeof(note), "%u clocks that something decides by construction",
		 all.decidable);
	trap_figure(b, "made to mislead: decided where something decides", "%",
		    100 * share_of(all.decidable_good, all.decidable), 98, false, note);
	return 0;
}

static int run(const struct bench *b)
{
	static const struct estimator *const estimators[] = { &estimator_smooth, &estimator_kalman,
							      &estimator_lag, &estimator_regress };
	int rc = 0;

	bench_figure_heads(b);
	for (size_t e = 0; e < sizeof(estimators) / sizeof(*estimators) && !rc; e++)
		for (size_t w = 0; w < COLUMN_WORLDS && !rc; w++)
			rc = row(b, &column_worlds[w], estimators[e]);
	for (size_t e = 0; e < sizeof(estimators) / sizeof(*estimators) && !rc; e++)
		rc = capture(b, estimators[e]);
	return rc ? rc : traps(b);
}

const struct bench_group bench_truth = {
	.name = "truth",
	.what = "whether bounds hold: at pulses that were withheld, and in worlds made to mislead",
	.run = run,
};
