/* SPDX-License-Identifier: MIT */
#include "decode/uart.h"

#include <math.h>
#include <string.h>

#define BITS 10
/* The longest pulse inside of a byte: a start bit and eight zeros. */
#define LONGEST 9

void uart_init(struct uart *u, const struct uart_opts *opts, const struct line_sink *sink)
{
	memset(u, 0, sizeof(*u));
	u->opts = *opts;
	u->sink = *sink;
	u->bit = opts->bit;
}

static void finish(struct uart *u, uint64_t end, bool broken)
{
	u->in_byte = false;
	u->bytes++;
	u->broken += broken;
	u->sink.byte(u->sink.ctx, &(struct line_byte){ .from = u->start,
						       .to = end,
						       .value = (uint8_t)(u->data >> 1),
						       .broken = broken });
}

static double middle(const struct uart *u)
{
	return (double)u->start + (u->bits + 0.5) * u->bit;
}

/* The line kept its level up to @tick: read the bits whose middle lies before. */
static void pass(struct uart *u, uint64_t tick)
{
	while (u->in_byte && middle(u) < (double)tick) {
		if (!u->bits && u->level) {
			u->in_byte = false; /* too short for a start bit: a glitch */
			return;
		}
		u->data |= (unsigned)u->level << u->bits;
		if (++u->bits == BITS)
			finish(u, u->start + (uint64_t)(BITS * u->bit), !u->level);
	}
}

static void change(struct uart *u, uint64_t tick, bool level)
{
	if (u->known && level == u->level)
		return;
	pass(u, tick);
	if (!u->in_byte && u->known && !level) {
		u->in_byte = true;
		u->start = tick;
		u->bits = u->data = 0;
	}
	u->level = level;
	u->known = true;
}

/* Decode what was kept until the rate is known. */
static void learnt(struct uart *u)
{
	u->bit = baud_unit(&u->baud, LONGEST);
	for (unsigned i = 0; i < u->baud.n && u->bit > 0; i++)
		change(u, u->baud.tick[i], u->baud.level[i]);
}

void uart_edge(struct uart *u, uint64_t tick, bool level)
{
	bool keeps;

	level ^= u->opts.inverted;
	if (u->bit > 0) {
		baud_keep(&u->baud, tick, level);
		change(u, tick, level);
		return;
	}
	keeps = baud_keep(&u->baud, tick, level);
	if (keeps)
		return;
	learnt(u);
	if (!(u->bit > 0))
		u->baud.n = 0; /* no serial line so far: look at what follows */
}

static void cut(struct uart *u, uint64_t tick)
{
	if (!(u->bit > 0))
		learnt(u);
	if (!(u->bit > 0)) {
		u->baud.n = 0;
		return;
	}
	pass(u, tick);
	/* A byte whose last bit is high need not be waited for. */
	if (u->in_byte && u->bits)
		finish(u, tick, true);
	u->in_byte = false;
}

void uart_hole(struct uart *u, uint64_t tick)
{
	cut(u, tick);
	u->known = false;
}

void uart_end(struct uart *u, uint64_t tick)
{
	cut(u, tick);
}

double uart_likely(const struct uart *u, bool *inverted)
{
	double unit = baud_unit(&u->baud, LONGEST);

	*inverted = unit > 0 && baud_idle(&u->baud, unit, BITS) == 0;
	return unit;
}
