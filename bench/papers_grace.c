/* SPDX-License-Identifier: MIT */
#include "papers.h"

#include <coeval/error.h>

#include <math.h>

static const char *const estimators[] = { "grace", "smooth" };

int grace_frequency(const struct bench *b, uint64_t seed, struct paper_row *row)
{
	static const char *const estimator[] = { "regress", "smooth" };
	const struct cvl_sync_opts opts = paper_by_pulses("PPS");
	struct happened h = { 0 };
	struct world w;
	int rc = world_named(b, &w, "grace", seed);

	if (rc)
		return rc;
	paper_only_clock(&w, 0, 0);
	w.duration_ns = 7200ll * PAPER_SECOND_NS;
	rc = world_happen(b, &h, &w, &opts);
	for (int i = 0; i < 2 && !rc; i++) {
		struct cvl_sync *sync;

		rc = world_solve(b, &h, estimator[i], &sync);
		if (rc)
			break;
		bench_add(paper_column(row, i), sync->clock[0].rate_ppb * 1e-3);
		cvl_sync_free(sync);
	}
	world_end(&h);
	return rc;
}

/* The world's air for as long as the paper measured. */
static int grace_air(const struct bench *b, struct world *w, struct world_air *air, uint64_t seed,
		     int64_t seconds)
{
	struct cvl_error err;
	int rc = world_named(b, w, "grace", seed);

	*air = (struct world_air){ 0 };
	if (rc)
		return rc;
	w->duration_ns = seconds * PAPER_SECOND_NS;
	w->n_pulses = w->n_programs = 0;
	rc = air_make(air, w, &err);
	return rc ? bench_fail(b, rc, "world grace: %s", err.text) : 0;
}

int grace_sending(const struct bench *b, uint64_t seed, struct paper_row *row)
{
	struct world w, still;
	struct world_air air, without = { 0 };
	struct values l = { 0 };
	struct spread s;
	struct cvl_error err;
	int rc = grace_air(b, &w, &air, seed, 5400);

	still = w;
	still.sender[0].jitter_ns = 0;
	if (!rc && air_make(&without, &still, &err))
		rc = bench_fail(b, (int)err.code, "world grace: %s", err.text);
	for (size_t k = 0; !rc && k < air.sender[0].n && k < without.sender[0].n; k++)
		rc = values_add(&l, air.sender[0].beacon[k].t - without.sender[0].beacon[k].t);
	if (!rc) {
		s = values_spread(&l, PAPER_UNDER_NS);
		bench_add(&row[0].same, s.mean);
		bench_add(&row[1].same, s.max);
	}
	values_free(&l);
	air_free(&air);
	air_free(&without);
	return rc;
}

/*
 * What is heard, against what was sent, both set to the same at the first; the mean over all nodes.
 */
int grace_receiving(const struct bench *b, uint64_t seed, struct paper_row *row)
{
	const struct readings_of all = { .clocks = "*" };
	struct world w;
	struct world_air air;
	struct readings r = { 0 };
	double mean = 0, sd = 0;
	int rc = grace_air(b, &w, &air, seed, 5400);

	rc = rc ? rc : readings_true(b, &r, &air, &all);
	for (size_t c = 0; c < r.clocks && !rc; c++) {
		double sum = 0, sum2 = 0, size = 0, n = 0, first = NAN;

		for (size_t k = 0; k < r.marks && k < air.sender[0].n; k++) {
			double d = r.t[c * r.marks + k] - air.sender[0].beacon[k].t;

			if (isnan(d))
				continue;
			first = isnan(first) ? d : first;
			sum += d - first;
			sum2 += (d - first) * (d - first);
			size += fabs(d - first);
			n++;
		}
		mean += size / n / (double)r.clocks;
		sd += sqrt(sum2 / n - sum / n * (sum / n)) / (double)r.clocks;
	}
	if (!rc) {
		bench_add(&row[0].same, mean * 1e-3);
		bench_add(&row[1].same, sd);
	}
	readings_free(&r);
	air_free(&air);
	return rc;
}

