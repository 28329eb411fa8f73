/* SPDX-License-Identifier: MIT */
#include "glossy.h"

#define LEAD_LEAST_NS 1500000 /* the radio is made ready to send after the pulse */
#define RAISE_US 20           /* the pin is set at least this long ahead */
#define FOLLOW_S 3            /* an initiator not heard for this long is gone */
#define ODD_RUN 3
#define PERIODS_MOST 64 /* across a longer silence the mean interval is useless */
#define CRYSTAL_PPM \
	300 /* two crystals off from each other, both ways, before the interval is known */

static uint64_t to_q(const struct glossy *g, uint64_t ns)
{
	/* below 10^9 ns and 2^28 Hz, so that nothing overflows */
	return (ns * g->hal->timer_hz / 1000000000 << 16) +
	       (ns * g->hal->timer_hz % 1000000000 << 16) / 1000000000;
}

static uint64_t period_q(const struct glossy *g)
{
	return (uint64_t)g->hal->timer_hz * GLOSSY_PERIOD_S << 16;
}

/* @q, nominal and less than a second, in counts as long as they are by the mean interval. */
static uint64_t scaled(const struct glossy *g, uint64_t q)
{
	int64_t off = (int64_t)(jitter_interval(&g->jitter) - period_q(g));

	return q + (uint64_t)((int64_t)(q >> 16) * off / (int64_t)(period_q(g) >> 16));
}

uint64_t glossy_count(const struct glossy *g, uint64_t q)
{
	int64_t ahead = (int64_t)(q - (g->count << 16)) + JITTER_ONE / 2;
	int64_t whole = ahead / JITTER_ONE - (ahead % JITTER_ONE < 0);

	return g->count + (uint64_t)whole;
}

/* The 64-bit count nearest to now of low bits @low. */
static uint64_t extended(const struct glossy *g, uint32_t low)
{
	return g->count + (uint64_t)(int64_t)(int32_t)(low - (uint32_t)g->count);
}

static int passed(const struct glossy *g, uint64_t q)
{
	return (int64_t)((g->count << 16) - q) >= 0;
}

static const char *check(const struct glossy_config *c)
{
	uint64_t flood_ns = (uint64_t)c->slots * c->slot_ns;

	if (!c->id)
		return "the id must be 1 or more";
	if (!c->transmissions || !c->stamps || !c->slots || c->slots > FLOOD_RELAY_MOST + 1)
		return "a flood needs slots, transmissions and stamps";
	if (!c->alpha_pm || c->alpha_pm > JITTER_ALPHA_ONE || !c->average ||
	    c->average > JITTER_M_MOST)
		return "alpha or the number of floods averaged over is out of range";
	if (c->lead_ns < LEAD_LEAST_NS)
		return "the radio has no time between the pulse and the flood";
	if (c->early_ns < (uint64_t)c->lead_ns + flood_ns + GLOSSY_MARGIN_NS)
		return "the pulse is not early enough for a flood";
	if (c->early_ns > 500000000)
		return "the pulse is too early";
	return 0;
}

/* Forget the reference times, not the counters. */
static void restart(struct glossy *g)
{
	jitter_init(&g->jitter, g->config.alpha_pm, g->config.average, period_q(g));
	g->rules.slot = g->slot;
	g->odd = g->missed_run = 0;
}

const char *glossy_init(struct glossy *g, const struct glossy_hal *hal,
			const struct glossy_config *config)
{
	const char *wrong = check(config);

	*g = (struct glossy){ .hal = hal, .config = *config };
	if (wrong)
		return wrong;
	g->slot = to_q(g, config->slot_ns);
	g->offset = to_q(g, config->early_ns - config->lead_ns);
	g->rules = (struct flood_rules){ .slot = g->slot,
					 .heard = to_q(g, config->heard_ns),
					 .transmissions = config->transmissions,
					 .slots = config->slots,
					 .stamps = config->stamps };
	restart(g);
	g->count = hal->now(hal->ctx);
	g->status_due = g->count + hal->timer_hz;
	return 0;
}

