/* SPDX-License-Identifier: MIT */
/*
 * Guaranteed bounds from messages. Each message was sent before it was received. With a limit on
 * how far two clocks' rates can be apart, that bounds the offset at every instant (band.h). A clock
 * tied through others takes over their bands: when it receives from a peer, its time is not before
 * the peer's earliest. Bands only ever shrink, by sound steps, so stopping the iteration at any
 * point is safe.
 */
#include "sync/band.h"
#include "sync/problem.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS_EXTRA 8
/* If the drift limit must be widened beyond this, causality itself is broken. */
#define DRIFT_MAX_PPM 100000.0
#define RELAX_FIRST 4.0

struct work {
	const struct sync_problem *p;
	const struct cvl_clock_sync *tied; /* by marks: their maps hold. NULL: only ref is known */
	bool *left_out;                    /* clocks whose messages contradict each other */
	double timeline_drift_ppm;         /* if the timeline is not a clock's */
	struct band *band;                 /* one per clock */
	size_t *canonical;
	size_t ref;   /* whose time is the timeline; SIZE_MAX: none */
	double scale; /* of the drift limits */
	bool cut;     /* any clock may have been set */
	struct band_limit *limit;
	uint64_t *used;
};

static double drift_of(const struct work *w, size_t clock)
{
	return w->p->clock[clock].drift_ppm * w->scale * 1e-6;
}

static double timeline_drift(const struct work *w)
{
	return w->ref == SIZE_MAX ? w->timeline_drift_ppm * w->scale * 1e-6 : drift_of(w, w->ref);
}

static bool is_known(const struct work *w, size_t clock)
{
	return clock == w->ref || (w->tied && w->tied[clock].map);
}

/*
 * dT/dx = (1 + r) / (1 + c), r and c being the rates of the reference and the clock: worst where
 * the clock is slow.
 */
static double pair_drift(const struct work *w, size_t clock)
{
	return (1 + timeline_drift(w)) / (1 - drift_of(w, clock)) - 1;
}

/* d2T/dx2 = [r' (1 + c) - c' (1 + r)] / (1 + c)^3 */
static double pair_wander(const struct work *w, size_t clock)
{
	double r = timeline_drift(w), c = drift_of(w, clock);
	size_t ref = w->ref == SIZE_MAX ? clock : w->ref;

	return (w->p->clock[ref].wander_ppb_s * (1 + c) +
		w->p->clock[clock].wander_ppb_s * (1 + r)) *
	       1e-9 / ((1 - c) * (1 - c) * (1 - c));
}

static bool peer_band(const struct work *w, size_t peer, int64_t x, long double *low,
		      long double *high)
{
	if (peer == w->ref) {
		*low = *high = 0;
		return true;
	}
	if (w->left_out[peer])
		return false;
	if (is_known(w, peer)) {
		const struct cvl_map *map = w->tied[peer].map;
		int64_t bound, time;

		time = cvl_map_time(map, (struct cvl_tick){ sync_tick(w->p, peer, x) }, &bound).ns;
		bound = cvl_add_sat(bound, w->tied[peer].reference_ns);
		*low = (long double)time - x - bound - w->p->clock[peer].resolution_ns;
		*high = (long double)time - x + bound + w->p->clock[peer].resolution_ns;
		return true;
	}
	return band_at(&w->band[peer], x, low, high);
}

/*
 * What the messages of @clock imply, given the bands of its peers. Stamps are early by less than a
 * resolution: a receive may have been that much later than its stamp.
 */
static size_t gather(struct work *w, size_t clock)
{
	const struct sync_problem *p = w->p;
	size_t n = 0;

	for (size_t i = 0; i < p->n_messages; i++) {
		const struct sync_message *m = &p->message[i];
		size_t from = w->canonical[m->from], to = w->canonical[m->to];
		int64_t sent, received;
		long double low, high;

		if (from == to || (from != clock && to != clock))
			continue;
		sent = sync_x(p, m->from, m->sent);
		received = sync_x(p, m->to, m->received) + p->clock[m->to].resolution_ns + 1;
		if (to == clock && peer_band(w, from, sent, &low, &high))
			w->limit[n++] =
				(struct band_limit){ received,
						     (int64_t)floorl(low) + (sent - received), true,
						     (uint32_t)i };
		else if (from == clock && peer_band(w, to, received, &low, &high))
			w->limit[n++] =
				(struct band_limit){ sent, (int64_t)ceill(high) + (received - sent),
						     false, (uint32_t)i };
	}
	return n;
}

