/* SPDX-License-Identifier: MIT */
#include "papers.h"

#include <coeval/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "sim/devices/glossy_net.h"
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
	e->least = e->n > 0 ? fmin(e->least, v) : v;
	e->most = e->n > 0 ? fmax(e->most, v) : v;
	e->n++;
	e->sum += v;
	e->squares += v * v;
}

/*
 * As the paper measures it: a node's reference time from its own receiver's pulse, less the same of
 * the initiator.
 */
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

#define SYSTEM_S (3600 + PAPER_SETTLED)
#define FPGA_HZ 100000000
#define FPGA_PPM 10 /* as examples/worlds/tracelab.yaml has it */
#define FPGA_WALK 1e-9
#define PAPER_STAMP_NS 500
#define RECEIVER_NS 30

enum stamped { BY_PAPER, FINE, STEERED, WAYS };

struct observers {
	unsigned n;
	unsigned node[GLOSSY_NET_OFFICE]; /* the root is the first */
	enum tracelab_edges edges;
	double pps[GLOSSY_NET_OFFICE]
		  [SYSTEM_S + 1];  /* true time of a second's pulse, NAN if there was none */
	double x[SYSTEM_S + 2];    /* one observer's clock at true seconds and a half */
	double edge[SYSTEM_S + 1]; /* true times of what all see */
	double error[WAYS][GLOSSY_NET_OFFICE][SYSTEM_S + 1]; /* of stamps */
};

