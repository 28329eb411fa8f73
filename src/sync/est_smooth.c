/* SPDX-License-Identifier: MIT */
/*
 * Offline smoother, in overlapping windows so that memory does not grow with the capture.
 *
 * In each window: marks far from their neighbours lose their weight, and lasting phase jumps are
 * found, by comparing neighbours. The noise of the clock (two densities) is the point of a grid
 * with the greatest likelihood under Student's t with 4 degrees of freedom; the jitter comes from
 * the median squared innovation. A fixed-interval smoother (de Jong: Smoothing and interpolation
 * with the state-space model, JASA 84, 1989) gives offset and variance at every mark; its auxiliary
 * residuals r^2/N (de Jong, Penzer: Diagnosing shocks in time series, JASA 93, 1998) show where the
 * rate changed suddenly, and the model is extended there. Marks are then reweighted by Student's t
 * and smoothed again.
 *
 * Jitter may be correlated from mark to mark: e(k) = c e(k-1) + w(k). Then z(k) - c z(k-1) has
 * white noise again, and reads (1 - c) offset + c dt rate - c dt^2 / 2 drift. c is a third axis of
 * the grid.
 *
 * Alternatively, where the marks are pulses, their reference may wander about true time, as one
 * disciplined by a servo does: kalman.h has two states for that, its sd and time constant are two
 * more axes, replacing c. The offset reported is that against the reference itself, wander
 * included.
 *
 * Noise may come in bursts. The bound accounts for the size of nearby innovations.
 */
#include "sync/local.h"
#include "sync/smooth.h"
#include "sync/student.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define OVERLAP 128
#define PASSES 3         /* of reweighting */
#define SHOCK 30.0       /* squared auxiliary residual that makes a shock */
#define SHOCKS_MAX 12    /* in a window */
#define START_MARKS 16   /* to fit the initial line to */
#define DRIFT_PRIOR 20.0 /* ppb/s */
/*
 * Sd covered by the bound of an offset: 99.9 %, and a margin for noise estimated from finite data;
 * more where the reference wanders, which is known less well.
 */
#define BOUND_SD 3.7
#define BOUND_SD_WANDER 5.0
#define AHEAD 8 /* points beyond either end; only those within AHEAD_TAUS are used */
#define AHEAD_TAUS 4

static const double ahead[AHEAD] = { 0.25, 0.5, 1, 2, 4, 8, 16, 32 }; /* s */

/* ---- how to begin ---- */

/*
 * Number of first marks to begin with: no slip between them, if there are enough before the first
 * slip.
 */
static size_t start_marks(const struct smoother *s)
{
	size_t n = s->n < START_MARKS ? s->n : START_MARKS, at, k = 0;

	at = track_slip_from(&s->setup, s->mark[0].x);
	if (at == s->setup.n_slips)
		return n;
	while (k < n && s->mark[k].x <= s->setup.slip[at].from)
		k++;
	return k >= TRACK_MARKS_MIN ? k : n;
}

/* Variance of the slips between the first marks: the line through them may be off by as much. */
static double start_slips(const struct smoother *s)
{
	double var = 0;

	for (size_t i = track_slip_from(&s->setup, s->mark[0].x);
	     i < s->setup.n_slips && s->setup.slip[i].to <= s->mark[start_marks(s) - 1].x; i++)
		var += s->setup.slip[i].half_ns * s->setup.slip[i].half_ns;
	return var;
}

/*
 * Four times the error of the marks' median offset and slope, so that the marks are not counted
 * twice.
 */
static struct kalman first_state(const struct smoother *s, double offset, double slope,
				 double scale)
{
	size_t n = start_marks(s);
	double slips = start_slips(s),
	       span = fmax((double)(s->mark[n - 1].x - s->mark[0].x) * 1e-9, 1e-3);
	double sd = 1.25 * fmax(scale, s->setup.resolution_ns) / sqrt((double)n);
	double reach = 8 * sd + DRIFT_PRIOR * span * span / 8;
	double rate = 4 * 3.5 * sd / span + DRIFT_PRIOR * span;
	double rate2 = rate * rate + slips / (span * span);
	double back = (double)(s->p[s->first].x - s->p[0].x) * 1e-9;

	return (struct kalman){ .a = { offset - slope * back, slope, 0 },
				.p = { reach * reach + slips + rate2 * back * back, -rate2 * back,
				       rate2, 0, 0, DRIFT_PRIOR * DRIFT_PRIOR } };
}