static long double total_width(const struct band *b)
{
	long double sum = 0;

	for (size_t i = 0; i < b->n; i++)
		sum += b->point[i].high - b->point[i].low;
	return b->n ? sum / (long double)b->n : INFINITY;
}

/*
 * Whether its time against the timeline may step: because it was set, or the clock that the
 * timeline follows was.
 */
static bool may_step(const struct work *w, size_t clock)
{
	return w->cut || w->p->clock[clock].settable ||
	       (w->ref != SIZE_MAX && w->p->clock[w->ref].settable);
}

static int improve(struct work *w, size_t clock, bool *changed, struct cvl_error *err)
{
	const struct sync_clock *c = &w->p->clock[clock];
	struct band *b = &w->band[clock];
	long double before = total_width(b);
	size_t n = gather(w, clock);
	int rc;

	w->used[clock] = n;
	if (!n)
		return 0;
	rc = may_step(w, clock) ? band_make_settable(b, w->limit, n, pair_drift(w, clock), err) :
				  band_make(b, w->limit, n, sync_x(w->p, clock, c->first),
					    sync_x(w->p, clock, c->last), pair_drift(w, clock),
					    c->has_wander, pair_wander(w, clock), err);
	if (!rc && b->n && !(before - total_width(b) < 1))
		*changed = true;
	return rc;
}

/* Bands of all clocks at w->scale. @empty: some clock's limits contradict each other. */
static int settle(struct work *w, bool *empty, struct cvl_error *err)
{
	const struct sync_problem *p = w->p;
	bool changed = true;
	int rc = 0;

	for (size_t c = 0; c < p->n_clocks; c++)
		w->band[c].n = 0;
	*empty = false;
	for (size_t round = 0; changed && round < p->n_clocks + ROUNDS_EXTRA; round++) {
		changed = false;
		for (size_t c = 0; c < p->n_clocks && !rc; c++) {
			if (c == w->ref || w->canonical[c] != c || w->left_out[c])
				continue;
			rc = improve(w, c, &changed, err);
			if (!rc && w->band[c].empty && !is_known(w, c)) {
				*empty = true;
				return 0;
			}
		}
		if (rc)
			return rc;
	}
	return 0;
}

/*
 * Smallest scale of the drift limits, up to @top, at which all messages agree, to 1 %. 0: none up
 * to DRIFT_MAX_PPM.
 */
static int relax(struct work *w, double top, double *scale, struct cvl_error *err)
{
	double low = 1, high = 1, most = 1;
	bool empty = true;
	int rc;

	for (size_t c = 0; c < w->p->n_clocks; c++)
		most = fmax(most, w->p->clock[c].drift_ppm);
	while (empty) {
		low = high;
		high *= 2;
		if (high * most > DRIFT_MAX_PPM || high > top) {
			*scale = 0;
			return 0;
		}
		w->scale = high;
		rc = settle(w, &empty, err);
		if (rc)
			return rc;
	}
	while (high / low > 1.01) {
		w->scale = (low + high) / 2;
		rc = settle(w, &empty, err);
		if (rc)
			return rc;
		if (empty)
			low = w->scale;
		else
			high = w->scale;
	}
	w->scale = *scale = high;
	return settle(w, &empty, err);
}

/* ---- maps ---- */

static uint64_t tick_of(const struct sync_problem *p, size_t clock, int64_t x)
{
	return cvl_map_tick(p->clock[clock].nominal, (struct cvl_time){ x }).count;
}

