/* SPDX-License-Identifier: MIT */
#include "papers.h"

#include <stdio.h>
#include <string.h>

#define ROWS_MAX 30
#define SEEDS 9
#define NOTE_COLUMNS 100

struct paper_figure {
	const char *name;
	paper_seed_fn *seed;
	const char *note;
	struct paper_row row[ROWS_MAX];
};

struct bench_series *paper_column(struct paper_row *row, int estimator)
{
	return estimator ? &row->ours : &row->same;
}

void paper_only_clock(struct world *w, size_t group, size_t pulse)
{
	w->clocks[0] = w->clocks[group];
	w->clocks[0].count = 1;
	w->n_clocks = 1;
	w->pulse[0] = w->pulse[pulse];
	snprintf(w->pulse[0].clocks, sizeof(w->pulse[0].clocks), "*");
	w->n_pulses = 1;
	w->n_senders = w->n_programs = 0;
}

struct cvl_sync_opts paper_by_pulses(const char *line)
{
	struct cvl_sync_opts o = { .n_pulse = 1 };

	snprintf(o.pulse[0].line, sizeof(o.pulse[0].line), "%s", line);
	o.pulse[0].rising = true;
	o.pulse[0].period_ns = PAPER_SECOND_NS;
	return o;
}

/* ---- the table ---- */

