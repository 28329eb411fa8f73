/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <coeval/error.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/random.h"
#include "capture/drivers/tracelab/proto.h"
#include "gateware.h"
#include "papers.h"
#include "readings.h"
#include "sim/devices/tracelab_clock.h"
#include "tracelab_stream.h"

#define RUNS 5
#define PASSES 8
#define PACKETS ((size_t)4000000)
#define RECORDS 4096

/* ---- packets to records ---- */

static uint64_t decode(const struct tracelab_stream *s, struct tracelab *t, uint64_t *records)
{
	static struct driver_record out[RECORDS];
	uint64_t sum = 0;

	tracelab_init(t, &(struct tracelab_opts){ s->paper, s->period });
	*records = 0;
	for (size_t at = 0, used; at < s->n; at += used) {
		size_t got = tracelab_feed(t, s->bytes + at, s->n - at, out, RECORDS, &used);

		for (size_t i = 0; i < got; i++)
			sum += out[i].tick ^ out[i].levels;
		*records += got;
	}
	return sum;
}

/* Every word, and the CRC's bytes, which are not checked. */
static uint64_t plain(const struct tracelab_stream *s)
{
	uint64_t sum = 0, upper = 0;

	for (size_t i = 0; i + 4 <= s->n; i += 4) {
		const uint8_t *p = s->bytes + i;
		uint32_t w =
			(uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];

		if (w >> 29 == TL_MARKER)
			upper = (uint64_t)(w & 0x1fffffff) << TL_LOW_BITS;
		else if (w >> 29 == TL_EVENT)
			sum += (upper | (w & 0xfffff)) ^ (w >> TL_LOW_BITS & 0x1ff);
	}
	return sum;
}

static int decode_row(const struct bench *b, struct tracelab_stream *s)
{
	struct bench_figure f = { .name = s->name, .unit = "M/s", .goal = 50, .every = true };
	static struct tracelab t;
	struct bench_series reference = { .n = 0 };
	volatile uint64_t result = 0;
	uint64_t records = 0;
	double begin;
	int rc = tracelab_stream(b, s);

	bench_doing(b, "%s", s->name);
	for (int i = 0; i < RUNS && !rc; i++) {
		if (bench_stopped())
			rc = CVL_E_NO;
		begin = bench_cpu();
		for (int k = 0; k < PASSES; k++)
			result += decode(s, &t, &records);
		bench_add(&f.measured,
			  (double)t.count.packets * PASSES / 1e6 / (bench_cpu() - begin));
		begin = bench_cpu();
		for (int k = 0; k < PASSES; k++)
			result += plain(s);
		bench_add(&reference,
			  (double)t.count.packets * PASSES / 1e6 / (bench_cpu() - begin));
	}
	(void)result;
	if (!rc && (t.count.losses || !records))
		rc = bench_fail(b, CVL_E_MISMATCH, "%s: %llu losses in a stream without any",
				s->name, (unsigned long long)t.count.losses);
	if (!rc) {
		snprintf(f.note, sizeof(f.note),
			 "%.1f million packets; a plain loop over the words, unchecked, %.0f M/s",
			 (double)t.count.packets / 1e6, bench_median(&reference));
		bench_figure_put(b, &f);
	}
	free(s->bytes);
	return rc;
}

/* ---- the clock against its PPS ---- */

#define SECONDS 19713 /* Lim et al. 2015, VI-B: 5.5 h */
#define SETTLED 60
#define OFF_PPM 50
#define WALK 1e-9 /* of the rate, each second */

static void see_offset(void *ctx, int kind, int64_t cycle, int64_t value)
{
	struct values *l = ctx;

	(void)cycle;
	if (kind == TL_CLOCK_OFFSET)
		values_add(l, (double)value * (1e9 / TL_CLOCK_HZ));
}

