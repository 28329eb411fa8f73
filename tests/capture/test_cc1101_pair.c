/* SPDX-License-Identifier: MIT */
/*
 * Pairing on simulated lines whose truth is known: the line of SWRS061I, table 41, function 7,
 * samples that are scanned late, drains that are later still, noise, loss, restarts, and senders
 * that share an id.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/random.h"
#include "capture/drivers/cc1101/pair.h"
#include "tier.h"

#define RATE 8000000ull
#define FIFO 9
#define EDGES 512
#define SENDERS 3
#define AIR 0.051

static uint64_t seed;

struct line_opts {
	const char *name;
	size_t senders;
	double beacons;                   /* of each sender */
	double late_least, late_most;     /* s from the edge to its drain */
	double very_late, very_late_most; /* chance, and s */
	double lost, bad_crc;             /* chance of each beacon; a bad one empties the FIFO */
	double noise_hz;
	double restarts; /* chance, at each beacon, that its sender restarts */
	bool same_id, grace;
	double least; /* share of the beacons with an edge of their own that must be paired */
};

/* Which packet made an edge; 0: noise. */
struct edge {
	double at;
	uint64_t packet;
};

struct sender {
	double period, next, ppm, zero;
	uint32_t sequence;
};

struct in_fifo {
	uint64_t packet;
	struct beacon_heard heard;
};

struct line {
	const struct line_opts *o;
	struct sim_random x;
	struct pair pair;
	struct sender sender[SENDERS];
	double next_noise, busy_until;
	struct edge edge[EDGES];
	size_t first, n_edges;
	struct in_fifo fifo[FIFO];
	size_t n_fifo;
	bool high;
	uint64_t sent, edges, right, wrong, near;
};

static double between(struct line *l, double a, double b)
{
	return a + (b - a) * sim_uniform(&l->x);
}

static uint64_t tick_of(double t)
{
	return (uint64_t)(t * (double)RATE * (1 + 120e-6) + 1000);
}

static void rise(struct line *l, double at, uint64_t packet)
{
	assert_true(l->n_edges < EDGES);
	l->edge[(l->first + l->n_edges++) % EDGES] = (struct edge){ at, packet };
	l->edges += packet != 0;
}

/* Packet number @packet has come; the number is in utc_s, unseen by the pairing. */
static void come(struct line *l, size_t i, double at)
{
	struct sender *s = &l->sender[i];
	struct beacon b = { .version = !l->o->grace,
			    .sender = l->o->grace ? 0 : (uint16_t)(l->o->same_id ? 1 : i + 1),
			    .sequence = s->sequence++ };

	b.sent_ns = (uint64_t)((s->next - s->zero) * (1 + s->ppm * 1e-6) * 1e9);
	b.utc_s = (uint32_t)++l->sent;
	s->next += s->period;
	if (sim_uniform(&l->x) < l->o->restarts) {
		s->zero = s->next - between(l, 0, 1);
		s->sequence = 0;
	}
	/* The receiver is still in the packet before: one of ours lasts 51 ms at 6 kBd. */
	if (at < l->busy_until || sim_uniform(&l->x) < l->o->lost)
		return;
	l->busy_until = at + AIR;
	if (sim_uniform(&l->x) < l->o->bad_crc) {
		l->n_fifo = 0;
		l->high = false;
		return;
	}
	if (l->n_fifo == FIFO)
		return;
	l->fifo[l->n_fifo++] = (struct in_fifo){ l->sent, { b, 0, 0 } };
	if (!l->high)
		rise(l, at + 3e-6 * sim_normal(&l->x), l->sent);
	l->high = true;
}

/* The oldest edge has been seen in the samples, and the FIFO is drained. */
static void scan(struct line *l, double now)
{
	const struct edge e = l->edge[l->first];
	struct beacon_heard found[FIFO];
	struct paired got;
	const size_t n = l->n_fifo;

	for (size_t i = 0; i < n; i++)
		found[i] = l->fifo[i].heard;
	l->first = (l->first + 1) % EDGES;
	l->n_edges--;
	l->n_fifo = 0;
	l->high = false;
	pair_clock(&l->pair, (struct cvl_tick){ tick_of(now - 2e-3) });
	if (!pair_rise(&l->pair, (struct cvl_tick){ tick_of(e.at) }, found, n, &got))
		return;
	assert_int_equal(got.tick.count, tick_of(e.at));
	if (got.heard.beacon.utc_s == e.packet)
		l->right++;
	else if (e.packet == 0 && got.heard.beacon.utc_s == l->edge[l->first].packet &&
		 l->n_edges && l->edge[l->first].at - e.at < 1.2e-3)
		/* Noise within the tolerance, just before the edge itself. */
		l->near++;
	else
		l->wrong++;
}