static const struct paper_figure figures[] = {
	{ "Grace Fig. 3",
	  grace_frequency,
	  "The deviation is an input: the row shows only that it is read off right.",
	  { { .what = "mean deviation of an analyzer", .unit = "ppm", .paper = 154.9 } } },
	{ "Grace Fig. 4a",
	  grace_sending,
	  "The mean is an input; the jitter is taken as gaussian, and the paper's has shorter "
	  "tails.",
	  { { .what = "sender's jitter, mean", .unit = "ns", .paper = 18.7 },
	    { .what = "sender's jitter, max", .unit = "ns", .paper = 78 } } },
	{ "Grace Fig. 4b",
	  grace_receiving,
	  "The paper sets both signals equal at the beginning, so its mean depends on what that"
	  " one beacon erred: 1.32 us needs one off by twice the sd. The sd here is that of "
	  "Fig. 5a; by it, the node of Fig. 4b was a little worse than those.",
	  { { .what = "receiver against sender, mean", .unit = "us", .paper = 1.32 },
	    { .what = "receiver against sender, sd", .unit = "ns", .paper = 637 } } },
	{ "Grace Fig. 5a",
	  grace_two_receivers,
	  "The receivers' jitter is an input, taken from this figure as gaussian.",
	  { { .what = "two receivers, mean", .unit = "ns", .paper = 654 },
	    { .what = "two receivers, median", .unit = "ns", .paper = 562 },
	    { .what = "two receivers, sd", .unit = "ns", .paper = 487 },
	    { .what = "two receivers, max", .unit = "us", .paper = 3.22 },
	    { .what = "two receivers, under 1 us", .unit = "%", .paper = 77.4 } } },
	{ "Grace Fig. 5b",
	  grace_gps_edges,
	  "Which differences were averaged is not told. A mean 2.4 times the sd does not fit "
	  "the difference of two nodes (1.3 if gaussian), but the widest pair of about four. It"
	  " also depends on where in the beacon's second the GPS second falls, as the clock is "
	  "off most just before a beacon: that differs from seed to seed.",
	  { { .what = "GPS edges, all pairs, mean", .unit = "us", .paper = 1.53 },
	    { .what = "GPS edges, all pairs, sd", .unit = "ns", .paper = 644 },
	    { .what = "GPS edges, all pairs, max", .unit = "us", .paper = 3.75 },
	    { .what = "GPS edges, widest pair, mean", .unit = "us", .paper = 1.53 },
	    { .what = "GPS edges, widest pair, sd", .unit = "ns", .paper = 644 },
	    { .what = "GPS edges, widest pair, max", .unit = "us", .paper = 3.75 } } },
	{ "Grace Fig. 5c",
	  grace_beacons,
	  "Likewise: a mean 3.4 times the sd fits the widest pair of some seven nodes. How far "
	  "the crystals wander is not told, and is chosen here. By Coeval, what two receivers "
	  "differ by (Fig. 5a) is all that is left.",
	  { { .what = "beacons, all pairs, mean", .unit = "us", .paper = 2.92 },
	    { .what = "beacons, all pairs, sd", .unit = "ns", .paper = 864 },
	    { .what = "beacons, all pairs, max", .unit = "us", .paper = 7.9 },
	    { .what = "beacons, widest pair of all, mean", .unit = "us", .paper = 2.92 },
	    { .what = "beacons, widest pair of all, sd", .unit = "ns", .paper = 864 },
	    { .what = "beacons, widest pair of all, max", .unit = "us", .paper = 7.9 },
	    { .what = "beacons, widest pair of four, mean", .unit = "us", .paper = 2.92 },
	    { .what = "beacons, widest pair of four, sd", .unit = "ns", .paper = 864 },
	    { .what = "beacons, widest pair of four, max", .unit = "us", .paper = 7.9 } } },
	{ "TraceLab Fig. 7",
	  tracelab_one_observer,
	  "By the gateware's own controller, as a model that a test holds equal to it, and by what its offset "
	  "detector measures, in steps of 10 ns. Of the receiver's 30 ns RMS only the step of its time pulse, 21 "
	  "ns, is new each second here; the rest changes slowly (how slowly is chosen), and the controller goes "
	  "with it. Were all 30 ns new each second, it would be 100 ns: see coeval-bench tracelab.",
	  { { .what = "observer to its 1-PPS, 99th percentile", .unit = "ns", .paper = 40 } } },
	{ "TraceLab T. III",
	  tracelab_floods,
	  "A simulated network of 31 nodes that run firmware/apps/glossy, 6 h. Two figures of node 3 are "
	  "inputs: the error of a reception is fitted to its sd without the filter, the walk of the "
	  "crystals to that with it; all else follows. Errors are gaussian here and the paper's have "
	  "tails, so that its widest ranges without the filter are not reached. Here nodes of equal hops are "
	  "alike; the paper's nodes 2 and 4 differ by half, which hops do not tell. M and the number of "
	  "packets averaged are chosen, 8 and 3; the walk stands for all that is slow and the filter lets pass.",
	  { { .what = "node 1, 4 hops, no filter, sd", .unit = "tick", .paper = 4.05 },
	    { .what = "node 1, 4 hops, no filter, least", .unit = "tick", .paper = -25 },
	    { .what = "node 1, 4 hops, no filter, most", .unit = "tick", .paper = 82 },
	    { .what = "node 1, 4 hops, filtered, sd", .unit = "tick", .paper = 1.88 },
	    { .what = "node 1, 4 hops, filtered, least", .unit = "tick", .paper = -6 },
	    { .what = "node 1, 4 hops, filtered, most", .unit = "tick", .paper = 14 },
	    { .what = "node 2, 2 hops, no filter, sd", .unit = "tick", .paper = 2.15 },
	    { .what = "node 2, 2 hops, no filter, least", .unit = "tick", .paper = -11 },
	    { .what = "node 2, 2 hops, no filter, most", .unit = "tick", .paper = 17 },
	    { .what = "node 2, 2 hops, filtered, sd", .unit = "tick", .paper = 2.01 },
	    { .what = "node 2, 2 hops, filtered, least", .unit = "tick", .paper = -7 },
	    { .what = "node 2, 2 hops, filtered, most", .unit = "tick", .paper = 8 },
	    { .what = "node 3, 1 hop, no filter, sd", .unit = "tick", .paper = 1.94 },
	    { .what = "node 3, 1 hop, no filter, least", .unit = "tick", .paper = -7 },
	    { .what = "node 3, 1 hop, no filter, most", .unit = "tick", .paper = 7 },
	    { .what = "node 3, 1 hop, filtered, sd", .unit = "tick", .paper = 1.71 },
	    { .what = "node 3, 1 hop, filtered, least", .unit = "tick", .paper = -8 },
	    { .what = "node 3, 1 hop, filtered, most", .unit = "tick", .paper = 8 },
	    { .what = "node 4, 2 hops, no filter, sd", .unit = "tick", .paper = 3.25 },
	    { .what = "node 4, 2 hops, no filter, least", .unit = "tick", .paper = -23 },
	    { .what = "node 4, 2 hops, no filter, most", .unit = "tick", .paper = 23 },
	    { .what = "node 4, 2 hops, filtered, sd", .unit = "tick", .paper = 1.82 },
	    { .what = "node 4, 2 hops, filtered, least", .unit = "tick", .paper = -6 },
	    { .what = "node 4, 2 hops, filtered, most", .unit = "tick", .paper = 9 },
	    { .what = "node 5, 4 hops, no filter, sd", .unit = "tick", .paper = 3.62 },
	    { .what = "node 5, 4 hops, no filter, least", .unit = "tick", .paper = -22 },
	    { .what = "node 5, 4 hops, no filter, most", .unit = "tick", .paper = 32 },
	    { .what = "node 5, 4 hops, filtered, sd", .unit = "tick", .paper = 2.02 },
	    { .what = "node 5, 4 hops, filtered, least", .unit = "tick", .paper = -8 },
	    { .what = "node 5, 4 hops, filtered, most", .unit = "tick", .paper = 9 } } },
	{ "TraceLab Fig. 10",
	  tracelab_all_observers,
	  "Jitter is gaussian here, while the paper's has tails (Table III: up to 14 ticks at a"
	  " sd of 1.88), which make its maximum. Against that, the root has as much jitter here"
	  " as the others, and is the reference in the paper. What the paper's filter left over"
	  " is filtered once more by the estimator. Stamps of the same algorithm are whole 500 "
	  "ns.",
	  { { .what = "worst of five to the root, within 1 us", .unit = "%", .paper = 99.9 },
	    { .what = "worst of five to the root, max", .unit = "us", .paper = 1.5 } } },
	{ "TraceLab Fig. 10",
	  tracelab_floods_system,
	  "The same with pulses from the simulated floods of Table III, unfiltered, as the estimator has the "
	  "filter: the root and the five nodes of that table. The filter works on the 100 MHz clock here, on the "
	  "radio's in the paper. Most of the mean by the same algorithm is its stamps of whole 500 ns. The tails that "
	  "make the paper's maximum are not in the model.",
	  { { .what = "by floods, worst of five, within 1 us", .unit = "%", .paper = 99.9 },
	    { .what = "by floods, worst of five, max", .unit = "us", .paper = 1.5 },
	    { .what = "by floods, worst of five, mean", .unit = "ns" } } },
};