/* Whether floods of @initiator are followed, now that one is there. */
static int follow(struct glossy *g, uint16_t initiator)
{
	uint64_t silent = g->count - g->followed;

	if (initiator != g->following) {
		if (g->following && initiator > g->following &&
		    silent < (uint64_t)g->hal->timer_hz * FOLLOW_S)
			return 0;
		g->following = initiator;
		g->flood.running = 0;
		restart(g);
	}
	g->followed = g->count;
	return 1;
}

/* ---- seconds ---- */

static void raise(struct glossy *g)
{
	uint64_t at = glossy_count(g, g->jitter.at + scaled(g, g->offset));
	uint64_t soon = g->count + (uint64_t)g->hal->timer_hz / 1000000 * RAISE_US;

	/* never two within half a second, whatever reference times do */
	if (at < soon || (g->pps && at < g->raised + g->hal->timer_hz / 2)) {
		g->no_pps++;
		return;
	}
	g->hal->raise(g->hal->ctx, (uint32_t)at);
	g->raised = at;
	g->pps++;
}

static void expect_next(struct glossy *g)
{
	g->late = jitter_expect(&g->jitter, 1) + g->rules.slot * g->rules.slots +
		  to_q(g, GLOSSY_MARGIN_NS / 2);
}

/* Whether the reference time fits the last ones; @periods after them, if so. */
static int fits(const struct glossy *g, uint64_t reference, uint32_t *periods)
{
	uint64_t interval = jitter_interval(&g->jitter);
	int64_t since = (int64_t)(reference - g->jitter.at), off, most;

	*periods = 1;
	if (!g->jitter.n)
		return 1;
	if (since < (int64_t)interval / 2 || since > (int64_t)interval * PERIODS_MOST)
		return 0;
	*periods = (uint32_t)(((uint64_t)since + interval / 2) / interval);
	off = (int64_t)(reference - jitter_expect(&g->jitter, *periods));
	most = (int64_t)(g->jitter.n > 1 ? to_q(g, g->config.odd_ns) :
					   interval / 1000000 * CRYSTAL_PPM);
	most *= *periods;
	return off <= most && off >= -most;
}

static void finish(struct glossy *g)
{
	uint64_t reference = flood_reference(&g->flood);
	uint32_t periods;

	g->flood.running = 0;
	g->floods++;
	if (!fits(g, reference, &periods)) {
		g->odds++;
		if (++g->odd < ODD_RUN)
			return; /* its second is that of a flood missed */
		g->restarts++;
		restart(g);
		periods = 1;
	}
	g->odd = g->missed_run = 0;
	g->reference = reference;
	g->filtered = jitter_put(&g->jitter, reference, periods);
	g->hops = g->flood.initiated ? 0 : (uint8_t)(g->flood.first + 1);
	g->rules.slot = scaled(g, g->slot);
	expect_next(g);
	raise(g);
}

static void miss(struct glossy *g)
{
	g->missed++;
	if (++g->missed_run > g->config.holdover) {
		restart(g);
		return;
	}
	g->filtered = jitter_miss(&g->jitter);
	expect_next(g);
	raise(g);
}

/* ---- packets ---- */

static void take_pulse(struct glossy *g)
{
	const struct glossy_config *c = &g->config;
	uint8_t payload[FLOOD_BYTES];
	struct flood_packet p;
	uint32_t low;
	uint64_t at;

	if (!g->hal->pulse(g->hal->ctx, &low) || !c->initiator)
		return;
	if (!follow(g, c->id))
		return;
	at = extended(g, low) + glossy_count(g, (g->count << 16) + scaled(g, to_q(g, c->lead_ns))) -
	     g->count;
	p = (struct flood_packet){ .initiator = c->id, .sequence = g->sequence++ };
	flood_encode(&p, payload);
	if (!g->hal->send(g->hal->ctx, (uint32_t)at, payload, FLOOD_BYTES)) {
		g->unsent++;
		return;
	}
	flood_begin(&g->flood, &p, at << 16);
}

