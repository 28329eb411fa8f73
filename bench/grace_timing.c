/* SPDX-License-Identifier: MIT */
#include "grace.h"

#include <coeval/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "sync/grace_clock.h"

#define RATE 8000000
#define SECONDS 32
#define SAMPLES ((size_t)RATE * SECONDS)
#define SLOW_PPM 37
#define SLOTS 50     /* of a second's schedule: in each one line is high for a millisecond */
#define LATE_NS 2000 /* that a beacon may be */
#define RUNS 5
#define STAMPS_MAX ((size_t)(SECONDS + 1) * (SLOTS + 1) * 2)
/*
 * What our times may differ from the truth by: half of what a beacon may be late, and twice a tick.
 */
#define TRUE_NS (LATE_NS / 2 + 250)

/* Edges and the times that they were given. */
struct stamps {
	uint64_t *tick;
	int64_t *ns;
	size_t n;
};

/* ---- the recording ---- */

static double second(void)
{
	return RATE * (1 - SLOW_PPM * 1e-6);
}

static void high(uint8_t *sample, double from, uint8_t line)
{
	size_t at = (size_t)from;

	for (size_t i = at; i < at + RATE / 1000 && i < SAMPLES; i++)
		sample[i] |= line;
}

/* Slots of a schedule in which some node sends, and the beacon that opens it. */
static void fill(uint8_t *sample)
{
	struct sim_random r = { 1 };

	memset(sample, 0, SAMPLES);
	for (size_t s = 0; s < SECONDS; s++) {
		double begin = ((double)s + 0.25) * second();

		high(sample, begin + LATE_NS * 1e-9 * sim_uniform(&r) * second(), GRACE_BEACON);
		for (size_t k = 1; k <= SLOTS; k++)
			high(sample,
			     begin + ((double)k + 0.2 * sim_uniform(&r)) / (SLOTS + 2) * second(),
			     (uint8_t)(1 << sim_u64(&r) % 7));
	}
}

/* ---- Grace's way: its clock passes every sample, and edges keep the time that it shows ---- */

static void one_by_one(const uint8_t *sample, struct stamps *out)
{
	struct grace_clock g;
	uint64_t beacons = 0;
	uint8_t before = 0;

	grace_init(&g, RATE);
	for (size_t i = 0; i < SAMPLES; i++) {
		if (sample[i] != before) {
			if (~before & sample[i] & GRACE_BEACON)
				grace_beacon(&g, beacons++);
			before = sample[i];
			if (out->n < STAMPS_MAX) {
				out->tick[out->n] = i;
				out->ns[out->n++] = grace_time_ns(&g, NULL);
			}
		}
		grace_tick(&g);
	}
}

/* ---- ours: stored, synchronised, and read in time order ---- */

static void keep(void *ctx, struct cvl_tick tick, struct cvl_time time)
{
	struct stamps *out = ctx;

	if (out->n == STAMPS_MAX)
		return;
	out->tick[out->n] = tick.count;
	out->ns[out->n++] = time.ns;
}

static int stored(const struct bench *b, const uint8_t *sample, const char *path,
		  struct stamps *out)
{
	const struct grace_reader reader = { .edge = keep, .ctx = out };
	struct grace_record r;
	int rc = grace_record_open(b, &r, path, RATE);

	if (!rc)
		rc = grace_record_feed(b, &r, sample, SAMPLES);
	rc = grace_record_close(b, &r, rc);
	return rc ? rc : grace_read(b, path, &reader);
}

/* Both saw the same edges, and ours have the right distances. */
static int check(const struct bench *b, const struct stamps *ours, const struct stamps *theirs)
{
	double least = INFINITY, most = -INFINITY;

	if (ours->n != theirs->n || memcmp(ours->tick, theirs->tick, ours->n * sizeof(*ours->tick)))
		return bench_fail(b, CVL_E_MISMATCH, "edges differ: %zu and %zu", ours->n,
				  theirs->n);
	for (size_t i = 0; i < ours->n; i++) {
		double off = (double)ours->ns[i] - (double)ours->tick[i] / second() * 1e9;

		least = fmin(least, off);
		most = fmax(most, off);
	}
	if (most - least > 2 * TRUE_NS)
		return bench_fail(b, CVL_E_MISMATCH, "times are off by up to %.0f ns",
				  (most - least) / 2);
	return 0;
}

static int measure(const struct bench *b, struct bench_row *row, struct bench_row *read,
		   const uint8_t *sample, struct stamps *ours, struct stamps *theirs)
{
	char path[BENCH_PATH_MAX];
	int rc = 0;

	bench_path(b, path, "timed");
	for (int i = 0; i < RUNS && !rc; i++) {
		double begin;

		if (bench_stopped())
			return CVL_E_NO;
		bench_doing(b, "%s: run %d", row->name, i + 1);
		bench_remove(path);
		ours->n = theirs->n = 0;
		begin = bench_cpu();
		rc = stored(b, sample, path, ours);
		bench_add(&row->ours, bench_cpu() - begin);
		bench_add(&read->ours, row->ours.v[i]);
		bench_add(&read->reference, bench_read_s(sample, SAMPLES));
		begin = bench_cpu();
		one_by_one(sample, theirs);
		bench_add(&row->reference, bench_cpu() - begin);
		rc = rc ? rc : check(b, ours, theirs);
	}
	return rc;
}

static bool stamps_make(struct stamps *s)
{
	*s = (struct stamps){ malloc(STAMPS_MAX * sizeof(uint64_t)),
			      malloc(STAMPS_MAX * sizeof(int64_t)), 0 };
	return s->tick && s->ns;
}

int grace_timing(const struct bench *b)
{
	struct bench_row row = { .name = "samples to stored, timed edges vs Grace's loop",
				 .unit = "s",
				 .less_is_better = true,
				 .goal = 20 };
	struct bench_row read = { .name = "samples to stored, timed edges: fastest memory read",
				  .unit = "s",
				  .less_is_better = true,
				  .goal = 0.5 };
	uint8_t *sample = aligned_alloc(64, SAMPLES);
	struct stamps ours, theirs;
	bool made = stamps_make(&ours);
	int rc;

	made = stamps_make(&theirs) && made && sample;
	if (made) {
		fill(sample);
		rc = measure(b, &row, &read, sample, &ours, &theirs);
	} else {
		rc = bench_fail(b, CVL_E_NOMEM, "out of memory");
	}
	if (!rc) {
		bench_put(b, &row);
		bench_put(b, &read);
	}
	free(sample);
	free(ours.tick);
	free(ours.ns);
	free(theirs.tick);
	free(theirs.ns);
	return rc;
}
