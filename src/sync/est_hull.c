/* SPDX-License-Identifier: MIT */
/*
 * Convex hull (Duda et al. 1987; Jabbarifar 2013): clock B's time as one straight line of clock A's. A message
 * from A to B is a point the line must not pass below, one from B to A a point it must not pass above. The line
 * is the bisector of the steepest and the flattest that do. All comparisons are exact: differences of
 * int64 coordinates have 64 bits, their products 128.
 *
 * Clocks that share no messages with the reference are reached through the neighbours with the most messages.
 */
#include "sync/band.h"
#include "sync/problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef __int128 i128;

struct point {
	int64_t x, y;
};

/* y = y0 + (1 + skew) (x - x0) */
struct line {
	int64_t x0, y0;
	long double y0_frac, skew;
};

static int by_x(const void *pa, const void *pb)
{
	const struct point *a = pa, *b = pb;

	if (a->x != b->x)
		return a->x < b->x ? -1 : 1;
	return a->y < b->y ? -1 : a->y > b->y;
}

static i128 cross(struct point o, struct point a, struct point b)
{
	return (i128)(a.x - o.x) * (b.y - o.y) - (i128)(a.y - o.y) * (b.x - o.x);
}

/* In-place hull of @p sorted by x: the upper one (@sign > 0) or the lower one. Returns how many remain. */
static size_t hull(struct point *p, size_t n, int sign)
{
	size_t out = 0;

	for (size_t i = 0; i < n; i++) {
		while (out >= 2) {
			i128 turn = cross(p[out - 2], p[out - 1], p[i]);

			if (sign > 0 ? turn < 0 : turn > 0)
				break;
			out--;
		}
		p[out++] = p[i];
	}
	return out;
}

/* Two points a line goes through; slopes are compared by cross multiplication. */
struct pair {
	struct point left, right;
	bool found;
};

static bool steeper(const struct pair *a, const struct pair *b)
{
	return (i128)(a->right.y - a->left.y) * (b->right.x - b->left.x) >
	       (i128)(b->right.y - b->left.y) * (a->right.x - a->left.x);
}

/* The line through a point of each set, @first to the left: flattest (@want < 0) or steepest. */
static struct pair extreme(const struct point *first, size_t n, const struct point *second,
			   size_t m, int want)
{
	struct pair best = { .found = false };

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < m; k++) {
			struct pair c = { first[i], second[k], true };

			if (c.left.x < c.right.x &&
			    (!best.found || (want < 0 ? steeper(&best, &c) : steeper(&c, &best))))
				best = c;
		}
	return best;
}

static long double skew_of(const struct pair *p)
{
	long double dx = (long double)(p->right.x - p->left.x);

	return (long double)((i128)(p->right.y - p->left.y) - (p->right.x - p->left.x)) / dx;
}

/*
 * Line between all @below (which it must not pass below) and @above. 0, 1 if there are too few, 2 if there is none.
 */
static int fit(struct point *below, size_t n, struct point *above, size_t m, struct line *out,
	       long double *range)
{
	struct pair steep, flat;
	long double a, b, xi, angle;

	qsort(below, n, sizeof(*below), by_x);
	qsort(above, m, sizeof(*above), by_x);
	n = hull(below, n, 1);
	m = hull(above, m, -1);
	/* turning the line up is stopped by a point it leaves below on the left and one above on the right */
	steep = extreme(below, n, above, m, -1);
	flat = extreme(above, m, below, n, 1);
	if (!steep.found || !flat.found)
		return 1;
	if (steeper(&flat, &steep))
		return 2;
	a = skew_of(&steep);
	b = skew_of(&flat);
	/* where they cross, from the left point of the steep one */
	xi = a == b ? 0 :
		      (((long double)(flat.left.y - steep.left.y) -
			(1 + b) * (long double)(flat.left.x - steep.left.x)) /
		       (a - b));
	out->x0 = steep.left.x + (int64_t)floorl(xi);
	xi = floorl(xi);
	out->y0 = steep.left.y + (int64_t)xi;
	out->y0_frac = xi * a;
	angle = (atanl(1 + a) + atanl(1 + b)) / 2;
	out->skew = tanl(angle) - 1;
	if (fabsl(a - b) < 1e-9L) /* tan and atan round more than that is worth */
		out->skew = (a + b) / 2;
	*range = (a - b) / 2;
	return 0;
}

/* ---- the tree of clocks ---- */

struct link {
	size_t parent;
	bool tied;
	struct line line;
	struct band band; /* of all lines that fit, against the parent */
	long double skew_range;
	uint64_t messages;
	int failed;
};

struct work {
	const struct sync_problem *p;
	struct link *link;
	uint64_t *shared; /* messages of each pair */
	struct point *below, *above;
	struct band_limit *limit;
};

