/* SPDX-License-Identifier: MIT */
#include "decode/uart.h"

#include <math.h>
#include <string.h>

static bool has_parity(const struct uart *u)
{
	return u->opts.parity == 'E' || u->opts.parity == 'O';
}

/* Bits of the longest pulse inside a byte: all low up to the stop bit. */
static unsigned longest(const struct uart *u)
{
	return u->frame - u->opts.stop_bits;
}

void uart_init(struct uart *u, const struct uart_opts *opts, const struct line_sink *sink)
{
	memset(u, 0, sizeof(*u));
	u->opts = *opts;
	u->opts.data_bits = opts->data_bits ? opts->data_bits : 8;
	u->opts.stop_bits = opts->stop_bits ? opts->stop_bits : 1;
	u->frame = 1 + u->opts.data_bits + has_parity(u) + u->opts.stop_bits;
	u->sink = *sink;
	u->bit = opts->bit;
}

static void finish(struct uart *u, uint64_t end, bool broken, bool wrong_parity)
{
	u->in_byte = false;
	u->bytes++;
	u->broken += broken || wrong_parity;
	u->parity_errors += wrong_parity && !broken;
	u->sink.byte(u->sink.ctx,
		     &(struct line_byte){
			     .from = u->start,
			     .to = end,
			     .value = (uint8_t)(u->data >> 1 & ((1u << u->opts.data_bits) - 1)),
			     .broken = broken || wrong_parity,
			     .counts = !broken });
}

/* All bits are read. */
static void whole(struct uart *u)
{
	unsigned before = longest(u), stops = (1u << u->opts.stop_bits) - 1;
	bool odd = __builtin_parity(u->data & ((1u << before) - 1)); /* with the parity bit */

	finish(u, u->start + (uint64_t)(u->frame * u->bit), u->data >> before != stops,
	       has_parity(u) && odd != (u->opts.parity == 'O'));
}

static double middle(const struct uart *u)
{
	return (double)u->start + (u->bits + 0.5) * u->bit;
}

/* The line kept its level up to @tick: read the bits whose middle is before that. */
static void pass(struct uart *u, uint64_t tick)
{
	while (u->in_byte && middle(u) < (double)tick) {
		if (!u->bits && u->level) {
			u->in_byte = false; /* too short for a start bit: a glitch */
			return;
		}
		u->data |= (unsigned)u->level << u->bits;
		if (++u->bits == u->frame)
			whole(u);
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
	u->bit = baud_unit(&u->baud, longest(u));
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
		u->baud.n = 0; /* not a serial line so far: look at what follows */
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
	/* No need to wait for a byte whose last bit is high. */
	if (u->in_byte && u->bits)
		finish(u, tick, true, false);
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
	double unit = baud_unit(&u->baud, longest(u));

	*inverted = unit > 0 && baud_idle(&u->baud, unit, u->frame) == 0;
	return unit;
}
