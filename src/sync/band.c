/* SPDX-License-Identifier: MIT */
/*
 * Drift limit only: low(x) = max_i (l_i - rho |x - x_i|), high(x) = min_i (h_i + rho |x - x_i|):
 * cones. Computed exactly in two sweeps; the points of the band are the limits that matter and the
 * crossings of the cones between them.
 *
 * With a wander limit: at a point x0, theta(x) = theta0 + r d + e, d = x - x0, |e| <= w d^2 / 2
 * (Taylor), |r| <= rho, so each limit is a half-plane in (theta0, r), and the extremes of theta0
 * are two small linear programs. Between points at distance h a curve with |theta''| <= w leaves
 * its chord by at most w h^2 / 8, which is added.
 */
#include "sync/band.h"

#include <coeval/array.h>

#include <math.h>
#include <stdlib.h>

#define GRID 129        /* points where the wander band is computed */
#define LIMITS_MAX 2048 /* limits used; dropping one is safe, it only widens the band */
#define SEARCH_STEPS 100

void band_free(struct band *b)
{
	free(b->point);
	*b = (struct band){ 0 };
}

static int add_point(struct band *b, int64_t x, long double low, long double high,
		     struct cvl_error *err)
{
	if (b->n && b->point[b->n - 1].x >= x)
		return 0;
	if (cvl_room(&b->point, b->n, &b->capacity, sizeof(*b->point)))
		return cvl_no_memory(err);
	b->point[b->n++] = (struct band_point){ x, low, high };
	return 0;
}

static int by_x(const void *pa, const void *pb)
{
	const struct band_limit *a = pa, *b = pb;

	return a->x < b->x ? -1 : a->x > b->x;
}

/*
 * An empty band for @limits, sorted. False if they are all of one direction, so there is no band.
 */
static bool begin_band(struct band *b, struct band_limit *limits, size_t n, double rho)
{
	bool low = false, high = false;

	b->n = b->cuts = 0;
	b->rho = rho;
	b->empty = false;
	b->worst = 0;
	for (size_t i = 0; i < n; i++) {
		low = low || limits[i].lower;
		high = high || !limits[i].lower;
	}
	if (n)
		qsort(limits, n, sizeof(*limits), by_x);
	return low && high;
}

/* ---- cones ---- */

struct cone {
	int64_t x;
	long double low, high;    /* the band here */
	uint32_t low_id, high_id; /* observations that set it */
};

/* The band at every limit's x. */
static void sweep(struct cone *c, const struct band_limit *l, size_t n, double rho)
{
	long double low = -INFINITY, high = INFINITY;
	uint32_t low_id = 0, high_id = 0;

	for (size_t i = 0; i < n; i++) {
		long double d = i ? rho * (long double)(l[i].x - l[i - 1].x) : 0;

		low -= d;
		high += d;
		if (l[i].lower && (long double)l[i].bound > low) {
			low = (long double)l[i].bound;
			low_id = l[i].id;
		}
		if (!l[i].lower && (long double)l[i].bound < high) {
			high = (long double)l[i].bound;
			high_id = l[i].id;
		}
		c[i] = (struct cone){ l[i].x, low, high, low_id, high_id };
	}
	for (size_t i = n - 1; i-- > 0;) {
		long double d = rho * (long double)(l[i + 1].x - l[i].x);

		if (c[i + 1].low - d > c[i].low) {
			c[i].low = c[i + 1].low - d;
			c[i].low_id = c[i + 1].low_id;
		}
		if (c[i + 1].high + d < c[i].high) {
			c[i].high = c[i + 1].high + d;
			c[i].high_id = c[i + 1].high_id;
		}
	}
}

static void between(const struct cone *a, const struct cone *b, double rho, int64_t x,
		    long double *low, long double *high)
{
	long double da = rho * (long double)(x - a->x), db = rho * (long double)(b->x - x);

	*low = fmaxl(a->low - da, b->low - db);
	*high = fminl(a->high + da, b->high + db);
}

/* Points on both sides of where the cones of two neighbours cross: x is an integer. */
static int add_crossing(struct band *b, const struct cone *p, const struct cone *q,
			long double shift, struct cvl_error *err)
{
	long double at = ((long double)p->x + (long double)q->x) / 2 + shift;
	int64_t x = (int64_t)floorl(at);
	int rc = 0;

	for (int k = 0; k < 2 && !rc; k++, x++) {
		long double low, high;

		if (x <= p->x || x >= q->x)
			continue;
		between(p, q, b->rho, x, &low, &high);
		rc = add_point(b, x, low, high, err);
	}
	return rc;
}