/* ---- one window ---- */

/* Room for @more points; what is worked out of them lies in one block, whose contents are lost. */
static int make_room(struct smoother *s, size_t more)
{
	const size_t each = (1 + LANES) * sizeof(*s->scratch) + sizeof(*s->reading);
	struct point *p = realloc(s->p, more * sizeof(*p));
	double *scratch;

	if (!p)
		return CVL_E_NOMEM;
	s->p = p;
	scratch = malloc(more * each);
	if (!scratch)
		return CVL_E_NOMEM;
	free(s->scratch);
	s->scratch = scratch;
	s->u = scratch + more;
	s->reading = (struct lane_reading *)(s->u + LANES * more);
	s->cap_points = more;
	return 0;
}

/* One more point, @dt after the last one; NULL when out of memory. */
static struct point *add_point(struct smoother *s, int64_t x, double dt)
{
	struct point *p;

	if (s->n_points == s->cap_points && make_room(s, 2 * s->cap_points))
		return NULL;
	p = &s->p[s->n_points++];
	memset(p, 0, sizeof(*p));
	p->x = x;
	p->step.dt = dt;
	return p;
}

/* Add points after @from, so close that no clock wanders far in between, and then that at @x. */
static struct point *fill_up_to(struct smoother *s, int64_t from, int64_t x)
{
	const double gap = (double)(x - from);
	double dt;
	int fill = 1;

	if (gap > TRACK_FILL_NS)
		fill = (int)fmin(ceil(gap / TRACK_FILL_NS), TRACK_FILL_MAX);
	dt = gap * 1e-9 / fill;
	for (int k = 1; k < fill; k++)
		if (!add_point(s, from + (int64_t)(gap * k / fill), dt))
			return NULL;
	return add_point(s, x, dt);
}

/*
 * Add both sides of the slips between marks at *@from and @to; sets *@from to the last one's end.
 */
static int lay_slips(struct smoother *s, int64_t *from, int64_t to)
{
	for (size_t i = track_slip_from(&s->setup, *from);
	     i < s->setup.n_slips && s->setup.slip[i].to <= to; i++) {
		const struct track_slip *slip = &s->setup.slip[i];
		struct point *after;

		if (!fill_up_to(s, *from, slip->from))
			return CVL_E_NOMEM;
		after = add_point(s, slip->to, (double)(slip->to - slip->from) * 1e-9);
		if (!after)
			return CVL_E_NOMEM;
		after->slip = slip->half_ns * slip->half_ns / 3;
		*from = slip->to;
	}
	return 0;
}

/* Add points beyond an end for wander to decay in; none beyond a slip. */
static int lay_beyond(struct smoother *s, bool before)
{
	int64_t end = s->mark[before ? 0 : s->n - 1].x, at = end;
	size_t slip = track_slip_from(&s->setup, end);

	for (int i = 0; i < AHEAD; i++) {
		const int64_t far = (int64_t)(1e9 * ahead[before ? AHEAD - 1 - i : i]);
		const int64_t x = before ? end - far : end + far;

		if (before ? slip && s->setup.slip[slip - 1].to >= x :
			     slip < s->setup.n_slips && s->setup.slip[slip].from <= x)
			continue;
		if (!add_point(s, x, s->n_points ? (double)(x - at) * 1e-9 : 0))
			return CVL_E_NOMEM;
		at = x;
	}
	return 0;
}

static int lay_mark(struct smoother *s, size_t i)
{
	const struct track_mark *m = &s->mark[i];
	struct point *p;

	if (i) {
		int64_t from = s->mark[i - 1].x;

		p = lay_slips(s, &from, m->x) ? NULL : fill_up_to(s, from, m->x);
	} else {
		p = add_point(s, m->x, s->first ? (double)(m->x - s->p[s->first - 1].x) * 1e-9 : 0);
	}
	if (!p)
		return CVL_E_NOMEM;
	p->z = m->offset;
	p->var = m->var;
	p->mark = true;
	p->weight = 1;
	p->source = m->source;
	return 0;
}

