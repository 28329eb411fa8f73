/* SPDX-License-Identifier: MIT */
#include <coeval/clockmap.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/clockmap_join.h"
#include "core/knots.h"

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
	struct cvl_map_spec spec; /* its knots are stored after the segments, or in the file */
	struct cvl_knot first, last;
	struct knots *file; /* or NULL */
	/* of a map in memory: what was before its first knot, or NULL; its last knot that counts */
	struct cvl_map *past;
	struct cvl_knot joint;
	size_t n_past; /* knots up to that one */
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

static int check_spec(const struct cvl_map_spec *spec, struct cvl_error *err)
{
	if (!spec->n || !spec->rate_hz)
		return cvl_fail(err, CVL_E_RANGE, CVL_NO_OFFSET, "clock map without %s",
				spec->n ? "a rate" : "knots");
	if (!(fabs(spec->before.rate_ppb) < 5e8) || !(fabs(spec->after.rate_ppb) < 5e8))
		return cvl_fail(err, CVL_E_RANGE, CVL_NO_OFFSET,
				"clock map with an impossible rate");
	if (!bound_grows(&spec->before) || !bound_grows(&spec->after))
		return cvl_fail(err, CVL_E_RANGE, CVL_NO_OFFSET,
				"clock map with a bound that shrinks outside");
	return 0;
}

static struct segment before_first(const struct cvl_map_spec *spec, const struct cvl_knot *first)
{
	struct segment s = { .tick = first->tick.count, .time = fine(first) };

	slope_from_rate(&s, spec->rate_hz, spec->before.rate_ppb);
	return s;
}

static struct segment after_last(const struct cvl_map_spec *spec, const struct cvl_knot *last)
{
	struct segment s = { .tick = last->tick.count, .time = fine(last) };

	slope_from_rate(&s, spec->rate_hz, spec->after.rate_ppb);
	return s;
}

static struct segment between(const struct cvl_knot *a, const struct cvl_knot *b)
{
	struct segment s = { .tick = a->tick.count, .time = fine(a) };

	slope_from_ratio(&s, (u128)(fine(b) - s.time), b->tick.count - s.tick);
	return s;
}

int cvl_map_new(struct cvl_map **out, const struct cvl_map_spec *spec, struct cvl_error *err)
{
	size_t n = spec->n;
	struct cvl_map *map;
	struct cvl_knot *knots;
	int rc = check_spec(spec, err);

	*out = NULL;
	if (rc)
		return rc;
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
	*map = (struct cvl_map){ .spec = *spec, .first = knots[0], .last = knots[n - 1] };
	map->spec.knots = knots;
	map->seg[0] = before_first(spec, &knots[0]);
	for (size_t i = 1; i < n; i++)
		map->seg[i] = between(&knots[i - 1], &knots[i]);
	map->seg[n] = after_last(spec, &knots[n - 1]);
	*out = map;
	return 0;
}

int cvl_map_load(struct cvl_map **out, const char *path, struct cvl_error *err)
{
	struct cvl_map *map = calloc(1, sizeof(*map) + 2 * sizeof(struct segment));
	struct cvl_knot ends[2];
	struct cvl_error inner;
	int rc;

	*out = NULL;
	if (!map)
		return cvl_no_memory(err);
	rc = knots_open(&map->file, path, &map->spec, ends, err);
	if (!rc && check_spec(&map->spec, &inner))
		rc = cvl_fail(err, CVL_E_SYNTAX, 0, "%s:0: %s", path, inner.text);
	if (rc) {
		cvl_map_free(map);
		return rc;
	}
	map->first = ends[0];
	map->last = ends[1];
	map->seg[0] = before_first(&map->spec, &ends[0]);
	map->seg[1] = after_last(&map->spec, &ends[1]);
	*out = map;
	return 0;
}

int cvl_map_save(const struct cvl_map *map, const char *path, char digest[CVL_MAP_DIGEST],
		 struct cvl_error *err)
{
	struct knots_writer *w;
	struct cvl_knot knot;
	int rc = knots_create(&w, path, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < map->spec.n && !rc; i++) {
		rc = cvl_map_knot(map, i, &knot, err);
		rc = rc ? rc : knots_put(w, &knot, err);
	}
	if (!rc)
		return knots_finish(w, &map->spec, digest, err);
	knots_finish(w, NULL, NULL, NULL);
	return rc;
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
	if (!map)
		return;
	cvl_map_free(map->past);
	knots_close(map->file);
	free(map);
}