static void add_knot(const struct work *w, size_t clock, const struct band *b, uint64_t tick,
		     struct cvl_knot *k, size_t *n)
{
	int64_t x = sync_x(w->p, clock, tick);
	long double low, high, mid;

	if (*n && tick <= k[*n - 1].tick.count)
		return;
	band_at(b, x, &low, &high);
	mid = (low + high) / 2;
	k[*n].tick.count = tick;
	k[*n].time.ns = x + (int64_t)floorl(mid);
	/* 3 ns: rounding of x, of the middle, and between knots */
	k[*n].bound_ns = (int64_t)ceill((high - low) / 2) + 3;
	if (*n && k[*n].time.ns < k[*n - 1].time.ns) {
		k[*n].bound_ns += k[*n - 1].time.ns - k[*n].time.ns;
		k[*n].time.ns = k[*n - 1].time.ns;
	}
	++*n;
}

/*
 * Limits that had to be widened, or a clock set unexpectedly or more than once, make a bound no
 * guarantee.
 */
static enum cvl_bound_kind kind_of(const struct work *w, const struct band *b, double relaxed)
{
	if (relaxed > 1 || w->cut || b->cuts > 1)
		return CVL_BOUND_GUESS;
	return w->tied ? CVL_BOUND_STATISTICAL : CVL_BOUND_PROVEN;
}

static int make_map(const struct work *w, size_t clock, size_t band, double relaxed,
		    struct cvl_clock_sync *out, struct cvl_error *err)
{
	const struct sync_problem *p = w->p;
	const struct band *b = &w->band[band];
	struct cvl_knot *k = calloc(2 * b->n, sizeof(*k));
	struct cvl_map_spec spec = { .rate_hz = p->clock[clock].rate_hz,
				     .knots = k,
				     .kind = kind_of(w, b, relaxed) };
	int rc;

	if (!k)
		return cvl_no_memory(err);
	for (size_t i = 0; i < b->n; i++) {
		uint64_t tick = tick_of(p, clock, b->point[i].x);

		/* where the band bends between two ticks, the chord must not cut the corner */
		if (tick && sync_x(p, clock, tick) != b->point[i].x)
			add_knot(w, clock, b, tick - 1, k, &spec.n);
		add_knot(w, clock, b, tick, k, &spec.n);
	}
	spec.before.drift_ppb = spec.after.drift_ppb = b->rho * 1e9;
	rc = cvl_map_new(&out->map, &spec, err);
	free(k);
	return rc;
}

/* Time that messages took on the timeline, and the mean rate between the ends of the map. */
static void describe(const struct work *w, size_t clock, struct cvl_clock_sync *out)
{
	const struct sync_problem *p = w->p;
	struct cvl_residuals *r = &out->residuals;
	const struct band *b = &w->band[w->canonical[clock]];
	const struct band_point *first = &b->point[0], *last = &b->point[b->n - 1];
	double sum = 0, sum2 = 0;

	for (size_t i = 0; i < p->n_messages; i++) {
		const struct sync_message *m = &p->message[i];
		size_t from = w->canonical[m->from], to = w->canonical[m->to];
		int64_t sent = sync_x(p, m->from, m->sent),
			received = sync_x(p, m->to, m->received);
		long double low, high, flight;

		if (from == to || (from != w->canonical[clock] && to != w->canonical[clock]))
			continue;
		if (!peer_band(w, from, sent, &low, &high))
			continue;
		flight = -(low + high) / 2 - (long double)sent;
		if (!peer_band(w, to, received, &low, &high))
			continue;
		flight += (low + high) / 2 + (long double)received;
		if (!r->n || flight < r->min)
			r->min = (double)flight;
		if (!r->n || flight > r->max)
			r->max = (double)flight;
		r->n++;
		sum += (double)flight;
		sum2 += (double)(flight * flight);
	}
	if (r->n) {
		r->mean = sum / (double)r->n;
		r->sd = sqrt(fmax(0, sum2 / (double)r->n - r->mean * r->mean));
	}
	out->rate_bound_ppb = b->rho * 1e9;
	if (last->x > first->x) {
		long double span = (long double)(last->x - first->x);
		long double rise = (last->low + last->high - first->low - first->high) / 2;
		long double reach = (last->high - last->low + first->high - first->low) / 2;

		out->rate_ppb = (double)(-rise / (span + rise) * 1e9L);
		out->rate_bound_ppb = fmin(out->rate_bound_ppb, (double)(reach / span * 1e9L));
	}
}

