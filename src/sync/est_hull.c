/* SPDX-License-Identifier: MIT */
/*
 * Convex hull (Duda et al. 1987; Jabbarifar 2013): clock B's time as one straight line of clock
 * A's. A message from A to B is a point the line must not pass below, one from B to A a point it
 * must not pass above. Only the hulls of these points matter. At each instant the lines that
 * satisfy them span an interval: its middle is the estimate, half its width the bound; both bend
 * only at points of the hulls. The rate lies between those of the steepest and the flattest line.
 * All comparisons are exact: differences of int64 coordinates have 64 bits, their products 128.
 *
 * Clocks that share no messages with the reference are reached through the neighbours that share
 * the most messages.
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

/*
 * In-place hull of @p sorted by x: the upper one (@sign > 0) or the lower one. Returns how many
 * remain.
 */
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
 * The lines between all @below (which they must not pass below) and @above; only the hulls of these
 * are kept: the slopes, less 1, of the flattest and the steepest. 0, 1 if there are too few points,
 * 2 if no such line exists.
 */
static int fit(struct point *below, size_t *n, struct point *above, size_t *m, long double *least,
	       long double *most)
{
	struct pair steep, flat;

	qsort(below, *n, sizeof(*below), by_x);
	qsort(above, *m, sizeof(*above), by_x);
	*n = hull(below, *n, 1);
	*m = hull(above, *m, -1);
	/*
	 * a line is steepest when it touches a lower limit on the left and an upper one on
	 * the right
	 */
	steep = extreme(below, *n, above, *m, -1);
	flat = extreme(above, *m, below, *n, 1);
	if (!steep.found || !flat.found)
		return 1;
	if (steeper(&flat, &steep))
		return 2;
	*least = skew_of(&flat);
	*most = skew_of(&steep);
	return 0;
}

/* ---- the tree of clocks ---- */

struct link {
	size_t parent;
	bool tied;
	struct band band;        /* of all lines that fit, relative to the parent */
	long double least, most; /* slopes of these, less 1 */
	uint64_t messages;
	int failed;
};

struct work {
	const struct sync_problem *p;
	struct link *link;
	uint64_t *shared; /* messages of each pair */
	struct point *below, *above;
	struct band_limit *limit;
	int64_t *at;
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

		if (from == parent && to == child)
			w->below[n++] = (struct point){ received, sent };
		else if (from == child && to == parent)
			w->above[m++] = (struct point){ sent, received };
	}
	l->parent = parent;
	l->messages = n + m;
	l->failed = fit(w->below, &n, w->above, &m, &l->least, &l->most);
	w->shared[child * p->n_clocks + parent] =
		0; /* tried: another clock may work if this one fails */
	if (l->failed)
		return 0;
	for (size_t i = 0; i < n; i++, k++) {
		w->limit[k] = (struct band_limit){ w->below[i].x, w->below[i].y - w->below[i].x,
						   true, (uint32_t)k };
		w->at[k] = w->below[i].x;
	}
	for (size_t i = 0; i < m; i++, k++) {
		w->limit[k] = (struct band_limit){ w->above[i].x, w->above[i].y - w->above[i].x,
						   false, (uint32_t)k };
		w->at[k] = w->above[i].x;
	}
	w->at[k] = sync_x(p, child, p->clock[child].first);
	w->at[k + 1] = sync_x(p, child, p->clock[child].last);
	rc = band_make_lines(&l->band, w->limit, k, w->at, k + 2, err);
	l->failed = l->band.empty ? 2 : 0;
	l->tied = !rc && !l->failed;
	return rc;
}

/*
 * Earliest and latest time of the reference at x of clock @c: later on one clock means later on the
 * next.
 */
static void chain(const struct work *w, size_t c, size_t ref, int64_t x, long double *low,
		  long double *high)
{
	long double first = 0, last = 0; /* offset from x so far */

	for (; c != ref; c = w->link[c].parent) {
		long double a = 0, b = 0, other;

		band_at(&w->link[c].band, x + (int64_t)floorl(first), &a, &other);
		band_at(&w->link[c].band, x + (int64_t)ceill(last), &other, &b);
		first += a;
		last += b;
	}
	*low = first;
	*high = last;
}

static int by_count(const void *pa, const void *pb)
{
	const uint64_t *a = pa, *b = pb;

	return *a < *b ? -1 : *a > *b;
}

/*
 * Ticks of @clock where its map may bend: where its own band bends, or another on the way to the
 * reference. NULL: out of memory.
 */