static double lateness(struct line *l)
{
	return sim_uniform(&l->x) < l->o->very_late ?
		       between(l, l->o->late_most, l->o->very_late_most) :
		       between(l, l->o->late_least, l->o->late_most);
}

static void run(const struct line_opts *o, uint64_t number, struct line *total)
{
	static struct line l;
	const struct pair_opts opts = { .rate_hz = RATE };
	double now = 0, due = 1e300;

	memset(&l, 0, sizeof(l));
	l.o = o;
	l.x.state = seed + number * 1000003;
	pair_init(&l.pair, &opts);
	for (size_t i = 0; i < o->senders; i++)
		l.sender[i] = (struct sender){ .period = 1,
					       .next = between(&l, 1, 2),
					       .ppm = o->grace ? 0 : between(&l, -150, 150),
					       .zero = -between(&l, 0, 5000),
					       .sequence = (uint32_t)between(&l, 0, 5000) };
	l.next_noise = o->noise_hz > 0 ? 0.5 : 1e300;
	while (now < o->beacons) {
		size_t who = 0;

		for (size_t i = 1; i < o->senders; i++)
			if (l.sender[i].next < l.sender[who].next)
				who = i;
		if (l.n_edges && due == 1e300) {
			due = l.edge[l.first].at + lateness(&l);
			due = due > now ? due : now;
		}
		if (due <= l.sender[who].next && due <= l.next_noise) {
			now = due;
			scan(&l, now);
			due = 1e300;
		} else if (l.next_noise < l.sender[who].next) {
			now = l.next_noise;
			if (!l.high)
				rise(&l, now, 0);
			l.next_noise += between(&l, 0, 2 / o->noise_hz);
		} else {
			now = l.sender[who].next;
			come(&l, who, now);
		}
	}
	pair_end(&l.pair);
	if (total) {
		total->sent += l.sent;
		total->edges += l.edges;
		total->right += l.right;
		total->wrong += l.wrong;
		total->near += l.near;
		return;
	}
	printf("%-24s %7" PRIu64 " sent, %7" PRIu64 " edges, %7" PRIu64 " right (%.2f %%), %" PRIu64
	       " wrong, %" PRIu64 " by noise within tolerance; "
	       "anchored %" PRIu64 ", implausible %" PRIu64 ", twins %" PRIu64
	       ", ambiguous %" PRIu64 "\n",
	       o->name, l.sent, l.edges, l.right, 100.0 * (double)l.right / (double)l.edges,
	       l.wrong, l.near, l.pair.count.anchored, l.pair.count.implausible, l.pair.count.twins,
	       l.pair.count.ambiguous);
	assert_int_equal(l.wrong, 0);
	/* Noise of 1 Hz comes in the 100 us before an edge once in ten thousand. */
	assert_true((double)l.near <= 5 + (double)l.sent * o->noise_hz * 2e-4);
	assert_true((double)l.right >= o->least * (double)l.edges);
	assert_true(l.pair.count.paired == l.right + l.near);
	assert_true(l.pair.count.rises == l.pair.count.paired + l.pair.count.bare);
	if (o->same_id)
		assert_true(l.pair.count.twins > 0);
	else if (o->restarts <= 0)
		assert_int_equal(l.pair.count.twins, 0);
	if (o->restarts > 0)
		assert_true(l.pair.count.anchored > 5);
}

