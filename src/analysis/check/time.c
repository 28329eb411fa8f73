/* SPDX-License-Identifier: MIT */
/*
 * Order and distance of two occurrences.
 *
 * Each bound costs a search in a clock map. Nearly all questions are decided by the greatest bound
 * of a clock so far; only if that is not enough the exact ones are computed.
 */
#include "analysis/check/internal.h"

#include <math.h>

static bool one_clock(const struct check *c, const struct occ *a, const struct occ *b)
{
	return a->clock == b->clock || c->root[a->clock] == c->root[b->clock];
}

/*
 * Error of a map in the distance of two ticks of its clock: the rate limit on either side.
 */
static int64_t drift(const struct check *c, uint32_t clock, int64_t distance, bool tied)
{
	double d = (double)(distance < 0 ? -(distance + 1) : distance) * c->drift[clock];

	return (int64_t)fmin(tied ? d + d : d, 4e18) + (tied ? 2 : 1);
}

static int64_t apart(const struct occ *a, const struct occ *b)
{
	int64_t d;

	if (!__builtin_sub_overflow(b->ns, a->ns, &d))
		return d;
	return b->ns > a->ns ? INT64_MAX : INT64_MIN;
}

static struct cvl_bound parts(const struct check *c, const struct occ *o)
{
	return cvl_timeline_clock_bound(c->tl, o->clock, (struct cvl_tick){ o->tick });
}

int64_t occ_own_bound(const struct check *c, const struct occ *a)
{
	struct cvl_bound b = parts(c, a);

	b.capture = a->capture;
	return cvl_bound_total(b);
}

int64_t occ_bound(const struct check *c, const struct occ *a, const struct occ *b)
{
	struct cvl_bound pa = parts(c, a), pb = parts(c, b);
	int64_t maps = cvl_bound_pair(pa, pb);

	if (one_clock(c, a, b)) {
		int64_t rate = drift(c, a->clock, apart(a, b), pa.map != CVL_BOUND_UNKNOWN);

		maps = maps < rate ? maps : rate;
	}
	if (maps == CVL_BOUND_UNKNOWN)
		return maps;
	return cvl_add_sat(maps, cvl_add_sat(a->capture, b->capture));
}

/* Not less than occ_bound(). */
static inline int64_t quick_bound(const struct check *c, const struct occ *a, const struct occ *b,
				  int64_t d)
{
	int64_t maps = one_clock(c, a, b) ? drift(c, a->clock, d, true) :
					    cvl_add_sat(c->hi[a->clock], c->hi[b->clock]);

	return cvl_add_sat(maps, cvl_add_sat(a->capture, b->capture));
}

static inline enum tri order(int64_t d, int64_t w)
{
	return d > w ? YES : d < -w ? NO : MAYBE;
}

enum tri occ_before(const struct check *c, const struct occ *a, const struct occ *b)
{
	enum tri quick;
	int64_t d, w;

	if (a->ns == INT64_MIN)
		return YES;
	if (a->stream == b->stream)
		return a->place < b->place ? YES : a->place > b->place ? NO : MAYBE;
	d = apart(a, b);
	quick = order(d, quick_bound(c, a, b, d));
	if (quick != MAYBE)
		return quick;
	w = occ_bound(c, a, b);
	return w == CVL_BOUND_UNKNOWN ? MAYBE : order(d, w);
}

static inline enum tri between(int64_t d, int64_t w, int64_t lo, int64_t hi)
{
	int64_t least, most;

	if (__builtin_sub_overflow(d, w, &least))
		least = INT64_MIN;
	if (__builtin_add_overflow(d, w, &most))
		most = INT64_MAX;
	if (least >= lo && most <= hi)
		return YES;
	return most < lo || least > hi ? NO : MAYBE;
}

