/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <coeval/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "clocks.h"
#include "store/scan.h"
#include "longrun.h"
#include "core/random.h"
#include "sync/grace_clock.h"

#define RATE 8000000
#define SECONDS 32
#define SAMPLES ((size_t)RATE * SECONDS)
#define EDGES_A_SECOND 100
#define RUNS 5

/* Repetitions of the closed form in one run: once is too short to measure. */
#define REPEAT 500

/* The line of the radio, high for a millisecond after each beacon. */
#define RADIO 0x80
#define RADIO_TICKS (RATE / 1000)

/* More than there are edges. */
#define STAMPS_MAX ((size_t)SECONDS * (EDGES_A_SECOND + 2) * 2)

#define SCAN_EDGES 4096

/* A recording of SECONDS: samples, and the same as a list of edges. */
struct recording {
	uint8_t *sample;
	uint64_t *edge;
	uint8_t *level; /* from that edge on */
	size_t edges;
};

/* Edges of all lines, and the times that they were given. */
struct stamps {
	int64_t *ns;
	size_t n;
};

/* ---- the recording ---- */

/* Lines 0 to 6 change at random, the radio at the beacons of a clock 37 ppm slow. */
static void fill_samples(uint8_t *sample)
{
	const double second = RATE * (1 - 37e-6);
	struct sim_random r = { 1 };
	size_t at = 0;
	uint8_t level = 0;

	while (at < SAMPLES) {
		double gap = 1 - log(1 - sim_uniform(&r)) * ((double)RATE / EDGES_A_SECOND - 1);
		size_t len = gap < (double)(SAMPLES - at) ? (size_t)gap : SAMPLES - at;

		memset(sample + at, level, len);
		level ^= (uint8_t)(1 << sim_u64(&r) % 7);
		at += len;
	}
	for (size_t s = 0; s < SECONDS; s++) {
		at = (size_t)(((double)s + 0.25 + 2e-6 * sim_uniform(&r)) * second);
		for (size_t i = 0; i < RADIO_TICKS && at + i < SAMPLES; i++)
			sample[at + i] |= RADIO;
	}
}

static bool list_edges(struct recording *rec)
{
	for (size_t i = 1; i < SAMPLES; i++) {
		if (rec->sample[i] == rec->sample[i - 1])
			continue;
		if (rec->edges == STAMPS_MAX)
			return false;
		rec->edge[rec->edges] = i;
		rec->level[rec->edges++] = rec->sample[i];
	}
	return true;
}

static void recording_free(struct recording *rec)
{
	free(rec->sample);
	free(rec->edge);
	free(rec->level);
}

static int recording_make(const struct bench *b, struct recording *rec)
{
	*rec = (struct recording){
		.sample = aligned_alloc(64, SAMPLES),
		.edge = malloc(STAMPS_MAX * sizeof(*rec->edge)),
		.level = malloc(STAMPS_MAX * sizeof(*rec->level)),
	};
	if (!rec->sample || !rec->edge || !rec->level)
		return bench_fail(b, CVL_E_NOMEM, "out of memory");
	bench_doing(b, "making samples");
	fill_samples(rec->sample);
	if (!list_edges(rec))
		return bench_fail(b, CVL_E_RANGE, "more edges than were thought of");
	return 0;
}

/* ---- Grace's clock; the clock has reached the edge's sample ---- */

/* A rising line of the radio is a beacon, and all edges get a time. */
static inline void stamp(struct grace_clock *g, uint8_t before, uint8_t level, uint64_t *beacons,
			 struct stamps *out)
{
	if (~before & level & RADIO)
		grace_beacon(g, (*beacons)++);
	out->ns[out->n++] = grace_time_ns(g, NULL);
}

typedef void pass_fn(const struct recording *rec, struct stamps *out);

static void edges_in_closed_form(const struct recording *rec, struct stamps *out)
{
	struct grace_clock g;
	uint64_t now = 0, beacons = 0;
	uint8_t before = 0;

	grace_init(&g, RATE);
	for (size_t i = 0; i < rec->edges; i++) {
		grace_run(&g, rec->edge[i] - now);
		now = rec->edge[i];
		stamp(&g, before, rec->level[i], &beacons, out);
		before = rec->level[i];
	}
}

static void edges_by_ticks(const struct recording *rec, struct stamps *out)
{
	struct grace_clock g;
	uint64_t now = 0, beacons = 0;
	uint8_t before = 0;

	grace_init(&g, RATE);
	for (size_t i = 0; i < rec->edges; i++) {
		for (; now < rec->edge[i]; now++)
			grace_tick(&g);
		stamp(&g, before, rec->level[i], &beacons, out);
		before = rec->level[i];
	}
}