static uint64_t *bends(const struct work *w, size_t clock, size_t ref, size_t *n)
{
	const struct sync_problem *p = w->p;
	size_t all = 2;
	uint64_t *tick;

	for (size_t c = canon(p, clock); c != ref; c = w->link[c].parent)
		all += 2 * w->link[c].band.n;
	tick = malloc(all * sizeof(*tick));
	*n = 0;
	if (!tick)
		return NULL;
	tick[(*n)++] = p->clock[clock].first;
	tick[(*n)++] = p->clock[clock].last;
	for (size_t c = canon(p, clock); c != ref; c = w->link[c].parent)
		for (size_t i = 0; i < w->link[c].band.n; i++) {
			long double low, high;
			int64_t x = w->link[c].band.point[i].x;
			uint64_t at;

			/*
			 * where another clock's x falls on this one: near enough, as a chord
			 * only widens a convex band
			 */
			chain(w, canon(p, clock), c, x, &low, &high);
			at = sync_tick(p, clock, x - (int64_t)((low + high) / 2));
			tick[(*n)++] = at;
			tick[(*n)++] = at ? at - 1 : 0;
		}
	qsort(tick, *n, sizeof(*tick), by_count);
	return tick;
}

static int make_map(const struct work *w, size_t clock, size_t ref, struct cvl_clock_sync *out,
		    struct cvl_error *err)
{
	const struct sync_problem *p = w->p;
	struct cvl_map_spec spec = { .rate_hz = p->clock[clock].rate_hz, .kind = CVL_BOUND_PROVEN };
	long double least = 1, most = 1;
	struct cvl_knot *k;
	uint64_t *tick;
	size_t n;
	int rc;

	tick = bends(w, clock, ref, &n);
	k = calloc(n + 1, sizeof(*k));
	if (!tick || !k) {
		free(tick);
		free(k);
		return cvl_no_memory(err);
	}
	for (size_t i = 0; i < n; i++) {
		int64_t x = sync_x(p, clock, tick[i]);
		long double low, high, mid, floor;

		if (spec.n && tick[i] <= k[spec.n - 1].tick.count)
			continue;
		chain(w, canon(p, clock), ref, x, &low, &high);
		mid = (low + high) / 2;
		floor = floorl(mid);
		k[spec.n].tick.count = tick[i];
		k[spec.n].time.ns = x + (int64_t)floor;
		k[spec.n].frac = (uint32_t)((mid - floor) * 4294967295.0L);
		k[spec.n].bound_ns = (int64_t)ceill((high - low) / 2) + 2;
		spec.n++;
	}
	for (size_t c = canon(p, clock); c != ref; c = w->link[c].parent) {
		least *= 1 + w->link[c].least;
		most *= 1 + w->link[c].most;
	}
	spec.knots = k;
	/* its time runs at a slope between these: the slower the clock, the steeper */
	spec.before.rate_ppb = spec.after.rate_ppb = (double)((2 / (least + most) - 1) * 1e9L);
	spec.before.drift_ppb = spec.after.drift_ppb = (double)((most - least) / 2 * 1e9L);
	out->rate_ppb = (double)(((1 / least + 1 / most) / 2 - 1) * 1e9L);
	out->rate_bound_ppb = (double)((1 / least - 1 / most) / 2 * 1e9L);
	rc = cvl_map_new(&out->map, &spec, err);
	free(tick);
	free(k);
	return rc;
}

/* The untied clock that shares the most messages with a tied one, and that tied one. */
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
			"no straight line fits its %llu messages: a rate changed (the estimator interval allows for it), or "
			"messages are matched wrongly",
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
		.at = calloc(p->n_messages + 2, sizeof(*w.at)),
	};
	char assumed[100];
	int rc = 0;

	if (!w.link || !w.shared || !w.below || !w.above || !w.limit || !w.at) {
		rc = cvl_no_memory(err);
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
			sync_reason(
				&s->clock[c], CVL_GOOD,
				"%llu messages with %s; bounds hold if the rates are constant and no clock is set%s",
				(unsigned long long)l->messages, p->clock[l->parent].name,
				sync_assumed(p, assumed, sizeof(assumed)));
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
	free(w.at);
	return rc;
}

const struct estimator estimator_hull = {
	.info = { .name = "hull",
		  .what = "messages and constant rates: convex hull of all straight lines that fit",
		  .messages = true,
		  .options = sync_message_options },
	.solve = solve,
};
