/* SPDX-License-Identifier: MIT */
#include "capture/drivers/poll/skew.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "capture/drivers/driver.h"
#include "capture/drivers/poll/clock.h"

/* ---- exchanges ---- */

void poll_skew_open(struct poll_skew *s)
{
	*s = (struct poll_skew){ .least = INT64_MIN, .most = INT64_MAX, .trip = UINT64_MAX };
}

static void show_apart(struct poll_skew *s, int64_t ticks)
{
	if (ticks > 0 && (uint64_t)ticks > s->apart)
		s->apart = (uint64_t)ticks;
}

void poll_skew_add(struct poll_skew *s, uint64_t ahead, uint64_t stamp, uint64_t behind)
{
	const int64_t least = (int64_t)(stamp - behind), most = (int64_t)(stamp - ahead);

	s->exchanges++;
	s->least = least > s->least ? least : s->least;
	s->most = most < s->most ? most : s->most;
	s->trip = behind - ahead < s->trip ? behind - ahead : s->trip;
	show_apart(s, least);
	show_apart(s, most < 0 ? -(most + 1) + 1 : 0);
}

void poll_skew_join(struct poll_skew *s, const struct poll_skew *other)
{
	s->exchanges += other->exchanges;
	s->least = other->least > s->least ? other->least : s->least;
	s->most = other->most < s->most ? other->most : s->most;
	s->trip = other->trip < s->trip ? other->trip : s->trip;
	s->apart = other->apart > s->apart ? other->apart : s->apart;
	s->step = other->step > s->step ? other->step : s->step;
}

uint64_t poll_skew_slack(const struct poll_skew *s)
{
	return s->apart + s->step;
}

uint64_t poll_skew_limit(const struct poll_skew *s)
{
	uint64_t low, high;

	if (!s->exchanges)
		return UINT64_MAX;
	if (s->least > s->most)
		return s->apart + s->trip;
	low = s->least < 0 ? 0 - (uint64_t)s->least : (uint64_t)s->least;
	high = s->most < 0 ? 0 - (uint64_t)s->most : (uint64_t)s->most;
	return low > high ? low : high;
}

/* ---- the step ---- */

/* A shorter step cannot be told from any number, give or take one. */
#define STEP_LEAST 4
/* Longer ones may be no whole number of ticks: each adds at most half of one. */
#define STEP_BROKEN 16
#define STEPS_NEAR 4

static uint64_t common(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static bool is_lattice(const uint64_t *reading, size_t n, uint64_t step)
{
	size_t looked = 0;

	for (size_t i = 1; i < n; i++) {
		const uint64_t d = reading[i] - reading[i - 1], off = d % step;
		const uint64_t may = step < STEP_BROKEN ? 1 : 1 + (d + step / 2) / step / 2;

		if (d > STEPS_NEAR * step)
			continue;
		looked++;
		if (off > may && off < step - may)
			return false;
	}
	return looked >= 64;
}

uint64_t poll_skew_step(const uint64_t *reading, size_t n)
{
	uint64_t least = UINT64_MAX, all = 0;

	for (size_t i = 1; i < n; i++) {
		const uint64_t d = reading[i] - reading[i - 1];

		if (!d || reading[i] < reading[i - 1])
			continue;
		all = common(all, d);
		least = d < least ? d : least;
	}
	if (all > 1)
		return all;
	for (uint64_t step = least == UINT64_MAX ? 0 : least + 1; step >= STEP_LEAST; step--)
		if (is_lattice(reading, n, step))
			return step + 1;
	return 1;
}

/* ---- two threads ---- */

#define READINGS 4096
#define SPINS 4096 /* between checks of the time */

struct pair {
	const struct poll_skew_opts *o;
	struct poll_skew *skew;
	int64_t until;
	uint64_t reading[READINGS];
	_Alignas(64) _Atomic uint64_t turn; /* odd: the other's turn */
	uint64_t stamp;                     /* of its answer */
	_Atomic bool over;
	_Atomic int refused; /* 0, or an errno */
	_Atomic bool there;
};

static inline uint64_t read_counter(const struct pair *p, unsigned side)
{
	uint32_t cpu;

	return p->o->read ? p->o->read(p->o->ctx, side) : poll_clock(&cpu);
}

static int pin(int cpu)
{
	cpu_set_t one;

	if (cpu < 0)
		return 0;
	CPU_ZERO(&one);
	CPU_SET((size_t)cpu, &one);
	return sched_setaffinity(0, sizeof(one), &one) ? errno : 0;
}

static bool wait_for(struct pair *p, uint64_t turn)
{
	unsigned spins = 0;

	while (atomic_load_explicit(&p->turn, memory_order_acquire) != turn) {
		if (atomic_load_explicit(&p->over, memory_order_relaxed))
			return false;
		if (++spins % SPINS)
			continue;
		if (driver_monotonic_ns() > p->until)
			return false;
		sched_yield(); /* both may be on one processor */
	}
	return true;
}

static void *answer(void *state)
{
	struct pair *p = state;
	const int refused = pin(p->o->cpu[1]);

	atomic_store(&p->refused, refused);
	atomic_store(&p->there, true);
	for (uint64_t turn = 1; !refused && wait_for(p, turn); turn += 2) {
		p->stamp = read_counter(p, 1);
		atomic_store_explicit(&p->turn, turn + 1, memory_order_release);
	}
	return NULL;
}

static void *ask(void *state)
{
	struct pair *p = state;
	const int refused = pin(p->o->cpu[0]);

	if (refused)
		atomic_store(&p->refused, refused);
	while (!atomic_load(&p->there) && driver_monotonic_ns() < p->until)
		sched_yield();
	if (atomic_load(&p->refused))
		return NULL;
	for (size_t i = 0; i < READINGS; i++)
		p->reading[i] = read_counter(p, 0);
	p->skew->step = poll_skew_step(p->reading, READINGS);
	for (uint64_t turn = 1; p->skew->exchanges < p->o->exchanges; turn += 2) {
		const uint64_t ahead = read_counter(p, 0);

		atomic_store_explicit(&p->turn, turn, memory_order_release);
		if (!wait_for(p, turn + 1))
			break;
		poll_skew_add(p->skew, ahead, p->stamp, read_counter(p, 0));
	}
	return NULL;
}

int poll_skew_measure(struct poll_skew *s, const struct poll_skew_opts *opts)
{
	struct pair p = { .o = opts, .skew = s };
	pthread_t thread[2];
	int rc;

	poll_skew_open(s);
	p.until = driver_monotonic_ns() + (int64_t)opts->ms * 1000000;
	rc = pthread_create(&thread[1], NULL, answer, &p);
	if (rc)
		return rc;
	rc = pthread_create(&thread[0], NULL, ask, &p);
	if (!rc)
		pthread_join(thread[0], NULL);
	atomic_store(&p.over, true);
	pthread_join(thread[1], NULL);
	if (!rc)
		rc = atomic_load(&p.refused);
	return rc ? rc : s->exchanges ? 0 : ETIMEDOUT;
}

int poll_skew_other(int cpu)
{
	cpu_set_t may;

	CPU_ZERO(&may);
	sched_getaffinity(0, sizeof(may), &may);
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (i != cpu && CPU_ISSET((size_t)i, &may))
			return i;
	return -1;
}
