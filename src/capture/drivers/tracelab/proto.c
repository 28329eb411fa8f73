/* SPDX-License-Identifier: MIT */
#include "capture/drivers/tracelab/proto.h"

#include <assert.h>
#include <string.h>

/* The events' queue holds 1024, at 16 cycles of SRAM each; when SPI is the limit, 3 us each. */
#define HOLD_CYCLES (20 * (uint64_t)(TL_CLOCK_HZ / 1000))
#define BACK_CYCLES ((uint64_t)TL_CLOCK_HZ)
#define STEER_ROUND 16000000 /* TL_PPS_AVERAGE * TL_SECOND_TICKS */

#define STEERED_MAX ((int64_t)1 << 43)

enum { EVENTS, OTHERS };

const struct driver_event tracelab_events[TRACELAB_EVENTS] = {
	[TRACELAB_ACTED] = { "acted",
			     { { "id", CVL_STORE_U64 },
			       { "lines", CVL_STORE_U64 },
			       { "time", CVL_STORE_U64 } },
			     3 },
	[TRACELAB_STEER] = { "steer", { { "eighths", CVL_STORE_I64 } }, 1 },
	[TRACELAB_ALIGN] = { .name = "align" },
	[TRACELAB_REJECTED] = { .name = "pps_rejected" },
};

void tracelab_init(struct tracelab *t, const struct tracelab_opts *opts)
{
	memset(t, 0, offsetof(struct tracelab, held));
	link_init(&t->link);
	t->opts = *opts;
	t->fresh = true;
	t->n_steers = 1;
}

/* ---- where records go ---- */

struct sink {
	struct driver_record *out;
	size_t n, max;
};

static void put(struct sink *s, const struct driver_record *r)
{
	assert(s->n < s->max);
	s->out[s->n++] = *r;
}

static struct driver_record *held(struct tracelab *t, size_t i)
{
	return &t->held[(t->held_at + i) % TRACELAB_HELD];
}

/* Not beyond the begin of a gap that is still to come. False: not enough room. */
static bool release(struct tracelab *t, uint64_t up_to, struct sink *s)
{
	for (int i = EVENTS; i <= OTHERS; i++)
		if (t->gap[i].on && up_to > t->gap[i].from)
			up_to = t->gap[i].from;
	while (t->n_held && held(t, 0)->tick <= up_to) {
		if (s->max - s->n < TRACELAB_OUT_MIN / 2)
			return false;
		put(s, held(t, 0));
		t->held_at = (t->held_at + 1) % TRACELAB_HELD;
		t->n_held--;
	}
	return true;
}

/* Insert it among those that wait. */
static void hold(struct tracelab *t, const struct driver_record *r, struct sink *s)
{
	size_t i;

	if (t->n_held == TRACELAB_HELD) {
		put(s, held(t, 0));
		t->held_at = (t->held_at + 1) % TRACELAB_HELD;
		t->n_held--;
	}
	for (i = t->n_held++; i && held(t, i - 1)->tick > r->tick; i--)
		*held(t, i) = *held(t, i - 1);
	*held(t, i) = *r;
}

/* ---- time ---- */

/* How many cycles longer @n ticks are than nominal. */
static int64_t longer(int64_t n, int32_t eighths)
{
	const int64_t x = n * eighths + STEER_ROUND / 2;

	return x < 0 ? -((STEER_ROUND - 1 - x) / STEER_ROUND) : x / STEER_ROUND;
}

uint64_t tracelab_raw(const struct tracelab *t, uint64_t time)
{
	size_t i = t->n_steers, oldest = 0;
	int64_t n, raw;

	if (!t->opts.paper)
		return time;
	if (t->n_steers > TRACELAB_STEERS)
		oldest = t->n_steers - TRACELAB_STEERS;
	do
		i--;
	while (i > oldest && t->steer[i % TRACELAB_STEERS].at > time);
	n = (int64_t)(time - t->steer[i % TRACELAB_STEERS].at);
	raw = (int64_t)t->steer[i % TRACELAB_STEERS].raw + TL_TICK_CYCLES * n;
	/* a setting holds for a second; far beyond that, months, the product would overflow */
	if (n < STEERED_MAX && n > -STEERED_MAX)
		raw += longer(n, t->steer[i % TRACELAB_STEERS].eighths);
	return raw < 0 ? 0 : (uint64_t)raw;
}

static uint64_t full(const struct tracelab *t, uint32_t packet)
{
	return t->upper << TL_LOW_BITS | (packet & ((1u << TL_LOW_BITS) - 1));
}

