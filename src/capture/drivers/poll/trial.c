/* SPDX-License-Identifier: MIT */
#include "capture/drivers/poll/trial.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "capture/drivers/driver.h"
#include "capture/drivers/poll/clock.h"

/* A store this many pauses late: the writer did not run. */
#define HELD_UP 10

/* Exchanges before and after. */
#define EXCHANGES 20000
#define EXCHANGE_MS 200

struct trial {
	const struct poll_trial *t;
	struct poll_loop *loop;
	struct poll_store *stamp; /* of each value */
	uint64_t slack;           /* between stamps of the two processors */
	struct poll_seen *gap;
	size_t n_gaps;
	uint64_t *word; /* alone in its line of the cache */
};

static void pin(int cpu)
{
	cpu_set_t one;

	if (cpu < 0)
		return;
	CPU_ZERO(&one);
	CPU_SET((size_t)cpu, &one);
	sched_setaffinity(0, sizeof(one), &one); /* if this is refused, the test still holds */
}

static void *loop_thread(void *state)
{
	struct trial *x = state;

	pin(x->t->loop_cpu);
	poll_loop_run(x->loop);
	return NULL;
}

static void write_all(const struct trial *x)
{
	uint32_t cpu;

	for (uint32_t v = 1; v <= x->t->stores; v++) {
		uint64_t until;

		x->stamp[v].before = poll_clock(&cpu);
		__atomic_store_n(x->word, v, __ATOMIC_SEQ_CST);
		x->stamp[v].after = poll_clock(&cpu);
		until = x->stamp[v].after + x->t->pause;
		while (poll_clock(&cpu) < until)
			;
	}
}

/* A gap that covers all of the time @v was there. They are in order. */
static bool in_gap(const struct trial *x, uint64_t v)
{
	const uint64_t from = x->stamp[v].after, to = x->stamp[v + 1].before;
	size_t low = 0, high = x->n_gaps;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (x->gap[middle].to + x->slack < to)
			low = middle + 1;
		else
			high = middle;
	}
	return low < x->n_gaps && x->gap[low].from <= from + x->slack;
}

uint64_t poll_store_off(const struct poll_store *store, const struct poll_seen *seen)
{
	if (store->before > seen->to)
		return store->before - seen->to;
	return seen->from > store->after ? seen->from - store->after : 0;
}

static void see_store(const struct trial *x, const struct poll_seen *s, struct poll_trial_result *r)
{
	const struct poll_store *store = &x->stamp[s->levels];
	const uint64_t off = poll_store_off(store, s);

	r->seen++;
	r->met += off <= x->slack;
	r->beside += off && off <= x->slack;
	r->off = off > r->off ? off : r->off;
	if (off > x->slack && x->t->unmet)
		fprintf(x->t->unmet,
			"%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
			",%" PRIu64 "\n",
			s->levels, store->before, store->after, s->from, s->to, off, x->slack);
}

static void judge(struct trial *x, struct poll_trial_result *r)
{
	const uint64_t n = x->t->stores;
	struct poll_seen s;
	bool *seen = calloc(n + 2, sizeof(*seen));

	while (seen && poll_take(x->loop, &s)) {
		if (s.kind == POLL_GAP)
			x->gap[x->n_gaps++] = s;
		r->full += s.kind == POLL_FULL ? s.lost : 0;
		if (s.kind != POLL_CHANGE || s.levels > n)
			continue;
		seen[s.levels] = true;
		see_store(x, &s, r);
	}
	r->gaps = x->n_gaps;
	r->missed = n - r->seen;
	/* the last one stays */
	x->stamp[n + 1].before = UINT64_MAX;
	for (uint64_t v = 1; seen && v <= n; v++) {
		const uint64_t for_ticks = x->stamp[v + 1].before - x->stamp[v].before;

		if (seen[v] && for_ticks <= HELD_UP * x->t->pause) {
			r->at_work += for_ticks;
			r->seen_at_work++;
		}
		if (seen[v])
			continue;
		r->excused += x->stamp[v + 1].before - x->stamp[v].after <= x->t->gap_ticks ||
			      in_gap(x, v);
		/* the store was complete by its later stamp, and stood until the next began */
		r->claimed +=
			x->stamp[v + 1].before >= x->stamp[v].after &&
			x->stamp[v + 1].before - x->stamp[v].after >= r->stats.widest + x->slack;
	}
	free(seen);
}

