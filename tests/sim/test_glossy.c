/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "sim/devices/glossy_net.h"

#define HZ 13000000u
#define NODES_MOST GLOSSY_NET_MOST

static uint64_t seed;

/* ---- the filter ---- */

/* Equation 1 of the paper, in floating point. */
static void the_filter_is_the_papers_equation_1(void **state)
{
	static const unsigned ms[] = { 1, 2, 8, 64 };
	struct sim_random r = { seed };

	(void)state;
	for (unsigned k = 0; k < 4; k++) {
		static double t[2000];
		double filtered = 0;
		struct jitter j;

		jitter_init(&j, 100, (uint8_t)ms[k], (uint64_t)HZ << 16);
		for (unsigned i = 0; i < 2000; i++) {
			const unsigned m = i - 1 < ms[k] ? i - 1 : ms[k];
			uint64_t q =
				(uint64_t)((i * 13000130.0 + 3 * sim_normal(&r) + 1e9) * 65536);
			int64_t got, want;

			t[i] = (double)q / 65536;
			if (i == 0)
				filtered = t[0];
			else if (i == 1)
				filtered = 0.1 * t[1] + 0.9 * (filtered + HZ);
			else
				filtered = 0.1 * t[i] +
					   0.9 * (filtered + (t[i - 1] - t[i - 1 - m]) / m);
			got = (int64_t)jitter_put(&j, q, 1);
			want = llround(filtered * 65536);
			/* an eighth of a percent of a count */
			assert_in_range(got - want + 82, 0, 164);
		}
	}
}

static void alpha_of_one_is_no_filter(void **state)
{
	struct sim_random r = { seed };
	struct jitter j;

	(void)state;
	jitter_init(&j, 1000, 8, (uint64_t)HZ << 16);
	for (uint64_t i = 0; i < 100; i++) {
		uint64_t q = (i * HZ << 16) + sim_u64(&r) % 1000000;

		assert_int_equal(jitter_put(&j, q, 1), q);
	}
}

static void missed_floods_are_periods_that_passed(void **state)
{
	const uint64_t period = (uint64_t)13000500 << 16;
	struct jitter j;
	uint64_t at = 0;

	(void)state;
	jitter_init(&j, 100, 4, (uint64_t)HZ << 16);
	for (unsigned i = 0; i < 300; i++)
		jitter_put(&j, at += period, 1);
	assert_int_equal(jitter_interval(&j), period);
	/* five missed, one by one or at once */
	for (unsigned i = 0; i < 5; i++)
		assert_in_range(jitter_miss(&j) - (at += period) + 500, 0, 1000);
	jitter_put(&j, at += period, 1);
	assert_int_equal(jitter_interval(&j), period);
	jitter_put(&j, at += 7 * period, 7);
	assert_int_equal(jitter_interval(&j), period);
	assert_in_range(jitter_expect(&j, 1) - (at + period) + 500, 0, 1000);
}

/* ---- packets ---- */

static void packets_are_read_as_written(void **state)
{
	struct sim_random r = { seed };

	(void)state;
	for (unsigned i = 0; i < 10000; i++) {
		struct flood_packet p = { .relay = (uint8_t)(sim_u64(&r) % (FLOOD_RELAY_MOST + 1)),
					  .initiator = (uint16_t)(1 + sim_u64(&r) % 65535),
					  .sequence = (uint32_t)sim_u64(&r),
					  .second = (uint32_t)sim_u64(&r) },
				    q;
		uint8_t bytes[FLOOD_BYTES];

		flood_encode(&p, bytes);
		assert_int_equal(flood_decode(bytes, FLOOD_BYTES, &q), 1);
		assert_int_equal(q.relay, p.relay);
		assert_int_equal(q.initiator, p.initiator);
		assert_int_equal(q.sequence, p.sequence);
		assert_int_equal(q.second, p.second);
	}
}

