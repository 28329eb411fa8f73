/* SPDX-License-Identifier: MIT */
#include "grace.h"

#include <coeval/error.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOUR_S 3600

/* The day: slowly sampled, so that it is soon over. */
#define RATE 100000
#define LONG_H "24"
#define SHORT_H "1"
#define SLOW_PPM 37
#define MINUTE_NS 60e9
#define GROWTH 1.1
/*
 * A tick, in ns: more than that the mapping must not have drifted from the first minute to the
 * last.
 */
#define TICK_NS (1e9 / RATE)

/* ---- the process that captures a day ---- */

/* First tick that is not before the clock's true second @s. */
static uint64_t tick_at(double s)
{
	return (uint64_t)ceil(s * RATE * (1 - SLOW_PPM * 1e-6));
}

/*
 * Samples of second @k of the analyzer: a beacon a true second, a quarter late; and edges between.
 */
static void fill(uint8_t *sample, uint64_t k)
{
	const uint64_t first = k * RATE;
	uint64_t s = (uint64_t)((double)first / RATE / (1 - SLOW_PPM * 1e-6));

	memset(sample, 0, RATE);
	for (uint64_t i = s ? s - 1 : 0; i <= s + 2; i++) {
		uint64_t at = tick_at((double)i + 0.25);

		for (uint64_t t = at; t < at + RATE / 1000; t++)
			if (t >= first && t < first + RATE)
				sample[t - first] |= GRACE_BEACON;
	}
	for (unsigned i = 0; i < 10; i++) {
		size_t at = i * RATE / 10 + (k * 7 + i * 131) % (RATE / 20);

		for (size_t t = at; t < at + RATE / 100; t++)
			sample[t] |= (uint8_t)(1 << i % 7);
	}
}

int grace_day_main(const char *hours, const char *file)
{
	static uint8_t sample[RATE];
	const struct bench b = { .group = "long" };
	uint64_t seconds = strtoull(hours, NULL, 10) * 3600;
	struct grace_record r;
	int rc = grace_record_open(&b, &r, file, RATE);

	for (uint64_t k = 0; k < seconds && !rc; k++) {
		fill(sample, k);
		rc = grace_record_feed(&b, &r, sample, RATE);
	}
	return grace_record_close(&b, &r, rc) ? 1 : 0;
}

/* ---- what it stored ---- */

struct minute {
	double sum;
	uint64_t n;
};

struct day {
	uint64_t end; /* tick */
	uint64_t beacons, misplaced;
	struct minute first, last;
};

static void see_edge(void *ctx, struct cvl_tick tick, struct cvl_time time)
{
	struct day *d = ctx;
	double true_ns = (double)tick.count / (RATE * (1 - SLOW_PPM * 1e-6)) * 1e9;
	double end_ns = (double)d->end / (RATE * (1 - SLOW_PPM * 1e-6)) * 1e9;
	struct minute *m = true_ns < MINUTE_NS          ? &d->first :
			   true_ns > end_ns - MINUTE_NS ? &d->last :
							  NULL;

	if (!m)
		return;
	m->sum += (double)time.ns - true_ns;
	m->n++;
}

static void see_beacon(void *ctx, struct cvl_tick tick, uint64_t number)
{
	struct day *d = ctx;

	d->misplaced += number != d->beacons || tick.count != tick_at((double)number + 0.25);
	d->beacons++;
}

static int capture(const struct bench *b, const char *hours, double *mib)
{
	char path[BENCH_PATH_MAX];
	const char *const argv[] = { "/proc/self/exe", GRACE_DAY_VERB, hours, path, NULL };
	const struct bench_command c = { .argv = argv, .fresh = path };
	struct bench_usage u = { .watch_memory = true };
	int rc;

	bench_doing(b, "%s h from memory", hours);
	bench_path(b, path, "day");
	rc = bench_run(b, &c, &u);
	*mib = u.anon_mib;
	return rc;
}

static int day(const struct bench *b)
{
	struct day d = { .end = strtoull(LONG_H, NULL, 10) * 3600 * RATE };
	const struct grace_reader reader = { see_edge, see_beacon, &d };
	double short_mib, long_mib, wanted = floor((double)d.end / (double)tick_at(1) - 0.25) + 1;
	char path[BENCH_PATH_MAX], note[200];
	int rc = capture(b, SHORT_H, &short_mib);

	if (!rc)
		rc = capture(b, LONG_H, &long_mib);
	if (rc)
		return rc;
	bench_path(b, path, "day");
	rc = grace_read(b, path, &reader);
	if (rc)
		return rc;
	if (!d.first.n || !d.last.n)
		return bench_fail(b, CVL_E_MISMATCH, "edges are missing");
	snprintf(note, sizeof(note), "%.2f MiB, and %.2f after an hour; anonymous", long_mib,
		 short_mib);
	grace_put(b, "24 h of samples from memory, 100 kHz: memory against that of 1 h", "x", true,
		  GROWTH, long_mib / short_mib, note);
	snprintf(note, sizeof(note), "%" PRIu64 " stored of %.0f", d.beacons, wanted);
	grace_put(b, "the same: beacons that are missing or not at their true tick", "", true, 0,
		  (double)d.misplaced + fabs(wanted - (double)d.beacons), note);
	grace_put(b, "the same: drift of the times from the first minute to the last", "ns", true,
		  TICK_NS, fabs(d.last.sum / (double)d.last.n - d.first.sum / (double)d.first.n),
		  "goal: one tick");
	return 0;
}

/* ---- through USB ---- */

static int hour(const struct bench *b)
{
	static struct grace_bed_run r;
	double early, peak;
	char why[200], note[200];
	int rc;

	if (grace_no_bed(b, false, why)) {
		grace_skip(b, "1 h through USB", why);
		return 0;
	}
	r = (struct grace_bed_run){ .nodes = 1, .seconds = HOUR_S, .faults = "" };
	bench_doing(b, "1 h through USB");
	rc = grace_bed_start(b, &r);
	if (rc)
		return rc;
	early = grace_number(&r, "early_kib");
	peak = grace_number(&r, "peak_kib");
	snprintf(note, sizeof(note), "%.0f edges, each at its true tick; %.0f beacons",
		 grace_number(&r, "edges"), grace_number(&r, "beacons"));
	grace_put(b, "1 h through USB at 8 MHz: invented, missing, misplaced, gaps", "", true, 0,
		  grace_number(&r, "invented") + grace_number(&r, "missing") +
			  grace_number(&r, "wrong_beacons") + grace_number(&r, "gaps"),
		  note);
	snprintf(note, sizeof(note), "%.2f MiB, and %.2f in the first 6 min; whole process",
		 peak / 1024, early / 1024);
	grace_put(b, "the same: peak memory against that of its first tenth", "x", true, GROWTH,
		  peak / early, note);
	return 0;
}

int grace_long(const struct bench *b)
{
	int rc = day(b);

	return rc ? rc : hour(b);
}