static int finish(struct work *w, size_t clock, double relaxed, struct cvl_clock_sync *out,
		  struct cvl_error *err)
{
	size_t c = w->canonical[clock];
	const struct band *b = &w->band[c];
	char assumed[100];
	int rc;

	if (!b->n && sync_again(w->p, clock, out))
		return 0;
	if (!b->n) {
		sync_reason(
			out, CVL_UNSYNCHRONISED,
			w->used[c] ?
				"messages in one direction only: they bound its time on one side%s" :
				"no messages tie it to the reference%s",
			w->p->ambiguous ?
				"; those that more than one send fits do not count: add what "
				"tells them apart to the key, such as a hop count" :
				"");
		return 0;
	}
	rc = make_map(w, clock, c, relaxed, out, err);
	if (rc)
		return rc;
	out->used = w->used[c];
	describe(w, clock, out);
	if (relaxed > 1)
		sync_reason(
			out, CVL_DEGRADED,
			"the messages contradict a drift limit of %g ppm a clock; they fit one of %.4g ppm, and "
			"the bounds are given for that",
			w->p->clock[clock].drift_ppm, w->p->clock[clock].drift_ppm * relaxed);
	else if (b->cuts)
		sync_reason(
			out, CVL_DEGRADED,
			"it was set, or the reference was: its messages show %zu step%s, the first between %.3f and "
			"%.3f s%s",
			b->cuts, b->cuts > 1 ? "s" : "", (double)b->cut_from * 1e-9,
			(double)b->cut_to * 1e-9,
			w->cut ? ", though neither is said to be settable" : "");
	else
		sync_reason(out, CVL_GOOD, "%" PRIu64 " messages, drift limit %g ppm a clock%s%s",
			    out->used, w->p->clock[clock].drift_ppm,
			    sync_assumed(w->p, assumed, sizeof(assumed)),
			    may_step(w, clock) ?
				    ", set at most once, between its first and last messages" :
				    "");
	return 0;
}

/* ---- combined with marks ---- */

/* Knots of a map cut by a band. */
struct cutter {
	const struct work *w;
	size_t clock;
	const struct cvl_map *map;
	const struct band *band;
	struct cvl_knot *knot;
	size_t n;
	int64_t worst; /* ns gap between map and band */
	int64_t worst_x;
	bool narrower;
};

/* What map and band both allow of the offset at @tick. */
static void both_at(const struct cutter *c, uint64_t tick, long double *low, long double *high)
{
	int64_t x = sync_x(c->w->p, c->clock, tick), bound;
	long double offset =
		(long double)cvl_map_time(c->map, (struct cvl_tick){ tick }, &bound).ns - x;
	long double a, b;

	*low = offset - bound;
	*high = offset + bound;
	if (band_at(c->band, x, &a, &b)) {
		*low = fmaxl(*low, a - 2);
		*high = fminl(*high, b + 2);
	}
}

static void cut_at(struct cutter *c, uint64_t tick)
{
	struct cvl_knot *k = &c->knot[c->n];
	int64_t x = sync_x(c->w->p, c->clock, tick), bound;
	long double low, high;

	if (c->n && tick <= k[-1].tick.count)
		return;
	both_at(c, tick, &low, &high);
	cvl_map_time(c->map, (struct cvl_tick){ tick }, &bound);
	if (low > high && (int64_t)(low - high) > c->worst) {
		c->worst = (int64_t)(low - high);
		c->worst_x = x;
	}
	c->narrower = c->narrower || (high - low) / 2 < 0.99L * (long double)bound;
	k->tick.count = tick;
	k->time.ns = x + (int64_t)floorl((low + high) / 2);
	k->bound_ns = (int64_t)ceill(fmaxl(high - low, 0) / 2) + 1;
	if (c->n && k->time.ns < k[-1].time.ns) {
		k->bound_ns += k[-1].time.ns - k->time.ns;
		k->time.ns = k[-1].time.ns;
	}
	c->n++;
}