/* ---- pieces ---- */

/* One straight piece of a map. */
struct piece {
	struct segment line;
	uint64_t from, last; /* the ticks it is for */
	/* bounds: at two ticks, or from one on */
	struct cvl_knot a, b;
	const struct cvl_map_edge *outside; /* else between knots */
	bool damaged;
	size_t seg; /* of a map in memory */
};

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

static struct piece piece_before(const struct cvl_map *map)
{
	const uint64_t end = map->first.tick.count;

	return (struct piece){ .line = map->seg[0],
			       .last = end ? end - 1 : 0,
			       .a = map->first,
			       .outside = &map->spec.before };
}

static struct piece piece_after(const struct cvl_map *map)
{
	const size_t seg = map->file ? 1 : map->spec.n;

	return (struct piece){ .line = map->seg[seg],
			       .from = map->last.tick.count,
			       .last = UINT64_MAX,
			       .a = map->last,
			       .outside = &map->spec.after,
			       .seg = seg };
}

/* Segment @seg of a map in memory. */
static struct piece piece_number(const struct cvl_map *map, size_t seg)
{
	const struct cvl_knot *k = &map->spec.knots[seg];

	if (!seg)
		return piece_before(map);
	if (seg == map->spec.n)
		return piece_after(map);
	return (struct piece){ .line = map->seg[seg],
			       .from = k[-1].tick.count,
			       .last = k->tick.count - 1,
			       .a = k[-1],
			       .b = *k,
			       .seg = seg };
}

static struct piece piece_of(const struct knots_pair *p)
{
	return (struct piece){ .line = between(&p->a, &p->b),
			       .from = p->a.tick.count,
			       .last = p->b.tick.count - 1,
			       .a = p->a,
			       .b = p->b,
			       .damaged = p->damaged };
}

static bool is_past(const struct cvl_map *map, uint64_t tick)
{
	return map->past && tick < map->first.tick.count;
}

/* Between the last knot of what was before and the first of @map. */
static struct piece piece_joint(const struct cvl_map *map)
{
	return piece_of(&(struct knots_pair){ map->joint, map->first, false });
}

static struct piece piece_at(const struct cvl_map *map, uint64_t tick)
{
	struct knots_pair pair;

	if (is_past(map, tick))
		return tick < map->joint.tick.count ? piece_at(map->past, tick) : piece_joint(map);
	if (!map->file)
		return piece_number(map, find_segment(map, tick));
	if (tick < map->first.tick.count)
		return piece_before(map);
	if (tick >= map->last.tick.count)
		return piece_after(map);
	knots_at_tick(map->file, tick, &pair);
	return piece_of(&pair);
}

/* The one after @p, which is not the last. */
static struct piece piece_next(const struct cvl_map *map, const struct piece *p)
{
	return map->file || is_past(map, p->last) ? piece_at(map, p->last + 1) :
						    piece_number(map, p->seg + 1);
}

static int64_t bound_outside(const struct cvl_map *map, const struct piece *p, uint64_t distance)
{
	long double seconds = (long double)distance / (long double)map->spec.rate_hz;

	return ceil_ns((long double)p->a.bound_ns + p->outside->drift_ppb * seconds +
		       p->outside->wander_ppb_s / 2 * seconds * seconds);
}

static int64_t bound_in(const struct cvl_map *map, const struct piece *p, uint64_t tick)
{
	uint64_t at = p->a.tick.count;
	long double part;

	if (map->spec.kind == CVL_BOUND_NONE || p->damaged)
		return CVL_BOUND_UNKNOWN;
	if (p->outside)
		return bound_outside(map, p, tick < at ? at - tick : tick - at);
	if (tick < at || tick > p->b.tick.count) /* knots of a file that go back */
		return CVL_BOUND_UNKNOWN;
	part = (long double)(tick - at) / (long double)(p->b.tick.count - at);
	return ceil_ns((long double)p->a.bound_ns +
		       ((long double)p->b.bound_ns - (long double)p->a.bound_ns) * part);
}

static int64_t bound_at(const struct cvl_map *map, uint64_t tick)
{
	const struct piece p = piece_at(map, tick);

	return bound_in(map, &p, tick);
}

