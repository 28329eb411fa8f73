/* SPDX-License-Identifier: MIT */
/* How sure the times of the timeline are. */
#include "timeline/internal.h"

#include <math.h>

struct cvl_bound cvl_timeline_clock_bound(const struct cvl_timeline *tl, size_t clock,
					  struct cvl_tick tick)
{
	struct clock *c = &tl->clock[clock];
	struct cvl_bound b = c->bound;

	cvl_map_bounds(c->map, &c->cursor.map, &tick, 1, &b.map);
	return b;
}

/* @ticks of the clock, rounded up to ns. Those of a clock are mostly the same. */
static int64_t capture_ns(const struct cvl_timeline *tl, struct timeline_cursor *c, size_t clock,
			  uint64_t ticks)
{
	const uint64_t rate = cvl_session_clock(tl->session, clock)->rate_hz;
	unsigned __int128 ns;

	if (ticks != c->ticks) {
		ns = ((unsigned __int128)ticks * 1000000000u + rate - 1) / rate;
		c->ns = ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
		c->ticks = ticks;
	}
	return c->ns;
}

/* Of record @i, as far as its clock's map has no part in it. */
static int64_t capture_of(const struct cvl_timeline *tl, struct timeline_cursor *c,
			  const struct cvl_slice *slice, size_t i)
{
	int64_t ns;

	if (slice->batch->bracket)
		return capture_ns(tl, c, slice->clock, slice->batch->bracket[i]);
	ns = capture_ns(tl, c, slice->clock,
			cvl_session_clock(tl->session, slice->clock)->resolution);
	return tl->clock[slice->clock].bound.kind == CVL_BOUND_STATISTICAL ? (ns + 1) / 2 : ns;
}

struct cvl_bound cvl_timeline_bound_parts(const struct cvl_timeline *tl,
					  const struct cvl_slice *slice, size_t i)
{
	struct cvl_bound b = cvl_timeline_clock_bound(tl, slice->clock, slice->batch->tick[i]);

	b.capture = capture_of(tl, &tl->clock[slice->clock].cursor, slice, i);
	return b;
}

int64_t timeline_bound(const struct cvl_timeline *tl, struct timeline_cursor *cursor,
		       const struct cvl_slice *slice, size_t i)
{
	const struct clock *c = &tl->clock[slice->clock];
	struct cvl_bound b = c->bound;

	cvl_map_bounds(c->map, &cursor->map, &slice->batch->tick[i], 1, &b.map);
	b.capture = capture_of(tl, cursor, slice, i);
	return cvl_bound_total(b);
}

int64_t cvl_timeline_bound(const struct cvl_timeline *tl, const struct cvl_slice *slice, size_t i)
{
	return timeline_bound(tl, &tl->clock[slice->clock].cursor, slice, i);
}

void cvl_timeline_bounds(const struct cvl_timeline *tl, const struct cvl_slice *slice,
			 int64_t *bound)
{
	struct clock *c = &tl->clock[slice->clock];
	const size_t n = slice->end - slice->begin;
	struct cvl_bound b = c->bound;

	if (b.group) {
		for (size_t i = 0; i < n; i++)
			bound[i] = CVL_BOUND_UNKNOWN;
		return;
	}
	cvl_map_bounds(c->map, &c->cursor.map, slice->batch->tick + slice->begin, n, bound);
	for (size_t i = 0; i < n; i++) {
		if (!i || slice->batch->bracket)
			b.capture = capture_of(tl, &c->cursor, slice, slice->begin + i);
		b.map = bound[i];
		bound[i] = cvl_bound_total(b);
	}
}

int64_t cvl_bound_total(struct cvl_bound b)
{
	if (b.map == CVL_BOUND_UNKNOWN || b.group)
		return CVL_BOUND_UNKNOWN;
	return cvl_add_sat(b.map, cvl_add_sat(b.capture, b.reference));
}

/* Combine two independent ones that each hold 99.9 % of the time. */
static int64_t both(int64_t a, int64_t b)
{
	return (int64_t)fminl(ceill(hypotl((long double)a, (long double)b)), 9.2e18L);
}

int64_t cvl_bound_pair(struct cvl_bound a, struct cvl_bound b)
{
	int64_t maps, references;

	if (a.map == CVL_BOUND_UNKNOWN || b.map == CVL_BOUND_UNKNOWN || a.group != b.group)
		return CVL_BOUND_UNKNOWN;
	references = a.reference_is_max || b.reference_is_max ?
			     cvl_add_sat(a.reference, b.reference) :
			     both(a.reference, b.reference);
	if (a.kind != CVL_BOUND_STATISTICAL || b.kind != CVL_BOUND_STATISTICAL)
		maps = cvl_add_sat(a.map, b.map);
	else
		maps = both(a.map, b.map);
	return cvl_add_sat(cvl_add_sat(maps, references), cvl_add_sat(a.capture, b.capture));
}

enum cvl_order cvl_timeline_order(struct cvl_time a, struct cvl_time b, int64_t bound)
{
	__int128 apart = (__int128)b.ns - a.ns;

	if (bound == CVL_BOUND_UNKNOWN)
		return CVL_CANNOT_TELL;
	return apart > bound ? CVL_BEFORE : -apart > bound ? CVL_AFTER : CVL_CANNOT_TELL;
}
