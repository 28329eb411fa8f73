/* SPDX-License-Identifier: MIT */
#include "capture/drivers/cc1101/pair.h"

#include <string.h>

#define NS 1000000000u
/* Beyond this uncertainty the history of a silent sender says nothing about its next edge. */
#define TOLERANCE_MOST_NS 1000000
/* Rates are taken over at least this long, or jitter would make them useless. */
#define BASELINE_NS (8ll * NS)
/*
 * How much a rate may change: this much at once, and this much more in each following second, up to
 * PAIR_WANDER_PPM.
 */
#define WANDER_AT_ONCE_PPM 2
#define WANDER_SECONDS_PER_PPM 10
/*
 * One agreement may be chance; this many, each within this time of the last, are two senders with
 * one id.
 */
#define TWINS_LEAST 2
#define TWINS_NS (60ll * NS)

void pair_init(struct pair *p, const struct pair_opts *opts)
{
	memset(p, 0, sizeof(*p));
	p->opts = *opts;
	if (!p->opts.grace_period_ns)
		p->opts.grace_period_ns = NS;
	if (!p->opts.jitter_ns)
		p->opts.jitter_ns = 10000;
	if (!p->opts.wait_ms)
		p->opts.wait_ms = 3000;
}

static uint64_t sent_of(const struct pair *p, const struct beacon *b)
{
	return b->version ? b->sent_ns : b->sequence * p->opts.grace_period_ns;
}

/* Nominal ns from tick @a to the later @b, or INT64_MAX / 4 if that is more. */
static int64_t ticks_ns(const struct pair *p, uint64_t a, uint64_t b)
{
	unsigned __int128 ns = (unsigned __int128)(b - a) * NS / p->opts.rate_hz;

	return ns > INT64_MAX / 4 ? INT64_MAX / 4 : (int64_t)ns;
}

/*
 * From @a to @b in the ticks minus in the sender's time, and how long that is; false if the
 * sender's time does not advance.
 */
static bool gained(const struct pair *p, const struct pair_mark *a, const struct pair_mark *b,
		   int64_t *gain, int64_t *length)
{
	if (b->tick <= a->tick || b->sent_ns <= a->sent_ns ||
	    b->sent_ns - a->sent_ns > INT64_MAX / 4)
		return false;
	*length = ticks_ns(p, a->tick, b->tick);
	*gain = *length - (int64_t)(b->sent_ns - a->sent_ns);
	return true;
}

static int64_t ppm_of(int64_t ns, int64_t ppm)
{
	return ns / 1000000 * ppm + ns % 1000000 * ppm / 1000000;
}

/* How far the change of the rate may accumulate over @length. */
static int64_t wander_ns(int64_t length)
{
	int64_t ppm = WANDER_AT_ONCE_PPM + length / (WANDER_SECONDS_PER_PPM * (int64_t)NS);

	return ppm_of(length, ppm < PAIR_WANDER_PPM ? ppm : PAIR_WANDER_PPM);
}

static bool within(int64_t x, int64_t most)
{
	return x <= most && x >= -most;
}

/*
 * Does @m continue @a and @b, the older first? Their rate predicts what @m gains on @b; it is off
 * by the jitter of both ends, extrapolated, and by the wander.
 */
static bool follows(const struct pair *p, const struct pair_mark *a, const struct pair_mark *b,
		    const struct pair_mark *m)
{
	const int64_t jitter = p->opts.jitter_ns;
	int64_t before, before_length, now, length, tolerance, want;

	if (!gained(p, a, b, &before, &before_length) || !gained(p, b, m, &now, &length) ||
	    !within(before, ppm_of(before_length, PAIR_PPM) + 2 * jitter) ||
	    !within(now, ppm_of(length, PAIR_PPM) + 2 * jitter))
		return false;
	tolerance = wander_ns(length) + 2 * jitter +
		    (int64_t)((__int128)2 * jitter * length / before_length);
	want = (int64_t)((__int128)before * length / before_length);
	return tolerance <= TOLERANCE_MOST_NS && within(now - want, tolerance);
}