static size_t canon(const struct sync_problem *p, size_t c)
{
	return p->clock[c].same_as;
}

/* How many messages each pair of clocks shares, as a square. NULL when out of memory. */
static uint64_t *count_pairs(const struct sync_problem *p)
{
	uint64_t *n = calloc(p->n_clocks * p->n_clocks + 1, sizeof(*n));

	for (size_t i = 0; n && i < p->n_messages; i++) {
		size_t from = canon(p, p->message[i].from), to = canon(p, p->message[i].to);

		n[from * p->n_clocks + to]++;
		n[to * p->n_clocks + from]++;
	}
	return n;
}

/* Fit @child (x) against @parent (y). */
static int tie(struct work *w, size_t child, size_t parent, struct cvl_error *err)
{
	const struct sync_problem *p = w->p;
	struct link *l = &w->link[child];
	size_t n = 0, m = 0, k = 0;
	int rc;

	for (size_t i = 0; i < p->n_messages; i++) {
		const struct sync_message *msg = &p->message[i];
		size_t from = canon(p, msg->from), to = canon(p, msg->to);
		int64_t sent = sync_x(p, msg->from, msg->sent);
		int64_t received =
			sync_x(p, msg->to, msg->received) + p->clock[msg->to].resolution_ns + 1;

		if (from == parent && to == child) {
			w->below[n++] = (struct point){ received, sent };
			w->limit[k++] =
				(struct band_limit){ received, sent - received, true, (uint32_t)i };
		} else if (from == child && to == parent) {
			w->above[m++] = (struct point){ sent, received };
			w->limit[k++] =
				(struct band_limit){ sent, received - sent, false, (uint32_t)i };
		}
	}
	l->parent = parent;
	l->messages = n + m;
	l->failed = fit(w->below, n, w->above, m, &l->line, &l->skew_range);
	w->shared[child * p->n_clocks + parent] =
		0; /* tried: another clock may do if this one does not */
	if (l->failed)
		return 0;
	/* every line that fits, at every instant: the band of a clock whose rate never changes */
	rc = band_make(&l->band, w->limit, k, sync_x(p, child, p->clock[child].first),
		       sync_x(p, child, p->clock[child].last), 0.5, true, 0, err);
	l->failed = l->band.empty ? 2 : 0;
	l->tied = !rc && !l->failed;
	return rc;
}

static long double line_at(const struct line *l, int64_t x)
{
	/* as an offset from x, so that nothing large is multiplied */
	return (long double)(l->y0 - l->x0) + l->y0_frac + l->skew * (long double)(x - l->x0);
}

/* Offset of clock @c from the reference at its x, and how far any fitting line may be from it. */
static void chain(const struct work *w, size_t c, size_t ref, int64_t x, long double *theta,
		  long double *bound)
{
	*theta = *bound = 0;
	for (; c != ref; c = w->link[c].parent) {
		const struct link *l = &w->link[c];
		int64_t at = x + (int64_t)llroundl(*theta);
		long double step = line_at(&l->line, at), low = step, high = step;

		band_at(&l->band, at, &low, &high);
		/* the parent is asked at a time that is itself uncertain */
		*bound *= 1 + fabsl(l->line.skew) + 2 * fabsl(l->skew_range);
		*bound += fmaxl(0, fmaxl(step - low, high - step)) + 1;
		*theta += step;
	}
}

static int make_map(const struct work *w, size_t clock, size_t ref, struct cvl_clock_sync *out,
		    struct cvl_error *err)
{
	enum { KNOTS = 129 };
	const struct sync_problem *p = w->p;
	struct cvl_knot k[KNOTS] = { 0 };
	struct cvl_map_spec spec = { .rate_hz = p->clock[clock].rate_hz,
				     .knots = k,
				     .kind = CVL_BOUND_PROVEN };
	const struct band *b = &w->link[canon(p, clock)].band;
	uint64_t first = p->clock[clock].first, last = p->clock[clock].last;
	long double growth = 0;