static int lay_out(struct smoother *s, bool last)
{
	int rc = 0;

	s->n_points = 0;
	if (s->setup.pulses && !s->any)
		rc = lay_beyond(s, true);
	s->first = s->n_points;
	for (size_t i = 0; i < s->n && !rc; i++)
		rc = lay_mark(s, i);
	s->last = s->n_points - 1;
	if (s->setup.pulses && last && !rc)
		rc = lay_beyond(s, false);
	return rc;
}

/*
 * Median slope between marks a quarter of the first few apart, and the median offset from that line
 * at the first.
 */
static void start_line(const struct smoother *s, double *offset, double *slope, double *scale)
{
	size_t n = start_marks(s), k = 0, lag = n > 4 ? n / 4 : 1;

	for (size_t i = 0; i + lag < n; i++) {
		const struct track_mark *a = &s->mark[i], *b = &s->mark[i + lag];

		s->scratch[k++] = (b->offset - a->offset) / (double)(b->x - a->x);
	}
	*slope = median_of(s->scratch, k);
	for (size_t i = 0; i < n; i++)
		s->scratch[i] = s->mark[i].offset - *slope * (double)(s->mark[i].x - s->mark[0].x);
	*offset = median_of(s->scratch, n);
	for (size_t i = 0; i < n; i++)
		s->scratch[i] = fabs(s->mark[i].offset -
				     *slope * (double)(s->mark[i].x - s->mark[0].x) - *offset);
	*scale = 1.4826 * median_of(s->scratch, n);
}

/*
 * Jitter from the distance of each mark from the chord of its neighbours: no clock wanders much in
 * that time.
 */
static double rough_jitter2(const struct smoother *s)
{
	size_t k = 0;
	double m;

	for (size_t i = 1; i + 1 < s->n; i++) {
		const struct track_mark *a = &s->mark[i - 1], *b = &s->mark[i],
					*c = &s->mark[i + 1];
		double u = (double)(b->x - a->x) / (double)(c->x - a->x);
		double off = b->offset - (1 - u) * a->offset - u * c->offset;

		s->scratch[k++] = fabs(off) / sqrt(1 + u * u + (1 - u) * (1 - u));
	}
	m = 1.4826 * median_of(s->scratch, k);
	return fmax(m * m, smooth_jitter_floor(s));
}

/* The middle one of the fifth, and those of two pairs that are neither least nor greatest. */
static double median_of_5(const double v[5])
{
	const double low = greater(lesser(v[0], v[1]), lesser(v[2], v[3])),
		     high = lesser(greater(v[0], v[1]), greater(v[2], v[3]));

	return middle(low, high, v[4]);
}

static double slope_of(const struct point *a, const struct point *b)
{
	return (b->z - a->z) / (double)(b->x - a->x);
}

/*
 * Marks without a neighbour near them lose their weight; where two on either side agree among
 * themselves but not across, the phase jumped. Clock wander in between (20 ppm around the median
 * slope) is allowed for.
 */
static void find_wild(struct smoother *s, double jitter)
{
	struct point *m[5] = { 0 };
	double between[4] = { 0 }; /* slopes */
	size_t have = 0;

	for (size_t i = 0; i < s->n_points; i++) {
		double reach, slope[5], y[5];

		if (s->p[i].slip > jitter * jitter)
			have = 0; /* neighbours across a slip are no comparison */
		if (!s->p[i].mark)
			continue;
		memmove(m, m + 1, 4 * sizeof(*m));
		memmove(between, between + 1, 3 * sizeof(*between));
		m[4] = &s->p[i];
		between[3] = m[3] ? slope_of(m[3], m[4]) : 0;
		if (++have < 5)
			continue;
		memcpy(slope, between, sizeof(between));
		slope[4] = slope_of(m[0], m[4]);
		slope[0] = median_of_5(slope);
		for (int k = 0; k < 5; k++)
			y[k] = m[k]->z - m[0]->z - slope[0] * (double)(m[k]->x - m[0]->x);
		reach = 20 * jitter + 2e-5 * (double)(m[4]->x - m[0]->x);
		for (int k = have == 5 ? 0 : 2; k < (have == s->n ? 5 : 3); k++) {
			int near = 0;

			for (int j = 0; j < 5; j++)
				near += j != k && fabs(y[k] - y[j]) <= reach;
			if (!near)
				m[k]->weight = 0;
		}
		if (fabs(y[1] - y[0]) <= reach && fabs(y[3] - y[2]) <= reach &&
		    fabs(y[2] - y[1]) > reach && fabs(y[3] - y[0]) > reach &&
		    fabs(y[4] - y[2]) <= reach)
			m[2]->jump = 100 * (y[2] - y[1]) * (y[2] - y[1]);
	}
}