static void see(struct tracelab *t, uint64_t tick)
{
	if (tick > t->newest)
		t->newest = tick;
}

/* ---- losses ---- */

static void lose(struct tracelab *t, int queue, uint64_t from, uint64_t lost, enum cvl_gap why)
{
	struct tracelab_gap *g = &t->gap[queue];

	t->count.lost += lost == CVL_LOST_UNKNOWN ? 0 : lost;
	if (!g->on) {
		*g = (struct tracelab_gap){ true, from, lost, why, t->newest };
		t->count.losses++;
		return;
	}
	g->seen = t->newest;
	if (from < g->from)
		g->from = from;
	g->lost = lost == CVL_LOST_UNKNOWN || g->lost == CVL_LOST_UNKNOWN ? CVL_LOST_UNKNOWN :
									    g->lost + lost;
}

static struct driver_record gap_record(const struct tracelab_gap *g, uint64_t to, bool lines_known)
{
	struct driver_record r = { .what = DRIVER_GAP, .tick = g->from };

	r.gap.to = to > g->from ? to : g->from;
	r.gap.lost = g->lost;
	r.gap.why = g->why;
	r.gap.lines_known = lines_known;
	return r;
}

/* What is missing lies before @tick, if that is known. */
static void end_gap(struct tracelab *t, int queue, uint64_t tick, struct sink *s)
{
	struct driver_record r;

	if (!t->gap[queue].on)
		return;
	r = gap_record(&t->gap[queue],
		       tick == CVL_TICK_UNKNOWN ? tick :
		       tick                     ? tick - 1 :
						  0,
		       queue == OTHERS);
	t->gap[queue].on = false;
	t->fresh = t->fresh || queue == EVENTS;
	hold(t, &r, s);
}

/* Time has reached @tick, and no record of the second queue tells where its gap ends. */
static void end_old_gap(struct tracelab *t, uint64_t tick, struct sink *s)
{
	if (t->gap[OTHERS].on && tick > t->gap[OTHERS].seen + HOLD_CYCLES)
		end_gap(t, OTHERS, tick, s);
}

/*
 * Divider settings may be missing; the next one comes within a second. They are unknown, but
 * limited.
 */
static void slip(struct tracelab *t, uint64_t tick, struct sink *s)
{
	size_t last = (t->n_steers - 1) % TRACELAB_STEERS;
	int64_t most = t->steer[last].eighths;
	struct driver_record r = { .what = DRIVER_SLIP, .tick = tick };
	uint64_t ticks;

	if (!t->steer_lost)
		return;
	t->steer_lost = false;
	most = (most < 0 ? -most : most) + TL_STEER_MAX + 1;
	ticks = (tick - t->steer[last].raw) / (TL_TICK_CYCLES - 1) + TL_SECOND_TICKS;
	if (tick < t->steer[last].raw)
		ticks = TL_SECOND_TICKS;
	r.slip.from = t->steer[last].raw;
	r.slip.half = (uint64_t)((unsigned __int128)ticks * (uint64_t)most / STEER_ROUND) + 2;
	hold(t, &r, s);
}

/* A packet of the second queue has @tick: gaps end before it. */
static void other_at(struct tracelab *t, uint64_t tick, struct sink *s)
{
	see(t, tick);
	end_gap(t, EVENTS, tick, s);
	end_gap(t, OTHERS, tick, s);
	if (t->opts.paper)
		slip(t, tick, s);
}

static void end_bad(struct tracelab *t, struct sink *s)
{
	struct driver_record r;

	if (!t->bad.on)
		return;
	r = gap_record(&t->bad, t->bad_to, true);
	t->bad.on = false;
	hold(t, &r, s);
}

/*
 * A run of bad samples that continues while other records come is a gap in pieces: records come in
 * order.
 */
static void end_bad_before(struct tracelab *t, uint64_t tick, struct sink *s)
{
	if (tick > t->bad.from)
		end_bad(t, s);
}

/* ---- packets ---- */

/* With the highest bit set it is that many or more. */
static uint64_t loss_count(uint64_t count)
{
	return count < (uint64_t)1 << (TL_LOSS_BITS - 1) ? count : CVL_LOST_UNKNOWN;
}