static struct pair_sender *find(struct pair *p, uint16_t id)
{
	for (size_t i = 0; i < p->n_senders; i++)
		if (p->sender[i].id == id)
			return &p->sender[i];
	if (p->n_senders == PAIR_SENDERS)
		return NULL;
	p->sender[p->n_senders] = (struct pair_sender){ .id = id };
	return &p->sender[p->n_senders++];
}

static void drop(struct pair *p, size_t i)
{
	p->n_waiting--;
	memmove(&p->waiting[i], &p->waiting[i + 1], (p->n_waiting - i) * sizeof(p->waiting[0]));
}

static void wait_for_edge(struct pair *p, const struct beacon_heard *found, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!find(p, found[i].beacon.sender)) {
			p->count.senders++;
			continue;
		}
		if (p->n_waiting == PAIR_WAITING) {
			p->count.without++;
			drop(p, 0);
		}
		p->waiting[p->n_waiting++] = (struct pair_waiting){
			.heard = found[i],
			.since = p->now,
			.sent_ns = sent_of(p, &found[i].beacon),
		};
	}
}

static void expire(struct pair *p)
{
	while (p->n_waiting &&
	       ticks_ns(p, p->waiting[0].since, p->now) > (int64_t)p->opts.wait_ms * 1000000) {
		p->count.without++;
		drop(p, 0);
	}
}

/* The beacon waiting for an edge here; @p->n_waiting if there is none or more than one. */
static size_t expected(struct pair *p, uint64_t tick)
{
	size_t found = p->n_waiting;

	for (size_t i = 0; i < p->n_waiting; i++) {
		const struct pair_waiting *w = &p->waiting[i];
		const struct pair_sender *s = find(p, w->heard.beacon.sender);
		const struct pair_mark m = { tick, w->sent_ns };

		if (!s->anchored || !follows(p, &s->before, &s->last, &m))
			continue;
		if (found < p->n_waiting) {
			p->count.ambiguous++;
			return p->n_waiting;
		}
		found = i;
	}
	return found;
}

/*
 * Is this edge where another sender had a beacon due, which was then flushed or not read? If
 * senders keep their distance, such edges agree with each other about the wrong sender.
 */
static bool due_of_another(const struct pair *p, const struct pair_sender *not_this, uint64_t tick)
{
	for (size_t i = 0; i < p->n_senders; i++) {
		const struct pair_sender *s = &p->sender[i];
		int64_t gain, base, length, tolerance, off;

		if (s == not_this || !s->anchored || !s->period_ns || tick <= s->last.tick ||
		    !gained(p, &s->before, &s->last, &gain, &base))
			continue;
		length = ticks_ns(p, s->last.tick, tick);
		tolerance = wander_ns(length) + 2 * p->opts.jitter_ns +
			    (int64_t)((__int128)2 * p->opts.jitter_ns * length / base);
		off = (length - (int64_t)((__int128)gain * length / base)) % (int64_t)s->period_ns;
		if (off <= tolerance || (int64_t)s->period_ns - off <= tolerance)
			return true;
	}
	return false;
}

static void go_on(const struct pair *p, struct pair_sender *s, const struct pair_mark *m)
{
	if (ticks_ns(p, s->next.tick, m->tick) > BASELINE_NS) {
		s->before = s->next;
		s->next = *m;
	}
	if (!s->period_ns || m->sent_ns - s->last.sent_ns < s->period_ns)
		s->period_ns = m->sent_ns - s->last.sent_ns;
	s->last = *m;
}

/*
 * Could @m, with two earlier candidates, be the sender? The two just before it suffice; if others,
 * which must be noise, came between, a fourth has to agree, since among many some agree by chance.
 * Likewise if there is more than one sender: the edge of one whose packet was flushed is found with
 * the packet of the next, and they may keep their distance.
 */