/* Also where the threads may be anywhere: two processors then stand for all. */
static int measure(const struct trial *x, struct poll_trial_result *r)
{
	struct poll_skew_opts o = { .cpu = { x->t->loop_cpu, x->t->writer_cpu },
				    .exchanges = EXCHANGES,
				    .ms = EXCHANGE_MS };
	struct poll_skew now;
	int rc;

	if (o.cpu[0] < 0)
		o.cpu[0] = poll_skew_other(o.cpu[1]);
	if (o.cpu[1] < 0)
		o.cpu[1] = poll_skew_other(o.cpu[0]);
	if (o.cpu[1] < 0) /* there is only one */
		o.cpu[1] = o.cpu[0];
	rc = poll_skew_measure(&now, &o);
	poll_skew_join(&r->skew, &now);
	return rc == ETIMEDOUT ? 0 : rc;
}

static int run(struct trial *x, struct poll_trial_result *r)
{
	cpu_set_t before;
	pthread_t thread;
	int64_t began;
	int rc = pthread_create(&thread, NULL, loop_thread, x);

	if (rc)
		return rc;
	sched_getaffinity(0, sizeof(before), &before);
	pin(x->t->writer_cpu);
	while (!atomic_load(&x->loop->head))
		sched_yield();
	began = driver_monotonic_ns();
	write_all(x);
	r->seconds = (double)(driver_monotonic_ns() - began) * 1e-9;
	/* the loop may just be busy */
	for (uint64_t safe = 0;
	     safe <= x->stamp[x->t->stores].after + x->slack && !atomic_load(&x->loop->ran_back);
	     safe = atomic_load(&x->loop->safe))
		nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
	atomic_store(&x->loop->stop, true);
	sched_setaffinity(0, sizeof(before), &before);
	pthread_join(thread, NULL);
	if (atomic_load(&x->loop->ran_back))
		return ENOTSUP;
	r->stats = x->loop->stats;
	rc = measure(x, r);
	x->slack = poll_skew_slack(&r->skew);
	if (!rc)
		judge(x, r);
	return rc;
}

int poll_trial_run(const struct poll_trial *t, struct poll_trial_result *r)
{
	struct trial x = { .t = t };
	size_t size = 1024, bytes;
	int rc = ENOMEM;

	/* a change and a gap for each store, and gaps in between */
	while (size < 4 * (size_t)t->stores)
		size *= 2;
	*r = (struct poll_trial_result){ 0 };
	poll_skew_open(&r->skew);
	x.loop = aligned_alloc(64, (sizeof(*x.loop) + 63) & ~(size_t)63);
	x.word = aligned_alloc(64, 64);
	x.stamp = calloc((size_t)t->stores + 2, sizeof(*x.stamp));
	x.gap = calloc(size, sizeof(*x.gap));
	bytes = size * sizeof(*x.gap);
	if (x.loop && x.word && x.stamp && x.gap) {
		memset(x.loop, 0, sizeof(*x.loop));
		memset(x.word, 0, 64);
		x.loop->ring = malloc(bytes);
		x.loop->size = size;
		x.loop->gap_ticks = t->gap_ticks;
		x.loop->asked_ticks = UINT64_MAX;
		x.loop->lines = (struct poll_lines){ .at = x.word, .width = 8, .mask = UINT64_MAX };
		if (x.loop->ring) {
			/* pages first touched in the loop would be gaps */
			memset(x.loop->ring, 1, bytes);
			memset(x.stamp, 1, ((size_t)t->stores + 2) * sizeof(*x.stamp));
			rc = measure(&x, r);
			x.slack = poll_skew_slack(&r->skew);
			rc = rc ? rc : run(&x, r);
		}
		free(x.loop->ring);
	}
	free(x.loop);
	free(x.word);
	free(x.stamp);
	free(x.gap);
	return rc;
}