static void take_loss(struct tracelab *t, uint32_t p)
{
	unsigned part = p >> 26 & 7, queue = part >> 2, step = part & 3;
	uint32_t number = p & 0x3ffffff;

	if (step == 3 || t->stage[queue] != step) {
		t->count.senseless++;
		t->stage[queue] = 0;
		if (step)
			return;
	}
	if (step == TL_LOSS_EVENT_SINCE) {
		t->since[queue] = t->upper_known ? tracelab_raw(t, full(t, p)) : t->event_tick;
		t->stage[queue] = 1;
	} else if (step == TL_LOSS_EVENT_HIGH) {
		t->high[queue] = number;
		t->stage[queue] = 2;
	} else {
		t->stage[queue] = 0;
		lose(t, (int)queue, t->since[queue], loss_count(t->high[queue] << 26 | number),
		     CVL_GAP_OVERFLOW);
		if (queue == OTHERS)
			t->steer_lost = t->unplaced = true;
	}
}

static uint64_t sample_time(const struct tracelab *t, uint64_t number)
{
	uint64_t period = (uint64_t)t->opts.period * (t->opts.paper ? 1 : TL_TICK_CYCLES);

	return t->power_time + number * period;
}

/*
 * The number of a sample after a loss: of those with the same low bits, the one whose time is
 * nearest to now.
 */
static uint64_t number_near(const struct tracelab *t, uint16_t low)
{
	uint64_t period = (uint64_t)t->opts.period * TL_TICK_CYCLES, now = t->number;
	uint64_t n = t->number + ((low - t->number) & 4095);

	if (t->newest > t->sampled)
		now += (t->newest - t->sampled) / period;
	return now > n + 2048 ? n + (now - n + 2048) / 4096 * 4096 : n;
}

static void take_sample(struct tracelab *t, uint32_t p, struct sink *s)
{
	struct driver_record r = { .what = DRIVER_SAMPLE };
	uint16_t low;
	uint64_t n;

	if (t->unplaced) { /* its RESUME is still to come */
		lose(t, OTHERS, t->newest, 1, CVL_GAP_OVERFLOW);
		return;
	}
	if (t->resumed) {
		t->offset = p >> 16 & 4095;
		t->power_sure = true;
		t->resumed = false;
	}
	low = (uint16_t)((p >> 16) - t->offset) & 4095;
	if (!t->power || !t->opts.period || (!t->power_sure && !t->upper_known)) {
		t->count.senseless += t->power_sure;
		lose(t, OTHERS, t->newest, 1, CVL_GAP_CORRUPT);
		return;
	}
	n = t->power_sure ? t->number + ((low - t->number) & 4095) : number_near(t, low);
	if (n != t->number && t->power_sure)
		lose(t, OTHERS, tracelab_raw(t, sample_time(t, t->number)), n - t->number,
		     CVL_GAP_UNKNOWN);
	t->power_sure = true;
	t->number = n + 1;
	r.tick = t->sampled = tracelab_raw(t, sample_time(t, n));
	other_at(t, r.tick, s);
	if (p >> 28 & 1) {
		t->bad = (struct tracelab_gap){ .on = true,
						.from = t->bad.on ? t->bad.from : r.tick,
						.lost = t->bad.on ? t->bad.lost + 1 : 1,
						.why = CVL_GAP_CORRUPT };
		t->bad_to = r.tick;
		t->count.lost++;
		return;
	}
	end_bad(t, s);
	r.value = p & 0xffff;
	t->count.samples++;
	hold(t, &r, s);
}

static void take_power(struct tracelab *t, uint32_t p, struct sink *s)
{
	uint64_t time = full(t, p);

	other_at(t, tracelab_raw(t, time), s);
	end_bad(t, s);
	t->power = (p >> 27 & 3) != TL_POWER_STOP;
	t->resumed = (p >> 27 & 3) == TL_POWER_RESUME;
	t->unplaced = false;
	t->power_time = time;
	t->number = 0;
	t->offset = 0;
	t->sampled = t->newest;
	t->power_sure = t->power;
}

static void put_pulse(struct tracelab *t, uint64_t tick, struct sink *s)
{
	const struct driver_record r = { .what = DRIVER_PULSE, .tick = tick, .cls = TL_LINE_PPS };

	t->count.pulses++;
	t->pps_waits = false;
	hold(t, &r, s);
}

static int32_t number_of(uint32_t p)
{
	return (int32_t)(p << 6) >> 6;
}

static void take_steer(struct tracelab *t, uint32_t p, struct sink *s)
{
	struct driver_record r = { .what = DRIVER_EVENT,
				   .cls = TRACELAB_STEER,
				   .tick = tracelab_raw(t, t->steer_at) };
	size_t i = t->n_steers % TRACELAB_STEERS;

	if (t->steer_at < t->steer[(t->n_steers - 1) % TRACELAB_STEERS].at ||
	    number_of(p) > TL_STEER_MAX || number_of(p) < -TL_STEER_MAX - 1) {
		t->count.senseless++;
		return;
	}
	r.field[0].i = t->steer[i].eighths = number_of(p);
	t->steer[i].raw = r.tick;
	t->steer[i].at = t->steer_at;
	t->n_steers++;
	hold(t, &r, s);
}

