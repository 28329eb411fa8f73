/* SPDX-License-Identifier: MIT */
#include <coeval/clockmap.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned __int128 u128;
typedef __int128 i128;

/* Time with its fraction: ns * 2^32. */
typedef i128 fine_time;

#define FRAC_BITS 32

/* A line through (tick, time); slope in ns per tick, whole part and 2^-64 fraction. */
struct segment {
	uint64_t tick;
	fine_time time;
	uint64_t slope_int;
	uint64_t slope_frac;
};

struct cvl_map {
	struct cvl_map_spec spec; /* knots are stored after the segments */
	/* [0] before the first knot, [i] from knot i-1 to knot i, [n] from the last knot on */
	struct segment seg[];
};

static fine_time fine(const struct cvl_knot *k)
{
	return (fine_time)k->time.ns * ((fine_time)1 << FRAC_BITS) + k->frac;
}

static struct cvl_time coarse(fine_time t)
{
	t >>= FRAC_BITS;
	if (t > INT64_MAX)
		return CVL_TIME_MAX;
	if (t < INT64_MIN)
		return CVL_TIME_MIN;
	return (struct cvl_time){ (int64_t)t };
}

/*
 * distance * slope in 2^-32 ns: each partial product has at most 128 bits, and the whole part is
 * truncated where no int64 time could hold it anyway.
 */
static u128 advance(const struct segment *s, uint64_t distance)
{
	u128 whole = (u128)distance * s->slope_int;
	u128 part = ((u128)distance * s->slope_frac) >> (64 - FRAC_BITS);

	if (whole >> 80)
		whole = (u128)1 << 80;
	return (whole << FRAC_BITS) + part;
}

static fine_time segment_time(const struct segment *s, uint64_t tick)
{
	if (tick >= s->tick)
		return s->time + (fine_time)advance(s, tick - s->tick);
	return s->time - (fine_time)advance(s, s->tick - tick);
}

static void slope_from_ratio(struct segment *s, u128 rise_fine, uint64_t run)
{
	/* rise / run with 64 fraction bits: rise carries 32 already; divide in two steps */
	u128 q = rise_fine / run, r = rise_fine % run;
	u128 low = (r << 32) / run;
	u128 frac_high = q & 0xffffffffu;

	s->slope_int = (uint64_t)(q >> FRAC_BITS);
	s->slope_frac = (uint64_t)((frac_high << 32) + low);
}

static void slope_from_rate(struct segment *s, uint64_t rate_hz, double rate_ppb)
{
	/*
	 * 1e9 / (rate * (1 + ppb 1e-9)), the nominal part exact and the small correction in long
	 * double
	 */
	long double ns = 1e9L / ((long double)rate_hz * (1 + (long double)rate_ppb * 1e-9L));

	if (fabs(rate_ppb) < 1e-12) {
		s->slope_int = 1000000000u / rate_hz;
		s->slope_frac = (uint64_t)(((u128)(1000000000u % rate_hz) << 64) / rate_hz);
		return;
	}
	s->slope_int = (uint64_t)ns;
	s->slope_frac = (uint64_t)ldexpl(ns - floorl(ns), 64);
}

static bool bound_grows(const struct cvl_map_edge *edge)
{
	return edge->drift_ppb >= 0 && edge->wander_ppb_s >= 0; /* neither is true of a NaN */
}