struct cvl_time cvl_map_time(const struct cvl_map *map, struct cvl_tick tick, int64_t *bound)
{
	const struct piece p = piece_at(map, tick.count);

	if (bound)
		*bound = bound_in(map, &p, tick.count);
	return coarse(segment_time(&p.line, tick.count));
}

/* ---- many bounds ---- */

/* Doubles hold whole numbers up to here. */
#define EXACT ((uint64_t)1 << 52)

/*
 * Move @c to @p. Within it the bound is c->bound + distance * c->per_tick. Where doubles would be
 * too coarse, @c covers no tick.
 */
static void enter_piece(const struct cvl_map *map, struct cvl_map_cursor *c, const struct piece *p)
{
	const int64_t a = p->a.bound_ns, b = p->b.bound_ns;
	const uint64_t run = p->b.tick.count - p->a.tick.count;

	*c = (struct cvl_map_cursor){ 0 };
	if (!p->outside && !p->damaged && map->spec.kind != CVL_BOUND_NONE && run < EXACT &&
	    (uint64_t)a < EXACT && (uint64_t)b < EXACT)
		*c = (struct cvl_map_cursor){ p->from, p->last + 1, (double)a,
					      (double)(b - a) / (double)run };
}

/*
 * The same as bound_in(), or 0 where rounding might change it. The relative errors of slope,
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
	struct piece p = { .from = 1 }; /* for no tick */

	for (size_t i = 0; i < n; i++) {
		uint64_t t = tick[i].count;

		bound[i] = 0;
		if (t < c->from || t >= c->to) {
			if (t < p.from || t > p.last)
				p = piece_at(map, t);
			enter_piece(map, c, &p);
		}
		if (t < c->to)
			bound[i] = near_bound(c, t);
		if (!bound[i]) {
			if (t < p.from || t > p.last)
				p = piece_at(map, t);
			bound[i] = bound_in(map, &p, t);
		}
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

/* The same between @from and @to, both in @p or where it ends. */
static double within(const struct cvl_map *map, const struct piece *p, uint64_t from, uint64_t to,
		     int64_t limit)
{
	const uint64_t step = (to - from) / BENDS + 1;
	double sum = 0;

	while (from < to) {
		uint64_t next = to - from > step ? from + step : to;

		sum += ticks_within(next - from, bound_in(map, p, from), bound_in(map, p, next),
				    limit);
		from = next;
	}
	return sum;
}

static double all_within(const struct cvl_map *map, uint64_t from, uint64_t to, int64_t limit)
{
	struct piece p = piece_at(map, from);
	double sum = 0;

	for (; p.last < to; p = piece_next(map, &p), from = p.from)
		sum += p.outside || p.damaged || from > p.from ?
			       within(map, &p, from, p.last + 1, limit) :
			       ticks_within(p.b.tick.count - from, p.a.bound_ns, p.b.bound_ns,
					    limit);
	return sum + within(map, &p, from, to, limit);
}

/* Between the ends of pieces bounds neither rise above both ends nor fall below. */
void cvl_map_bound_range(const struct cvl_map *map, struct cvl_tick from, struct cvl_tick to,
			 int64_t *least, int64_t *most)
{
	struct piece p = piece_at(map, from.count);
	int64_t low = bound_in(map, &p, from.count), high = low, b;

	for (;; p = piece_next(map, &p)) {
		b = bound_in(map, &p, p.last < to.count ? p.last + 1 : to.count);
		high = b > high ? b : high;
		low = b < low ? b : low;
		if (p.last >= to.count || (high == CVL_BOUND_UNKNOWN && !least))
			break;
	}
	if (least)
		*least = low;
	*most = high;
}

int64_t cvl_map_bound_max(const struct cvl_map *map, struct cvl_tick from, struct cvl_tick to)
{
	int64_t most;

	cvl_map_bound_range(map, from, to, NULL, &most);
	return most;
}

int64_t cvl_map_bound_median(const struct cvl_map *map, struct cvl_tick from, struct cvl_tick to)
{
	const double half = ((double)to.count - (double)from.count) / 2;
	int64_t low = 0, high;

	if (map->spec.kind == CVL_BOUND_NONE)
		return CVL_BOUND_UNKNOWN;
	if (from.count >= to.count)
		return bound_at(map, from.count);
	high = cvl_map_bound_max(map, from, to);
	while (low < high) {
		int64_t mid = low + (high - low) / 2;

		if (all_within(map, from.count, to.count, mid) >= half)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

#if defined(__x86_64__)
#include <immintrin.h>

/*
 * Ticks at most @span after the first of them, four a step; the others are left. With distances
 * and whole ns a tick of 32 bits, the fraction of a product is made of two halves that cannot
 * overflow: d * high + (d * low + rest of the first >> 32), so that the result is segment_time()'s.
 */
__attribute__((target("avx2"))) static size_t times_avx2(const struct segment *s,
							 const struct cvl_tick *tick, size_t n,
							 uint64_t span, struct cvl_time *time)
{
	const uint64_t from = tick[0].count;
	const fine_time begin = segment_time(s, from);
	/* what the segment's fraction of 2^-64 ns adds up to there */
	const uint64_t rest = (uint64_t)((((u128)(from - s->tick) * s->slope_frac)) +
					 ((u128)((uint64_t)s->time & 0xffffffffu) << 32));
	const __m256i low = _mm256_set1_epi64x(0xffffffff),
		      first = _mm256_set1_epi64x((int64_t)from);
	const __m256i base = _mm256_set1_epi64x((int64_t)(begin >> FRAC_BITS));
	const __m256i whole = _mm256_set1_epi64x((int64_t)s->slope_int);
	const __m256i frac_low = _mm256_set1_epi64x((int64_t)(s->slope_frac & 0xffffffff));
	const __m256i frac_high = _mm256_set1_epi64x((int64_t)(s->slope_frac >> 32));
	const __m256i rest_low = _mm256_set1_epi64x((int64_t)(rest & 0xffffffff));
	const __m256i rest_high = _mm256_set1_epi64x((int64_t)(rest >> 32));
	const __m256i most = _mm256_set1_epi64x((int64_t)(span < 0xffffffff ? span : 0xffffffff));
	size_t i;

	for (i = 0; i + 4 <= n; i += 4) {
		const __m256i d =
			_mm256_sub_epi64(_mm256_loadu_si256((const void *)(tick + i)), first);
		const __m256i beyond =
			_mm256_or_si256(_mm256_cmpgt_epi64(d, most), _mm256_andnot_si256(low, d));
		const __m256i small = _mm256_srli_epi64(
			_mm256_add_epi64(_mm256_mul_epu32(d, frac_low), rest_low), 32);
		const __m256i part = _mm256_srli_epi64(
			_mm256_add_epi64(
				_mm256_add_epi64(_mm256_mul_epu32(d, frac_high), rest_high), small),
			32);

		if (!_mm256_testz_si256(beyond, beyond))
			break;
		_mm256_storeu_si256(
			(void *)(time + i),
			_mm256_add_epi64(_mm256_add_epi64(base, part), _mm256_mul_epu32(d, whole)));
	}
	return i;
}
#endif

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
	i = 0;
#if defined(__x86_64__)
	if (n >= 8 && whole <= UINT32_MAX && tick[0].count >= s->tick && tick[0].count <= last &&
	    tick[0].count - s->tick <= reach && __builtin_cpu_supports("avx2")) {
		const uint64_t end = last - s->tick < reach ? last - s->tick : reach;

		i = times_avx2(s, tick, n, end - (tick[0].count - s->tick), time);
	}
#endif
	for (; i < n; i++) {
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
		const struct piece p = piece_at(map, tick[i].count);

		i += times_near(&p.line, tick + i, n - i, p.last, time + i);
		for (; i < n && tick[i].count >= p.from && tick[i].count <= p.last; i++)
			time[i] = coarse(segment_time(&p.line, tick[i].count));
	}
}

/* The piece that ends where the time is first not before @ns. */
static struct piece piece_until(const struct cvl_map *map, int64_t ns)
{
	const struct cvl_knot *k = map->spec.knots;
	size_t low = 0, high = map->spec.n;
	struct knots_pair pair;

	if (map->past && map->first.time.ns >= ns)
		return map->joint.time.ns >= ns ? piece_until(map->past, ns) : piece_joint(map);
	if (map->first.time.ns >= ns)
		return piece_before(map);
	if (map->last.time.ns < ns)
		return piece_after(map);
	if (map->file) {
		knots_at_time(map->file, ns - 1, &pair);
		return piece_of(&pair);
	}
	while (low < high) {
		size_t mid = (low + high) / 2;

		if (k[mid].time.ns < ns)
			low = mid + 1;
		else
			high = mid;
	}
	return piece_number(map, low);
}

struct cvl_tick cvl_map_tick(const struct cvl_map *map, struct cvl_time time)
{
	const struct piece p = piece_until(map, time.ns);
	uint64_t low = p.from, high = p.last < UINT64_MAX ? p.last + 1 : p.last;

	while (low < high) {
		uint64_t mid = low + (high - low) / 2;

		if (coarse(segment_time(&p.line, mid)).ns >= time.ns)
			high = mid;
		else
			low = mid + 1;
	}
	return (struct cvl_tick){ low };
}

double cvl_map_rate_ppb(const struct cvl_map *map, struct cvl_tick tick)
{
	const struct piece p = piece_at(map, tick.count);
	long double ns =
		(long double)p.line.slope_int + ldexpl((long double)p.line.slope_frac, -64);

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

size_t cvl_map_ends(const struct cvl_map *map, struct cvl_knot *first, struct cvl_knot *last)
{
	if (first)
		*first = map->past ? map->past->first : map->first;
	if (last)
		*last = map->last;
	return map->n_past + map->spec.n;
}

int cvl_map_knot(const struct cvl_map *map, size_t i, struct cvl_knot *knot, struct cvl_error *err)
{
	if (i >= map->n_past + map->spec.n)
		return cvl_fail(err, CVL_E_RANGE, i, "the clock map has %zu knots",
				map->n_past + map->spec.n);
	if (i < map->n_past)
		return cvl_map_knot(map->past, i, knot, err);
	if (!map->file)
		*knot = map->spec.knots[i - map->n_past];
	else if (!knots_get(map->file, i, knot)) {
		knots_damaged(map->file, err);
		return CVL_E_CHECKSUM;
	}
	return 0;
}

void cvl_map_describe(const struct cvl_map *map, struct cvl_map_spec *spec)
{
	*spec = map->spec;
	spec->knots = NULL;
	spec->n += map->n_past;
	if (map->past)
		spec->before = map->past->spec.before;
}

const char *cvl_map_path(const struct cvl_map *map)
{
	return map->file ? knots_path(map->file) : NULL;
}

bool cvl_map_damaged(const struct cvl_map *map, struct cvl_error *err)
{
	map = map->past ? map->past : map;
	return map->file && knots_damaged(map->file, err);
}

size_t cvl_map_verify(const struct cvl_map *map)
{
	map = map->past ? map->past : map;
	return map->file ? knots_verify(map->file) : 0;
}

/* ---- joining ---- */

int map_knots_before(const struct cvl_map *map, uint64_t tick, size_t *n, struct cvl_error *err)
{
	size_t low = 0, high = cvl_map_ends(map, NULL, NULL);

	while (low < high) {
		const size_t mid = low + (high - low) / 2;
		struct cvl_knot k;
		int rc = cvl_map_knot(map, mid, &k, err);

		if (rc)
			return rc;
		if (k.tick.count < tick)
			low = mid + 1;
		else
			high = mid;
	}
	*n = low;
	return 0;
}

int map_join(struct cvl_map *map, struct cvl_map *past, struct cvl_error *err)
{
	struct cvl_knot joint;
	size_t n;
	int rc;

	if (map->file || map->past || past->past || map->spec.rate_hz != past->spec.rate_hz ||
	    map->spec.kind != past->spec.kind)
		return cvl_fail(err, CVL_E_UNSUPPORTED, CVL_NO_OFFSET,
				"these clock maps cannot be joined");
	rc = map_knots_before(past, map->first.tick.count, &n, err);
	rc = rc || !n ? rc : cvl_map_knot(past, n - 1, &joint, err);
	if (rc)
		return rc;
	if (n && fine(&joint) > fine(&map->first))
		return cvl_fail(err, CVL_E_ORDER, n, "clock maps that are joined go back");
	if (n) {
		map->past = past;
		map->joint = joint;
		map->n_past = n;
	} else {
		cvl_map_free(past);
	}
	return 0;
}