/* Only this many sources at a time: those heard last. */
#define SOURCES_KEPT 4

static void find_gaps(struct smoother *s)
{
	const struct point *last[SOURCES_KEPT] = { NULL };

	for (size_t i = 0; i < s->n_points; i++) {
		struct point *p = &s->p[i];
		int k = 0;

		if (p->jump > 0 || p->slip > 0)
			memset(last, 0, sizeof(last));
		if (!(p->weight > 0))
			continue;
		while (k < SOURCES_KEPT - 1 && last[k] && last[k]->source != p->source)
			k++;
		if (last[k] && last[k]->source == p->source) {
			const double gap = (double)(p->x - last[k]->x) * 1e-9;
			const double periods = gap * 1e9 / s->setup.period_ns + 0.5;

			p->gap = gap;
			p->periods = periods < 1              ? 1 :
				     periods < SMOOTH_PERIODS ? (unsigned)periods :
								0;
			p->z_before = last[k]->z;
		}
		memmove(last + 1, last, (size_t)k * sizeof(*last));
		last[0] = p;
	}
}

static void reweight(struct smoother *s)
{
	for (size_t i = 0; i < s->n_points; i++) {
		struct point *p = &s->p[i];
		double h[3], var, e;

		if (!(p->weight > 0))
			continue;
		p->weight = 1;
		if (s->at.correlation) {
			e = smooth_reading(s, p, h, &var) - h[0] * p->offset - h[1] * p->rate -
			    h[2] * p->drift;
		} else {
			e = p->z - p->offset;
			var = s->at.jitter2 + p->var;
		}
		p->weight = (SMOOTH_DOF + 1) / (SMOOTH_DOF + e * e / (SMOOTH_CORE * var));
	}
}

/* Local noise near each point relative to elsewhere: see local.h. */
static void look_around(struct smoother *s)
{
	static const size_t reach[2] = { LOCAL_NEAR, LOCAL_FAR };
	/* with wander less is certain: no allowance for chance */
	double luck = s->at.sd ? 0 : LOCAL_LUCK, *sum = s->scratch;
	size_t n = 0, k = 0;

	for (size_t i = 0; i < s->n_points; i++)
		if (s->p[i].weight > 0)
			sum[n++] = fabs(s->p[i].u);
	n = n > 2 ? n - 2 : 0;
	for (size_t i = 0; i < n; i++)
		sum[i] = local_square(sum[i], sum[i + 1], sum[i + 2]);
	for (size_t i = 1; i < n; i++)
		sum[i] += sum[i - 1];
	for (size_t i = 0; i < s->n_points; i++) {
		struct point *p = &s->p[i];

		p->loc = 1;
		for (int w = 0; w < 2 && n; w++) {
			size_t from = k > reach[w] ? k - reach[w] : 0,
			       to = k + reach[w] < n ? k + reach[w] : n;

			p->loc = fmax(p->loc, local_mean(sum[to - 1] - (from ? sum[from - 1] : 0),
							 (double)(to - from), luck));
		}
		k += p->weight > 0 && k + 1 < n;
	}
}

static double bound_sd(const struct smoother *s)
{
	double sd = s->at.sd ? BOUND_SD_WANDER : BOUND_SD;
	double k = s->n > 200 ? sd : sd / TRACK_999 * student_999((double)s->n - 3);

	/* correlated jitter cannot be fully separated from clock wander */
	return k * (1 + s->power[1] / 4);
}

/* Whether @p is emitted: within the marks, or where a wander that was found decays. */
static bool is_told(const struct smoother *s, const struct point *p)
{
	double far = fmax((double)(s->p[s->first].x - p->x), (double)(p->x - s->p[s->last].x));

	return far <= 0 || (s->q.wander > 0 && far <= AHEAD_TAUS * 1e9 * s->q.tau);
}