static int make_cones(struct band *b, const struct band_limit *l, size_t n, struct cvl_error *err)
{
	struct cone *c = malloc(n * sizeof(*c));
	const struct cone *last = NULL;
	int rc = 0;

	if (!c)
		return cvl_no_memory(err);
	sweep(c, l, n, b->rho);
	for (size_t i = 0; i < n; i++)
		if (c[i].low - c[i].high > b->worst) {
			b->worst = c[i].low - c[i].high;
			b->empty = true;
			b->worst_low = c[i].low_id;
			b->worst_high = c[i].high_id;
		}
	for (size_t i = 0; i < n && !rc; i++) {
		bool counts = (l[i].lower && c[i].low == (long double)l[i].bound) ||
			      (!l[i].lower && c[i].high == (long double)l[i].bound);

		/*
			 * a limit that others dominate is not a point of the band: the crossings
			 * between those that matter define it there
		 */
		if (!counts && i && i + 1 < n)
			continue;
		if (last && b->rho > 0) {
			long double low_shift = (last->low - c[i].low) / (2 * (long double)b->rho);
			long double high_shift =
				(c[i].high - last->high) / (2 * (long double)b->rho);

			rc = add_crossing(b, last, &c[i], fminl(low_shift, high_shift), err);
			if (!rc)
				rc = add_crossing(b, last, &c[i], fmaxl(low_shift, high_shift),
						  err);
		}
		if (!rc)
			rc = add_point(b, c[i].x, c[i].low, c[i].high, err);
		last = &c[i];
	}
	free(c);
	return rc;
}

/* ---- a clock that may have been set ---- */

/* What limits [begin, end) allow at x: from those up to x, and from those at x or later. */
struct sides {
	const struct band_limit *l;
	size_t n;
	struct side {
		long double low, high;
	} * upto, *from; /* at each limit, itself included */
	double rho;
};

static void one_way(struct side *at, const struct side *before, const struct band_limit *l,
		    int64_t x_before, double rho)
{
	long double d = before ? rho * fabsl((long double)l->x - (long double)x_before) : 0;

	at->low = before ? before->low - d : -INFINITY;
	at->high = before ? before->high + d : INFINITY;
	if (l->lower)
		at->low = fmaxl(at->low, (long double)l->bound);
	else
		at->high = fminl(at->high, (long double)l->bound);
}

static void find_sides(struct sides *s)
{
	for (size_t i = 0; i < s->n; i++)
		one_way(&s->upto[i], i ? &s->upto[i - 1] : NULL, &s->l[i], i ? s->l[i - 1].x : 0,
			s->rho);
	for (size_t i = s->n; i-- > 0;)
		one_way(&s->from[i], i + 1 < s->n ? &s->from[i + 1] : NULL, &s->l[i],
			i + 1 < s->n ? s->l[i + 1].x : 0, s->rho);
}

/* @side of limit @at, widened to x. */
static struct side carried(const struct side *side, int64_t at, int64_t x, double rho)
{
	long double d = rho * fabsl((long double)x - (long double)at);

	return (struct side){ side->low - d, side->high + d };
}

/*
 * The union of both sides at @x, @before and @after being the last limit up to it and the first
 * from it on.
 */
static int add_union(struct band *b, const struct sides *s, size_t before, size_t after, int64_t x,
		     struct cvl_error *err)
{
	struct side p = { -INFINITY, INFINITY }, q = p;

	if (before < s->n)
		p = carried(&s->upto[before], s->l[before].x, x, s->rho);
	if (after < s->n)
		q = carried(&s->from[after], s->l[after].x, x, s->rho);
	if (isinf(p.low) || isinf(p.high)) { /* a step this far out is unbounded */
		p.low = isinf(p.low) ? q.low : p.low;
		p.high = isinf(p.high) ? q.high : p.high;
	}
	if (isinf(q.low) || isinf(q.high)) {
		q.low = isinf(q.low) ? p.low : q.low;
		q.high = isinf(q.high) ? p.high : q.high;
	}
	return add_point(b, x, fminl(p.low, q.low), fmaxl(p.high, q.high), err);
}

