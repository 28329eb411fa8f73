/* SPDX-License-Identifier: MIT */
#include "papers.h"

#include <coeval/error.h>

#include <math.h>
#include <string.h>

#include "sim/glossy_net.h"

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
