/* SPDX-License-Identifier: MIT */
/*
 * Whether bounds hold: pulses of a reference are withheld from an estimator, and looked at afterwards. Only clocks that it calls good
 * count; how many those are is told, too.
 */
#include "bench.h"

#include <coeval/error.h>

#include "columns.h"

#define COLUMNS 350 /* of 300 withheld pulses each: 105,000 where all are good */
#define SEED 1
#define NORMAL_95 1.959964

/*
 * Wilson's interval of the share @within / @n, in %. Pulses of one gap are not independent: what is within or not is mostly a whole
 * gap, so @n are gaps here.
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
	int rc = score(b, w, e, &s);

	if (rc) {
		column_sums_free(&s);
		return rc;
	}
	n = (double)s.n;
	snprintf(name, sizeof(name), "%s %s: withheld pulses within %s's bound", w->name, w->what,
		 e->info.name);
	f.name = name;
	bench_add(&f.measured, 100 * share_of(s.within, s.n));
	interval(share_of(s.within, s.n), fmax(n / COLUMN_GAP, 1), &low, &high);
	snprintf(
		f.note, sizeof(f.note),
		"%u good, %u degraded; of %.0f (%.0f gaps: 95 %% %.2f..%.2f); bound %.0f ns, at marks %.0f (%.2f %%)%s",
		s.good, s.degraded, n, n / COLUMN_GAP, low, high, median_of(s.gap, s.n_gap),
		median_of(s.mark, s.n_mark), 100 * share_of(s.within_marks, s.n_marks),
		w->goal > 0 ? "" : "; kicks in a gap of a capture that saw none");
	bench_figure_put(b, &f);
	column_sums_free(&s);
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
	return rc;
}

const struct bench_group bench_truth = {
	.name = "truth",
	.what = "whether bounds hold at pulses that were withheld",
	.run = run,
};
