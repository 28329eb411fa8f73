/* SPDX-License-Identifier: MIT */
/**
 * Figures of the two papers whose clocks Coeval has, in worlds that are made of what the papers say
 * of their hardware (examples/worlds/grace.yaml, tracelab.yaml) and of nothing else: by the same
 * algorithm, and by Coeval's default. Where that does not give the paper's figure, the factor says
 * so.
 */
#ifndef BENCH_PAPERS_H
#define BENCH_PAPERS_H

#include "readings.h"
#include "worlds.h"

#define PAPER_SETTLED 30 /* marks, one a second */
#define PAPER_SECOND_NS 1000000000
#define PAPER_UNDER_NS 1000

struct paper_row {
	const char *what, *unit;
	double paper;                   /* 0: it has no such figure */
	struct bench_series same, ours; /* of each seed */
};

/** By the same algorithm (0) or by Coeval (1). */
struct bench_series *paper_column(struct paper_row *row, int estimator);

/** Leave of @w one clock of group @group, and pulse @pulse for it to hear. */
void paper_only_clock(struct world *w, size_t group, size_t pulse);

/** To synchronise by the seconds on @line. */
struct cvl_sync_opts paper_by_pulses(const char *line);

/** Add what one seed gives to the rows of a figure, in the order of the table in papers.c. */
typedef int paper_seed_fn(const struct bench *b, uint64_t seed, struct paper_row *row);

paper_seed_fn grace_frequency, grace_sending, grace_receiving, grace_two_receivers, grace_gps_edges,
	grace_beacons, tracelab_one_observer, tracelab_all_observers, tracelab_floods,
	tracelab_floods_system;

/** What the observers of the whole system stamp, once a second. */
enum tracelab_edges {
	/* the second of a receiver of their own, with 30 ns of jitter, as the paper's Fig. 10 */
	TRACELAB_SECONDS,
	TRACELAB_OWN,  /* each something else, at any time */
	TRACELAB_SAME, /* all the same, at any time */
	/* the same again, and not in ticks: what the clocks show in the cycle of 10 ns */
	TRACELAB_CLOCKS,
	TRACELAB_EDGES
};

/** Mean error, ns, of the difference between an observer's stamp and the root's. */
struct tracelab_means {
	double paper; /* by the paper's algorithm, in its ticks of 500 ns */
	double fine;  /* by Coeval's default, from stamps of 10 ns */
	/* by Coeval's default, from the raw cycle of the middle of the tick that the edge was in */
	double steered;
};

/** An hour of 31 observers whose pulses are the simulated floods of tracelab_floods(). */
int tracelab_means(const struct bench *b, uint64_t seed, enum tracelab_edges edges,
		   struct tracelab_means *mean);

#endif