static void what_is_no_packet_of_a_flood_is_refused(void **state)
{
	const struct flood_packet good = { .relay = 3, .initiator = 7, .sequence = 1 };
	uint8_t bytes[FLOOD_BYTES];
	struct flood_packet p;
	struct beacon b;

	(void)state;
	flood_encode(&good, bytes);
	assert_int_equal(flood_decode(bytes, FLOOD_BYTES, &p), 1);
	assert_int_equal(flood_decode(bytes, FLOOD_BYTES - 1, &p), 0);
	assert_int_equal(flood_decode(bytes, 0, &p), 0);
	assert_int_equal(beacon_decode(bytes, FLOOD_BYTES, &b), 0);
	bytes[FLOOD_AT_RELAY] = FLOOD_RELAY_MOST + 1;
	assert_int_equal(flood_decode(bytes, FLOOD_BYTES, &p), 0);
	flood_encode(&good, bytes);
	bytes[FLOOD_AT_VERSION]++;
	assert_int_equal(flood_decode(bytes, FLOOD_BYTES, &p), 0);
	flood_encode(&good, bytes);
	bytes[FLOOD_AT_INITIATOR] = 0;
	assert_int_equal(flood_decode(bytes, FLOOD_BYTES, &p), 0);
}

/* ---- one node ---- */

struct one {
	uint32_t count;
	struct glossy_event event;
	int waiting, answers;
	uint8_t answer[FLOOD_BYTES];
	unsigned answer_bytes, feeds;
	uint32_t raised[64];
	unsigned n_raised;
	struct glossy g;
};

static uint32_t one_now(void *ctx)
{
	return ((struct one *)ctx)->count;
}

static int one_pulse(void *ctx, uint32_t *count)
{
	(void)ctx;
	(void)count;
	return 0;
}

static void one_raise(void *ctx, uint32_t count)
{
	struct one *o = ctx;

	assert_true(o->n_raised < 64);
	o->raised[o->n_raised++] = count;
}

static int one_send(void *ctx, uint32_t count, const uint8_t *payload, unsigned n)
{
	(void)ctx;
	(void)count;
	(void)payload;
	(void)n;
	fail_msg("a relay began a flood");
	return 0;
}

static int one_event(void *ctx, struct glossy_event *e)
{
	struct one *o = ctx;

	*e = o->event;
	return o->waiting-- > 0;
}

static void one_answer(void *ctx, const uint8_t *payload, unsigned n)
{
	struct one *o = ctx;

	o->answers++;
	o->answer_bytes = payload ? n : 0;
	if (payload)
		memcpy(o->answer, payload, n);
}

static int one_put(void *ctx, const char *bytes, unsigned n)
{
	(void)ctx;
	(void)bytes;
	(void)n;
	return 1;
}

static void one_feed(void *ctx)
{
	((struct one *)ctx)->feeds++;
}

static const struct glossy_hal one_hal = { .timer_hz = HZ,
					   .now = one_now,
					   .pulse = one_pulse,
					   .raise = one_raise,
					   .send = one_send,
					   .event = one_event,
					   .answer = one_answer,
					   .put = one_put,
					   .feed = one_feed };

static void one_start(struct one *o, struct glossy_hal *hal, uint32_t count)
{
	struct glossy_config c = glossy_net_paper(1).node;

	memset(o, 0, sizeof(*o));
	*hal = one_hal;
	hal->ctx = o;
	o->count = count;
	c.id = 9;
	c.alpha_pm = 1000;
	assert_null(glossy_init(&o->g, hal, &c));
}

/* A packet of flood @sequence, slot @relay, heard as if the flood began at @reference. */
static void one_hears(struct one *o, uint32_t reference, uint32_t sequence, uint8_t relay,
		      uint16_t initiator)
{
	struct flood_packet p = { .relay = relay, .initiator = initiator, .sequence = sequence };

	flood_encode(&p, o->event.payload);
	o->event.n = FLOOD_BYTES;
	o->event.count =
		reference + (uint32_t)((o->g.rules.heard + o->g.rules.slot * relay + 32768) >> 16);
	o->count = o->event.count + 7000;
	o->waiting = 1;
	o->answers = 0;
	glossy_poll(&o->g);
	assert_int_equal(o->answers, 1);
}

static void one_waits(struct one *o, uint32_t until)
{
	while ((int32_t)(until - o->count) > 0) {
		uint32_t step = (uint32_t)(glossy_poll(&o->g) - o->g.count),
			 left = until - o->count;

		o->waiting = 0;
		o->count += step && step < left ? step : left;
	}
	o->waiting = 0;
	glossy_poll(&o->g);
}

#define OFFSET (18 * (HZ / 1000)) /* early less lead */