static bool counts(const struct sides *s, size_t i)
{
	const struct band_limit *l = &s->l[i];

	return l->lower ? s->upto[i].low == (long double)l->bound ||
				  s->from[i].low == (long double)l->bound :
			  s->upto[i].high == (long double)l->bound ||
				  s->from[i].high == (long double)l->bound;
}

static int make_union(struct band *b, const struct sides *s, struct cvl_error *err)
{
	int rc = 0;

	b->sure_from = INT64_MAX;
	b->sure_to = INT64_MIN;
	for (size_t i = 0, end; i < s->n && !rc; i = end) {
		bool any = !i;
		int64_t x = s->l[i].x;

		for (end = i; end < s->n && s->l[end].x == x; end++)
			any = any || counts(s, end);
		if (isfinite(s->upto[end - 1].low) && isfinite(s->upto[end - 1].high) &&
		    b->sure_from == INT64_MAX)
			b->sure_from = x;
		if (isfinite(s->from[i].low) && isfinite(s->from[i].high))
			b->sure_to = x;
		if (!any && end < s->n)
			continue;
		rc = add_union(b, s, i - 1, i, x - 1, err);
		rc = rc ? rc : add_union(b, s, end - 1, i, x, err);
		rc = rc ? rc : add_union(b, s, end - 1, end, x + 1, err);
	}
	return rc;
}

/* First limit at which those from @begin on become contradictory; s->n: never. */
static size_t first_conflict(const struct sides *s, size_t begin)
{
	struct side now = { 0 };

	for (size_t i = begin; i < s->n; i++) {
		struct side before = now;

		one_way(&now, i > begin ? &before : NULL, &s->l[i], i ? s->l[i - 1].x : 0, s->rho);
		if (now.low > now.high)
			return i;
	}
	return s->n;
}

/* Last limit, down to @begin, from which those up to @end are contradictory. */
static size_t last_conflict(const struct sides *s, size_t begin, size_t end)
{
	struct side now = { 0 };

	for (size_t i = end; i-- > begin;) {
		struct side before = now;

		one_way(&now, i + 1 < end ? &before : NULL, &s->l[i],
			i + 1 < end ? s->l[i + 1].x : 0, s->rho);
		if (now.low > now.high)
			return i;
	}
	return begin;
}

/*
 * Split into parts without a contradiction, [begin, end) of the limits each. Returns their number;
 * more than BAND_CUTS_MAX + 1: too many.
 */
static size_t find_parts(const struct sides *s, size_t part[BAND_CUTS_MAX + 2][2])
{
	size_t n = 0, begin = 0;

	while (n < BAND_CUTS_MAX + 2) {
		size_t right = first_conflict(s, begin), left;

		part[n][0] = begin;
		part[n][1] = s->n;
		n++;
		if (right == s->n)
			return n;
		/*
		 * one step lies in every contradiction: between the last that begins and the first
		 * that ends
		 */
		left = last_conflict(s, begin, s->n);
		if (left >= right)
			left = last_conflict(s, begin, right + 1);
		part[n - 1][1] = left + 1;
		begin = right;
	}
	return n;
}

static int make_part(struct band *b, const struct band_limit *l, size_t n, struct band *part,
		     struct cvl_error *err)
{
	bool low = false, high = false;

	for (size_t i = 0; i < n; i++) {
		low = low || l[i].lower;
		high = high || !l[i].lower;
	}
	part->n = 0;
	part->rho = b->rho;
	if (!low || !high) {
		b->empty = true;
		return 0;
	}
	return make_cones(part, l, n, err);
}

/* Adds both sides of the bracket between the band's last point and the first of @next. */
static int bridge(struct band *b, const struct band *next, struct cvl_error *err)
{
	const struct band_point *p = &b->point[b->n - 1], *q = &next->point[0];
	const int64_t at[2] = { p->x + 1, q->x - 1 }, x_p = p->x;
	const struct side left = { p->low, p->high }, right = { q->low, q->high };
	int rc = 0;

	for (int k = 0; k < 2 && !rc; k++) {
		struct side a = carried(&left, x_p, at[k], b->rho);
		struct side c = carried(&right, q->x, at[k], b->rho);

		rc = add_point(b, at[k], fminl(a.low, c.low), fmaxl(a.high, c.high), err);
	}
	return rc;
}

