/* SPDX-License-Identifier: MIT */
#include "sim/devices/glossy_net.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/random.h"

#define SECOND 1e9
#define NEVER HUGE_VAL
#define BIT_NS 4000.0                                /* 250 kbit/s */
#define SYNC_NS (6 * 8 * BIT_NS)                     /* preamble and sync word */
#define REST_NS ((2 + FLOOD_BYTES + 2) * 8 * BIT_NS) /* length, address, payload, CRC */
#define TURN_NS 22000.0      /* as sim/devices/cc1101_chip.c has it, SWRS061I table 34 */
#define DEMODULATE_NS 8000.0 /* chosen: two symbols */
#define NOTICE_NS 38.0       /* half a tick of 13 MHz: how late a stamp is on average */
#define TOGETHER_NS \
	(BIT_NS / 2) /* so close packets do not disturb each other: Glossy's half symbol */
#define JOIN_NS (2 * 8 * BIT_NS) /* so much of the preamble may be missed */
#define PATH_LOSS 3.5            /* exponent, indoors; chosen */
#define CAPTURE_DB 3.0

struct node {
	struct net *net;
	struct glossy_hal hal;
	struct glossy glossy;
	struct sim_random random;
	/* the clock since true time @at: counts, and counts a ns */
	double at, counts, rate, off, walk;
	uint64_t wake; /* count */

	double pulse;  /* true time of the receiver's next pulse */
	double pulsed; /* counts at the one of this second */
	bool captured;
	uint32_t capture;

	double send_at; /* true time; NEVER */
	uint8_t payload[FLOOD_BYTES];
	double busy; /* sends or turns until then */

	double heard_at; /* a packet comes in until then; NEVER */
	double power;    /* dB above the threshold */
	bool ruined, ready;
	uint64_t stamp;
	struct glossy_event event;

	uint32_t used; /* references */
	bool pps;
	double pps_at;
};

struct net {
	const struct glossy_net_config *c;
	double t; /* true time */
	uint32_t second;
	double gain[GLOSSY_NET_MOST][GLOSSY_NET_MOST]; /* dB above the threshold */
	struct sim_random air;
	struct node node[GLOSSY_NET_MOST];
};

uint32_t glossy_net_heard_ns(void)
{
	return (uint32_t)(SYNC_NS + DEMODULATE_NS + NOTICE_NS);
}

uint32_t glossy_net_slot_ns(void)
{
	return (uint32_t)(glossy_net_heard_ns() + REST_NS + TURN_NS);
}

const struct glossy_net_place glossy_net_office[GLOSSY_NET_OFFICE] = {
	{ 0.0, 0.0 },     { 14.0, 0.0 },  { 9.9, 9.9 },    { 0.0, 14.0 },  { -9.9, 9.9 },
	{ -14.0, 0.0 },   { -9.9, -9.9 }, { 0.0, -14.0 },  { 9.9, -9.9 },  { 28.0, 0.0 },
	{ 21.4, 18.0 },   { 4.9, 27.6 },  { -14.0, 24.2 }, { -26.3, 9.6 }, { -26.3, -9.6 },
	{ -14.0, -24.2 }, { 4.9, -27.6 }, { 21.4, -18.0 }, { 41.6, -5.8 }, { 41.6, 5.8 },
	{ 35.6, 22.3 },   { 28.1, 31.2 }, { 13.0, 39.9 },  { 1.5, 42.0 },  { -15.7, 38.9 },
	{ -25.9, 33.1 },  { 56.0, 0.0 },  { 42.9, 36.0 },  { 9.7, 55.1 },  { -28.0, 48.5 },
	{ 38.9, 40.3 },
};