static void a_node_relays_and_makes_its_second(void **state)
{
	/* the timer wraps in the third second */
	uint32_t t = 0u - 2 * HZ - HZ / 2;
	struct glossy_hal hal;
	struct one o;

	(void)state;
	one_start(&o, &hal, t - HZ / 2);
	for (uint32_t i = 0; i < 6; i++, t += HZ) {
		one_hears(&o, t, i, 2, 4);
		assert_int_equal(o.answer_bytes, FLOOD_BYTES);
		assert_int_equal(o.answer[FLOOD_AT_RELAY], 3);
		one_hears(&o, t, i, 4, 4);
		one_hears(&o, t, i, 6, 4);
		assert_int_equal(o.answer_bytes, FLOOD_BYTES);
		/* it has sent three times */
		one_hears(&o, t, i, 8, 4);
		assert_int_equal(o.answer_bytes, 0);
		one_waits(&o, t + HZ / 2);
		assert_int_equal(o.n_raised, i + 1);
		assert_in_range(o.raised[i] - (t + OFFSET) + 1, 0, 2);
		assert_int_equal(o.g.hops, 3);
	}
	assert_int_equal(o.g.missed + o.g.odds + o.g.no_pps, 0);
}

static void a_packet_after_the_last_slot_is_not_sent(void **state)
{
	struct glossy_hal hal;
	struct one o;

	(void)state;
	one_start(&o, &hal, 0);
	one_hears(&o, HZ, 0, o.g.rules.slots - 1, 4);
	assert_int_equal(o.answer_bytes, 0);
	one_waits(&o, 2 * HZ - HZ / 2);
	assert_int_equal(o.n_raised, 1);
	assert_in_range(o.raised[0] - (HZ + OFFSET) + 1, 0, 2);
}

static void an_odd_flood_does_not_move_the_second(void **state)
{
	struct glossy_hal hal;
	uint32_t t = HZ;
	struct one o;

	(void)state;
	one_start(&o, &hal, 0);
	for (uint32_t i = 0; i < 20; i++, t += HZ) {
		/* the tenth is 1 ms late */
		one_hears(&o, t + (i == 10 ? HZ / 1000 : 0), i, 0, 4);
		one_waits(&o, t + HZ / 2);
		assert_int_equal(o.n_raised, i + 1);
		assert_in_range(o.raised[i] - (t + OFFSET) + 1, 0, 2);
	}
	assert_int_equal(o.g.odds, 1);
	assert_int_equal(o.g.restarts, 0);
}

static void three_odd_floods_begin_anew(void **state)
{
	struct glossy_hal hal;
	uint32_t t = HZ;
	struct one o;

	(void)state;
	one_start(&o, &hal, 0);
	for (uint32_t i = 0; i < 20; i++, t += HZ) {
		uint32_t step = i < 10 ? 0 : HZ / 1000;

		one_hears(&o, t + step, i, 0, 4);
		one_waits(&o, t + HZ / 2);
		if (i >= 12)
			step = HZ / 1000;
		else
			step = 0;
		assert_in_range(o.raised[o.n_raised - 1] - (t + step + OFFSET) + 1, 0, 2);
	}
	assert_int_equal(o.g.restarts, 1);
}

static void bytes_of_others_are_not_answered(void **state)
{
	struct glossy_hal hal;
	struct one o;

	(void)state;
	one_start(&o, &hal, 0);
	o.event = (struct glossy_event){ .n = BEACON_BYTES, .count = 5 };
	o.waiting = 1;
	glossy_poll(&o.g);
	assert_int_equal(o.answers, 1);
	assert_int_equal(o.answer_bytes, 0);
	assert_int_equal(o.g.wrong, 1);
	/* a flood of an initiator with our id */
	one_hears(&o, HZ, 0, 0, 9);
	assert_int_equal(o.answer_bytes, 0);
	assert_int_equal(o.g.wrong, 2);
}

static void settings_that_cannot_be_are_refused(void **state)
{
	const struct glossy_config good = glossy_net_paper(1).node;
	struct glossy_config c[9];
	struct glossy g;
	struct one o;
	struct glossy_hal hal = one_hal;

	(void)state;
	hal.ctx = &o;
	memset(&o, 0, sizeof(o));
	for (unsigned i = 0; i < 9; i++) {
		c[i] = good;
		c[i].id = 1;
	}
	c[1].id = 0;
	c[2].average = JITTER_M_MOST + 1;
	c[3].alpha_pm = 0;
	c[4].early_ns = 10000000; /* 2 ms, 12 slots of 0.73 ms, 1 ms */
	c[5].lead_ns = 1000;
	c[6].slots = FLOOD_RELAY_MOST + 2;
	c[7].stamps = 0;
	c[8].early_ns = 600000000;
	assert_null(glossy_init(&g, &hal, &c[0]));
	for (unsigned i = 1; i < 9; i++)
		assert_non_null(glossy_init(&g, &hal, &c[i]));
}