/* 99th percentile of how far the observer's seconds are from the pulses. */
static int clock_row(const struct bench *b, const char *name, double jitter_ns, double goal)
{
	struct bench_figure f = {
		.name = name, .unit = "ns", .less_is_better = true, .goal = goal, .every = true
	};
	double largest = 0;

	bench_doing(b, "%s", name);
	for (uint64_t seed = 1; seed <= 3; seed++) {
		struct sim_random r = { seed };
		double at = 0.25 * TL_CLOCK_HZ, rate = 1 + OFF_PPM * 1e-6;
		struct tracelab_clock c;
		struct values l = { 0 };
		struct spread s;

		tracelab_clock_init(&c, &tracelab_clock_usual, see_offset, &l);
		for (int k = 0; k < SECONDS + SETTLED; k++) {
			if (k == SETTLED)
				l.n = 0;
			rate += WALK * sim_normal(&r);
			at += TL_CLOCK_HZ * rate;
			tracelab_clock_edge(&c, (int64_t)ceil(at + sim_normal(&r) * jitter_ns *
									   1e-9 * TL_CLOCK_HZ));
		}
		if (l.n + 1 < SECONDS) {
			values_free(&l);
			return bench_fail(b, CVL_E_MISMATCH, "%s: only %zu good pulses", name, l.n);
		}
		s = values_spread(&l, goal);
		bench_add(&f.measured, s.p99);
		largest = fmax(largest, s.max);
		values_free(&l);
	}
	snprintf(f.note, sizeof(f.note),
		 "99th percentile; largest %.0f ns; simulated: %d s, "
		 "crystal off by %d ppm, walk of 1 ppb a second",
		 largest, SECONDS, OFF_PPM);
	bench_figure_put(b, &f);
	return 0;
}

/* ---- the whole system ---- */

/* By four readings of the error; in the last both modes are the same. */
struct reading {
	const char *fine, *paper, *what;
};

static const struct reading readings[TRACELAB_EDGES] = {
	[TRACELAB_SECONDS] = { "31 nodes, seconds as in Fig. 10, fine mode",
			       "31 nodes, seconds as in Fig. 10, paper mode",
			       "each its receiver's second, 30 ns of jitter" },
	[TRACELAB_OWN] = { "31 nodes, edges of their own, fine mode",
			   "31 nodes, edges of their own, paper mode",
			   "each another edge, at any time" },
	[TRACELAB_SAME] = { "31 nodes, one edge for all, fine mode",
			    "31 nodes, one edge for all, paper mode", "all one edge, at any time" },
	[TRACELAB_CLOCKS] = { NULL, "31 nodes, the clocks without ticks, either mode",
			      "all one edge, no ticks of 500 ns" },
};

/* The paper's mean error over Coeval's, in both modes. */
static int system_rows(const struct bench *b, enum tracelab_edges edges)
{
	const struct reading *reading = &readings[edges];
	struct bench_figure f[2] = { { .name = reading->fine, .goal = 3 },
				     { .name = reading->paper, .goal = 1.2 } };
	struct bench_series paper = { .n = 0 }, ours[2] = { { .n = 0 } };

	bench_doing(b, "%s", reading->paper);
	for (uint64_t seed = 1; seed <= 3; seed++) {
		struct tracelab_means m;
		int rc = bench_stopped() ? CVL_E_NO : tracelab_means(b, seed, edges, &m);

		if (rc)
			return rc;
		bench_add(&paper, m.paper);
		bench_add(&ours[0], m.fine);
		bench_add(&ours[1], m.steered);
		bench_add(&f[0].measured, m.paper / m.fine);
		bench_add(&f[1].measured, m.paper / m.steered);
	}
	for (int i = reading->fine ? 0 : 1; i < 2; i++) {
		f[i].unit = "x";
		f[i].every = true;
		snprintf(
			f[i].note, sizeof(f[i].note),
			"mean |error - the root's|, %s: paper's algorithm %.0f ns, Coeval %.0f ns; simulated hour",
			reading->what, bench_median(&paper), bench_median(&ours[i]));
		bench_figure_put(b, &f[i]);
	}
	return 0;
}

static int run(const struct bench *b)
{
	struct tracelab_stream streams[] = {
		{ .name = "decode, fine mode, edges", .apart = 100 },
		{ .name = "decode, paper mode, edges", .paper = true, .apart = 100 },
		{ .name = "decode, fine mode, edges and power", .apart = 400, .period = 36 },
	};
	int rc = 0;

	bench_figure_heads(b);
	rc = gateware_rows(b);
	for (size_t i = 0; i < sizeof(streams) / sizeof(*streams) && !rc; i++) {
		streams[i].packets = PACKETS;
		rc = decode_row(b, &streams[i]);
	}
	if (!rc)
		rc = tracelab_memory(b);
	if (!rc)
		rc = clock_row(b, "clock against PPS, 10 ns of jitter", 10, 40);
	if (!rc)
		rc = clock_row(b, "clock against PPS, 30 ns of jitter", 30, 120);
	for (int edges = 0; edges < TRACELAB_EDGES && !rc; edges++)
		rc = system_rows(b, (enum tracelab_edges)edges);
	bench_done(b);
	return rc;
}

const struct bench_group bench_tracelab = {
	.name = "tracelab",
	.what = "TraceLab: bursts, packets to records, memory of power with edges, the clock against the PPS (simulated)",
	.run = run,
};