struct glossy_net_config glossy_net_paper(uint64_t seed)
{
	return (struct glossy_net_config){
		.seed = seed,
		.nodes = GLOSSY_NET_OFFICE,
		.place = glossy_net_office,
		.node = { .transmissions = 3,
			  .slots = 12,
			  .stamps = 3,
			  .slot_ns = glossy_net_slot_ns(),
			  .heard_ns = glossy_net_heard_ns(),
			  .early_ns = 20000000,
			  .lead_ns = 2000000,
			  .alpha_pm = 100,
			  .average = 8,
			  .holdover = 30,
			  .odd_ns = 50000 },
		.initiators = 1,
		.timer_hz = 13000000,
		.seconds = 6 * 3600,
		.range_m = 20,
		.fade_db = 3,
		.hop_ns = 112,
		.gps_ns = 30,
		.crystal_ppm = 10,
		.walk_ppb = 8.6,
	};
}

/* ---- clocks ---- */

static double counts_at(const struct node *n, double t)
{
	return n->counts + (t - n->at) * n->rate;
}

static double when(const struct node *n, double count)
{
	return n->at + (count - n->counts) / n->rate;
}

/*
 * The count now. Rounding in when() must not leave the timer one short of where it was waited for.
 */
static uint64_t count_now(const struct node *n)
{
	return (uint64_t)floor(counts_at(n, n->net->t) + 1e-3);
}

/* The 64-bit count nearest to now of low bits @low. */
static uint64_t extended(const struct node *n, uint32_t low)
{
	uint64_t now = count_now(n);

	return now + (uint64_t)(int64_t)(int32_t)(low - (uint32_t)now);
}

static void walk(struct node *n, double t)
{
	n->counts = counts_at(n, t);
	n->at = t;
	n->walk += sim_normal(&n->random) * n->net->c->walk_ppb * 1e-9;
	n->rate = n->net->c->timer_hz * 1e-9 * (1 + n->off + n->walk);
}

/* ---- what the firmware calls ---- */

static uint32_t net_now(void *ctx)
{
	return (uint32_t)count_now(ctx);
}

static int net_pulse(void *ctx, uint32_t *count)
{
	struct node *n = ctx;

	*count = n->capture;
	if (!n->captured)
		return 0;
	n->captured = false;
	return 1;
}

static void net_raise(void *ctx, uint32_t count)
{
	struct node *n = ctx;

	n->pps = true;
	n->pps_at = when(n, (double)extended(n, count));
}

static int net_send(void *ctx, uint32_t count, const uint8_t *payload, unsigned bytes)
{
	struct node *n = ctx;

	n->send_at = when(n, (double)extended(n, count));
	n->heard_at = NEVER;
	memcpy(n->payload, payload, bytes);
	return 1;
}

static int net_event(void *ctx, struct glossy_event *e)
{
	struct node *n = ctx;

	if (!n->ready)
		return 0;
	n->ready = false;
	*e = n->event;
	return 1;
}

static void net_answer(void *ctx, const uint8_t *payload, unsigned bytes)
{
	struct node *n = ctx;
	double ticks = (REST_NS + TURN_NS) * 1e-9 * n->net->c->timer_hz;

	if (!payload)
		return;
	n->send_at = when(n, (double)n->stamp + floor(ticks + 0.5));
	memcpy(n->payload, payload, bytes);
}

static int net_put(void *ctx, const char *bytes, unsigned n)
{
	(void)ctx;
	(void)bytes;
	(void)n;
	return 1;
}

static void net_feed(void *ctx)
{
	(void)ctx;
}

/* ---- the air ---- */

/* Node @to may begin to listen to what @from sends now. */
static void begin_hearing(struct net *net, struct node *to, double power, double leaves)
{
	const struct glossy_net_config *c = net->c;
	double sync = leaves + SYNC_NS + DEMODULATE_NS + sim_normal(&net->air) * c->hop_ns;

	to->stamp = (uint64_t)floor(counts_at(to, sync)) + 1;
	to->heard_at = when(to, (double)to->stamp) + REST_NS;
	to->power = power;
	to->ruined = sim_uniform(&net->air) < c->loss;
}