static void put_cells(const struct bench_series *s, double paper)
{
	double v = bench_median(s);

	if (s->n && paper != 0)
		printf(" %9.4g x%-6.3g", v, v / paper);
	else if (s->n)
		printf(" %9.4g %7s", v, "");
	else
		printf(" %9s %7s", "-", "");
}

static void put_number(double v, bool known)
{
	if (known)
		printf("%.6g", v);
	else
		printf("null");
}

static void put_seeds(const char *key, const struct bench_series *s)
{
	printf(",\"%s\":", key);
	if (s->n)
		printf("%.6g", bench_median(s));
	else
		printf("null");
	printf(",\"%s_seeds\":[", key);
	for (size_t i = 0; i < s->n; i++)
		printf("%s%.6g", i ? "," : "", s->v[i]);
	printf("]");
}

/* In lines of up to NOTE_COLUMNS, broken at blanks. */
static void put_note(const char *note)
{
	while (*note) {
		int n = (int)strlen(note);

		if (n > NOTE_COLUMNS)
			for (n = NOTE_COLUMNS; n > 0 && note[n] != ' '; n--)
				;
		printf("    %.*s\n", n, note);
		note += n + (note[n] == ' ');
	}
}

static void put_figure(const struct bench *b, const struct paper_figure *f,
		       const struct paper_row *row)
{
	bench_done(b);
	for (size_t i = 0; i < ROWS_MAX && row[i].what; i++) {
		const struct paper_row *r = &row[i];

		if (b->json) {
			printf("{\"group\":\"%s\",\"simulated\":true,\"figure\":\"%s\",\"name\":\"%s\","
			       "\"unit\":\"%s\",\"paper\":",
			       b->group, f->name, r->what, r->unit);
			put_number(r->paper, r->paper != 0);
			put_seeds("same_algorithm", &r->same);
			put_seeds("coeval", &r->ours);
			printf(",\"factor\":");
			put_number(bench_median(&r->same) / r->paper, r->paper != 0);
			printf(",\"note\":\"%s\"}\n", f->note);
			continue;
		}
		printf("%-16s %-40s %-4s ", f->name, r->what, r->unit);
		if (r->paper != 0)
			printf("%9.4g", r->paper);
		else
			printf("%9s", "-");
		put_cells(&r->same, r->paper);
		put_cells(&r->ours, r->paper);
		printf("  %.4g to %.4g\n", bench_best(&r->same, true), bench_best(&r->same, false));
	}
	if (!b->json)
		put_note(f->note);
	fflush(stdout);
}

static int run(const struct bench *b)
{
	int rc = 0;

	if (!b->json)
		printf("\nThe papers' figures, and the same SIMULATED from what they say of their hardware; "
		       "medians of %d seeds\n"
		       "%-16s %-40s %-4s %9s %17s %17s  %s\n",
		       SEEDS, "figure", "what", "unit", "paper", "same algorithm ",
		       "Coeval's default ", "same algorithm, all seeds");
	for (size_t i = 0; i < sizeof(figures) / sizeof(*figures) && !rc; i++) {
		struct paper_row row[ROWS_MAX];

		memcpy(row, figures[i].row, sizeof(row));
		for (uint64_t seed = 1; seed <= SEEDS && !rc; seed++)
			rc = figures[i].seed(b, seed, row);
		if (!rc)
			put_figure(b, &figures[i], row);
	}
	return rc;
}

const struct bench_group bench_papers = {
	.name = "papers",
	.what = "figures of Grace and TraceLab beside the same in simulated worlds",
	.run = run,
};