/* The PPS that waits came @offset cycles after the begin of the nearest second. */
static void take_offset(struct tracelab *t, int32_t offset, struct sink *s)
{
	int64_t away = (int64_t)(t->pps - t->align), tick;
	int64_t seconds = away < 0 ? 0 : (away + TL_SECOND_TICKS / 2) / TL_SECOND_TICKS;

	if (!t->pps_waits || !t->aligned)
		return;
	tick = (int64_t)tracelab_raw(t, t->align + (uint64_t)seconds * TL_SECOND_TICKS) + offset;
	put_pulse(t, tick < 0 ? 0 : (uint64_t)tick, s);
}

static void take_clock(struct tracelab *t, uint32_t p, struct sink *s)
{
	struct driver_record r = { .what = DRIVER_EVENT };
	enum tl_clock kind = p >> 26 & 7;
	uint64_t tick;

	t->count.settings += kind != TL_CLOCK_PPS && kind != TL_CLOCK_REJECTED;
	if (kind == TL_CLOCK_OFFSET) {
		take_offset(t, number_of(p), s);
		return;
	}
	if (kind == TL_CLOCK_STEER) {
		take_steer(t, p, s);
		return;
	}
	if (kind == TL_CLOCK_STEER_AT) {
		t->steer_at = full(t, p);
		if (t->steer_at - t->steer[(t->n_steers - 1) % TRACELAB_STEERS].at <=
		    TL_SECOND_TICKS)
			t->steer_lost = false; /* none was due in between */
	}
	tick = tracelab_raw(t, full(t, p));
	other_at(t, tick, s);
	r.tick = tick;
	switch (kind) {
	case TL_CLOCK_PPS:
		if (t->pps_waits)
			put_pulse(t, tracelab_raw(t, t->pps), s);
		t->pps = full(t, p);
		t->pps_waits = true;
		if (!t->opts.paper)
			put_pulse(t, tick, s);
		return;
	case TL_CLOCK_ALIGN:
		t->align = full(t, p);
		t->aligned = true;
		r.cls = TRACELAB_ALIGN;
		break;
	case TL_CLOCK_REJECTED:
		r.cls = TRACELAB_REJECTED;
		if (t->pps_waits) /* to within a tick: not measured better */
			put_pulse(t, tracelab_raw(t, t->pps), s);
		break;
	case TL_CLOCK_STEER_AT: return;
	default: t->count.senseless++; return;
	}
	hold(t, &r, s);
}

static void take_acted(struct tracelab *t, uint32_t p, struct sink *s)
{
	struct driver_record r = { .what = DRIVER_EVENT, .cls = TRACELAB_ACTED };

	r.tick = tracelab_raw(t, full(t, p));
	r.field[0].u = p >> 20 & 63;
	r.field[1].u = p >> 26 & 7;
	r.field[2].u = full(t, p);
	other_at(t, r.tick, s);
	hold(t, &r, s);
}

/*
 * False: no room; call again. If time goes back by more than any queue holds, bytes came a second
 * time, or are of another run: they are dropped.
 */
static bool take_marker(struct tracelab *t, uint32_t p, struct sink *s)
{
	struct driver_record r = { .what = DRIVER_NOTHING };

	t->upper = p & ((1u << TL_UPPER_BITS) - 1);
	r.tick = tracelab_raw(t, t->upper << TL_LOW_BITS);
	t->upper_known = t->newest < BACK_CYCLES || r.tick >= t->newest - BACK_CYCLES;
	if (!t->upper_known) {
		t->count.senseless++;
		return true;
	}
	see(t, r.tick);
	end_old_gap(t, r.tick, s);
	if (r.tick <= t->told + HOLD_CYCLES || t->gap[EVENTS].on || t->gap[OTHERS].on)
		return true;
	r.tick -= HOLD_CYCLES;
	end_bad_before(t, r.tick, s);
	if (!release(t, r.tick, s))
		return false;
	t->told = r.tick;
	put(s, &r);
	return true;
}