static int make_parts(struct band *b, const struct sides *s, size_t part[][2], size_t n,
		      struct cvl_error *err)
{
	struct band one = { 0 };
	int rc = 0;

	b->cuts = n - 1;
	b->cut_from = s->l[part[0][1] - 1].x;
	b->cut_to = s->l[part[1][0]].x;
	b->sure_from = s->l[0].x;
	b->sure_to = s->l[s->n - 1].x;
	for (size_t k = 0; k < n && !rc && !b->empty; k++) {
		rc = make_part(b, s->l + part[k][0], part[k][1] - part[k][0], &one, err);
		if (!rc && k && !b->empty)
			rc = bridge(b, &one, err);
		for (size_t i = 0; i < one.n && !rc && !b->empty; i++)
			rc = add_point(b, one.point[i].x, one.point[i].low, one.point[i].high, err);
	}
	band_free(&one);
	return rc;
}

int band_make_settable(struct band *b, struct band_limit *limits, size_t n, double rho,
		       struct cvl_error *err)
{
	struct sides s = { .l = limits, .n = n, .rho = rho };
	size_t part[BAND_CUTS_MAX + 2][2], parts;
	int rc = 0;

	if (!begin_band(b, limits, n, rho))
		return 0;
	s.upto = malloc(n * sizeof(*s.upto));
	s.from = malloc(n * sizeof(*s.from));
	if (!s.upto || !s.from) {
		rc = cvl_no_memory(err);
	} else {
		find_sides(&s);
		parts = find_parts(&s, part);
		b->empty = parts > BAND_CUTS_MAX + 1;
		if (parts == 1)
			rc = make_union(b, &s, err);
		else if (!b->empty)
			rc = make_parts(b, &s, part, parts, err);
		if (b->empty)
			b->n = 0;
	}
	free(s.upto);
	free(s.from);
	return rc;
}

/* ---- wander ---- */

struct programme {
	const struct band_limit *limit;
	size_t n;
	double rho;
	long double wander; /* a ns */
	int64_t x0;
};

/* Greatest theta0 below all upper limits at rate @r, and smallest above all lower ones. */
static void at_rate(const struct programme *p, long double r, long double *ceiling,
		    long double *floor)
{
	long double up = INFINITY, down = -INFINITY;

	/* the hot loop of an estimation: fminl() would be a function call */
	for (size_t i = 0; i < p->n; i++) {
		const struct band_limit *l = &p->limit[i];
		long double d = (long double)(l->x - p->x0), slack = p->wander * d * d / 2;
		long double v = (long double)l->bound - r * d;

		if (l->lower && v - slack > down)
			down = v - slack;
		if (!l->lower && v + slack < up)
			up = v + slack;
	}
	*ceiling = up;
	*floor = down;
}

enum goal { WIDTH, CEILING, FLOOR };

static long double value_at(const struct programme *p, long double r, enum goal goal)
{
	long double ceiling, floor;

	at_rate(p, r, &ceiling, &floor);
	return goal == WIDTH ? ceiling - floor : goal == CEILING ? ceiling : -floor;
}

/* All three goals are concave in the rate: ternary search. */
static long double best_rate(const struct programme *p, long double a, long double b,
			     enum goal goal)
{
	for (int i = 0; i < SEARCH_STEPS && b > a; i++) {
		long double u = a + (b - a) / 3, v = b - (b - a) / 3;

		if (value_at(p, u, goal) < value_at(p, v, goal))
			a = u;
		else
			b = v;
	}
	return (a + b) / 2;
}

/* Rate nearest to @outside that still satisfies the limits; @inside does. */
static long double edge_rate(const struct programme *p, long double inside, long double outside)
{
	if (value_at(p, outside, WIDTH) >= 0)
		return outside;
	for (int i = 0; i < SEARCH_STEPS; i++) {
		long double mid = (inside + outside) / 2;

		if (value_at(p, mid, WIDTH) >= 0)
			inside = mid;
		else
			outside = mid;
	}
	return outside; /* the unsafe side: the band may only be too wide */
}

static long double solve_at(const struct programme *p, long double *low, long double *high)
{
	long double r = best_rate(p, -p->rho, p->rho, WIDTH), width = value_at(p, r, WIDTH), a, b;

	if (width < 0) {
		at_rate(p, r, high, low);
		return -width;
	}
	a = edge_rate(p, r, -p->rho);
	b = edge_rate(p, r, p->rho);
	*high = value_at(p, best_rate(p, a, b, CEILING), CEILING);
	*low = -value_at(p, best_rate(p, a, b, FLOOR), FLOOR);
	return 0;
}