static void keep_pulses(void *ctx, uint32_t k, const struct glossy_net_heard *h)
{
	struct observers *o = ctx;

	for (unsigned i = 0; i < o->n; i++) {
		const struct glossy_net_heard *n = &h[o->node[i]];

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

/* The clock of observer @i by its pulses. */
static int follow(const struct observers *o, unsigned i, const struct tracker *tracker,
		  struct track *t)
{
	const struct track_setup setup = { .rate_hz = FPGA_HZ,
					   .period_ns = 1e9,
					   .resolution_ns = 1e9 / FPGA_HZ };
	void *state;
	int rc;

	*t = (struct track){ .report = { .emit = track_keep, .ctx = t } };
	state = tracker->open(&setup, &t->report);
	rc = state ? 0 : CVL_E_NOMEM;
	for (unsigned k = 1; k <= SYSTEM_S && !rc; k++) {
		struct track_mark m = { .x = 0 };

		if (isnan(o->pps[i][k]))
			continue;
		m.x = shows(o, o->pps[i][k]);
		m.offset = k * 1e9 - (double)m.x;
		rc = tracker->feed(state, &m);
	}
	return state ? tracker->close(state, rc) : rc;
}

static double time_of(const struct track *t, double x)
{
	double bound;

	return x + track_at(t, (int64_t)x, &bound);
}

static double at_any_time(unsigned k, struct sim_random *r)
{
	return floor((k + (sim_uniform(r) - 0.5) * 0.9) * 1e9);
}

/*
 * What observer @i stamps the edges with: the steered clock's tick, raw time, and the raw time of
 * the middle of that tick. TRACELAB_CLOCKS: what its clocks show at that cycle, without ticks.
 */
static int stamp_edges(struct observers *o, unsigned i, struct sim_random *r)
{
	struct track steered, smooth;
	int rc = follow(o, i, estimator_tracelab.tracker, &steered);
	int rc2 = follow(o, i, &tracker_smooth, &smooth);

	rc = rc ? rc : rc2;
	for (unsigned k = 1; k <= SYSTEM_S && !rc; k++) {
		double jitter = o->edges == TRACELAB_SECONDS ? RECEIVER_NS * sim_normal(r) : 0;
		double edge = o->edges == TRACELAB_OWN ? at_any_time(k, r) : o->edge[k];
		int64_t x = shows(o, edge + jitter);
		double system = time_of(&steered, (double)x);
		double tick = floor(system / PAPER_STAMP_NS) * PAPER_STAMP_NS;
		double middle = (double)track_inverse(&steered, (int64_t)tick + PAPER_STAMP_NS / 2);

		if (o->edges == TRACELAB_CLOCKS) {
			tick = system;
			middle = (double)x;
		}
		o->error[BY_PAPER][i][k] = tick - edge;
		o->error[FINE][i][k] = floor(time_of(&smooth, (double)x)) - edge;
		o->error[STEERED][i][k] = floor(time_of(&smooth, middle)) - edge;
	}
	track_free(&steered);
	track_free(&smooth);
	return rc;
}

static int run_system(const struct bench *b, uint64_t seed, struct observers *o)
{
	struct glossy_net_config c = glossy_net_paper(seed);
	struct sim_random r = { seed }, edges = { ~seed };
	const char *wrong;
	int rc = 0;

	for (unsigned k = 0; k <= SYSTEM_S; k++)
		o->edge[k] = o->edges == TRACELAB_SECONDS ? k * 1e9 : at_any_time(k, &edges);
	c.seconds = SYSTEM_S;
	c.node.alpha_pm = JITTER_ALPHA_ONE; /* the estimator has the filter */
	wrong = glossy_net_run(&c, keep_pulses, o, NULL);
	if (wrong)
		return bench_fail(b, CVL_E_USAGE, "%s", wrong);
	for (unsigned i = 0; i < o->n && !rc; i++) {
		draw_clock(o, &r);
		rc = stamp_edges(o, i, &r);
	}
	return rc ? bench_fail(b, rc, "the simulated observers cannot be followed") : 0;
}

int tracelab_floods_system(const struct bench *b, uint64_t seed, struct paper_row *row)
{
	struct observers *o = calloc(1, sizeof(*o));
	int rc;

	if (!o)
		return bench_fail(b, CVL_E_NOMEM, "out of memory");
	o->n = 1 + TABLE_NODES;
	memcpy(o->node + 1, table_node, sizeof(table_node));
	rc = run_system(b, seed, o);
	for (int way = BY_PAPER; way <= FINE && !rc; way++) {
		struct values l = { 0 };
		struct spread s;

		for (unsigned k = PAPER_SETTLED; k <= SYSTEM_S && !rc; k++) {
			double most = 0;

			for (unsigned i = 1; i < o->n; i++)
				most = fmax(most, fabs(o->error[way][i][k] - o->error[way][0][k]));
			rc = values_add(&l, most);
		}
		if (rc) {
			rc = bench_fail(b, rc, "out of memory");
		} else {
			s = values_spread(&l, PAPER_UNDER_NS);
			bench_add(paper_column(&row[0], way), 100 * s.under);
			bench_add(paper_column(&row[1], way), s.max * 1e-3);
			bench_add(paper_column(&row[2], way), s.mean);
		}
		values_free(&l);
	}
	free(o);
	return rc;
}

int tracelab_means(const struct bench *b, uint64_t seed, enum tracelab_edges edges,
		   struct tracelab_means *mean)
{
	struct observers *o = calloc(1, sizeof(*o));
	double sum[WAYS] = { 0 }, n;
	int rc;

	if (!o)
		return bench_fail(b, CVL_E_NOMEM, "out of memory");
	o->n = GLOSSY_NET_OFFICE;
	for (unsigned i = 0; i < o->n; i++)
		o->node[i] = i;
	o->edges = edges;
	rc = run_system(b, seed, o);
	for (unsigned k = PAPER_SETTLED; k < SYSTEM_S && !rc; k++)
		for (int way = 0; way < WAYS; way++)
			for (unsigned i = 1; i < o->n; i++)
				sum[way] += fabs(o->error[way][i][k] - o->error[way][0][k]);
	n = (double)(SYSTEM_S - PAPER_SETTLED) * (o->n - 1);
	*mean = (struct tracelab_means){ sum[BY_PAPER] / n, sum[FINE] / n, sum[STEERED] / n };
	free(o);
	return rc;
}