/* All that send from now on, within half a symbol, and what becomes of it at node @to. */
static void hear(struct net *net, struct node *to, const unsigned *from, unsigned n)
{
	const struct glossy_net_config *c = net->c;
	unsigned id = (unsigned)(to - net->node);
	struct flood_packet p;
	double best = -NEVER;
	unsigned at = 0;

	for (unsigned i = 0; i < n; i++) {
		double power = net->gain[from[i]][id];

		if (power < -5 * c->fade_db)
			continue;
		power += c->fade_db * sim_normal(&net->air);
		if (power > best) {
			best = power;
			at = from[i];
		}
	}
	if (best < 0)
		return;
	if (to->heard_at < NEVER) {
		to->ruined |= best > to->power - CAPTURE_DB;
		return;
	}
	if (to->busy > net->t + JOIN_NS || to->send_at < NEVER)
		return;
	memcpy(to->event.payload, net->node[at].payload, FLOOD_BYTES);
	to->event.n = FLOOD_BYTES;
	if (c->lose && flood_decode(to->event.payload, FLOOD_BYTES, &p) &&
	    c->lose(c->ctx, net->second, at, id, &p))
		return;
	begin_hearing(net, to, best, net->node[at].send_at);
}

static void send_together(struct net *net, unsigned first)
{
	unsigned from[GLOSSY_NET_MOST], n = 0;
	struct node *one = &net->node[first];
	double until = one->send_at + TOGETHER_NS;

	for (unsigned i = 0; i < net->c->nodes; i++) {
		struct node *s = &net->node[i];

		if (s->send_at <= until && !memcmp(s->payload, one->payload, FLOOD_BYTES))
			from[n++] = i;
	}
	for (unsigned i = 0; i < n; i++)
		net->node[from[i]].busy = net->node[from[i]].send_at + SYNC_NS + REST_NS + TURN_NS;
	for (unsigned i = 0; i < net->c->nodes; i++)
		if (net->node[i].busy <= net->t + JOIN_NS)
			hear(net, &net->node[i], from, n);
	for (unsigned i = 0; i < n; i++)
		net->node[from[i]].send_at = NEVER;
}

/* ---- time ---- */

static void poll(struct node *n)
{
	uint64_t now = count_now(n);

	n->wake = glossy_poll(&n->glossy);
	if (n->wake <= now)
		n->wake = now + 1;
}

static void receive(struct node *n)
{
	n->heard_at = NEVER;
	if (n->ruined)
		return; /* the CRC is wrong; the chip keeps listening */
	n->event.sent = 0;
	n->event.count = (uint32_t)n->stamp;
	n->ready = true;
	poll(n);
}

static void take_pulse(struct node *n)
{
	n->captured = true;
	n->capture = (uint32_t)count_now(n);
	n->pulse = NEVER;
	poll(n);
}

/* Let the next thing happen, if it is before @until. */
static bool step(struct net *net, double until)
{
	enum { WAKE, PULSE, RECEIVE, SEND } what = WAKE;
	double t = until;
	unsigned who = 0;
	bool any = false;

	for (unsigned i = 0; i < net->c->nodes; i++) {
		const struct node *n = &net->node[i];
		const double at[] = { when(n, (double)n->wake), n->pulse, n->heard_at, n->send_at };

		for (unsigned k = 0; k < 4; k++)
			if (at[k] < t) {
				t = at[k];
				what = k;
				who = i;
				any = true;
			}
	}
	if (t > net->t)
		net->t = t;
	if (!any)
		return false;
	switch (what) {
	case WAKE: poll(&net->node[who]); break;
	case PULSE: take_pulse(&net->node[who]); break;
	case RECEIVE: receive(&net->node[who]); break;
	case SEND: send_together(net, who); break;
	}
	return true;
}

static void begin_second(struct net *net, double second)
{
	net->t = second - SECOND / 2;
	for (unsigned i = 0; i < net->c->nodes; i++) {
		struct node *n = &net->node[i];
		uint64_t bit = 1ull << i;
		double pulse;

		walk(n, net->t);
		pulse = second - net->c->node.early_ns + sim_normal(&n->random) * net->c->gps_ns;
		n->pulsed = floor(counts_at(n, pulse)) + 1;
		/* captured at the next tick */
		n->pulse = net->c->initiators & ~net->c->deaf_pulses & bit ? when(n, n->pulsed) :
									     NEVER;
		n->pps = false;
	}
}

