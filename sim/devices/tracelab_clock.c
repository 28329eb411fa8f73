/* SPDX-License-Identifier: MIT */
#include "sim/devices/tracelab_clock.h"

#include <string.h>

#include "wire/tracelab_wire.h"

const struct tracelab_clock_size tracelab_clock_usual = {
	.second = TL_SECOND_TICKS,
	.window = TL_PPS_WINDOW,
	.steer_tick = TL_STEER_TICK,
};

static void tell(struct tracelab_clock *c, int kind, int64_t cycle, int64_t value)
{
	if (c->tell)
		c->tell(c->ctx, kind, cycle, value);
}

static int64_t limited(int64_t v)
{
	return v > TL_STEER_MAX ? TL_STEER_MAX : v < -TL_STEER_MAX - 1 ? -TL_STEER_MAX - 1 : v;
}

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

void tracelab_clock_init(struct tracelab_clock *c, const struct tracelab_clock_size *size,
			 tracelab_clock_tell *tell_, void *ctx)
{
	memset(c, 0, sizeof(*c));
	c->size = *size;
	c->tell = tell_;
	c->ctx = ctx;
	c->align = c->begun = c->waiting = c->edge = -1;
}

int64_t tracelab_clock_begin(const struct tracelab_clock *c, int64_t tick)
{
	int64_t half = 4 * c->size.second, n = tick - c->tick;

	return c->cycle + TL_TICK_CYCLES * n + floor_div(n * c->steer + half, 2 * half);
}

/*
 * A good edge at @at: the mean rate over 1, 2, 4 and 8 seconds as they become known, later over 8
 * alone.
 */
static void good_edge(struct tracelab_clock *c, int64_t at)
{
	int64_t cycles = c->size.second * TL_TICK_CYCLES;
	int n;

	memmove(c->good + 1, c->good, sizeof(c->good) - sizeof(c->good[0]));
	c->good[0] = at;
	c->n_good++;
	if (c->row < TL_PPS_AVERAGE + 1)
		c->row++;
	n = c->row - 1;
	if (n == TL_PPS_AVERAGE)
		c->whole = 1;
	else if (c->whole || (n != 1 && n != 2 && n != 4))
		return;
	c->rate = limited((at - c->good[n] - n * cycles) * (TL_PPS_AVERAGE / n));
}

static void measured(struct tracelab_clock *c, int64_t now, int64_t edge, int64_t offset)
{
	c->met = 1;
	c->offset = offset;
	tell(c, TL_CLOCK_OFFSET, now, offset);
	good_edge(c, edge);
}

static void reject(struct tracelab_clock *c, int64_t now)
{
	c->n_rejected++;
	tell(c, TL_CLOCK_REJECTED, now, 0);
}

static void begin_second(struct tracelab_clock *c, int64_t tick, int64_t cycle)
{
	c->begin = tick;
	c->begun = cycle;
	c->met = 0;
	if (tick == c->align)
		tell(c, TL_CLOCK_ALIGN, cycle, tick);
	c->align = -1;
	if (c->waiting >= 0 && cycle - c->waiting <= c->size.window) {
		int64_t edge = c->waiting;

		c->waiting = -1;
		measured(c, cycle, edge, edge - cycle);
	}
}

static void decide(struct tracelab_clock *c)
{
	c->next_steer = limited(c->rate + (c->met ? c->offset * (8 >> TL_OFFSET_SHIFT) : 0));
	if (c->met) {
		c->missing = 0;
		return;
	}
	c->row = 0;
	if (++c->missing == TL_PPS_PATIENCE)
		c->aligned = 0;
	c->missing %= 16;
}

/* The next tick with which something happens. */
static int64_t next_tick(const struct tracelab_clock *c)
{
	int64_t next = c->begin + c->size.second;
	int64_t candidates[] = { c->begin + c->size.steer_tick - 1, c->begin + c->size.steer_tick,
				 c->align };

	for (int i = 0; i < 3; i++) {
		if (candidates[i] > c->handled && candidates[i] < next)
			next = candidates[i];
	}
	return next;
}

void tracelab_clock_advance(struct tracelab_clock *c, int64_t cycle)
{
	for (;;) {
		int64_t tick = next_tick(c), at = tracelab_clock_begin(c, tick);
		int64_t gone = c->waiting + c->size.window + 1;

		if (c->waiting >= 0 && gone <= cycle && gone <= at) {
			c->waiting = -1;
			reject(c, gone);
			continue;
		}
		if (at > cycle)
			return;
		c->handled = tick;
		if (tick == c->begin + c->size.steer_tick - 1)
			decide(c);
		if (tick == c->begin + c->size.steer_tick) {
			c->tick = tick;
			c->cycle = at;
			c->steer = c->next_steer;
			tell(c, TL_CLOCK_STEER_AT, at, tick);
			tell(c, TL_CLOCK_STEER, at, c->steer);
		}
		if (tick == c->begin + c->size.second || tick == c->align)
			begin_second(c, tick, at);
	}
}

/* The first tick that begins in @cycle or later. */
static int64_t tick_from(const struct tracelab_clock *c, int64_t cycle)
{
	int64_t tick = c->tick + (cycle - c->cycle) / (TL_TICK_CYCLES + 1);

	while (tracelab_clock_begin(c, tick) < cycle)
		tick++;
	return tick;
}

void tracelab_clock_edge(struct tracelab_clock *c, int64_t cycle)
{
	int aligned;

	tracelab_clock_advance(c, cycle - 1);
	/* What is decided in this very cycle the edge does not see. */
	aligned = c->aligned;
	tracelab_clock_advance(c, cycle);
	if (c->edge >= 0 && cycle - c->edge <= c->size.window + 1) {
		c->n_rejected++;
		return;
	}
	c->edge = cycle;
	if (!aligned) {
		c->aligned = 1;
		c->missing = 0;
		c->align = tick_from(c, cycle + 2);
		c->waiting = cycle;
	} else if (c->begun < 0 || cycle - c->begun > c->size.window) {
		c->waiting = cycle;
	} else if (c->met) {
		reject(c, cycle);
	} else {
		measured(c, cycle, cycle, cycle - c->begun);
	}
}