static bool agreed(const struct pair *p, const struct pair_sender *s, const struct pair_mark *m,
		   struct pair_mark *a, struct pair_mark *b)
{
	const struct pair_mark *t = s->tried;
	const size_t n = s->n_tried;

	if (p->n_senders == 1 && n >= 2 && follows(p, &t[n - 2], &t[n - 1], m)) {
		*a = t[n - 2];
		*b = t[n - 1];
		return true;
	}
	for (size_t j = n; j-- > 2;)
		for (size_t i = j; i-- > 1;) {
			if (!follows(p, &t[i], &t[j], m))
				continue;
			for (size_t k = i; k-- > 0;)
				if (follows(p, &t[k], &t[i], &t[j]) &&
				    follows(p, &t[k], &t[j], m)) {
					*a = t[i];
					*b = t[j];
					return true;
				}
		}
	return false;
}

/* An unexpected edge, and the first beacon of its drain. Returns whether they are a pair. */
static bool try_pair(struct pair *p, struct pair_sender *s, const struct pair_mark *m)
{
	struct pair_mark a, b;

	if (agreed(p, s, m, &a, &b)) {
		s->n_tried = 0;
		if (s->anchored && s->last.tick > a.tick) {
			if (ticks_ns(p, s->strange_at, m->tick) > TWINS_NS)
				s->strange = 0;
			s->strange_at = m->tick;
			p->count.twins += ++s->strange >= TWINS_LEAST;
			return false;
		}
		s->anchored = true;
		s->strange = 0;
		s->period_ns = 0;
		s->before = a;
		s->next = b;
		s->last = *m;
		p->count.anchored++;
		return true;
	}
	if (s->n_tried == PAIR_TRIED)
		memmove(s->tried, s->tried + 1, --s->n_tried * sizeof(s->tried[0]));
	s->tried[s->n_tried++] = *m;
	return false;
}

bool pair_rise(struct pair *p, struct cvl_tick tick, const struct beacon_heard *found, size_t n,
	       struct paired *out)
{
	const uint64_t emptied = p->emptied;
	struct pair_sender *s;
	size_t i;

	p->count.rises++;
	if (tick.count < p->now)
		pair_restart(p);
	p->now = tick.count;
	expire(p);
	p->emptied = p->clock;
	wait_for_edge(p, found, n);
	i = expected(p, tick.count);
	if (i < p->n_waiting) {
		const struct pair_mark m = { tick.count, p->waiting[i].sent_ns };

		go_on(p, find(p, p->waiting[i].heard.beacon.sender), &m);
	} else {
		struct pair_mark m = { tick.count, 0 };

		if (n == 0 || !(s = find(p, found[0].beacon.sender))) {
			p->count.bare++;
			return false;
		}
		m.sent_ns = sent_of(p, &found[0].beacon);
		if (s->anchored)
			p->count.implausible++;
		if (tick.count < emptied || due_of_another(p, s, tick.count) ||
		    !try_pair(p, s, &m)) {
			p->count.bare++;
			return false;
		}
		/* It was added with this drain: the first of its sender with its time. */
		for (i = 0; i < p->n_waiting; i++)
			if (p->waiting[i].heard.beacon.sender == s->id &&
			    p->waiting[i].sent_ns == m.sent_ns)
				break;
		if (i == p->n_waiting)
			return false;
	}
	p->count.paired++;
	*out = (struct paired){ p->waiting[i].heard, tick };
	drop(p, i);
	return true;
}

void pair_clock(struct pair *p, struct cvl_tick now)
{
	p->clock = now.count;
}

void pair_found(struct pair *p, const struct beacon_heard *found, size_t n)
{
	p->emptied = p->clock;
	wait_for_edge(p, found, n);
}

void pair_restart(struct pair *p)
{
	p->count.without += p->n_waiting;
	p->n_waiting = 0;
	p->n_senders = 0;
	p->now = p->clock = p->emptied = 0;
}

void pair_end(struct pair *p)
{
	p->count.without += p->n_waiting;
	p->n_waiting = 0;
}