/* ---- networks ---- */

struct watched {
	const struct glossy_net_config *c;
	uint32_t from;
	unsigned seconds, flood[NODES_MOST], pps[NODES_MOST], all_pps[NODES_MOST];
	double worst_ns, last[NODES_MOST], least_gap_ns;
	/* of reference times against those of node 0, counts */
	double n[NODES_MOST], sum[NODES_MOST], squares[NODES_MOST];
	double fsum[NODES_MOST], fsquares[NODES_MOST];
	unsigned long all, within_us; /* pulses */
	unsigned hops[NODES_MOST];
	struct glossy end[NODES_MOST];
};

static void watch(void *ctx, uint32_t k, const struct glossy_net_heard *h)
{
	struct watched *w = ctx;

	for (unsigned i = 0; i < w->c->nodes; i++) {
		double at = k * 1e9 + h[i].pps_ns;

		if (!h[i].pps)
			continue;
		if (w->all_pps[i]++)
			w->least_gap_ns = fmin(w->least_gap_ns, at - w->last[i]);
		w->last[i] = at;
	}
	if (k < w->from)
		return;
	w->seconds++;
	for (unsigned i = 0; i < w->c->nodes; i++) {
		w->flood[i] += h[i].flood;
		w->pps[i] += h[i].pps;
		w->hops[i] = h[i].hops;
		if (h[i].pps)
			w->worst_ns = fmax(w->worst_ns, fabs(h[i].pps_ns));
	}
	for (unsigned i = 1; i < w->c->nodes; i++) {
		double raw = h[i].reference - h[0].reference;
		double filtered = h[i].filtered - h[0].filtered;

		if (h[i].pps) {
			w->all++;
			w->within_us += fabs(h[i].pps_ns) <= 1000;
		}
		if (!h[0].flood || !h[i].flood)
			continue;
		w->n[i]++;
		w->sum[i] += raw;
		w->squares[i] += raw * raw;
		w->fsum[i] += filtered;
		w->fsquares[i] += filtered * filtered;
	}
}

static void run(struct watched *w, const struct glossy_net_config *c, uint32_t from)
{
	memset(w, 0, sizeof(*w));
	w->c = c;
	w->from = from;
	w->least_gap_ns = 1e18;
	assert_null(glossy_net_run(c, watch, w, w->end));
}

static void a_flood_reaches_all(void **state)
{
	struct glossy_net_config c = glossy_net_paper(seed);
	struct watched w;

	(void)state;
	c.seconds = 300;
	run(&w, &c, 60);
	for (unsigned i = 0; i < c.nodes; i++) {
		assert_in_range(w.flood[i], w.seconds - 1, w.seconds);
		assert_int_equal(w.pps[i], w.seconds);
		assert_int_equal(w.end[i].following, 1);
	}
	assert_in_range((long)w.worst_ns, 1, 1500);
}

static void lost_packets_are_borne(void **state)
{
	struct glossy_net_config c = glossy_net_paper(seed);
	struct watched w;

	(void)state;
	c.seconds = 300;
	c.loss = 0.3;
	run(&w, &c, 60);
	for (unsigned i = 0; i < c.nodes; i++) {
		assert_in_range(w.flood[i], w.seconds * 9 / 10, w.seconds);
		assert_int_equal(w.pps[i], w.seconds);
	}
	assert_in_range((long)w.worst_ns, 1, 3000);
}

/* The ends of the line do not hear each other; the one in the middle hears both sides at once. */
static void hidden_relays_do_not_disturb_each_other(void **state)
{
	static const struct glossy_net_place place[] = { { 0, 0 },  { 12, 9 }, { 12, -9 },
							 { 24, 0 }, { 38, 0 }, { 52, 0 } };
	struct glossy_net_config c = glossy_net_paper(seed);
	struct watched w;

	(void)state;
	c.nodes = 6;
	c.place = place;
	c.fade_db = 0.5;
	c.seconds = 300;
	run(&w, &c, 60);
	for (unsigned i = 0; i < c.nodes; i++)
		assert_in_range(w.flood[i], w.seconds - 1, w.seconds);
	assert_int_equal(w.hops[1], 1);
	assert_int_equal(w.hops[2], 1);
	assert_int_equal(w.hops[3], 2);
	assert_int_equal(w.hops[4], 3);
	assert_int_equal(w.hops[5], 4);
	assert_in_range((long)w.worst_ns, 1, 1500);
}

