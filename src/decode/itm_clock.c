/* SPDX-License-Identifier: MIT */
#include "decode/itm_clock.h"

#include <string.h>

/*
 * A local timestamp takes at least two bytes to count up to this; one of one byte counts up to six.
 */
#define LOCAL_MAX ((1ull << 28) - 1)
#define LOCAL_BYTES 5
#define LOW_BITS 26

void itm_clock_init(struct itm_clock *c, bool global, unsigned prescaler,
		    const struct itm_clock_sink *sink)
{
	memset(c, 0, sizeof(*c));
	c->sink = *sink;
	c->global = global;
	c->prescaler = prescaler ? prescaler : 1;
}

/* @a x @b / @c without overflow; @c is not 0. */
static uint64_t share(uint64_t a, uint64_t b, uint64_t c)
{
	return (uint64_t)((unsigned __int128)a * b / c);
}

static void give(struct itm_clock *c, size_t i, uint64_t from, uint64_t to)
{
	c->sink.packet(c->sink.ctx, &c->held[i].p, (struct itm_when){ from, to });
}

static void drop(struct itm_clock *c, size_t n)
{
	c->n -= n;
	c->timed = c->timed > n ? c->timed - n : 0;
	memmove(c->held, c->held + n, c->n * sizeof(*c->held));
}

/* ---- the global clock ---- */

/*
 * Place a packet at local ticks @from to @to between the last anchor and @next: on the line through
 * both, which were somewhere in their own local spans. Increases with the packet's tick, decreases
 * with those of the anchors.
 */
static struct itm_when between(const struct itm_clock *c, const struct itm_held *p,
			       const struct itm_held *next)
{
	uint64_t span = next->global - c->anchor;
	struct itm_when w = { c->anchor, next->global };

	if (c->broken || next->from <= c->anchor_to)
		return w;
	if (p->from > c->anchor_to && next->to != ITM_OPEN)
		w.from += share(span, p->from - c->anchor_to, next->to - c->anchor_to);
	if (p->to < next->from)
		w.to = c->anchor +
		       share(span, p->to - c->anchor_from, next->from - c->anchor_from) + 1;
	if (w.to > next->global)
		w.to = next->global;
	if (w.from > w.to)
		w.from = w.to;
	return w;
}

/*
 * Before the first anchor only local ticks tell how long ago a packet was; they are taken as global
 * ones.
 */
static struct itm_when before(const struct itm_held *p, const struct itm_held *next)
{
	uint64_t ago = (next->to == ITM_OPEN ? next->from : next->to) - p->from;

	return (struct itm_when){ ago < next->global ? next->global - ago : 0, next->global };
}

/* Output everything held up to anchor @i. */
static void settle(struct itm_clock *c, size_t i)
{
	const struct itm_held next = c->held[i];

	for (size_t k = 0; k <= i; k++) {
		struct itm_when w = k == i      ? (struct itm_when){ next.global, next.global } :
				    c->anchored ? between(c, &c->held[k], &next) :
						  before(&c->held[k], &next);

		give(c, k, w.from, w.to);
	}
	c->anchor = next.global;
	c->anchor_from = next.from;
	c->anchor_to = next.to;
	c->anchored = true;
	c->broken = false;
	drop(c, i + 1);
}

/* Output everything up to the last anchor. Returns whether there was one. */
static bool settle_all(struct itm_clock *c)
{
	bool any = false;

	for (size_t i = 0; i < c->n; i++) {
		if (!c->held[i].anchor)
			continue;
		settle(c, i);
		any = true;
		i = SIZE_MAX; /* those after it have moved to the front */
	}
	return any;
}

static uint64_t absolute(const struct itm_clock *c)
{
	unsigned __int128 sum = ((unsigned __int128)c->high << LOW_BITS) + c->low + c->shift;

	return sum < INT64_MAX ? (uint64_t)sum : INT64_MAX;
}

