/* SPDX-License-Identifier: MIT */
#include "longrun.h"

#include <coeval/error.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/random.h"
#include "sync/problem.h"
#include "sync/track.h"

#define CLOCKS 100
#define LONG_H "24"
#define SHORT_H "1"
#define CPU_S 20
#define PIECE 1024 /* marks made before they are fed */

/* The nominal world's (examples/worlds/nominal.yaml). */
#define RATE_HZ 8000000
#define OFFSET_PPM 150
#define WALK_PPB 3
#define SINE_PPM 1
#define SINE_S 1200
#define JITTER_NS 487
#define OUTLIERS 0.01
#define OUTLIER_MIN_NS 1000
#define OUTLIER_MAX_NS 3200
#define OUTLIERS_LATE 0.8
#define MISSED 0.02

/* ---- the process ---- */

/*
 * One clock of the nominal world and its beacons, made as they are needed: sim/oscillator.h keeps
 * the whole curve, and its memory would hide the smoother's. The rate holds still for a second.
 */
struct source {
	struct sim_random r;
	double rate, phase;
	double x; /* of the clock at second k, ns */
	int64_t k;
};

static void source_start(struct source *s, uint64_t seed)
{
	*s = (struct source){ .r = { seed * 1000003 } };
	s->rate = OFFSET_PPM * 1e-6 * sim_normal(&s->r);
	s->phase = 2 * M_PI * sim_uniform(&s->r);
}

static double receiver_error(struct sim_random *r)
{
	double d = JITTER_NS * sim_normal(r);

	if (sim_uniform(r) >= OUTLIERS)
		return d;
	return d + (sim_uniform(r) < OUTLIERS_LATE ? 1 : -1) *
			   (OUTLIER_MIN_NS + (OUTLIER_MAX_NS - OUTLIER_MIN_NS) * sim_uniform(r));
}

/* Up to PIECE marks, before second @until. */
static size_t source_marks(struct source *s, struct track_mark *m, int64_t until)
{
	const double look = 1e9 / RATE_HZ;
	size_t n = 0;

	for (; n < PIECE && s->k < until; s->k++) {
		double late = receiver_error(&s->r), sine;

		if (sim_uniform(&s->r) >= MISSED) {
			m[n].x = (int64_t)(ceil((s->x + late) / look) * look);
			m[n].offset = (double)(s->k * 1000000000 - m[n].x);
			m[n++].var = 0;
		}
		sine = SINE_PPM * 1e-6 * sin(2 * M_PI * ((double)s->k + 0.5) / SINE_S + s->phase);
		s->x += 1e9 * (1 + s->rate + sine);
		s->rate += WALK_PPB * 1e-9 * sim_normal(&s->r);
	}
	return n;
}

static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int count(void *ctx, const struct track_knot *k)
{
	(void)k;
	++*(uint64_t *)ctx;
	return 0;
}

/* Adds to @used the CPU time of the smoother alone. */
static int track_one(uint64_t seed, int64_t seconds, double *used, uint64_t *knots)
{
	static struct track_mark mark[PIECE];
	const struct track_setup setup = { .rate_hz = RATE_HZ,
					   .period_ns = 1e9,
					   .resolution_ns = 1e9 / RATE_HZ };
	const struct tracker *t = estimator_smooth.tracker;
	struct track_report report = { .emit = count, .ctx = knots };
	struct source s;
	double begin = cpu_s();
	void *state = t->open(&setup, &report);
	size_t n;
	int rc = 0;

	if (!state)
		return CVL_E_NOMEM;
	*used += cpu_s() - begin;
	source_start(&s, seed);
	while (!rc && (n = source_marks(&s, mark, seconds))) {
		begin = cpu_s();
		for (size_t i = 0; i < n && !rc; i++)
			rc = t->feed(state, &mark[i]);
		*used += cpu_s() - begin;
	}
	begin = cpu_s();
	rc = t->close(state, rc);
	*used += cpu_s() - begin;
	return rc;
}

int longrun_main(const char *hours, const char *file)
{
	int64_t seconds = strtoll(hours, NULL, 10) * 3600;
	uint64_t knots = 0;
	double used = 0;
	FILE *f;
	int rc = 0;

	for (uint64_t i = 1; i <= CLOCKS && !rc; i++)
		rc = track_one(i, seconds, &used, &knots);
	if (rc) {
		fprintf(stderr, "coeval-bench: the smoother stopped: %d\n", rc);
		return 1;
	}
	f = fopen(file, "w");
	if (!f)
		return 1;
	fprintf(f, "%.6f %llu\n", used, (unsigned long long)knots);
	return fclose(f) ? 1 : 0;
}

/* ---- the rows ---- */

struct longrun {
	double cpu_s, anon_mib;
	unsigned long long knots;
};

static int run(const struct bench *b, const char *hours, struct longrun *r)
{
	char file[BENCH_PATH_MAX];
	const char *const argv[] = { "/proc/self/exe", LONGRUN_VERB, hours, file, NULL };
	const struct bench_command c = { .argv = argv, .fresh = NULL };
	struct bench_usage u = { .watch_memory = true };
	FILE *f;
	int rc, got;

	bench_doing(b, "%d clocks for %s h", CLOCKS, hours);
	bench_path(b, file, "longrun");
	rc = bench_run(b, &c, &u);
	if (rc)
		return rc;
	f = fopen(file, "r");
	got = f ? fscanf(f, "%lf %llu", &r->cpu_s, &r->knots) : 0;
	if (f)
		fclose(f);
	r->anon_mib = u.anon_mib;
	return got == 2 ? 0 : bench_fail(b, CVL_E_IO, "%s: %s", file, strerror(errno));
}

int clocks_longrun(const struct bench *b)
{
	struct bench_figure
		cpu = { .name = "100 clocks x 24 h of beacons: smooth, CPU time of one core",
			.unit = "s",
			.less_is_better = true,
			.goal = CPU_S },
		memory = { .name = "the same: peak memory against that of 1 h",
			   .unit = "x",
			   .less_is_better = true,
			   .goal = 1.1 };
	struct longrun hour = { 0 }, day = { 0 };
	int rc = run(b, SHORT_H, &hour);

	if (!rc)
		rc = run(b, LONG_H, &day);
	if (rc)
		return rc;
	bench_add(&cpu.measured, day.cpu_s);
	snprintf(cpu.note, sizeof(cpu.note), "%llu knots", day.knots);
	bench_figure_put(b, &cpu);
	bench_add(&memory.measured, day.anon_mib / hour.anon_mib);
	snprintf(memory.note, sizeof(memory.note), "%.2f and %.2f MiB, anonymous", day.anon_mib,
		 hour.anon_mib);
	bench_figure_put(b, &memory);
	return 0;
}