static bool all_but_the_last_slot(void *ctx, uint32_t second, unsigned from, unsigned to,
				  const struct flood_packet *p)
{
	const struct glossy_net_config *c = ctx;

	(void)second;
	(void)from;
	return to == 30 && p->relay != c->node.slots - 1;
}

static void a_node_may_hear_the_last_slot_only(void **state)
{
	struct glossy_net_config c = glossy_net_paper(seed);
	struct watched w;

	(void)state;
	c.seconds = 200;
	c.node.slots = 6;
	c.lose = all_but_the_last_slot;
	c.ctx = &c;
	run(&w, &c, 60);
	assert_in_range(w.flood[30], w.seconds / 4, w.seconds);
	assert_in_range(w.pps[30], w.seconds / 2, w.seconds);
	assert_int_equal(w.hops[30], 6);
	assert_in_range((long)w.worst_ns, 1, 3000);
}

static void crystals_may_be_50_ppm_off(void **state)
{
	struct glossy_net_config c = glossy_net_paper(seed);
	double ppm[GLOSSY_NET_OFFICE];
	struct watched w;

	(void)state;
	for (unsigned i = 0; i < GLOSSY_NET_OFFICE; i++)
		ppm[i] = i % 2 ? 50 : -50;
	c.ppm = ppm;
	c.seconds = 300;
	run(&w, &c, 60);
	for (unsigned i = 0; i < c.nodes; i++) {
		assert_int_equal(w.pps[i], w.seconds);
		assert_int_equal(w.end[i].restarts, 0);
	}
	/* a slot is 37 ns longer or shorter by such a crystal */
	assert_in_range((long)w.worst_ns, 1, 1500);
}

static void no_initiator_no_second(void **state)
{
	struct glossy_net_config c = glossy_net_paper(seed);
	struct watched w;

	(void)state;
	c.seconds = 60;
	c.initiators = 0;
	run(&w, &c, 1);
	for (unsigned i = 0; i < c.nodes; i++) {
		assert_int_equal(w.all_pps[i], 0);
		assert_int_equal(w.end[i].floods, 0);
		assert_int_equal(w.end[i].no_pps, 0);
	}
}

static bool all_after_100(void *ctx, uint32_t second, unsigned from, unsigned to,
			  const struct flood_packet *p)
{
	(void)ctx;
	(void)from;
	(void)to;
	(void)p;
	return second > 100;
}

static void the_second_goes_on_for_a_while_without_floods(void **state)
{
	struct glossy_net_config c = glossy_net_paper(seed);
	struct watched w;

	(void)state;
	c.seconds = 200;
	c.lose = all_after_100;
	run(&w, &c, 60);
	for (unsigned i = 1; i < c.nodes; i++) {
		assert_int_equal(w.pps[i], 100 - 60 + 1 + c.node.holdover);
		assert_int_equal(w.end[i].jitter.n, 0);
	}
	/* the crystals wander 8.6 ppb a second and root of a second */
	assert_in_range((long)w.worst_ns, 1, 10000);
}

static void of_two_initiators_the_lowest_id_is_followed(void **state)
{
	struct glossy_net_config c = glossy_net_paper(seed);
	struct watched w;

	(void)state;
	c.seconds = 200;
	c.initiators = 1 | 1u << 28;
	run(&w, &c, 60);
	for (unsigned i = 0; i < c.nodes; i++) {
		assert_int_equal(w.end[i].following, 1);
		assert_int_equal(w.pps[i], w.seconds);
	}
	assert_in_range((long)w.worst_ns, 1, 1500);
	/* and the other one if that has no pulses */
	c.deaf_pulses = 1;
	run(&w, &c, 60);
	for (unsigned i = 0; i < c.nodes; i++)
		assert_int_equal(w.end[i].following, 29);
	assert_int_equal(w.pps[28], w.seconds);
	assert_in_range(w.flood[9], w.seconds * 9 / 10, w.seconds);
}