static void no_pair_is_wrong(void **state)
{
	static const struct line_opts lines[] = {
		{ "quiet", 1, 50000, .01, .7, 0, 0, 0, 0, 0, 0, false, false, .999 },
		{ "grace", 1, 50000, .01, .7, 0, 0, 0, 0, 0, 0, false, true, .999 },
		{ "loss", 1, 50000, .01, .7, 0, 0, .2, .1, 0, 0, false, false, .99 },
		{ "late", 1, 50000, .01, .7, .1, 5, 0, 0, 0, 0, false, false, .99 },
		{ "always late", 1, 50000, 1.1, 1.9, 0, 0, .05, .05, 0, 0, false, false, .92 },
		{ "noise", 1, 50000, .01, .7, 0, 0, 0, 0, .5, 0, false, false, .97 },
		{ "much noise", 1, 50000, .01, .7, 0, 0, .1, .1, 5, 0, false, false, .4 },
		{ "restarts", 1, 50000, .01, .7, 0, 0, 0, 0, 0, .002, false, false, .98 },
		{ "three senders", 3, 50000, .01, .7, .02, 3, .1, 0, .1, 0, false, false, .9 },
		{ "two with one id", 2, 50000, .01, .3, 0, 0, .05, .02, .05, 0, true, false, .3 },
		{ "everything", 3, 100000, .01, .7, .05, 5, .1, .05, .3, .0005, false, false, .8 },
		{ "grace, everything", 1, 50000, .01, .7, .05, 5, .1, .05, .3, .0005, false, true,
		  .8 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		run(&lines[i], 0, NULL);
}

/* Noise and more than one sender just when nothing is known yet, many times over. */
static void no_beginning_is_wrong(void **state)
{
	static const struct line_opts lines[] = {
		{ "1", 1, 40, .01, .7, 0, 0, .1, .05, 1, 0, false, false, 0 },
		{ "2", 2, 40, .01, .7, .02, 3, .1, .02, 1, 0, false, false, 0 },
		{ "3", 3, 40, .2, .7, 0, 0, .02, 0, .3, .01, false, false, 0 },
		{ "1, Grace's", 1, 40, .01, .7, .05, 2, .1, .05, .5, .01, false, true, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		static struct line total;

		memset(&total, 0, sizeof(total));
		for (uint64_t k = 0; k < 2000; k++)
			run(&lines[i], k + 1, &total);
		printf("2000 beginnings, %-10s %" PRIu64 " edges, %" PRIu64
		       " right (%.1f %%), %" PRIu64 " wrong, %" PRIu64
		       " by noise within tolerance\n",
		       lines[i].name, total.edges, total.right,
		       100.0 * (double)total.right / (double)total.edges, total.wrong, total.near);
		assert_int_equal(total.wrong, 0);
		assert_true(total.right * 2 > total.edges);
	}
}

static struct beacon_heard beacon(double seconds)
{
	return (struct beacon_heard){
		.beacon = { .version = 1, .sender = 1, .sent_ns = (uint64_t)(seconds * 1e9 + .5) }
	};
}

static bool at(struct pair *p, double t, double sent, struct paired *out)
{
	const struct beacon_heard h = beacon(sent);

	return pair_rise(p, (struct cvl_tick){ (uint64_t)(t * 1e6 + .5) }, &h, sent >= 0, out);
}

static void an_edge_that_comes_after_its_drain_is_found(void **state)
{
	const struct beacon_heard both[] = { beacon(103), beacon(104) };
	struct pair p;
	struct paired out;

	(void)state;
	pair_init(&p, &(struct pair_opts){ .rate_hz = 1000000 });
	assert_false(at(&p, 10, 100, &out));
	assert_false(at(&p, 11, 101, &out));
	assert_true(at(&p, 12, 102, &out));
	assert_int_equal(out.tick.count, 12000000);
	/* 104 came during the drain for 103. */
	assert_true(pair_rise(&p, (struct cvl_tick){ 13000000 }, both, 2, &out));
	assert_int_equal(out.heard.beacon.sent_ns, 103000000000);
	assert_true(at(&p, 14, -1, &out));
	assert_int_equal(out.heard.beacon.sent_ns, 104000000000);
	/* Noise, and the beacon that follows on it is read by its drain. */
	assert_false(at(&p, 14.8, 105, &out));
	assert_int_equal(p.count.implausible, 1);
	assert_true(at(&p, 15.00001, -1, &out));
	assert_int_equal(out.heard.beacon.sent_ns, 105000000000);
	/* 42 us of wander and jitter after a second, and as much again of rate. */
	assert_false(at(&p, 16.0002, 106, &out));
	/* Found by a watchdog's drain. */
	pair_found(&p, &(struct beacon_heard){ beacon(107).beacon, 0, 0 }, 1);
	assert_true(at(&p, 17, -1, &out));
	assert_int_equal(out.heard.beacon.sent_ns, 107000000000);
	pair_end(&p);
	/* The first two, and 106. */
	assert_int_equal(p.count.without, 3);
	/* No ticks in common any more. */
	pair_restart(&p);
	assert_false(at(&p, 18, 108, &out));
}

static void a_long_silence_ends_what_is_known(void **state)
{
	struct pair p;
	struct paired out;

	(void)state;
	pair_init(&p, &(struct pair_opts){ .rate_hz = 1000000 });
	for (int i = 0; i < 100; i++)
		assert_int_equal(at(&p, 10 + i, 100 + i, &out), i >= 2);
	assert_true(at(&p, 169, 259, &out));
	assert_false(at(&p, 2409, 2499, &out));
	assert_false(at(&p, 2410, 2500, &out));
	assert_true(at(&p, 2411, 2501, &out));
	assert_int_equal(p.count.anchored, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_edge_that_comes_after_its_drain_is_found),
		cmocka_unit_test(a_long_silence_ends_what_is_known),
		cmocka_unit_test(no_pair_is_wrong),
		cmocka_unit_test(no_beginning_is_wrong),
	};

	seed = seed_of_run();
	printf("COEVAL_SEED=%" PRIu64 "\n", seed);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