static void samples_by_scan(const struct recording *rec, struct stamps *out)
{
	static struct cvl_tick tick[SCAN_EDGES];
	static uint64_t level[SCAN_EDGES];
	const struct cvl_scan_out found = { tick, level, SCAN_EDGES };
	cvl_scan_fn *scan = cvl_scan_best(NULL);
	struct grace_clock g;
	uint64_t now = 0, beacons = 0, last = 0;
	uint8_t before = 0;

	grace_init(&g, RATE);
	for (size_t done = 0, used; done < SAMPLES; done += used) {
		size_t edges = scan(rec->sample + done, SAMPLES - done, 1, 0xff, done, &last, found,
				    &used);

		for (size_t i = 0; i < edges; i++) {
			grace_run(&g, tick[i].count - now);
			now = tick[i].count;
			stamp(&g, before, (uint8_t)level[i], &beacons, out);
			before = (uint8_t)level[i];
		}
	}
}

static void samples_one_by_one(const struct recording *rec, struct stamps *out)
{
	struct grace_clock g;
	uint64_t beacons = 0;
	uint8_t before = 0;

	grace_init(&g, RATE);
	for (size_t i = 0; i < SAMPLES; i++) {
		if (rec->sample[i] != before) {
			stamp(&g, before, rec->sample[i], &beacons, out);
			before = rec->sample[i];
		}
		grace_tick(&g);
	}
}

/* ---- rows ---- */

static double samples_per_s(pass_fn *pass, size_t repeat, const struct recording *rec,
			    struct stamps *out)
{
	double begin = bench_cpu();

	for (size_t i = 0; i < repeat; i++) {
		out->n = 0;
		pass(rec, out);
	}
	return (double)SAMPLES * (double)repeat / 1e9 / (bench_cpu() - begin);
}

/* Two ways to give every edge of the recording its time. */
struct contest {
	const char *name;
	double goal;
	pass_fn *ours, *reference;
	size_t repeat; /* ours */
};

static int grace_row(const struct bench *b, const struct contest *c, const struct recording *rec,
		     struct stamps *ours, struct stamps *theirs)
{
	struct bench_row row = { .name = c->name, .unit = "GS/s", .goal = c->goal };

	bench_doing(b, "%s", c->name);
	for (int i = 0; i < RUNS; i++) {
		if (bench_stopped())
			return CVL_E_NO;
		bench_add(&row.ours, samples_per_s(c->ours, c->repeat, rec, ours));
		bench_add(&row.reference, samples_per_s(c->reference, 1, rec, theirs));
		if (ours->n != rec->edges || theirs->n != rec->edges ||
		    memcmp(ours->ns, theirs->ns, ours->n * sizeof(*ours->ns)))
			return bench_fail(b, CVL_E_MISMATCH, "%s: the times differ", c->name);
	}
	bench_put(b, &row);
	return 0;
}

static int grace_rows(const struct bench *b)
{
	static const struct contest contests[] = {
		{ "grace clock, closed form vs per-sample loop", 1000, edges_in_closed_form,
		  edges_by_ticks, REPEAT },
		{ "grace with scan vs per-sample loop", 30, samples_by_scan, samples_one_by_one,
		  1 },
	};
	struct stamps ours = { malloc(STAMPS_MAX * sizeof(int64_t)), 0 };
	struct stamps theirs = { malloc(STAMPS_MAX * sizeof(int64_t)), 0 };
	struct recording rec;
	int rc = recording_make(b, &rec);

	if (!rc && (!ours.ns || !theirs.ns))
		rc = bench_fail(b, CVL_E_NOMEM, "out of memory");
	for (size_t i = 0; !rc && i < sizeof(contests) / sizeof(*contests); i++)
		rc = grace_row(b, &contests[i], &rec, &ours, &theirs);
	recording_free(&rec);
	free(ours.ns);
	free(theirs.ns);
	return rc;
}

static int run(const struct bench *b)
{
	int rc;

	bench_heads(b);
	rc = grace_rows(b);
	if (!rc)
		bench_figure_heads(b);
	rc = rc ? rc : clocks_accuracy(b);
	rc = rc ? rc : clocks_messages(b);
	return rc ? rc : clocks_longrun(b);
}

const struct bench_group bench_clocks = {
	.name = "clocks",
	.what = "estimators against each other and their limits",
	.run = run,
};