static int by_tick(const void *pa, const void *pb)
{
	const uint64_t *a = pa, *b = pb;

	return *a < *b ? -1 : *a > *b;
}

/*
 * Cut the map that @out has from its marks by what its messages allow. Knots are the ends of map
 * and band and the middles between them, where the tighter of two straight lines may change: the
 * error of the chord there is added.
 */
static int cut_map(struct work *w, size_t clock, struct cvl_clock_sync *out, struct cvl_error *err)
{
	const struct band *b = &w->band[w->canonical[clock]];
	struct cutter c = { .w = w, .clock = clock, .map = out->map, .band = b };
	struct cvl_map_spec spec;
	struct cvl_map *cut;
	struct cvl_knot knot;
	uint64_t *tick;
	size_t n = 0;
	int rc;

	cvl_map_describe(out->map, &spec);
	tick = malloc((2 * (spec.n + b->n) + 2) * sizeof(*tick));
	c.knot = calloc(2 * (spec.n + b->n) + 2, sizeof(*c.knot));
	if (!tick || !c.knot) {
		free(tick);
		free(c.knot);
		return cvl_no_memory(err);
	}
	for (size_t i = 0; i < spec.n; i++)
		if (!cvl_map_knot(out->map, i, &knot, NULL))
			tick[n++] = knot.tick.count;
	for (size_t i = 0; i < b->n; i++)
		tick[n++] = sync_tick(w->p, clock, b->point[i].x);
	qsort(tick, n, sizeof(*tick), by_tick);
	for (size_t i = 0; i < n; i++) {
		cut_at(&c, tick[i]);
		if (i + 1 < n)
			cut_at(&c, tick[i] + (tick[i + 1] - tick[i]) / 2);
	}
	for (size_t i = 1; i + 1 < c.n; i++) {
		long double low, high,
			middle = ((long double)c.knot[i - 1].bound_ns +
				  (long double)c.knot[i + 1].bound_ns) /
				 2;

		both_at(&c, c.knot[i].tick.count, &low, &high);
		if ((high - low) / 2 > middle)
			c.knot[i].bound_ns += (int64_t)ceill((high - low) / 2 - middle);
	}
	rc = 0;
	if (c.worst > 0) {
		sync_reason(out, CVL_DEGRADED,
			    "what it heard and its messages contradict each other by up to %" PRId64
			    " ns, %.3f s into the session: the bound is that of what it heard",
			    c.worst, (double)c.worst_x * 1e-9);
	} else if (c.narrower) {
		spec.knots = c.knot;
		spec.n = c.n;
		rc = cvl_map_new(&cut, &spec, err);
		if (!rc) {
			cvl_map_free(out->map);
			out->map = cut;
		}
	}
	free(tick);
	free(c.knot);
	return rc;
}

/* ---- solving ---- */

/*
 * Bands of all clocks; drift limits are widened if necessary, and clocks that still contradict
 * themselves are left out.
 */
static int settle_all(struct work *w, double *relaxed, struct cvl_error *err)
{
	const struct sync_problem *p = w->p;

	for (;;) {
		size_t who = 0;
		bool empty;
		int rc;

		w->scale = *relaxed = 1;
		rc = settle(w, &empty, err);
		if (rc || !empty)
			return rc;
		for (size_t c = 0; c < p->n_clocks; c++)
			if (w->band[c].empty && !is_known(w, c))
				who = c;
		/*
			 * first a slightly larger rate, then a clock that was set, then a rate that
			 * is far off
		 */
		rc = relax(w, RELAX_FIRST, relaxed, err);
		if (rc || *relaxed > 0)
			return rc;
		w->scale = *relaxed = 1;
		w->cut = !p->clock[who].has_wander; /* the stated limit may be the reason */
		if (w->cut) {
			rc = settle(w, &empty, err);
			if (rc || !empty)
				return rc;
		}
		w->cut = false;
		rc = relax(w, INFINITY, relaxed, err);
		if (rc || *relaxed > 0)
			return rc;
		w->left_out[who] = true;
		w->band[who].n = 0;
		w->band[who].empty = false;
	}
}

