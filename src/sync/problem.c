/* SPDX-License-Identifier: MIT */
#include "sync/problem.h"

#include <stdarg.h>
#include <stdio.h>

void sync_reason(struct cvl_clock_sync *c, enum cvl_verdict verdict, const char *fmt, ...)
{
	va_list ap;

	c->verdict = verdict;
	va_start(ap, fmt);
	vsnprintf(c->reason, sizeof(c->reason), fmt, ap);
	va_end(ap);
}

uint64_t sync_tick(const struct sync_problem *p, size_t clock, int64_t x)
{
	struct cvl_map_spec m;
	unsigned __int128 ticks;
	uint64_t tick;

	cvl_map_describe(p->clock[clock].nominal, &m);
	if (x < m.knots[0].time.ns)
		return cvl_map_tick(p->clock[clock].nominal, (struct cvl_time){ x }).count;
	ticks = (unsigned __int128)((uint64_t)x - (uint64_t)m.knots[0].time.ns) * m.rate_hz /
		1000000000;
	if (ticks > UINT64_MAX - m.knots[0].tick.count - 2)
		return UINT64_MAX;
	tick = m.knots[0].tick.count + (uint64_t)ticks;
	while (sync_x(p, clock, tick) < x)
		tick++;
	return tick;
}

int sync_reference_map(const struct sync_problem *p, struct sync_solution *s, size_t ref,
		       struct cvl_error *err)
{
	struct cvl_map_spec m;
	struct cvl_knot knot;

	cvl_map_describe(p->clock[ref].nominal, &m);
	knot = m.knots[0];
	knot.bound_ns =
		1000000000 % m.rate_hz ? 1 : 0; /* its ticks are whole ns, or rounded to them */
	m.knots = &knot;
	m.kind = CVL_BOUND_PROVEN;
	sync_reason(&s->clock[ref], CVL_GOOD, "the reference: its time is the timeline");
	return cvl_map_new(&s->clock[ref].map, &m, err);
}
