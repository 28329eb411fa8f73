/* SPDX-License-Identifier: MIT */
#include "papers.h"

#include <coeval/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "sim/glossy_net.h"
#include "sync/problem.h"
#include "sync/track.h"

/* The five of Table III in the simulated network: at 4, 2, 1, 2 and 4 hops. */
static const unsigned table_node[] = { 28, 10, 1, 12, 26 };
#define TABLE_NODES 5
#define SETTLED 120 /* s; the filter forgets its beginning by a tenth a second */

struct errors {
	double n, sum, squares, least, most;
};

struct floods {
	struct errors raw[TABLE_NODES], filtered[TABLE_NODES];
};

static void add(struct errors *e, double v)
{
	e->least = e->n ? fmin(e->least, v) : v;
	e->most = e->n ? fmax(e->most, v) : v;
	e->n++;
	e->sum += v;
	e->squares += v * v;
}

/* As the paper measures it: a node's reference time from its own receiver's pulse, less the same of the initiator. */
static void second(void *ctx, uint32_t k, const struct glossy_net_heard *h)
{
	struct floods *f = ctx;

	if (k <= SETTLED || !h[0].flood)
		return;
	for (unsigned i = 0; i < TABLE_NODES; i++) {
		const struct glossy_net_heard *n = &h[table_node[i]];

		if (!n->flood)
			continue;
		add(&f->raw[i], n->reference - h[0].reference);
		add(&f->filtered[i], n->filtered - h[0].filtered);
	}
}

/* Three rows: sd, and the range about the mean, which a receiver's fixed delay would shift. */
static void put(struct paper_row *row, const struct errors *e)
{
	double mean = e->sum / e->n;

	bench_add(&row[0].same, sqrt(e->squares / e->n - mean * mean));
	bench_add(&row[1].same, e->least - mean);
	bench_add(&row[2].same, e->most - mean);
}

int tracelab_floods(const struct bench *b, uint64_t seed, struct paper_row *row)
{
	const struct glossy_net_config c = glossy_net_paper(seed);
	struct floods f;
	const char *wrong;

	memset(&f, 0, sizeof(f));
	bench_doing(b, "floods, seed %d", (int)seed);
	wrong = glossy_net_run(&c, second, &f, NULL);
	if (wrong)
		return bench_fail(b, CVL_E_USAGE, "%s", wrong);
	for (unsigned i = 0; i < TABLE_NODES; i++) {
		put(row + 6 * i, &f.raw[i]);
		put(row + 6 * i + 3, &f.filtered[i]);
	}
	return 0;
}

/* ---- the whole system: these pulses steer the observers' clocks ---- */

#define OBSERVERS (1 + TABLE_NODES) /* the root is the first */
#define SYSTEM_S (3600 + PAPER_SETTLED)
#define FPGA_HZ 100000000
#define FPGA_PPM 10 /* as examples/worlds/tracelab.yaml has it */
#define FPGA_WALK 1e-9
#define PAPER_STAMP_NS 500

struct observers {
	double pps[OBSERVERS]
		  [SYSTEM_S + 1]; /* true time of a second's pulse, NAN if there was none */
	double x[SYSTEM_S + 2];   /* one observer's clock at true seconds and a half */
	double stamp[OBSERVERS][SYSTEM_S + 1];
};

static void keep_pulses(void *ctx, uint32_t k, const struct glossy_net_heard *h)
{
	struct observers *o = ctx;

	for (unsigned i = 0; i < OBSERVERS; i++) {
		const struct glossy_net_heard *n = &h[i ? table_node[i - 1] : 0];

		o->pps[i][k] = n->pps ? k * 1e9 + n->pps_ns : NAN;
	}
}

static void draw_clock(struct observers *o, struct sim_random *r)
{
	double off = sim_normal(r) * FPGA_PPM * 1e-6;

	o->x[0] = 0;
	for (unsigned k = 0; k <= SYSTEM_S; k++) {
		o->x[k + 1] = o->x[k] + 1e9 * (1 + off);
		off += sim_normal(r) * FPGA_WALK;
	}
}