static int emit_window(struct smoother *s, int64_t until)
{
	double k = bound_sd(s);
	int rc = 0;

	for (size_t i = 0; i < s->n_points && !rc; i++) {
		const struct point *p = &s->p[i];
		struct track_knot knot = { p->x, p->offset,
					   k * sqrt(fmax(p->var_offset, 0) * p->loc) +
						   (s->rounded ? s->setup.resolution_ns / 2 : 0) };

		if ((s->any && p->x <= s->emitted) || !is_told(s, p))
			continue;
		if (p->x > until)
			break;
		if (p->mark) {
			if (p->weight > 0.2) {
				s->r->used++;
				residual_add(&s->residuals, p->z - p->offset);
			} else {
				s->r->rejected++;
			}
		}
		if (p->jump > 0 || p->kick > 0)
			s->r->steps++;
		if (!s->any) {
			s->r->before.rate_ppb = track_rate_ppb(p->rate * 1e-9);
			s->r->before.drift_ppb = k * sqrt(fmax(p->var_rate, 0) * p->loc);
			s->r->before.wander_ppb_s = fabs(p->drift);
		}
		s->any = true;
		s->emitted = p->x;
		rc = thinner_put(&s->thinner, &knot);
	}
	return rc;
}

static int smooth_window(struct smoother *s, bool last)
{
	struct noise at = s->at;
	struct kalman start;
	double offset, slope, scale, shock, size, rough;
	size_t shocks = 0;
	int rc = lay_out(s, last);

	if (rc)
		return rc;
	start_line(s, &offset, &slope, &scale);
	rough = rough_jitter2(s);
	s->rounded = rough < s->setup.resolution_ns * s->setup.resolution_ns / 6;
	if (s->rounded) {
		at.jitter2 = s->setup.resolution_ns * s->setup.resolution_ns / 4;
		at.correlation = at.sd = 0;
	} else if (!s->windows && !s->setup.noise.known) {
		at.jitter2 = rough;
	}
	smooth_set_noise(s, at);
	find_wild(s, sqrt(fmax(at.jitter2, rough)));
	find_gaps(s);
	start = first_state(s, offset, slope * 1e9, scale);
	smooth_learn(s, &start);
	for (;;) {
		size_t at_shock;

		smooth_forward(s, &start, true);
		at_shock = smooth_backward(s, false, &shock, &size);
		if (shock < SHOCK || shocks++ == SHOCKS_MAX)
			break;
		s->p[at_shock].kick = 10 * size * size;
		s->setup.noise.known = false; /* this is not what it was */
		smooth_learn(s, &start);
	}
	for (int pass = 0; pass < PASSES; pass++) {
		reweight(s);
		smooth_forward(s, &start, false);
		smooth_backward(s, pass == PASSES - 1, &shock, &size);
	}
	if (s->at.sd)
		smooth_mix(s, &start);
	look_around(s);
	s->jitter_sum += sqrt(s->at.jitter2 / (1 - s->power[1] * s->power[1]));
	s->correlation_sum += s->power[1];
	s->windows++;
	if (s->q.wander > 0) {
		s->wander2_sum += s->q.wander * s->q.wander;
		s->tau_sum += s->q.tau;
		s->wandering++;
	}
	return emit_window(s, last ? INT64_MAX : s->mark[s->n - OVERLAP].x);
}

/* ---- the tracker ---- */

static struct noise noise_of(const struct track_noise_at *n)
{
	return (struct noise){ n->at[0], n->at[1], n->at[2], n->at[3], n->at[4], n->jitter2 };
}

static struct track_noise_at kept_noise(const struct noise *n)
{
	return (struct track_noise_at){ { n->rate, n->drift, n->correlation, n->sd, n->tau },
					n->jitter2 };
}

static void free_smoother(struct smoother *s)
{
	free(s->mark);
	free(s->p);
	free(s->scratch);
	free(s);
}

static void *open_smooth(const struct track_setup *setup, struct track_report *r)
{
	struct smoother *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->setup = *setup;
	s->r = r;
	s->thinner = (struct knot_thinner){ .r = r, .tolerance = 2 };
	smooth_set_noise(s, setup->noise.known ? noise_of(&setup->noise.likeliest) :
						 (struct noise){ .rate = 2, .drift = 2 });
	s->calm = setup->noise.known ? noise_of(&setup->noise.calm) : s->at;
	s->mark = malloc(SMOOTH_WINDOW * sizeof(*s->mark));
	if (s->mark && !make_room(s, SMOOTH_WINDOW + SMOOTH_WINDOW / 8))
		return s;
	free_smoother(s);
	return NULL;
}

