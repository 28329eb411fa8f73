/* SPDX-License-Identifier: MIT */
/*
 * The polling loop on this machine: beside a bare loop that reads the clock and memory with the
 * same fences, and against a writer that stamps its stores by the same clock.
 */
#include "ett.h"

#include <coeval/error.h>

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "capture/drivers/poll/clock.h"
#include "capture/drivers/poll/facts.h"
#include "capture/drivers/poll/trial.h"

#define BLOCKS 4000
#define BLOCK 512 /* stamps stay in the nearest cache */
#define RUNS 7
#define STORES 500000 /* of a round */
#define WANTED 10000000
#define ROUNDS 200 /* at most: on a busy machine many stores fall into gaps */

static void pin(unsigned cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

/* The median, by the share of a bin that it takes to reach it. */
static double median(const struct poll_bin *bins)
{
	uint64_t all = 0, so_far = 0;

	for (unsigned i = 0; i < POLL_BINS; i++)
		all += bins[i].count;
	for (unsigned i = 0; i < POLL_BINS; i++) {
		so_far += bins[i].count;
		if (2 * so_far >= all && bins[i].count)
			return (double)bins[i].ticks / (double)bins[i].count;
	}
	return NAN;
}

/*
 * The clock ticks in steps of its own: what half of the steps are below does not say by how much.
 * So, the mean of all that are not beyond twice the median.
 */
static double usual(const struct poll_bin *bins)
{
	const double most = 2 * median(bins);
	uint64_t count = 0, ticks = 0;

	for (unsigned i = 0; i < POLL_BINS && (double)poll_bin_low(i) <= most; i++) {
		count += bins[i].count;
		ticks += bins[i].ticks;
	}
	return (double)ticks / (double)count;
}

static double bare(const volatile uint64_t *word, struct poll_bin *bins)
{
	uint64_t stamp[BLOCK];
	uint32_t cpu;
	volatile uint64_t sink;

	memset(bins, 0, POLL_BINS * sizeof(*bins));
	for (unsigned b = 0; b < BLOCKS; b++) {
		for (unsigned i = 0; i < BLOCK; i++) {
			uint64_t v = *word;

			stamp[i] = poll_clock(&cpu);
			sink = v;
		}
		for (unsigned i = 1; i < BLOCK; i++) {
			struct poll_bin *bin = &bins[poll_bin_of(stamp[i] - stamp[i - 1])];

			bin->count++;
			bin->ticks += stamp[i] - stamp[i - 1];
		}
	}
	(void)sink;
	return usual(bins);
}

struct timed {
	struct poll_loop *loop;
	unsigned cpu;
};

static void *loop_thread(void *state)
{
	struct timed *t = state;

	pin(t->cpu);
	poll_loop_run(t->loop);
	return NULL;
}

/* The loop for as long as the bare one takes, about. */
static double ours(struct poll_loop *loop, unsigned cpu)
{
	struct timed t = { loop, cpu };
	pthread_t thread;

	memset(&loop->stats, 0, sizeof(loop->stats));
	atomic_store(&loop->stop, false);
	atomic_store(&loop->tail, atomic_load(&loop->head));
	if (pthread_create(&thread, NULL, loop_thread, &t))
		return NAN;
	nanosleep(&(struct timespec){ .tv_nsec = 80000000 }, NULL);
	atomic_store(&loop->stop, true);
	pthread_join(thread, NULL);
	return usual(loop->stats.step);
}

static int step_row(const struct bench *b, unsigned cpu, double tick_ns)
{
	struct bench_row row = { .name = "a step of the loop, beside clock and load alone",
				 .unit = "ns",
				 .less_is_better = true,
				 .goal = 1 / 1.3 };
	struct poll_bin *bins = calloc(POLL_BINS, sizeof(*bins));
	struct poll_loop *loop = aligned_alloc(64, (sizeof(*loop) + 63) & ~(size_t)63);
	uint64_t *word = aligned_alloc(64, 64);
	cpu_set_t before;

	sched_getaffinity(0, sizeof(before), &before);
	if (bins && loop && word) {
		memset(word, 0, 64);
		memset(loop, 0, sizeof(*loop));
		loop->ring = calloc(65536, sizeof(*loop->ring));
		loop->size = 65536;
		loop->lines = (struct poll_lines){ .at = word, .width = 8, .mask = UINT64_MAX };
		loop->gap_ticks = (uint64_t)(20000 / tick_ns);
		loop->asked_ticks = (uint64_t)(10000 / tick_ns);
		for (unsigned i = 0; i < RUNS && loop->ring && !bench_stopped(); i++) {
			bench_doing(b, "%s, %u", row.name, i + 1);
			bench_add(&row.ours, ours(loop, cpu) * tick_ns);
			pin(cpu);
			bench_add(&row.reference, bare(word, bins) * tick_ns);
			sched_setaffinity(0, sizeof(before), &before);
		}
		free(loop->ring);
	}
	free(bins);
	free(loop);
	free(word);
	if (!row.ours.n)
		return bench_fail(b, CVL_E_NOMEM, "out of memory");
	bench_heads(b);
	bench_put(b, &row);
	return 0;
}

/* Made when the first store misses: which ones they were is what is needed to find out why. */
#define UNMET "ett-unmet.csv"

static void keep_unmet(FILE *from, const struct poll_trial_result *r, unsigned round)
{
	FILE *to = fopen(UNMET, round ? "ae" : "we");
	char text[4096];
	size_t n;

	rewind(from);
	if (to) {
		fprintf(to,
			"# round %u: counters of step %llu, shown %llu ticks apart, at most %llu; %llu of %llu missed\n" POLL_UNMET_HEAD,
			round, (unsigned long long)r->skew.step, (unsigned long long)r->skew.apart,
			(unsigned long long)poll_skew_limit(&r->skew),
			(unsigned long long)(r->seen - r->met), (unsigned long long)r->seen);
		while ((n = fread(text, 1, sizeof(text), from)) > 0)
			fwrite(text, 1, n, to);
	}
	if (!to || fclose(to))
		fprintf(stderr, "%s: cannot be written\n", UNMET);
	else
		fprintf(stderr, "round %u: %llu stores do not meet their brackets: see %s\n", round,
			(unsigned long long)(r->seen - r->met), UNMET);
}

static int trials(const struct bench *b, unsigned cpu, double tick_ns)
{
	struct bench_figure rate = { .name = "values seen back to back while loop and writer run",
				     .unit = "M/s",
				     .goal = 1,
				     .real = true };
	struct bench_figure met = { .name = "stores whose interval meets the bracket",
				    .unit = "%",
				    .goal = 100,
				    .real = true,
				    .every = true };
	struct bench_figure lost = { .name = "values neither seen nor in a gap",
				     .unit = "",
				     .less_is_better = true,
				     .real = true,
				     .every = true };
	struct poll_trial t = { .stores = STORES,
				.pause = (uint64_t)(500 / tick_ns),
				.gap_ticks = (uint64_t)(450 / tick_ns),
				.loop_cpu = (int)cpu,
				.writer_cpu = cpu ? 0 : 1 };
	struct poll_trial_result r;
	struct poll_skew skew;
	uint64_t only = 0, off = 0;
	unsigned bad = 0;
	uint64_t stores = 0, seen = 0, ok = 0, unseen = 0, gaps = 0, missed = 0;
	double wall = 0;
	int rc;

	poll_skew_open(&skew);
	for (unsigned i = 0; i < ROUNDS && seen < WANTED && !bench_stopped(); i++) {
		bench_doing(b, "against a writer, %llu of %u", (unsigned long long)seen, WANTED);
		t.unmet = tmpfile();
		rc = poll_trial_run(&t, &r);
		if (!rc && r.met < r.seen && t.unmet)
			keep_unmet(t.unmet, &r, bad++);
		if (t.unmet)
			fclose(t.unmet);
		if (rc)
			return bench_fail(b, CVL_E_ENV, "no trial: %s", strerror(rc));
		poll_skew_join(&skew, &r.skew);
		only += r.beside;
		off = r.off > off ? r.off : off;
		stores += t.stores;
		seen += r.seen;
		ok += r.met;
		missed += r.missed;
		unseen += r.missed - r.excused;
		gaps += r.gaps;
		wall += r.seconds;
		bench_add(&rate.measured,
			  (double)r.seen_at_work / ((double)r.at_work * tick_ns) * 1e3);
	}
	bench_add(&met.measured, seen ? 100 * ((double)ok / (double)seen) : NAN);
	bench_add(&lost.measured, (double)unseen);
	snprintf(rate.note, sizeof(rate.note), "%.3f M/s with all gaps",
		 (double)seen / wall * 1e-6);
	snprintf(
		met.note, sizeof(met.note),
		"%llu of %llu seen, of %llu stores; %llu off by up to %llu ticks, within the counters' (step %llu, shown %llu apart, at most %llu)",
		(unsigned long long)ok, (unsigned long long)seen, (unsigned long long)stores,
		(unsigned long long)only, (unsigned long long)off, (unsigned long long)skew.step,
		(unsigned long long)skew.apart, (unsigned long long)poll_skew_limit(&skew));
	snprintf(lost.note, sizeof(lost.note), "%llu missed, %llu gaps beyond 450 ns",
		 (unsigned long long)missed, (unsigned long long)gaps);
	bench_figure_heads(b);
	bench_figure_put(b, &rate);
	bench_figure_put(b, &met);
	bench_figure_put(b, &lost);
	return 0;
}

int ett_poll(const struct bench *b)
{
	unsigned others, cpu = facts_best_cpu("", &others);
	uint64_t off;
	double tick_ns;
	int rc;

	if (!poll_clock_there() || !others) {
		fprintf(stderr,
			"SKIP  a polling loop: it takes two processors, with RDTSCP where they are x86\n");
		return 0;
	}
	tick_ns = 1e9 / (double)poll_clock_rate(200, &off);
	rc = step_row(b, cpu, tick_ns);
	return rc ? rc : trials(b, cpu, tick_ns);
}