int grace_two_receivers(const struct bench *b, uint64_t seed, struct paper_row *row)
{
	const struct readings_of two = { .clocks = "observer[12]" };
	struct world w;
	struct world_air air;
	struct readings r = { 0 };
	struct values pairs = { 0 }, widest = { 0 };
	struct spread s;
	int rc = grace_air(b, &w, &air, seed, 5 * 3600);

	for (size_t i = 0; i < w.n_clocks; i++) /* "close to each other" */
		w.clocks[i].distance_m = 0;
	rc = rc ? rc : readings_true(b, &r, &air, &two);
	if (!rc && readings_compare(&r, 0, &pairs, &widest))
		rc = bench_fail(b, CVL_E_NOMEM, "out of memory");
	if (!rc) {
		s = values_spread(&pairs, PAPER_UNDER_NS);
		bench_add(&row[0].same, s.mean);
		bench_add(&row[1].same, s.median);
		bench_add(&row[2].same, s.sd);
		bench_add(&row[3].same, s.max * 1e-3);
		bench_add(&row[4].same, 100 * s.under);
	}
	values_free(&pairs);
	values_free(&widest);
	readings_free(&r);
	air_free(&air);
	return rc;
}

static void add_spread(struct values *l, int estimator, struct paper_row *row)
{
	struct spread s = values_spread(l, PAPER_UNDER_NS);

	bench_add(paper_column(&row[0], estimator), s.mean * 1e-3);
	bench_add(paper_column(&row[1], estimator), s.sd);
	bench_add(paper_column(&row[2], estimator), s.max * 1e-3);
}

/* All pairs, if there is a @pairs, and the widest of each mark. */
static int add_spreads(const struct bench *b, const struct happened *h, const struct cvl_sync *sync,
		       const struct readings_of *of, int estimator, struct paper_row *pairs,
		       struct paper_row *widest)
{
	struct values l[2] = { { 0 } };
	struct readings r;
	int rc = readings_mapped(b, &r, h, sync, of);

	if (!rc && readings_compare(&r, PAPER_SETTLED, &l[0], &l[1]))
		rc = bench_fail(b, CVL_E_NOMEM, "out of memory");
	if (!rc && pairs)
		add_spread(&l[0], estimator, pairs);
	if (!rc)
		add_spread(&l[1], estimator, widest);
	values_free(&l[0]);
	values_free(&l[1]);
	readings_free(&r);
	return rc;
}

/* @of: of all pairs and the widest; @few: of the widest, or NULL. */
static int whole_system(const struct bench *b, uint64_t seed, const struct readings_of *of,
			const struct readings_of *few, struct paper_row *row)
{
	const struct cvl_sync_opts opts = { 0 };
	struct happened h = { 0 };
	struct world w;
	int rc = world_named(b, &w, "grace", seed);

	rc = rc ? rc : world_happen(b, &h, &w, &opts);
	for (int i = 0; i < 2 && !rc; i++) {
		struct cvl_sync *sync;

		rc = world_solve(b, &h, estimators[i], &sync);
		if (rc)
			break;
		rc = add_spreads(b, &h, sync, of, i, row, row + 3);
		if (!rc && few)
			rc = add_spreads(b, &h, sync, few, i, NULL, row + 6);
		cvl_sync_free(sync);
	}
	world_end(&h);
	return rc;
}

int grace_gps_edges(const struct bench *b, uint64_t seed, struct paper_row *row)
{
	const struct readings_of edges = { "PPS", "observer[1-4]" };

	return whole_system(b, seed, &edges, NULL, row);
}

int grace_beacons(const struct bench *b, uint64_t seed, struct paper_row *row)
{
	const struct readings_of heard = { NULL, "*" }, four = { NULL, "observer[1-4]" };

	return whole_system(b, seed, &heard, &four, row);
}