int cvl_map_new(struct cvl_map **out, const struct cvl_map_spec *spec, struct cvl_error *err)
{
	size_t n = spec->n;
	struct cvl_map *map;
	struct cvl_knot *knots;

	*out = NULL;
	if (!n || !spec->rate_hz)
		return cvl_fail(err, CVL_E_RANGE, CVL_NO_OFFSET, "clock map without %s",
				n ? "a rate" : "knots");
	if (!(fabs(spec->before.rate_ppb) < 5e8) || !(fabs(spec->after.rate_ppb) < 5e8))
		return cvl_fail(err, CVL_E_RANGE, CVL_NO_OFFSET,
				"clock map with an impossible rate");
	if (!bound_grows(&spec->before) || !bound_grows(&spec->after))
		return cvl_fail(err, CVL_E_RANGE, CVL_NO_OFFSET,
				"clock map with a bound that shrinks outside");
	for (size_t i = 0; i < n; i++) {
		const struct cvl_knot *k = &spec->knots[i];

		if (k->bound_ns < 0)
			return cvl_fail(err, CVL_E_RANGE, i, "knot %zu has a negative bound", i);
		if (i && (k->tick.count <= k[-1].tick.count || fine(k) < fine(k - 1)))
			return cvl_fail(err, CVL_E_ORDER, i, "knot %zu is out of order", i);
	}
	map = malloc(sizeof(*map) + (n + 1) * sizeof(struct segment) + n * sizeof(*knots));
	if (!map)
		return cvl_no_memory(err);
	knots = (struct cvl_knot *)(void *)(map->seg + n + 1);
	memcpy(knots, spec->knots, n * sizeof(*knots));
	map->spec = *spec;
	map->spec.knots = knots;
	for (size_t i = 0; i <= n; i++) {
		const struct cvl_knot *k = &knots[i ? i - 1 : 0];
		struct segment *s = &map->seg[i];

		s->tick = k->tick.count;
		s->time = fine(k);
		if (i == 0)
			slope_from_rate(s, spec->rate_hz, spec->before.rate_ppb);
		else if (i == n)
			slope_from_rate(s, spec->rate_hz, spec->after.rate_ppb);
		else
			slope_from_ratio(s, (u128)(fine(k + 1) - fine(k)),
					 k[1].tick.count - s->tick);
	}
	*out = map;
	return 0;
}

struct cvl_map *cvl_map_nominal(uint64_t rate_hz, struct cvl_tick tick, struct cvl_time time)
{
	struct cvl_knot knot = { .tick = tick, .time = time, .bound_ns = CVL_BOUND_UNKNOWN };
	struct cvl_map_spec spec = { .rate_hz = rate_hz, .knots = &knot, .n = 1 };
	struct cvl_map *map;

	return cvl_map_new(&map, &spec, NULL) ? NULL : map;
}

void cvl_map_free(struct cvl_map *map)
{
	free(map);
}