/* Keep the tightest limits of each direction in each time slot. */
static size_t thin(struct band_limit *l, size_t n)
{
	size_t parts = LIMITS_MAX / 2, out = 0, i = 0;
	long double first = (long double)l[0].x, span = (long double)l[n - 1].x - first + 1;

	if (n <= LIMITS_MAX)
		return n;
	for (size_t k = 0; k < parts; k++) {
		struct band_limit low = { 0 }, high = { 0 };
		bool has_low = false, has_high = false;

		for (; i < n && ((long double)l[i].x - first) / span * (long double)parts <
					(long double)(k + 1);
		     i++) {
			if (l[i].lower && (!has_low || l[i].bound > low.bound)) {
				low = l[i];
				has_low = true;
			} else if (!l[i].lower && (!has_high || l[i].bound < high.bound)) {
				high = l[i];
				has_high = true;
			}
		}
		if (has_low)
			l[out++] = low;
		if (has_high)
			l[out++] = high;
	}
	return out;
}

/* The band at @x. @chord: how far a curve may leave the chord between points. */
static int add_solved(struct band *b, struct programme *p, int64_t x, long double chord,
		      struct cvl_error *err)
{
	long double low, high, conflict;

	p->x0 = x;
	conflict = solve_at(p, &low, &high);
	if (conflict > b->worst) {
		b->worst = conflict;
		b->empty = true;
	}
	return add_point(b, x, low - chord - 1, high + chord + 1, err);
}

static int make_wander(struct band *b, struct band_limit *l, size_t n, int64_t from, int64_t to,
		       double wander, struct cvl_error *err)
{
	struct programme p = { .rho = b->rho, .wander = (long double)wander * 1e-9L };
	long double h, chord;
	int rc = 0;

	if (l[0].x < from)
		from = l[0].x;
	if (l[n - 1].x > to)
		to = l[n - 1].x;
	p.n = thin(l, n);
	p.limit = l;
	h = ((long double)to - (long double)from) / (GRID - 1);
	chord = p.wander * (h + 1) * (h + 1) / 8;
	for (int i = 0; i < GRID && !rc; i++)
		rc = add_solved(b, &p, i == GRID - 1 ? to : from + (int64_t)(h * i), chord, err);
	return rc;
}

static int by_place(const void *pa, const void *pb)
{
	const int64_t *a = pa, *b = pb;

	return *a < *b ? -1 : *a > *b;
}

int band_make_lines(struct band *b, struct band_limit *limits, size_t n, int64_t *at, size_t n_at,
		    struct cvl_error *err)
{
	struct programme p = { .limit = limits, .n = n, .rho = 0.5 };
	int rc = 0;

	begin_band(b, limits, n, p.rho);
	qsort(at, n_at, sizeof(*at), by_place);
	for (size_t i = 0; i < n_at && !rc; i++)
		rc = add_solved(b, &p, at[i], 0, err);
	return rc;
}

int band_make(struct band *b, struct band_limit *limits, size_t n, int64_t from, int64_t to,
	      double rho, bool has_wander, double wander, struct cvl_error *err)
{
	if (!begin_band(b, limits, n, rho))
		return 0;
	return has_wander ? make_wander(b, limits, n, from, to, wander, err) :
			    make_cones(b, limits, n, err);
}

bool band_at(const struct band *b, int64_t x, long double *low, long double *high)
{
	size_t lo = 0, hi = b->n;
	const struct band_point *p, *q;
	long double part;

	if (!b->n)
		return false;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (b->point[mid].x <= x)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || lo == b->n) {
		long double d;

		p = &b->point[lo ? b->n - 1 : 0];
		d = b->rho * fabsl((long double)x - (long double)p->x);
		*low = p->low - d;
		*high = p->high + d;
		return true;
	}
	p = &b->point[lo - 1];
	q = &b->point[lo];
	part = ((long double)x - (long double)p->x) / ((long double)q->x - (long double)p->x);
	*low = p->low + (q->low - p->low) * part;
	*high = p->high + (q->high - p->high) * part;
	return true;
}
