/* SPDX-License-Identifier: MIT */
/*
 * The loop. Each step reads the lines, then the TSC, with nothing between two steps, so that the
 * TSC after one read is the one before the next: an event seen by this read happened between the
 * TSC of two steps ago and this step's.
 */
#include "machine.h"

#include "ett/probes.h"
#include "io.h"

static inline __attribute__((always_inline)) uint8_t read_lines(const struct port *p, bool reg)
{
	return (uint8_t)((reg ? *p->reg >> p->shift : (uint32_t)in8(p->port) >> p->shift) &
			 p->mask);
}

/* Whether to end, once in a while. */
static enum ett_end look(const struct loop *l, uint64_t now)
{
	if (l->length && now - l->begin >= l->length)
		return ETT_END_LENGTH;
	if (*l->stop)
		return (enum ett_end) * l->stop;
	return l->keys && key_anew() ? ETT_END_KEY : ETT_END_NONE;
}

static inline __attribute__((always_inline)) void run(struct loop *l, bool reg, bool every)
{
	const struct port p = l->port;
	struct ett_record *r = l->record, *const full = l->record + l->room;
	uint64_t ahead, before, now, next, steps = 0, least = UINT64_MAX, most = 0;
	uint8_t last, v, moved = 0; /* lines that were ever seen to change */

	ahead = tsc();
	last = read_lines(&p, reg);
	before = tsc();
	l->first = last;
	l->begin = before;
	next = before + l->look;
	*l->go = 1;
	for (;;) {
		uint64_t step;

		v = read_lines(&p, reg);
		now = tsc();
		step = now - before;
		steps++;
		if (__builtin_expect(step > most, 0))
			most = step;
		if (__builtin_expect(step < least, 0))
			least = step;
		if (__builtin_expect(v != last || every, every)) {
			r->tick = now;
			r->value = v;
			r->before = last;
			ett_set_width(r, now - ahead);
			r++;
			moved |= v ^ last;
			if (l->zero && ett_zero(v, last, l->bits)) {
				l->why = ETT_END_ZERO;
				break;
			}
			last = v;
			if (r == full) {
				l->why = ETT_END_FULL;
				break;
			}
		}
		ahead = before;
		before = now;
		if (__builtin_expect(now >= next, 0)) {
			l->why = look(l, now);
			if (l->why)
				break;
			next = now + l->look;
		}
	}
	l->n = (uint64_t)(r - l->record);
	l->end = now;
	l->steps = steps;
	l->least = least;
	l->most = most;
	l->moved = moved;
}

/* One function each, so that a step has no decisions known in advance. */
static __attribute__((noinline)) void run_port(struct loop *l)
{
	run(l, false, false);
}

static __attribute__((noinline)) void run_reg(struct loop *l)
{
	run(l, true, false);
}

static __attribute__((noinline)) void run_port_every(struct loop *l)
{
	run(l, false, true);
}

static __attribute__((noinline)) void run_reg_every(struct loop *l)
{
	run(l, true, true);
}

void loop_run(struct loop *l)
{
	if (l->every)
		(l->port.reg ? run_reg_every : run_port_every)(l);
	else
		(l->port.reg ? run_reg : run_port)(l);
}

uint64_t loop_step(const struct port *p)
{
	uint64_t begin = tsc();

	for (int i = 0; i < 1000; i++) {
		read_lines(p, p->reg != NULL);
		tsc();
	}
	return (tsc() - begin) / 1000;
}