enum tri occ_within(const struct check *c, const struct occ *a, const struct occ *b, int64_t lo,
		    int64_t hi)
{
	int64_t d = apart(a, b), w;
	enum tri quick;

	if (a->stream == b->stream && !lo) { /* their order is certain */
		if (a->place > b->place || (a->place == b->place && a->what == b->what))
			return NO;
		if (a->place < b->place)
			lo = INT64_MIN;
	}
	quick = between(d, quick_bound(c, a, b, d), lo, hi);
	if (quick != MAYBE)
		return quick;
	w = occ_bound(c, a, b);
	return w == CVL_BOUND_UNKNOWN ? MAYBE : between(d, w, lo, hi);
}

static int64_t reach_between(const struct check *c, const struct monitor *m, size_t a, size_t b,
			     int64_t distance)
{
	const struct source *sa = &c->source[m->source[a]], *sb = &c->source[m->source[b]];

	if (!m->same_clock)
		return cvl_add_sat(sa->reach, sb->reach);
	/* rate error within the distance and this reach */
	return cvl_add_sat(cvl_add_sat(sa->capture, sb->capture),
			   cvl_add_sat(drift(c, sa->root, distance, true), 4)) +
	       drift(c, sa->root, sa->capture, true) + drift(c, sa->root, sb->capture, true);
}

static int64_t order_reach(const struct check *c, const struct monitor *m)
{
	int64_t most = 0;

	for (size_t i = 0; i < m->rule->n_phrases; i++) {
		int64_t reach = m->same_clock ? reach_between(c, m, i, i, 0) :
						c->source[m->source[i]].reach;

		most = reach > most ? reach : most;
	}
	return m->same_clock ? most : cvl_add_sat(most, most);
}

int64_t monitor_reach(const struct check *c, const struct monitor *m)
{
	if (m->rule->kind == CHECK_ORDER)
		return order_reach(c, m);
	if (m->rule->n_phrases < 2)
		return 0; /* none needed */
	return reach_between(c, m, 0, 1, m->rule->kind == CHECK_NEVER ? 0 : m->rule->max);
}

/* The greatest bound in a range, or anywhere between the map's knots. */
static int64_t map_bound_max(const struct cvl_map *map, uint64_t lo, uint64_t hi, bool all)
{
	struct cvl_knot first, last;

	cvl_map_ends(map, &first, &last);
	return cvl_map_bound_max(map, all ? first.tick : (struct cvl_tick){ lo },
				 all ? last.tick : (struct cvl_tick){ hi });
}

int64_t clock_bound_max(const struct check *c, size_t clock, uint64_t lo, uint64_t hi, bool all)
{
	struct cvl_bound b = cvl_timeline_clock_bound(c->tl, clock, (struct cvl_tick){ lo });

	b.map = map_bound_max(cvl_timeline_map(c->tl, clock), lo, hi, all);
	return cvl_bound_total(b);
}

/*
 * The timeline has read the next packet of each stream that continues, so a stream's packets reach
 * to now or beyond, unless it has ended.
 */
static void find_end(const struct check *c, struct source *s)
{
	s->end.ns = INT64_MAX;
	for (size_t k = 0; k < s->n_streams; k++) {
		uint32_t stream = s->stream[k];
		int clock = cvl_timeline_stream_clock(c->tl, stream);
		struct cvl_stream_stats stats;
		struct occ o = { .stream = stream, .place = UINT64_MAX };

		if (clock < 0) /* nothing was read: it is blind */
			continue;
		cvl_stream_stats(cvl_timeline_stream(c->tl, stream), &stats);
		o.tick = stats.end.count;
		o.clock = (uint32_t)clock;
		o.capture = c->stream[stream].capture;
		o.ns = cvl_map_time(cvl_timeline_map(c->tl, o.clock), stats.end, NULL).ns;
		if (o.ns > c->last) {
			o.ns = c->last;
			o.tick = cvl_map_tick(cvl_timeline_map(c->tl, o.clock),
					      (struct cvl_time){ c->last })
					 .count;
		}
		if (o.ns < s->end.ns)
			s->end = o;
	}
}

bool source_reaches(const struct check *c, struct source *s, int64_t ns)
{
	if (s->end.ns < ns)
		find_end(c, s);
	return s->end.ns >= ns;
}