/* What the clock shows at true time @t, in whole cycles. */
static int64_t shows(const struct observers *o, double t)
{
	double at = t * 1e-9 + 0.5, ns;
	size_t k = at <= 0 ? 0 : at >= SYSTEM_S ? SYSTEM_S : (size_t)at;

	ns = o->x[k] + (at - (double)k) * (o->x[k + 1] - o->x[k]);
	return (int64_t)floor(ns * FPGA_HZ * 1e-9) * (1000000000 / FPGA_HZ);
}

/* The clock of observer @i by its pulses, and what it stamps the edges of its receiver with. */
static int stamp_edges(struct observers *o, unsigned i, const struct tracker *tracker,
		       struct sim_random *r)
{
	const struct track_setup setup = { .rate_hz = FPGA_HZ,
					   .period_ns = 1e9,
					   .resolution_ns = 1e9 / FPGA_HZ };
	struct track t = { .report = { .emit = track_keep, .ctx = &t } };
	void *state = tracker->open(&setup, &t.report);
	int rc = state ? 0 : CVL_E_NOMEM;

	for (unsigned k = 1; k <= SYSTEM_S && !rc; k++) {
		struct track_mark m = { .x = 0 };

		if (isnan(o->pps[i][k]))
			continue;
		m.x = shows(o, o->pps[i][k]);
		m.offset = k * 1e9 - (double)m.x;
		rc = tracker->feed(state, &m);
	}
	if (state)
		rc = tracker->close(state, rc);
	for (unsigned k = 1; k <= SYSTEM_S && !rc; k++) {
		double bound;
		int64_t x = shows(o, k * 1e9 + 30 * sim_normal(r));

		o->stamp[i][k] = (double)x + track_at(&t, x, &bound);
	}
	track_free(&t);
	return rc;
}

int tracelab_floods_system(const struct bench *b, uint64_t seed, struct paper_row *row)
{
	static const double unit[] = { PAPER_STAMP_NS, 1 };
	const struct tracker *const tracker[] = { estimator_tracelab.tracker, &tracker_smooth };
	struct glossy_net_config c = glossy_net_paper(seed);
	struct observers *o = malloc(sizeof(*o));
	const char *wrong;
	int rc = 0;

	if (!o)
		return bench_fail(b, CVL_E_NOMEM, "out of memory");
	c.seconds = SYSTEM_S;
	c.node.alpha_pm = JITTER_ALPHA_ONE; /* the estimator has the filter */
	wrong = glossy_net_run(&c, keep_pulses, o, NULL);
	if (wrong)
		rc = bench_fail(b, CVL_E_USAGE, "%s", wrong);
	for (int e = 0; e < 2 && !rc; e++) {
		struct sim_random r = { seed };
		struct values l = { 0 };
		struct spread s;

		for (unsigned i = 0; i < OBSERVERS && !rc; i++) {
			draw_clock(o, &r);
			rc = stamp_edges(o, i, tracker[e], &r);
		}
		for (unsigned k = PAPER_SETTLED; k <= SYSTEM_S && !rc; k++) {
			double most = 0;

			for (unsigned i = 1; i < OBSERVERS; i++)
				most = fmax(most, fabs(floor(o->stamp[i][k] / unit[e]) -
						       floor(o->stamp[0][k] / unit[e])) *
							  unit[e]);
			rc = values_add(&l, most);
		}
		if (rc) {
			rc = bench_fail(b, rc, "the simulated observers cannot be followed");
		} else {
			s = values_spread(&l, PAPER_UNDER_NS);
			bench_add(paper_column(&row[0], e), 100 * s.under);
			bench_add(paper_column(&row[1], e), s.max * 1e-3);
			bench_add(paper_column(&row[2], e), s.mean);
		}
		values_free(&l);
	}
	free(o);
	return rc;
}