static int heard_before(const struct glossy *g, const struct flood_packet *p)
{
	return !g->flood.running && g->floods && p->initiator == g->flood.packet.initiator &&
	       p->sequence == g->flood.packet.sequence;
}

static void take_packet(struct glossy *g, const struct glossy_event *e)
{
	uint8_t payload[FLOOD_BYTES];
	struct flood_packet p, next;
	uint64_t at = extended(g, e->count) << 16;

	if (e->sent)
		return;
	if (!flood_decode(e->payload, e->n, &p)) {
		g->wrong++;
		g->hal->answer(g->hal->ctx, 0, 0);
		return;
	}
	if (p.initiator == g->config.id && !g->flood.initiated) {
		g->wrong++; /* another node has our id */
	} else if (!heard_before(g, &p) && follow(g, p.initiator) &&
		   flood_heard(&g->flood, &g->rules, &p, at, &next)) {
		flood_encode(&next, payload);
		g->hal->answer(g->hal->ctx, payload, FLOOD_BYTES);
		return;
	}
	g->hal->answer(g->hal->ctx, 0, 0);
}

void glossy_status(struct glossy *g)
{
	struct lines l = { .n = 0 };
	int64_t off = (int64_t)(jitter_interval(&g->jitter) - period_q(g));

	lines_word(&l, "glossy", g->config.initiator ? "initiator" : "relay");
	lines_pair(&l, "id", g->config.id);
	lines_pair(&l, "following", g->following);
	lines_pair(&l, "hops", g->hops);
	lines_pair(&l, "floods", g->floods);
	lines_pair(&l, "missed", g->missed);
	lines_pair(&l, "unsent", g->unsent);
	lines_pair(&l, "odd", g->odds);
	lines_pair(&l, "restarts", g->restarts);
	lines_pair(&l, "pps", g->pps);
	lines_pair(&l, "no_pps", g->no_pps);
	/* 10^9 / 2^16 is 15259 */
	lines_pair(&l, "rate_ppb", off / (int64_t)(g->hal->timer_hz / 1000000) * 15259 / 1000000);
	lines_pair(&l, "alpha_pm", g->config.alpha_pm);
	lines_pair(&l, "average", g->config.average);
	lines_pair(&l, "wrong", g->wrong);
	lines_pair(&l, "lost", g->lines_lost);
	if (g->hal->status)
		g->hal->status(g->hal->ctx, &l);
	lines_end(&l);
	if (!g->hal->put(g->hal->ctx, l.text, l.n))
		g->lines_lost++;
}

uint64_t glossy_poll(struct glossy *g)
{
	struct glossy_event e;
	uint64_t next;

	g->count += (uint32_t)(g->hal->now(g->hal->ctx) - (uint32_t)g->count);
	take_pulse(g);
	/* a few at a time, so that seconds do not wait for a radio gone mad */
	for (int i = 0; i < 4 && g->hal->event(g->hal->ctx, &e); i++)
		take_packet(g, &e);
	if (g->flood.running && passed(g, flood_end(&g->flood, &g->rules)))
		finish(g);
	if (!g->flood.running && g->jitter.n && passed(g, g->late))
		miss(g);
	if (g->count >= g->status_due) {
		glossy_status(g);
		g->hal->feed(g->hal->ctx);
		g->status_due = g->count + g->hal->timer_hz;
	}
	next = g->status_due;
	if (g->flood.running && glossy_count(g, flood_end(&g->flood, &g->rules)) + 1 < next)
		next = glossy_count(g, flood_end(&g->flood, &g->rules)) + 1;
	else if (!g->flood.running && g->jitter.n && glossy_count(g, g->late) + 1 < next)
		next = glossy_count(g, g->late) + 1;
	return next;
}