/* The value completed by a global timestamp; false: not known yet. */
static bool global_value(struct itm_clock *c, const struct itm_packet *p, uint64_t *value)
{
	unsigned bits = p->size >= 4 ? LOW_BITS : 7u * p->size;
	uint64_t mask = (1ull << bits) - 1;

	if (p->kind == ITM_GLOBAL_TS2) {
		c->high = p->value;
		if (!c->wrapping || !c->low_known)
			return false;
		c->wrapping = false;
	} else {
		c->low = (c->low & ~mask) | (p->value & mask);
		c->low_known = c->low_known || bits == LOW_BITS;
		if (p->source & ITM_GTS_CLOCK_CHANGE)
			c->broken = true;
		/* The upper bits changed too: they follow. */
		c->wrapping = p->source & ITM_GTS_WRAP;
		if (c->wrapping || !c->low_known)
			return false;
	}
	/* The packet that signals a wrap was lost, but there was one. */
	if (p->kind == ITM_GLOBAL_TS1 && absolute(c) < c->latest)
		c->high++;
	*value = absolute(c);
	if (*value < c->latest) {
		/* The counter was set back: continue from where it was. */
		c->shift += c->latest - *value;
		*value = c->latest;
		c->broken = true;
		c->sink.slip(c->sink.ctx, c->latest, ITM_SLIP_UNKNOWN);
	}
	c->latest = *value;
	return true;
}

/* ---- the local clock ---- */

/* Packets between the last two local timestamps happened between them. */
static void local_times(struct itm_clock *c, uint64_t from, uint64_t to, bool exact)
{
	for (; c->timed < c->n; c->timed++) {
		struct itm_held *h = &c->held[c->timed];

		h->from = from;
		h->to = to;
		if (exact && c->timed + 2 >= c->n && !h->anchor)
			h->from = to - c->prescaler + 1;
	}
}

static void local_timestamp(struct itm_clock *c, const struct itm_packet *p)
{
	uint64_t before = c->local;

	if (c->local < INT64_MAX)
		c->local += p->value * c->prescaler;
	/* A count of n lasts from n x prescaler on. */
	local_times(c, before, c->local + c->prescaler - 1, p->source == ITM_TS_EXACT);
	if (!c->global) {
		for (size_t i = 0; i < c->n; i++)
			give(c, i, c->held[i].from, c->held[i].to);
		drop(c, c->n);
		return;
	}
	settle_all(c);
}

/* ---- packets ---- */

/* Too many are held: output the first with what is known. */
static void make_room(struct itm_clock *c)
{
	local_times(c, c->local, ITM_OPEN, false);
	if (settle_all(c))
		return;
	for (size_t i = 0; i < c->n / 2; i++)
		give(c, i, c->global ? c->anchor : c->local, ITM_OPEN);
	drop(c, c->n / 2);
}

static void bytes_were_lost(struct itm_clock *c, const struct itm_packet *p)
{
	c->broken = true;
	c->wrapping = false;
	if (!c->global)
		c->sink.slip(c->sink.ctx, c->local,
			     (p->length / LOCAL_BYTES + 1) * LOCAL_MAX * c->prescaler);
}

void itm_clock_put(struct itm_clock *c, const struct itm_packet *p)
{
	struct itm_held *h;

	if (c->n == ITM_CLOCK_HOLD)
		make_room(c);
	h = &c->held[c->n++];
	*h = (struct itm_held){ .p = *p };
	switch (p->kind) {
	case ITM_LOCAL_TS: local_timestamp(c, p); return;
	case ITM_GLOBAL_TS1:
	case ITM_GLOBAL_TS2: h->anchor = c->global && global_value(c, p, &h->global); break;
	case ITM_OVERFLOW: c->broken = true; break;
	case ITM_BAD: bytes_were_lost(c, p); break;
	default: break;
	}
	/* Where there are no local timestamps, there is nothing to wait for. */
	if (h->anchor && !c->local) {
		local_times(c, 0, ITM_OPEN, false);
		settle(c, c->n - 1);
	}
}

void itm_clock_end(struct itm_clock *c)
{
	local_times(c, c->local, ITM_OPEN, false);
	settle_all(c);
	for (size_t i = 0; i < c->n; i++)
		give(c, i, c->global ? c->anchor : c->local, ITM_OPEN);
	drop(c, c->n);
}