static int finish_all(struct work *w, double relaxed, struct sync_solution *s,
		      struct cvl_error *err)
{
	const struct sync_problem *p = w->p;
	int rc = 0;

	for (size_t c = 0; c < p->n_clocks && !rc; c++) {
		size_t same = w->canonical[c];

		if (w->tied && s->clock[c].map) {
			if (s->clock[c].map && w->band[same].n)
				rc = cut_map(w, c, &s->clock[c], err);
		} else if (same == w->ref) {
			rc = sync_reference_map(p, s, c, err);
		} else if (w->left_out[same]) {
			sync_reason(
				&s->clock[c], CVL_UNSYNCHRONISED,
				"the messages of %s contradict each other whatever its clock does%s: matched "
				"wrongly, or stamped after sending",
				p->clock[same].name,
				p->clock[same].has_wander ? " within the limit of its wander" : "");
		} else if (!w->tied || w->band[same].n) {
			rc = finish(w, c, relaxed, &s->clock[c], err);
		}
	}
	return rc;
}

static int work_out(struct work *w, struct sync_solution *s, struct cvl_error *err)
{
	const struct sync_problem *p = w->p;
	double relaxed;
	int rc;

	w->band = calloc(p->n_clocks, sizeof(*w->band));
	w->canonical = calloc(p->n_clocks, sizeof(*w->canonical));
	w->used = calloc(p->n_clocks, sizeof(*w->used));
	w->left_out = calloc(p->n_clocks, sizeof(*w->left_out));
	w->limit = calloc(p->n_messages + 1, sizeof(*w->limit));
	if (!w->band || !w->canonical || !w->used || !w->left_out || !w->limit) {
		rc = cvl_no_memory(err);
	} else {
		for (size_t c = 0; c < p->n_clocks; c++)
			w->canonical[c] = p->clock[c].same_as;
		/* clocks that may be off by whole periods do not tie the timeline */
		for (size_t c = 0; w->tied && c < p->n_clocks; c++)
			w->left_out[c] = w->tied[c].group != 0;
		rc = settle_all(w, &relaxed, err);
		if (!rc)
			rc = finish_all(w, relaxed, s, err);
	}
	for (size_t c = 0; w->band && c < p->n_clocks; c++)
		band_free(&w->band[c]);
	free(w->band);
	free(w->canonical);
	free(w->used);
	free(w->left_out);
	free(w->limit);
	return rc;
}

static int solve(const struct sync_problem *p, struct sync_solution *s, struct cvl_error *err)
{
	struct work w = { .p = p, .ref = p->reference >= 0 ? p->clock[p->reference].same_as : 0 };

	snprintf(s->reference, sizeof(s->reference), "%s", p->clock[w.ref].name);
	return work_out(&w, s, err);
}

int interval_join(const struct sync_problem *p, struct sync_solution *s, struct cvl_error *err)
{
	struct work w = { .p = p, .tied = s->clock, .ref = SIZE_MAX };

	if (p->reference >= 0)
		w.ref = p->clock[p->reference].same_as;
	for (size_t c = 0; c < p->n_clocks; c++)
		w.timeline_drift_ppm = fmax(w.timeline_drift_ppm, p->clock[c].drift_ppm);
	return work_out(&w, s, err);
}

const struct estimator estimator_interval = {
	.info = { .name = "interval",
		  .what = "messages and a drift limit: guaranteed bounds at every instant (default for messages)",
		  .messages = true,
		  .options = sync_interval_options,
		  .follows = true },
	.solve = solve,
};
