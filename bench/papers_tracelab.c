/* SPDX-License-Identifier: MIT */
#include "papers.h"

#include <coeval/error.h>

#include <math.h>

#include "sim/devices/tracelab_clock.h"
#include "wire/tracelab_wire.h"

#define UNIT_NS 500 /* of its 2 MHz system time */

static const char *const estimators[] = { "tracelab", "smooth" };

/* Times on the timeline are from the session's epoch, which is no whole second. */
static double from_second(const struct happened *h, double t)
{
	return t + (double)(cvl_session_epoch(h->session) % PAPER_SECOND_NS);
}

static void keep_offset(void *ctx, int kind, int64_t cycle, int64_t value)
{
	(void)cycle;
	if (kind == TL_CLOCK_OFFSET)
		values_add(ctx, (double)value * (1e9 / TL_CLOCK_HZ));
}

/* What the gateware's offset detector measures, while the gateware's controller steers. */
static int by_controller(const struct bench *b, const struct happened *h, struct values *l)
{
	const struct readings_of seconds = { "GPS", "*" };
	struct tracelab_clock clock;
	struct readings r = { 0 };
	int rc = readings_mapped(b, &r, h, NULL, &seconds);

	tracelab_clock_init(&clock, &tracelab_clock_usual, keep_offset, l);
	for (size_t k = 0; k < r.marks && !rc; k++) {
		if (k == PAPER_SETTLED)
			l->n = 0;
		if (!isnan(r.t[k]))
			tracelab_clock_edge(&clock, (int64_t)r.t[k]);
	}
	readings_free(&r);
	return rc;
}

/* What is between the pulses and the whole seconds of the timeline. */
static int by_smooth(const struct bench *b, const struct happened *h, struct values *l)
{
	const struct readings_of seconds = { "GPS", "*" };
	struct readings r = { 0 };
	struct cvl_sync *sync;
	int rc = world_solve(b, h, "smooth", &sync);

	if (rc)
		return rc;
	rc = readings_mapped(b, &r, h, sync, &seconds);
	for (size_t k = PAPER_SETTLED; k < r.marks && !rc; k++)
		if (!isnan(r.t[k]))
			rc = values_add(l, remainder(from_second(h, r.t[k]), PAPER_SECOND_NS));
	readings_free(&r);
	cvl_sync_free(sync);
	return rc;
}

int tracelab_one_observer(const struct bench *b, uint64_t seed, struct paper_row *row)
{
	static int (*const by[])(const struct bench *b, const struct happened *h,
				 struct values *l) = { by_controller, by_smooth };
	const struct cvl_sync_opts opts = paper_by_pulses("GPS");
	struct happened h = { 0 };
	struct world w;
	int rc = world_named(b, &w, "tracelab", seed);

	if (rc)
		return rc;
	paper_only_clock(&w, 0, 1);
	w.duration_ns = (19713ll + PAPER_SETTLED) * PAPER_SECOND_NS;
	rc = world_happen(b, &h, &w, &opts);
	for (int i = 0; i < 2 && !rc; i++) {
		struct values l = { 0 };

		rc = by[i](b, &h, &l);
		if (!rc)
			bench_add(paper_column(row, i), values_spread(&l, PAPER_UNDER_NS).p99);
		values_free(&l);
	}
	world_end(&h);
	return rc;
}

/*
 * For every pulse the one of five observers that is furthest from the first; their stamps are whole
 * units.
 */
static int furthest(const struct happened *h, const struct readings *r, double unit,
		    struct values *l)
{
	for (size_t k = PAPER_SETTLED; k < r->marks; k++) {
		double root = floor(from_second(h, r->t[k]) / unit), most = 0;

		for (size_t c = 1; c < r->clocks; c++) {
			double t = floor(from_second(h, r->t[c * r->marks + k]) / unit);

			most = fmax(most, fabs(t - root) * unit);
		}
		if (!isnan(root) && values_add(l, most))
			return CVL_E_NOMEM;
	}
	return 0;
}

int tracelab_all_observers(const struct bench *b, uint64_t seed, struct paper_row *row)
{
	static const double unit[] = { UNIT_NS, 1 };
	const struct readings_of edges = { "GPS", "observer[1-6]" };
	const struct cvl_sync_opts opts = paper_by_pulses("PPS1");
	struct happened h = { 0 };
	struct world w;
	int rc = world_named(b, &w, "tracelab", seed);

	rc = rc ? rc : world_happen(b, &h, &w, &opts);
	for (int i = 0; i < 2 && !rc; i++) {
		struct readings r = { 0 };
		struct values l = { 0 };
		struct cvl_sync *sync;

		rc = world_solve(b, &h, estimators[i], &sync);
		if (rc)
			break;
		rc = readings_mapped(b, &r, &h, sync, &edges);
		if (!rc && furthest(&h, &r, unit[i], &l))
			rc = bench_fail(b, CVL_E_NOMEM, "out of memory");
		if (!rc) {
			struct spread s = values_spread(&l, PAPER_UNDER_NS);

			bench_add(paper_column(&row[0], i), 100 * s.under);
			bench_add(paper_column(&row[1], i), s.max * 1e-3);
		}
		values_free(&l);
		readings_free(&r);
		cvl_sync_free(sync);
	}
	world_end(&h);
	return rc;
}