static int feed_smooth(void *state, const struct track_mark *m)
{
	struct smoother *s = state;
	int rc = 0;

	if (s->n && m->x <= s->mark[s->n - 1].x) {
		s->r->rejected++;
		return 0;
	}
	if (s->n == SMOOTH_WINDOW) {
		rc = smooth_window(s, false);
		memmove(s->mark, s->mark + s->n - 2 * OVERLAP, 2 * OVERLAP * sizeof(*s->mark));
		s->n = 2 * OVERLAP;
	}
	s->mark[s->n++] = *m;
	return rc;
}

/*
 * Growth of the half-width beyond the marks, where the map continues as a straight line: k
 * sqrt(P11) t, the drift's (|a2| + k sqrt(P22)) t^2 / 2, and the random walk's k q1 sqrt(t^3 / 3),
 * which is below k q1 / sqrt(3) * (5 t + 0.05 t^2) by t^1.5 <= (t sqrt(h) + t^2 / sqrt(h)) / 2 at h
 * = 100 s.
 */
static void set_edges(struct smoother *s)
{
	const struct point *p = &s->p[s->n_points - 1];
	double k = bound_sd(s), walk, more;
	struct track_report *r = s->r;

	while (!is_told(s, p))
		p--;
	k *= sqrt(p->loc);
	walk = k * s->q.rate / sqrt(3);
	more = k * sqrt(fmax(p->step.predicted.p[KALMAN_DRIFT], 0)) + 0.1 * walk +
	       k * s->q.drift * 8;
	r->after = (struct cvl_map_edge){
		.rate_ppb = track_rate_ppb(p->rate * 1e-9),
		.drift_ppb = k * sqrt(fmax(p->var_rate, 0)) + 5 * walk,
		.wander_ppb_s = fabs(p->drift) + more,
	};
	r->before.drift_ppb += 5 * walk;
	r->before.wander_ppb_s += more;
}

/*
 * The part of the variance that may be left to marks beyond the horizon: 3.3 sqrt(part) sd are then
 * 1 % of the bound.
 */
#define HORIZON_REST (0.01 * BOUND_SD / TRACK_999 * 0.01 * BOUND_SD / TRACK_999)

static double horizon(const struct smoother *s)
{
	const struct kalman_step *last = &s->p[s->last].step;
	const double c = s->power[1], period = s->setup.period_ns;
	/* successive errors alike are as much worse than independent ones */
	const double r = s->at.jitter2 / ((1 - c) * (1 - c));
	struct kalman k = last->predicted;
	double g[KALMAN_ALL];

	if (last->f > 0) {
		kalman_gain(k.p, KALMAN_ALL, last->h, g);
		kalman_update(&k, KALMAN_ALL, g, last->v, last->f);
	}
	return period *
	       (double)kalman_horizon(&k, &s->q, period * 1e-9, r, HORIZON_REST, SMOOTH_WINDOW);
}

static int close_smooth(void *state, int rc)
{
	struct smoother *s = state;

	if (!rc && !s->any && s->n < TRACK_MARKS_MIN)
		rc = CVL_E_NO;
	if (!rc)
		rc = smooth_window(s, true);
	if (!rc)
		rc = thinner_end(&s->thinner);
	if (!rc) {
		set_edges(s);
		residual_end(&s->residuals, s->r);
		s->r->correlation = s->correlation_sum / s->windows;
		s->r->jitter_ns = s->jitter_sum / s->windows;
		s->r->horizon_ns = horizon(s);
		s->r->noise =
			(struct track_noise){ true, kept_noise(&s->at), kept_noise(&s->calm) };
		if (s->wandering) {
			s->r->wander_ns = sqrt(s->wander2_sum / s->wandering);
			s->r->wander_s = s->tau_sum / s->wandering;
		}
	}
	free_smoother(s);
	return rc;
}

const struct tracker tracker_smooth = { open_smooth, feed_smooth, close_smooth, false, true };

const struct estimator estimator_smooth = {
	.info = { .name = "smooth",
		  .what = "pulses and beacons: offline smoother that estimates each clock's noise (default for these)",
		  .options = sync_mark_options,
		  .follows = true },
	.tracker = &tracker_smooth,
};