	if (b->n) { /* messages may lie outside what was recorded beside them */
		uint64_t a =
			cvl_map_tick(p->clock[clock].nominal, (struct cvl_time){ b->point[0].x })
				.count;
		uint64_t z = cvl_map_tick(p->clock[clock].nominal,
					  (struct cvl_time){ b->point[b->n - 1].x })
				     .count;

		first = a < first ? a : first;
		last = z > last ? z : last;
	}
	for (int i = 0; i < KNOTS; i++) {
		uint64_t tick = first + (uint64_t)((long double)(last - first) * i / (KNOTS - 1));
		int64_t x = sync_x(p, clock, tick);
		long double theta, bound, floor;

		if (spec.n && tick <= k[spec.n - 1].tick.count)
			continue;
		chain(w, canon(p, clock), ref, x, &theta, &bound);
		floor = floorl(theta);
		k[spec.n].tick.count = tick;
		k[spec.n].time.ns = x + (int64_t)floor;
		k[spec.n].frac = (uint32_t)((theta - floor) * 4294967295.0L);
		k[spec.n].bound_ns = (int64_t)ceill(bound) + 2;
		spec.n++;
	}
	for (size_t c = canon(p, clock); c != ref; c = w->link[c].parent)
		growth += fmaxl(w->link[c].skew_range, 0) * 2;
	if (last > first) {
		/* from the line itself: rounded times at its ends would tell far beyond them */
		long double run = (long double)(sync_x(p, clock, last) - sync_x(p, clock, first)),
			    low, high, bound;

		chain(w, canon(p, clock), ref, sync_x(p, clock, first), &low, &bound);
		chain(w, canon(p, clock), ref, sync_x(p, clock, last), &high, &bound);
		out->rate_ppb = (double)((low - high) / (run + high - low) * 1e9L);
	}
	spec.before.rate_ppb = spec.after.rate_ppb = out->rate_ppb;
	spec.before.drift_ppb = spec.after.drift_ppb = (double)(growth * 1e9L);
	out->rate_bound_ppb = (double)(growth / 2 * 1e9L);
	return cvl_map_new(&out->map, &spec, err);
}

/* The clock not yet tied that shares the most messages with one that is, and that one. */
static bool next_to_tie(const struct work *w, size_t *child, size_t *parent)
{
	const struct sync_problem *p = w->p;
	uint64_t best = 0;

	for (size_t c = 0; c < p->n_clocks; c++) {
		if (canon(p, c) != c || w->link[c].tied)
			continue;
		for (size_t q = 0; q < p->n_clocks; q++) {
			uint64_t n = w->link[q].tied ? w->shared[c * p->n_clocks + q] : 0;

			if (n > best) {
				best = n;
				*child = c;
				*parent = q;
			}
		}
	}
	return best > 0;
}

static void explain(const struct sync_problem *p, size_t clock, const struct link *l,
		    struct cvl_clock_sync *out)
{
	if (sync_again(p, clock, out))
		return;
	if (l->failed == 1)
		sync_reason(
			out, CVL_UNSYNCHRONISED,
			"%llu messages do not suffice: a line needs both directions, early and late",
			(unsigned long long)l->messages);
	else if (l->failed)
		sync_reason(
			out, CVL_UNSYNCHRONISED,
			"no straight line fits its %llu messages: a rate changed, or messages are matched wrongly; "
			"`--estimator interval` allows for it",
			(unsigned long long)l->messages);
	else
		sync_reason(out, CVL_UNSYNCHRONISED, "no messages tie it to the reference");
}

static int solve(const struct sync_problem *p, struct sync_solution *s, struct cvl_error *err)
{
	size_t ref = p->reference >= 0 ? canon(p, (size_t)p->reference) : 0, child = 0, parent = 0;
	struct work w = {
		.p = p,
		.link = calloc(p->n_clocks, sizeof(*w.link)),
		.shared = count_pairs(p),
		.below = calloc(p->n_messages + 1, sizeof(*w.below)),
		.above = calloc(p->n_messages + 1, sizeof(*w.above)),
		.limit = calloc(p->n_messages + 1, sizeof(*w.limit)),
	};
	int rc = 0;

	if (!w.link || !w.shared || !w.below || !w.above || !w.limit) {
		rc = cvl_fail(err, CVL_E_NOMEM, CVL_NO_OFFSET, "out of memory");
		goto out;
	}
	snprintf(s->reference, sizeof(s->reference), "%s", p->clock[ref].name);
	w.link[ref].tied = true;
	while (!rc && next_to_tie(&w, &child, &parent))
		rc = tie(&w, child, parent, err);
	for (size_t c = 0; c < p->n_clocks && !rc; c++) {
		struct link *l = &w.link[canon(p, c)];

		if (canon(p, c) == ref) {
			rc = sync_reference_map(p, s, c, err);
		} else if (!l->tied || l->failed) {
			explain(p, c, l, &s->clock[c]);
		} else {
			rc = make_map(&w, c, ref, &s->clock[c], err);
			s->clock[c].used = l->messages;
			sync_reason(&s->clock[c], CVL_GOOD,
				    "%llu messages with %s; bounds hold if the rates are constant",
				    (unsigned long long)l->messages, p->clock[l->parent].name);
		}
	}
out:
	for (size_t c = 0; w.link && c < p->n_clocks; c++)
		band_free(&w.link[c].band);
	free(w.link);
	free(w.shared);
	free(w.below);
	free(w.above);
	free(w.limit);
	return rc;
}

const struct estimator estimator_hull = {
	.info = { "hull", "messages and constant rates: convex hull, one straight line a clock",
		  true },
	.solve = solve,
};
