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

void sync_period_text(char out[CVL_TIME_TEXT], double ns)
{
	static const struct {
		double ns;
		const char *name;
	} unit[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" }, { 1, "ns" } };
	size_t i = 0;

	while (i < 3 && ns < unit[i].ns * 0.99995)
		i++;
	snprintf(out, CVL_TIME_TEXT, "%.4g %s", ns / unit[i].ns, unit[i].name);
}

bool sync_again(const struct sync_problem *p, size_t clock, struct cvl_clock_sync *out)
{
	int64_t again = p->clock[p->clock[clock].same_as].again_ns;
	char text[CVL_TIME_TEXT];

	if (!again)
		return false;
	sync_period_text(text, (double)again);
	out->turn_ns = again;
	sync_reason(
		out, CVL_AMBIGUOUS,
		"ambiguous by multiples of %s: keys of its messages recur after that, and more than one shift "
		"fits, or another cannot be ruled out. Any of these would decide: a longer key, a `window` below half of "
		"that, the start times of captures",
		text);
	return true;
}

const char *sync_assumed(const struct sync_problem *p, char *out, size_t size)
{
	char text[CVL_TIME_TEXT];
	size_t n = 0;

	out[0] = '\0';
	if (p->unique_keys)
		n = (size_t)snprintf(out, size, ", keys assumed unique");
	if (p->arrive_within_ns && n < size) {
		sync_period_text(text, (double)p->arrive_within_ns);
		snprintf(out + n, size - n, ", messages assumed to arrive within %s", text);
	}
	return out;
}

uint64_t sync_tick(const struct sync_problem *p, size_t clock, int64_t x)
{
	struct cvl_knot start;
	unsigned __int128 ticks;
	uint64_t tick;

	cvl_map_ends(p->clock[clock].nominal, &start, NULL);
	if (x < start.time.ns)
		return cvl_map_tick(p->clock[clock].nominal, (struct cvl_time){ x }).count;
	ticks = (unsigned __int128)((uint64_t)x - (uint64_t)start.time.ns) *
		p->clock[clock].rate_hz / 1000000000;
	if (ticks > UINT64_MAX - start.tick.count - 2)
		return UINT64_MAX;
	tick = start.tick.count + (uint64_t)ticks;
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
	cvl_map_ends(p->clock[ref].nominal, &knot, NULL);
	knot.bound_ns =
		1000000000 % m.rate_hz ? 1 : 0; /* its ticks are whole ns, or rounded to them */
	m.knots = &knot;
	m.kind = CVL_BOUND_PROVEN;
	sync_reason(&s->clock[ref], CVL_GOOD, "the reference: its time is the timeline");
	return cvl_map_new(&s->clock[ref].map, &m, err);
}
