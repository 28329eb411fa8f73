/* SPDX-License-Identifier: MIT */
#include "capture/drivers/poll/loop.h"

#include <sched.h>
#include <string.h>
#include <sys/resource.h>

#include "capture/drivers/poll/clock.h"

uint64_t poll_bin_low(unsigned i)
{
	unsigned e = i < 2 * POLL_FINE ? 0 : i / POLL_FINE - 1;

	return i >= POLL_BINS ? UINT64_MAX : (uint64_t)(i - e * POLL_FINE) << e;
}

/* ---- the ring ---- */

bool poll_put(struct poll_loop *l, const struct poll_seen *seen)
{
	uint64_t head = atomic_load_explicit(&l->head, memory_order_relaxed);

	if (head - atomic_load_explicit(&l->tail, memory_order_acquire) == l->size)
		return false;
	l->ring[head & (l->size - 1)] = *seen;
	atomic_store_explicit(&l->head, head + 1, memory_order_release);
	return true;
}

bool poll_take(struct poll_loop *l, struct poll_seen *seen)
{
	uint64_t tail = atomic_load_explicit(&l->tail, memory_order_relaxed);

	if (tail == atomic_load_explicit(&l->head, memory_order_acquire))
		return false;
	*seen = l->ring[tail & (l->size - 1)];
	atomic_store_explicit(&l->tail, tail + 1, memory_order_release);
	return true;
}

/* ---- what is not done in each step ---- */

#define NONE UINT64_MAX

/* Private state of the loop. */
struct mind {
	struct poll_loop *l;
	uint64_t untold; /* begin of the first gap below that is still to be reported, or NONE */
	struct poll_seen full; /* changes not stored; lost: 0: none */
	struct poll_seen gap;  /* the open gap */
	bool in_gap;
	long preempted, slept, faults;
};

static void find_untold(struct mind *m)
{
	m->untold = m->in_gap ? m->gap.from : NONE;
	if (m->full.lost && m->full.from < m->untold)
		m->untold = m->full.from;
}

static void tell(struct mind *m, const struct poll_seen *seen)
{
	if (m->full.lost && poll_put(m->l, &m->full))
		m->full.lost = 0;
	if (m->full.lost || !poll_put(m->l, seen)) {
		if (!m->full.lost)
			m->full = (struct poll_seen){ .kind = POLL_FULL, .from = seen->from };
		m->full.lost++;
		m->full.to = seen->to;
	}
	find_untold(m);
}

static void ask(struct mind *m, struct poll_seen *gap)
{
	struct rusage u;

	if (getrusage(RUSAGE_THREAD, &u))
		return;
	if (gap) {
		gap->asked = true;
		gap->preempted = (uint32_t)(u.ru_nivcsw - m->preempted);
		gap->slept = (uint32_t)(u.ru_nvcsw - m->slept);
		gap->faults = (uint32_t)(u.ru_minflt + u.ru_majflt - m->faults);
	}
	m->preempted = u.ru_nivcsw;
	m->slept = u.ru_nvcsw;
	m->faults = u.ru_minflt + u.ru_majflt;
}

static void end_gap(struct mind *m)
{
	m->in_gap = false;
	if (m->gap.to - m->gap.from >= m->l->asked_ticks)
		ask(m, &m->gap);
	tell(m, &m->gap);
}

/*
 * Adjacent gaps are merged, except after part_ticks, since nothing is reported while one is open.
 * Parts share a step: not a long one.
 */
static void see_gap(struct mind *m, uint64_t from, uint64_t to, bool moved)
{
	const uint64_t part = m->l->part_ticks;

	if (m->in_gap && part && to - m->gap.from > part && to - from < part / 100)
		end_gap(m);
	if (!m->in_gap)
		m->gap = (struct poll_seen){ .kind = POLL_GAP, .from = from };
	m->in_gap = true;
	m->gap.to = to;
	m->gap.moved = m->gap.moved || moved;
	find_untold(m);
}

static void tell_rest(struct mind *m)
{
	if (m->in_gap)
		end_gap(m);
	else if (poll_put(m->l, &m->full))
		m->full.lost = 0;
	find_untold(m);
}

/* ---- the loop ---- */