/*
 * Counts from the receiver's pulse to @q. The firmware's 64-bit count is the timer's, as both began
 * below 2^32.
 */
static double since_pulse(const struct node *n, uint64_t q)
{
	uint64_t count = n->glossy.count;

	return (double)count - n->pulsed + (double)(int64_t)(q - (count << 16)) / JITTER_ONE;
}

static void end_second(struct net *net, double second, struct glossy_net_heard *h)
{
	for (unsigned i = 0; i < net->c->nodes; i++) {
		struct node *n = &net->node[i];
		const struct glossy *g = &n->glossy;
		uint32_t used = g->floods - g->odds + g->restarts;

		h[i] = (struct glossy_net_heard){ .flood = used != n->used,
						  .hops = g->hops,
						  .pps = n->pps,
						  .pps_ns = n->pps_at - second };
		n->used = used;
		if (h[i].flood) {
			h[i].reference = since_pulse(n, g->reference);
			h[i].filtered = since_pulse(n, g->filtered);
		}
	}
}

/* ---- all of it ---- */

static const char *start(struct net *net, unsigned i)
{
	const struct glossy_net_config *c = net->c;
	struct glossy_config config = c->node;
	struct node *n = &net->node[i];

	n->net = net;
	n->random.state = c->seed * 1000003 + i;
	n->random.state = sim_u64(&n->random);
	n->off = (c->ppm ? c->ppm[i] : sim_normal(&n->random) * c->crystal_ppm) * 1e-6;
	n->counts = floor(sim_uniform(&n->random) * 0x1p32);
	n->send_at = n->heard_at = n->pulse = NEVER;
	walk(n, 0);
	n->hal = (struct glossy_hal){ .ctx = n,
				      .timer_hz = c->timer_hz,
				      .now = net_now,
				      .pulse = net_pulse,
				      .raise = net_raise,
				      .send = net_send,
				      .event = net_event,
				      .answer = net_answer,
				      .put = net_put,
				      .feed = net_feed };
	config.id = (uint16_t)(i + 1);
	config.initiator = c->initiators >> i & 1;
	return glossy_init(&n->glossy, &n->hal, &config);
}

static void lay_out(struct net *net)
{
	const struct glossy_net_config *c = net->c;

	for (unsigned a = 0; a < c->nodes; a++)
		for (unsigned b = 0; b < c->nodes; b++) {
			double d =
				hypot(c->place[a].x - c->place[b].x, c->place[a].y - c->place[b].y);

			net->gain[a][b] = 10 * PATH_LOSS * log10(c->range_m / fmax(d, 1));
		}
}

const char *glossy_net_run(const struct glossy_net_config *c,
			   void (*second)(void *ctx, uint32_t k, const struct glossy_net_heard *h),
			   void *ctx, struct glossy *end)
{
	struct glossy_net_heard heard[GLOSSY_NET_MOST];
	const char *wrong = NULL;
	struct net *net;

	if (!c->nodes || c->nodes > GLOSSY_NET_MOST)
		return "a network has 1 to 64 nodes";
	net = calloc(1, sizeof(*net));
	if (!net)
		return "out of memory";
	net->c = c;
	net->air.state = c->seed ^ 0x676c6f737379;
	lay_out(net);
	for (unsigned i = 0; i < c->nodes && !wrong; i++)
		wrong = start(net, i);
	for (net->second = 1; net->second <= c->seconds && !wrong; net->second++) {
		double at = net->second * SECOND;

		begin_second(net, at);
		while (step(net, at + SECOND / 2))
			;
		end_second(net, at, heard);
		if (second)
			second(ctx, net->second, heard);
	}
	for (unsigned i = 0; i < c->nodes && end; i++) {
		end[i] = net->node[i].glossy;
		end[i].hal = NULL; /* it lay in what is freed now */
	}
	free(net);
	return wrong;
}