static void seconds_are_never_doubled(void **state)
{
	struct sim_random r = { seed };

	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		struct glossy_net_config c = glossy_net_paper(sim_u64(&r));
		struct watched w;

		c.seconds = 60;
		c.loss = sim_uniform(&r);
		c.initiators = 1 | 1u << sim_u64(&r) % 31;
		c.node.holdover = (uint16_t)(sim_u64(&r) % 4);
		c.node.alpha_pm = (uint16_t)(1 + sim_u64(&r) % 1000);
		c.node.average = (uint8_t)(1 + sim_u64(&r) % JITTER_M_MOST);
		run(&w, &c, 1);
		assert_true(w.least_gap_ns >= 0.5e9 * (1 - 1e-4));
		for (unsigned k = 0; k < c.nodes; k++)
			assert_int_equal(w.all_pps[k], w.end[k].pps);
	}
}

/* In hundredths of a tick. */
static long sd(double n, double sum, double squares)
{
	return lround(100 * sqrt(squares / n - sum / n * (sum / n)));
}

/*
 * Fitted to node 3 of Table III: 1.94 ticks without the filter, 1.71 with it. The others' with it
 * are predicted: 2.01 and 1.82 at two hops, 1.88 and 2.02 at four. And what Fig. 10 says of pulses:
 * 99.9 % within 1 us.
 */
static void the_model_errs_as_the_paper_has_it(void **state)
{
	struct glossy_net_config c = glossy_net_paper(seed);
	struct watched w;

	(void)state;
	c.seconds = 7200;
	run(&w, &c, 120);
	assert_in_range(sd(w.n[1], w.sum[1], w.squares[1]), 180, 208);
	assert_in_range(sd(w.n[1], w.fsum[1], w.fsquares[1]), 150, 192);
	assert_in_range(sd(w.n[10], w.fsum[10], w.fsquares[10]), 155, 211);
	assert_in_range(sd(w.n[12], w.fsum[12], w.fsquares[12]), 155, 211);
	assert_in_range(sd(w.n[26], w.fsum[26], w.fsquares[26]), 170, 225);
	assert_in_range(sd(w.n[28], w.fsum[28], w.fsquares[28]), 170, 225);
	assert_true(w.within_us * 1000 >= w.all * 999);
}

/* The same seed gives the same network, another one another. */
static void a_seed_tells_all(void **state)
{
	struct glossy_net_config c = glossy_net_paper(seed);
	struct watched a, b;

	(void)state;
	c.seconds = 60;
	run(&a, &c, 10);
	run(&b, &c, 10);
	assert_memory_equal(a.squares, b.squares, sizeof(a.squares));
	c.seed++;
	run(&b, &c, 10);
	assert_memory_not_equal(a.squares, b.squares, sizeof(a.squares));
}

int main(void)
{
	const char *said = getenv("COEVAL_SEED");
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_filter_is_the_papers_equation_1),
		cmocka_unit_test(alpha_of_one_is_no_filter),
		cmocka_unit_test(missed_floods_are_periods_that_passed),
		cmocka_unit_test(packets_are_read_as_written),
		cmocka_unit_test(what_is_no_packet_of_a_flood_is_refused),
		cmocka_unit_test(a_node_relays_and_makes_its_second),
		cmocka_unit_test(a_packet_after_the_last_slot_is_not_sent),
		cmocka_unit_test(an_odd_flood_does_not_move_the_second),
		cmocka_unit_test(three_odd_floods_begin_anew),
		cmocka_unit_test(bytes_of_others_are_not_answered),
		cmocka_unit_test(settings_that_cannot_be_are_refused),
		cmocka_unit_test(a_flood_reaches_all),
		cmocka_unit_test(lost_packets_are_borne),
		cmocka_unit_test(hidden_relays_do_not_disturb_each_other),
		cmocka_unit_test(a_node_may_hear_the_last_slot_only),
		cmocka_unit_test(crystals_may_be_50_ppm_off),
		cmocka_unit_test(no_initiator_no_second),
		cmocka_unit_test(the_second_goes_on_for_a_while_without_floods),
		cmocka_unit_test(of_two_initiators_the_lowest_id_is_followed),
		cmocka_unit_test(seconds_are_never_doubled),
		cmocka_unit_test(the_model_errs_as_the_paper_has_it),
		cmocka_unit_test(a_seed_tells_all),
	};

	seed = said ? strtoull(said, NULL, 0) : 20261;
	printf("COEVAL_SEED=%llu\n", (unsigned long long)seed);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