/* Segment that holds @tick: the number of knots at or before it. */
static size_t find_segment(const struct cvl_map *map, uint64_t tick)
{
	size_t low = 0, high = map->spec.n;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (map->spec.knots[mid].tick.count <= tick)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static int64_t ceil_ns(long double v)
{
	return v >= 9.2e18L ? CVL_BOUND_UNKNOWN - 1 : (int64_t)ceill(v);
}

static int64_t bound_outside(const struct cvl_map *map, const struct cvl_knot *k,
			     const struct cvl_map_edge *edge, uint64_t distance)
{
	long double seconds = (long double)distance / (long double)map->spec.rate_hz;

	return ceil_ns((long double)k->bound_ns + edge->drift_ppb * seconds +
		       edge->wander_ppb_s / 2 * seconds * seconds);
}

static int64_t bound_at(const struct cvl_map *map, size_t seg, uint64_t tick)
{
	const struct cvl_knot *k = map->spec.knots;
	size_t n = map->spec.n;
	long double part;

	if (map->spec.kind == CVL_BOUND_NONE)
		return CVL_BOUND_UNKNOWN;
	if (seg == 0)
		return bound_outside(map, &k[0], &map->spec.before, k[0].tick.count - tick);
	if (seg == n)
		return bound_outside(map, &k[n - 1], &map->spec.after, tick - k[n - 1].tick.count);
	part = (long double)(tick - k[seg - 1].tick.count) /
	       (long double)(k[seg].tick.count - k[seg - 1].tick.count);
	return ceil_ns((long double)k[seg - 1].bound_ns +
		       ((long double)k[seg].bound_ns - (long double)k[seg - 1].bound_ns) * part);
}

struct cvl_time cvl_map_time(const struct cvl_map *map, struct cvl_tick tick, int64_t *bound)
{
	size_t seg = find_segment(map, tick.count);

	if (bound)
		*bound = bound_at(map, seg, tick.count);
	return coarse(segment_time(&map->seg[seg], tick.count));
}

/* ---- many bounds ---- */

/* Doubles hold whole numbers up to here. */
#define EXACT ((uint64_t)1 << 52)

/*
 * Move @c to the segment of @tick, whose number is returned. Within it the bound is c->bound +
 * distance * c->per_tick. Where doubles would be too coarse, @c covers no tick.
 */
static size_t enter_segment(const struct cvl_map *map, struct cvl_map_cursor *c, uint64_t tick)
{
	size_t seg = find_segment(map, tick);
	const struct cvl_knot *k = &map->spec.knots[seg ? seg - 1 : 0];
	uint64_t run;

	*c = (struct cvl_map_cursor){ 0 };
	if (!seg || seg == map->spec.n || map->spec.kind == CVL_BOUND_NONE)
		return seg;
	run = k[1].tick.count - k->tick.count;
	if (run < EXACT && (uint64_t)k->bound_ns < EXACT && (uint64_t)k[1].bound_ns < EXACT)
		*c = (struct cvl_map_cursor){ k->tick.count, k[1].tick.count, (double)k->bound_ns,
					      (double)(k[1].bound_ns - k->bound_ns) / (double)run };
	return seg;
}

/*
 * The same as bound_at(), or 0 where rounding might change it. The relative errors of slope,
 * product and sum are at most 2^-53 each, so the sum is off by less than 2^-51 of its parts.
 */
static inline int64_t near_bound(const struct cvl_map_cursor *c, uint64_t tick)
{
	double rise = c->per_tick * (double)(int64_t)(tick - c->from);
	double v = c->bound + rise, off = (c->bound + fabs(rise)) * 0x1p-50;
	int64_t whole = (int64_t)(v - off);

	if (rise == 0)
		return (int64_t)c->bound;
	return v - off > (double)whole && v + off < (double)(whole + 1) ? whole + 1 : 0;
}

void cvl_map_bounds(const struct cvl_map *map, struct cvl_map_cursor *cursor,
		    const struct cvl_tick *tick, size_t n, int64_t *bound)
{
	struct cvl_map_cursor own = { 0 }, *c = cursor ? cursor : &own;

	for (size_t i = 0; i < n; i++) {
		uint64_t t = tick[i].count;
		size_t seg = SIZE_MAX;

		bound[i] = 0;
		if (t < c->from || t >= c->to)
			seg = enter_segment(map, c, t);
		if (t < c->to)
			bound[i] = near_bound(c, t);
		if (!bound[i])
			bound[i] = bound_at(map, seg < SIZE_MAX ? seg : find_segment(map, t), t);
	}
}

/* ---- the median bound ---- */

/* Outside the knots the bound is a curve, approximated by this many straight pieces. */
#define BENDS 64

/* How many of @ticks, over which the bound changes linearly from @a to @b, are within @limit. */
static double ticks_within(uint64_t ticks, int64_t a, int64_t b, int64_t limit)
{
	int64_t low = a < b ? a : b, high = a < b ? b : a;

	if (limit >= high)
		return (double)ticks;
	if (limit < low)
		return 0;
	return (double)ticks * ((double)limit - (double)low) / ((double)high - (double)low);
}

/* The same between @from and @to, with no knot in between. */
static double outside_within(const struct cvl_map *map, uint64_t from, uint64_t to, int64_t limit)
{
	const uint64_t step = (to - from) / BENDS + 1;
	double sum = 0;

	while (from < to) {
		uint64_t next = to - from > step ? from + step : to;

		sum += ticks_within(next - from, bound_at(map, find_segment(map, from), from),
				    bound_at(map, find_segment(map, next), next), limit);
		from = next;
	}
	return sum;
}

static double all_within(const struct cvl_map *map, uint64_t from, uint64_t to, int64_t limit)
{
	const struct cvl_knot *k = map->spec.knots;
	size_t first = find_segment(map, from), end = find_segment(map, to);
	double sum;

	if (first == end)
		return outside_within(map, from, to, limit);
	sum = outside_within(map, from, k[first].tick.count, limit);
	for (size_t i = first; i + 1 < end; i++)
		sum += ticks_within(k[i + 1].tick.count - k[i].tick.count, k[i].bound_ns,
				    k[i + 1].bound_ns, limit);
	return sum + outside_within(map, k[end - 1].tick.count, to, limit);
}

int64_t cvl_map_bound_median(const struct cvl_map *map, struct cvl_tick from, struct cvl_tick to)
{
	const double half = ((double)to.count - (double)from.count) / 2;
	int64_t low = 0, high = CVL_BOUND_UNKNOWN;

	if (map->spec.kind == CVL_BOUND_NONE)
		return CVL_BOUND_UNKNOWN;
	if (from.count >= to.count)
		return bound_at(map, find_segment(map, from.count), from.count);
	while (low < high) {
		int64_t mid = low + (high - low) / 2;

		if (all_within(map, from.count, to.count, mid) >= half)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

/*
 * While neither the distance nor its whole ns reach 2^61, 64-bit arithmetic gives the same result
 * as segment_time().
 */
static size_t times_near(const struct segment *s, const struct cvl_tick *tick, size_t n,
			 uint64_t last, struct cvl_time *time)
{
	u128 frac0 = (u128)((uint64_t)s->time & 0xffffffffu) << 32;
	int64_t base = (int64_t)(s->time >> FRAC_BITS);
	uint64_t whole = s->slope_int, frac = s->slope_frac,
		 reach = ((uint64_t)1 << 61) / (whole ? whole : 1);
	size_t i;

	if (base > INT64_MAX / 2 || base < INT64_MIN / 2 || s->time >> FRAC_BITS != base)
		return 0;
	for (i = 0; i < n; i++) {
		uint64_t d = tick[i].count - s->tick;

		if (tick[i].count < s->tick || tick[i].count > last || d > reach)
			break;
		time[i].ns =
			base + (int64_t)(d * whole) + (int64_t)(((u128)d * frac + frac0) >> 64);
	}
	return i;
}

void cvl_map_times(const struct cvl_map *map, const struct cvl_tick *tick, size_t n,
		   struct cvl_time *time)
{
	size_t i = 0;

	while (i < n) {
		size_t seg = find_segment(map, tick[i].count);
		const struct segment *s = &map->seg[seg];
		uint64_t first = seg ? map->spec.knots[seg - 1].tick.count : 0;
		uint64_t last =
			seg < map->spec.n ? map->spec.knots[seg].tick.count - 1 : UINT64_MAX;

		i += times_near(s, tick + i, n - i, last, time + i);
		for (; i < n && tick[i].count >= first && tick[i].count <= last; i++)
			time[i] = coarse(segment_time(s, tick[i].count));
	}
}

struct cvl_tick cvl_map_tick(const struct cvl_map *map, struct cvl_time time)
{
	uint64_t low = 0, high = UINT64_MAX;

	while (low < high) {
		uint64_t mid = low + (high - low) / 2;

		if (cvl_map_time(map, (struct cvl_tick){ mid }, NULL).ns >= time.ns)
			high = mid;
		else
			low = mid + 1;
	}
	return (struct cvl_tick){ low };
}

double cvl_map_rate_ppb(const struct cvl_map *map, struct cvl_tick tick)
{
	const struct segment *s = &map->seg[find_segment(map, tick.count)];
	long double ns = (long double)s->slope_int + ldexpl((long double)s->slope_frac, -64);

	if (ns <= 0)
		return 0;
	return (double)((1e9L / (ns * (long double)map->spec.rate_hz) - 1) * 1e9L);
}

enum cvl_bound_kind cvl_map_kind(const struct cvl_map *map)
{
	return map->spec.kind;
}

uint64_t cvl_map_rate_hz(const struct cvl_map *map)
{
	return map->spec.rate_hz;
}

void cvl_map_describe(const struct cvl_map *map, struct cvl_map_spec *spec)
{
	*spec = map->spec;
}