static inline uint64_t read_8(const struct poll_lines *p)
{
	return *(const volatile uint8_t *)p->at;
}

static inline uint64_t read_16(const struct poll_lines *p)
{
	return *(const volatile uint16_t *)p->at;
}

static inline uint64_t read_32(const struct poll_lines *p)
{
	return *(const volatile uint32_t *)p->at;
}

static inline uint64_t read_64(const struct poll_lines *p)
{
	return *(const volatile uint64_t *)p->at;
}

static inline uint64_t read_port(const struct poll_lines *p)
{
#ifdef __x86_64__
	uint8_t v;

	__asm__ volatile("inb %1, %0" : "=a"(v) : "Nd"(p->port) : "memory");
	return v;
#else
	(void)p;
	return 0;
#endif
}

static inline void count(struct poll_bin *bins, uint64_t ticks)
{
	struct poll_bin *b = &bins[poll_bin_of(ticks)];

	b->count++;
	b->ticks += ticks;
}

static void take_back(struct poll_bin *bins, uint64_t ticks)
{
	struct poll_bin *b = &bins[poll_bin_of(ticks)];

	b->count--;
	b->ticks -= ticks;
}

/* One copy for each way of reading, so that it contains no call. */
static inline __attribute__((always_inline)) void run(struct poll_loop *l,
						      uint64_t (*read)(const struct poll_lines *))
{
	const struct poll_lines lines = l->lines;
	const uint64_t gap_ticks = l->gap_ticks;
	struct poll_stats *s = &l->stats;
	struct mind m = { .l = l, .untold = NONE };
	uint32_t cpu, on;
	uint64_t last, levels, now, before, middle, step, span;

	ask(&m, NULL);
	before = poll_clock(&on);
	last = read(&lines) & lines.mask;
	middle = poll_clock(&on);
	s->first = middle;
	tell(&m, &(struct poll_seen){
			 .kind = POLL_LEVELS, .from = before, .to = middle, .levels = last });
	do {
		levels = read(&lines) & lines.mask;
		now = poll_clock(&cpu);
		step = now - middle;
		span = now - before;
		count(s->step, step);
		count(s->span, span);
		/* after what is in the ring */
		atomic_store_explicit(&l->safe, m.untold < before ? m.untold : before,
				      memory_order_release);
		/* a step is longer than its span only if the clock ran backwards */
		if (__builtin_expect((step > span ? step : span) > gap_ticks, 0)) {
			if (now < middle) {
				take_back(s->step, step);
				take_back(s->span, span);
				atomic_store(&l->ran_back, true);
				now = middle;
				break;
			}
			s->widest = span > s->widest ? span : s->widest;
			see_gap(&m, before, now, cpu != on);
			on = cpu;
		} else if (__builtin_expect(m.untold != NONE, 0)) {
			tell_rest(&m);
		}
		if (__builtin_expect(levels != last, 0)) {
			tell(&m, &(struct poll_seen){ .kind = POLL_CHANGE,
						      .from = before,
						      .to = now,
						      .levels = levels,
						      .changed = levels ^ last });
			last = levels;
		}
		before = middle;
		middle = now;
	} while (!atomic_load_explicit(&l->stop, memory_order_relaxed));
	s->last = now;
	if (m.in_gap)
		end_gap(&m);
	while (m.full.lost && !poll_put(l, &m.full))
		sched_yield();
}

/* Numbers beyond the last bin. */
static uint64_t greatest(const struct poll_bin *bins)
{
	unsigned i = POLL_BINS;

	while (i && !bins[i - 1].count)
		i--;
	if (!i)
		return 0;
	return bins[i - 1].count == 1 ? bins[i - 1].ticks : poll_bin_low(i) - 1;
}

void poll_loop_run(struct poll_loop *l)
{
	struct poll_stats *s = &l->stats;

	switch (l->lines.at ? l->lines.width : 0) {
	case 1: run(l, read_8); break;
	case 2: run(l, read_16); break;
	case 4: run(l, read_32); break;
	case 8: run(l, read_64); break;
	default: run(l, read_port); break;
	}
	if (!s->widest) /* no gap */
		s->widest = greatest(s->span);
	s->longest = greatest(s->step);
	if (s->longest > s->widest)
		s->longest = s->widest;
}