/* False: no room. */
static bool take_event(struct tracelab *t, uint32_t p, struct sink *s)
{
	uint64_t time = full(t, p), tick;
	struct driver_record *r, late;
	bool waits;

	/* after the last one, or a marker must be missing */
	if (!t->upper_known || time < t->event_time) {
		t->count.senseless += t->upper_known;
		t->upper_known = false;
		lose(t, EVENTS, t->event_tick, 1, CVL_GAP_CORRUPT);
		return true;
	}
	tick = tracelab_raw(t, time);
	end_gap(t, EVENTS, tick, s);
	end_old_gap(t, tick, s);
	end_bad_before(t, tick, s);
	if (t->n_held && !release(t, tick, s))
		return false;
	see(t, tick);
	t->event_time = time;
	t->event_tick = tick;
	t->count.events++;
	waits = t->gap[OTHERS].on && tick > t->gap[OTHERS].from;
	r = waits ? &late : &s->out[s->n++];
	r->what = t->fresh ? DRIVER_LEVELS : DRIVER_EDGE;
	r->tick = tick;
	r->levels = p >> TL_LOW_BITS & ((1u << TL_LINES) - 1);
	r->half = 0;
	r->cls = 0;
	t->fresh = false;
	if (waits) /* after that gap, whose end is not known yet */
		hold(t, r, s);
	return true;
}

/* False: no room. */
static bool take(struct tracelab *t, uint32_t p, struct sink *s)
{
	enum tl_kind kind = p >> 29;

	if (kind == TL_EVENT)
		return take_event(t, p, s);
	if (t->newest > HOLD_CYCLES)
		end_bad_before(t, t->newest - HOLD_CYCLES, s);
	if (t->newest > HOLD_CYCLES && !release(t, t->newest - HOLD_CYCLES, s))
		return false;
	switch (kind) {
	case TL_MARKER: return take_marker(t, p, s);
	case TL_SAMPLE: take_sample(t, p, s); return true;
	case TL_LOSS: take_loss(t, p); return true;
	case TL_EVENT:
	case TL_LINK: t->count.senseless++; return true;
	default: break;
	}
	if (!t->upper_known) {
		bool settings = kind == TL_CLOCK;

		t->steer_lost = t->steer_lost || settings;
		t->power_sure = t->power_sure && kind != TL_POWER;
		lose(t, OTHERS, t->newest, 1, CVL_GAP_CORRUPT);
	} else if (kind == TL_CLOCK) {
		take_clock(t, p, s);
	} else if (kind == TL_ACTED) {
		take_acted(t, p, s);
	} else {
		take_power(t, p, s);
	}
	return true;
}

/* Since when events may be missing: older ones have arrived, or are no longer awaited. */
static uint64_t not_before(const struct tracelab *t)
{
	uint64_t held_back = t->newest > HOLD_CYCLES ? t->newest - HOLD_CYCLES : 0;

	return t->event_tick > held_back ? t->event_tick : held_back;
}

static void lose_packets(struct tracelab *t)
{
	t->upper_known = t->power_sure = t->resumed = t->unplaced = t->pps_waits = false;
	t->steer_lost = true;
	t->stage[EVENTS] = t->stage[OTHERS] = 0;
	t->count.missing += t->link.missing == LINK_MISSING_UNKNOWN ? 0 : t->link.missing;
	lose(t, EVENTS, not_before(t), t->link.missing, CVL_GAP_CORRUPT);
}

size_t tracelab_feed(struct tracelab *t, const uint8_t *bytes, size_t n, struct driver_record *out,
		     size_t max, size_t *used)
{
	struct sink s = { out, 0, max };
	size_t step;

	assert(max >= TRACELAB_OUT_MIN);
	*used = 0;
	for (;;) {
		while (t->block && t->at < t->link.n) {
			if (max - s.n < TRACELAB_OUT_MIN / 2 || !take(t, t->link.packet[t->at], &s))
				return s.n;
			t->at++;
			t->count.packets++;
		}
		t->block = false;
		switch (link_take(&t->link, bytes + *used, n - *used, &step)) {
		case LINK_MORE: *used = n; return s.n;
		case LINK_BLOCK:
			t->at = 0;
			t->block = true;
			break;
		case LINK_LOST: lose_packets(t); break;
		}
		*used += step;
	}
}

size_t tracelab_end(struct tracelab *t, struct driver_record *out, size_t max)
{
	struct sink s = { out, 0, max };

	assert(max >= TRACELAB_OUT_MIN);
	if (link_waiting(&t->link)) {
		lose(t, EVENTS, not_before(t), CVL_LOST_UNKNOWN, CVL_GAP_TRUNCATED);
		t->link.from = t->link.to;
	}
	end_bad(t, &s);
	end_gap(t, OTHERS, t->newest + 1, &s);
	end_gap(t, EVENTS, CVL_TICK_UNKNOWN, &s);
	release(t, UINT64_MAX, &s);
	return s.n;
}
