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
#include "sync/kalman.h"
#include "sync/local.h"
#include "sync/problem.h"
#include "sync/student.h"
#include "sync/track.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW 1536
#define OVERLAP 128
#define DOF 4.0          /* of Student's t */
#define CORE 0.83        /* squared scale of the t that matches a normal in the middle */
#define MEDIAN_1 0.455   /* of a squared standard normal variable */
#define PASSES 3         /* of reweighting */
#define SHOCK 30.0       /* squared auxiliary residual that makes a shock */
#define SHOCKS_MAX 12    /* in a window */
#define START_MARKS 16   /* to fit the initial line to */
#define DRIFT_PRIOR 20.0 /* ppb/s */
#define RATES 8
#define DRIFTS 9
#define CORRELATIONS 7
#define CORRELATION_GAIN 4 /* of the log-likelihood, needed to accept correlation */
#define WANDERS 4          /* searched from this index of rates on */
#define POWERS 64          /* periods over which correlation is counted */
/*
 * Sd covered by the bound of an offset: 99.9 %, and a margin for noise estimated from finite data;
 * more where the reference wanders, which is known less well.
 */
#define BOUND_SD 3.7
#define BOUND_SD_WANDER 5.0
#define SDS 9         /* of wander, relative to the jitter; the first is none */
#define TAUS 6        /* time constants of wander */
#define WANDER_LOSS 1 /* of the log-likelihood, up to which wander stays possible */
#define TAU_PERIODS 2
#define TAU_SPANS 8
#define AHEAD 8 /* points beyond either end; only those within AHEAD_TAUS are used */
#define AHEAD_TAUS 4
#define AROUND 2 /* grid steps around the likeliest that are also weighed */
#define MAYBES (1 + (2 * AROUND + 1) * (2 * AROUND + 1))
#define SHARE_MIN 0.02 /* of the likeliest; anything less likely is dropped */

static const double rates[RATES] = { 0.1, 0.3, 1, 3, 10, 30, 100, 300 }; /* ns/s/sqrt(s) */
static const double drifts[DRIFTS] = {
	0.001, 0.005, 0.02, 0.06, 0.2, 0.6, 2, 8, 30
}; /* ns/s^2/sqrt(s) */
static const double correlations[CORRELATIONS] = { 0, 0.3, 0.6, 0.8, 0.9, 0.95, 0.98 };
static const double sds[SDS] = { 0, 0.2, 0.4, 0.8, 1.6, 3, 6, 12, 25 };
static const double taus[TAUS] = { 0.25, 0.5, 1, 2, 4, 8 };           /* s */
static const double ahead[AHEAD] = { 0.25, 0.5, 1, 2, 4, 8, 16, 32 }; /* s */

/* Means over the candidates, weighted by likelihood; offsets relative to the first one's. */
struct mixture {
	double first, offset, square, u2, rate, var_rate;
};

struct point {
	int64_t x;
	double z, var;     /* of the mark */
	double weight;     /* 0: no mark, or a rejected one */
	double jump, kick; /* variance added to phase and rate before this point */
	double slip;       /* the same, for a known slip */
	bool mark;
	uint32_t source;
	double gap,
		/* s since the previous mark of the same source, and its z; gap 0: none */
		z_before;
	struct kalman_step step;
	double u;   /* normalised innovation */
	double loc; /* local variance relative to the usual, at least 1 */
	double offset, var_offset, rate, var_rate, drift; /* smoothed */
	struct mixture mixed;
};

/* A place on the grid of noise. */
struct noise {
	int rate, drift, correlation, sd, tau;
	double jitter2; /* variance of the white part */
};

struct smoother {
	struct track_setup setup;
	struct track_report *r;
	struct track_mark *mark;
	size_t n;        /* marks waiting */
	int64_t emitted; /* x up to which knots were emitted */
	bool any;
	struct point *p;
	size_t n_points, cap_points;
	size_t first, last; /* points that are the first and last marks */
	double *scratch;
	struct noise at;
	struct kalman_noise q; /* noise densities of @at */
	struct noise calm;     /* the likeliest noise without wander */
	double calm_likelihood;
	/*
	 * stamps are coarser than what they stamp: their errors beat slowly and do not average out
	 */
	bool rounded;
	double power[POWERS]; /* of the correlation */
	struct knot_thinner thinner;
	struct residual_sums residuals;
	double jitter_sum, correlation_sum;
	double wander2_sum, tau_sum; /* over windows with wander */
	unsigned windows, wandering;
};

/* ---- the filter ---- */

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

static void set_noise(struct smoother *s, struct noise at)
{
	s->at = at;
	s->power[0] = 1;
	for (int i = 1; i < POWERS; i++)
		s->power[i] = s->power[i - 1] * correlations[at.correlation];
	s->q = (struct kalman_noise){ rates[at.rate], drifts[at.drift],
				      sds[at.sd] * sqrt(at.jitter2), taus[at.tau] };
}

static void set_jitter(struct smoother *s, double jitter2)
{
	s->at.jitter2 = jitter2;
	s->q.wander = sds[s->at.sd] * sqrt(jitter2);
}

/* What the mark of @p reads, how, and with which variance. */
static double reading(const struct smoother *s, const struct point *p, double h[3], double *var)
{
	double periods = fmax(p->gap * 1e9 / s->setup.period_ns + 0.5, 1), c = s->power[1], e;

	e = p->gap > 0 && periods < POWERS ? s->power[(int)periods] : 0;
	h[0] = 1 - e;
	h[1] = e * p->gap;
	h[2] = -e * p->gap * p->gap / 2;
	*var = (s->at.jitter2 * (1 - e * e) / (1 - c * c) + p->var) / p->weight;
	return p->z - e * p->z_before;
}

/*
 * One pass forward. Returns the log-likelihood; @n_ratio: number of normalised squared innovations
 * in scratch.
 */
KALMAN_INLINE double pass_forward(struct smoother *s, struct kalman k, int states, bool robust,
				  size_t *n_ratio)
{
	double sum = 0, product = 1; /* one logarithm for several terms */

	*n_ratio = 0;
	kalman_begin_wander(&k, &s->q);
	for (size_t i = 0; i < s->n_points; i++) {
		struct point *p = &s->p[i];
		double r, g[KALMAN_ALL], f;

		if (i)
			kalman_predict(&k, p->step.dt, &s->q);
		k.p[KALMAN_OFFSET] += p->jump + p->slip;
		k.p[KALMAN_RATE] += p->kick;
		p->step.predicted = k;
		p->step.f = 0;
		if (!(p->weight > 0))
			continue;
		p->step.v = reading(s, p, p->step.h, &r) - p->step.h[0] * k.a[0] -
			    p->step.h[1] * k.a[1] - p->step.h[2] * k.a[2];
		kalman_gain(k.p, states, p->step.h, g);
		f = p->step.h[0] * g[0] + p->step.h[1] * g[1] + p->step.h[2] * g[2];
		p->step.f = f + r;
		p->step.r = r;
		p->u = p->step.v / sqrt(f + r * p->weight);
		if (i > s->first + 2) {
			double u = p->step.v * p->step.v / p->step.f, t = 1 + u / (DOF * CORE);

			product *= p->step.f * t * t * t * t * t; /* t^(DOF + 1) */
			if (!(product > 1e-80 && product < 1e80)) {
				sum -= 0.5 * log(product);
				product = 1;
			}
			s->scratch[(*n_ratio)++] = u;
			if (robust && u > 9) {
				p->step.r = r * u / 9;
				p->step.f = f + p->step.r;
			}
		}
		kalman_update(&k, states, g, p->step.v, p->step.f);
	}
	return sum - 0.5 * log(product);
}

/*
 * One pass back: smoothed offsets. Returns the point before which the rate most clearly jumped, and
 * by how much (squared).
 */
KALMAN_INLINE size_t pass_back(struct smoother *s, int states, double *shock, double *size)
{
	struct kalman_back b = { 0 };
	size_t at = 0;

	*shock = 0;
	for (size_t i = s->n_points; i-- > 0;) {
		struct point *p = &s->p[i];
		double var;

		if (p->step.f > 0)
			kalman_take_back(&b, &p->step, states);
		p->offset = kalman_smoothed(&p->step, states, &b, 0, &p->var_offset);
		p->rate = kalman_smoothed(&p->step, states, &b, 1, &p->var_rate);
		p->drift = kalman_smoothed(&p->step, states, &b, 2, &var);
		if (i > s->first + 2 && !(p->kick > 0) && b.n[KALMAN_RATE] > 0 &&
		    b.r[1] * b.r[1] / b.n[KALMAN_RATE] > *shock) {
			*shock = b.r[1] * b.r[1] / b.n[KALMAN_RATE];
			*size = b.r[1] / b.n[KALMAN_RATE];
			at = i;
		}
		if (i)
			kalman_pull_back(&b, p->step.dt, &s->q);
	}
	return at;
}

/* Specialised by number of states, known to the compiler. */
static double forward(struct smoother *s, const struct kalman *k, bool robust, size_t *n_ratio)
{
	return s->q.wander > 0 ? pass_forward(s, *k, KALMAN_ALL, robust, n_ratio) :
				 pass_forward(s, *k, KALMAN_CLOCK, robust, n_ratio);
}

static size_t backward(struct smoother *s, double *shock, double *size)
{
	return s->q.wander > 0 ? pass_back(s, KALMAN_ALL, shock, size) :
				 pass_back(s, KALMAN_CLOCK, shock, size);
}

/* ---- one window ---- */

static int add_point(struct smoother *s, const struct point *p)
{
	if (s->n_points == s->cap_points) {
		size_t more = s->cap_points ? 2 * s->cap_points : 2 * WINDOW;
		struct point *grown = realloc(s->p, more * sizeof(*grown));
		double *scratch;

		if (!grown)
			return CVL_E_NOMEM;
		s->p = grown;
		scratch = realloc(s->scratch, more * sizeof(*scratch));
		if (!scratch)
			return CVL_E_NOMEM;
		s->scratch = scratch;
		s->cap_points = more;
	}
	s->p[s->n_points++] = *p;
	return 0;
}

/* Add points after @from, so close that no clock wanders far in between, and then @p. */
static int fill_up_to(struct smoother *s, int64_t from, struct point p)
{
	double gap = (double)(p.x - from);
	int fill = (int)fmin(fmax(ceil(gap / TRACK_FILL_NS), 1), TRACK_FILL_MAX), rc = 0;

	p.step.dt = gap * 1e-9 / fill;
	for (int k = 1; k < fill && !rc; k++) {
		struct point between = { .x = from + (int64_t)(gap * k / fill),
					 .step.dt = p.step.dt };

		rc = add_point(s, &between);
	}
	return rc ? rc : add_point(s, &p);
}

/*
 * Add both sides of the slips between marks at *@from and @to; sets *@from to the last one's end.
 */
static int lay_slips(struct smoother *s, int64_t *from, int64_t to)
{
	int rc = 0;

	for (size_t i = track_slip_from(&s->setup, *from);
	     i < s->setup.n_slips && s->setup.slip[i].to <= to && !rc; i++) {
		const struct track_slip *slip = &s->setup.slip[i];
		const struct point before = { .x = slip->from },
				   after = { .x = slip->to,
					     .step.dt = (double)(slip->to - slip->from) * 1e-9,
					     .slip = slip->half_ns * slip->half_ns / 3 };

		rc = fill_up_to(s, *from, before);
		if (!rc)
			rc = add_point(s, &after);
		*from = slip->to;
	}
	return rc;
}

/* Add points beyond an end for wander to decay in; none beyond a slip. */
static int lay_beyond(struct smoother *s, bool before)
{
	int64_t end = s->mark[before ? 0 : s->n - 1].x, at = end;
	size_t slip = track_slip_from(&s->setup, end);
	int rc = 0;

	for (int i = 0; i < AHEAD && !rc; i++) {
		int64_t far = (int64_t)(1e9 * ahead[before ? AHEAD - 1 - i : i]);
		struct point p = { .x = before ? end - far : end + far };

		if (before ? slip && s->setup.slip[slip - 1].to >= p.x :
			     slip < s->setup.n_slips && s->setup.slip[slip].from <= p.x)
			continue;
		p.step.dt = s->n_points ? (double)(p.x - at) * 1e-9 : 0;
		at = p.x;
		rc = add_point(s, &p);
	}
	return rc;
}

static int lay_out(struct smoother *s, bool last)
{
	int rc = 0;

	s->n_points = 0;
	if (s->setup.pulses && !s->any)
		rc = lay_beyond(s, true);
	s->first = s->n_points;
	for (size_t i = 0; i < s->n && !rc; i++) {
		const struct track_mark *m = &s->mark[i];
		struct point p = { .x = m->x,
				   .z = m->offset,
				   .var = m->var,
				   .mark = true,
				   .weight = 1,
				   .source = m->source };

		if (i) {
			int64_t from = s->mark[i - 1].x;

			rc = lay_slips(s, &from, m->x);
			if (!rc)
				rc = fill_up_to(s, from, p);
		} else {
			if (s->first)
				p.step.dt = (double)(p.x - s->p[s->first - 1].x) * 1e-9;
			rc = add_point(s, &p);
		}
	}
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
	return fmax(m * m, s->setup.resolution_ns * s->setup.resolution_ns / 12 + 1e-4);
}

/*
 * Marks without a neighbour near them lose their weight; where two on either side agree among
 * themselves but not across, the phase jumped. Clock wander in between (20 ppm around the median
 * slope) is allowed for.
 */
static void find_wild(struct smoother *s, double jitter)
{
	struct point *m[5] = { 0 };
	size_t have = 0;

	for (size_t i = 0; i < s->n_points; i++) {
		double reach, slope[5], y[5];

		if (s->p[i].slip > jitter * jitter)
			have = 0; /* neighbours across a slip are no comparison */
		if (!s->p[i].mark)
			continue;
		memmove(m, m + 1, 4 * sizeof(*m));
		m[4] = &s->p[i];
		if (++have < 5)
			continue;
		for (int k = 0; k < 5; k++) {
			const struct point *a = m[k < 4 ? k : 0], *b = m[k < 4 ? k + 1 : 4];

			slope[k] = (b->z - a->z) / (double)(b->x - a->x);
		}
		slope[0] = median_of(slope, 5);
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
			p->gap = (double)(p->x - last[k]->x) * 1e-9;
			p->z_before = last[k]->z;
		}
		memmove(last + 1, last, (size_t)k * sizeof(*last));
		last[0] = p;
	}
}

enum axis { RATE, DRIFT, CORRELATION, SD, TAU, AXES };

/*
 * Whether wander of that time constant is distinguishable from jitter, and recurred often enough to
 * be estimated.
 */
static bool tau_fits(const struct smoother *s, int tau)
{
	double span = (double)(s->mark[s->n - 1].x - s->mark[0].x);

	return tau >= 0 && tau < TAUS && taus[tau] * 1e9 >= TAU_PERIODS * s->setup.period_ns &&
	       taus[tau] * 1e9 * TAU_SPANS <= span;
}

/* One step along @axis; false at its end. Correlation and wander exclude each other. */
static bool step_along(const struct smoother *s, enum axis axis, int by, struct noise *at)
{
	*at = s->at;
	switch (axis) {
	case RATE: at->rate += by; return at->rate >= 0 && at->rate < RATES;
	case DRIFT: at->drift += by; return at->drift >= 0 && at->drift < DRIFTS;
	case CORRELATION:
		at->correlation += by;
		return at->correlation >= 0 &&
		       at->correlation < (s->rounded || at->sd ? 1 : CORRELATIONS);
	case SD: at->sd += by; return s->at.sd && at->sd > 0 && at->sd < SDS;
	case TAU: at->tau += by; return at->sd && tau_fits(s, at->tau);
	case AXES: break;
	}
	return false;
}

/* Log-likelihood, the white part being scaled so that the median innovation is as expected. */
static double likelihood(struct smoother *s, const struct kalman *start)
{
	double floor = s->setup.resolution_ns * s->setup.resolution_ns / 12 + 1e-4, sum = 0;

	for (int i = 0; i < (s->rounded ? 1 : 3); i++) {
		size_t n;
		double ratio;

		sum = forward(s, start, true, &n);
		ratio = median_of(s->scratch, n) / MEDIAN_1;
		if (!(ratio > 0) || n < 8 || fabs(ratio - 1) < 0.03 || s->rounded)
			break;
		set_jitter(s, fmax(s->at.jitter2 * fmin(fmax(ratio, 0.05), 20), floor));
	}
	return sum;
}

static double climb(struct smoother *s, const struct kalman *start)
{
	double best = likelihood(s, start);

	for (int axis = 0, tried = 0; tried < AXES; axis = (axis + 1) % AXES, tried++)
		for (int by = -1; by <= 1; by += 2) {
			struct noise next;

			while (step_along(s, (enum axis)axis, by, &next)) {
				const struct noise before = s->at;
				double l;

				set_noise(s, next);
				l = likelihood(s, start);
				if (!(l > best + (axis == CORRELATION ? CORRELATION_GAIN : 0.5))) {
					set_noise(s, before);
					break;
				}
				best = l;
				tried = 0;
			}
		}
	return best;
}

/*
 * Climb the grid from the last window's optimum. From afar a clock that wanders much looks like a
 * quiet one with correlated jitter: where either is found, or at the start, the climb is also tried
 * from each.
 */
static void learn_calm(struct smoother *s, const struct kalman *start)
{
	static const struct noise other[] = { { 1, 3, 4, 0, 0, 0 }, { 5, 6, 0, 0, 0, 0 } };
	double best = climb(s, start);

	for (size_t i = 0; i < sizeof(other) / sizeof(*other); i++) {
		const struct noise before = s->at;
		struct noise there = other[i];
		double l;

		if (s->windows && before.rate < WANDERS && !before.correlation && !i)
			break;
		there.jitter2 = before.jitter2;
		there.correlation = s->rounded ? 0 : there.correlation;
		set_noise(s, there);
		l = climb(s, start);
		if (l > best + (s->at.correlation > before.correlation ? CORRELATION_GAIN : 0))
			best = l;
		else
			set_noise(s, before);
	}
	s->calm = s->at;
	s->calm_likelihood = best;
}

/*
 * A clock that wanders much explains a wandering reference nearly as well: the climb begins where
 * the clock is quiet, at the best of a few places.
 */
static void find_wander(struct smoother *s, const struct kalman *start)
{
	struct noise likeliest = s->at;
	double most = -INFINITY;

	for (int sd = 1; sd < SDS; sd += 2)
		for (int tau = 0; tau < TAUS; tau += 2) {
			const struct noise there = { .rate = 2,
						     .drift = 3,
						     .sd = sd,
						     .tau = tau,
						     .jitter2 = s->calm.jitter2 };
			double l;

			if (!tau_fits(s, tau))
				continue;
			set_noise(s, there);
			l = likelihood(s, start);
			if (l > most) {
				most = l;
				likeliest = s->at;
			}
		}
	set_noise(s, likeliest);
}

/*
 * If the last window found wander, search for it here too; else only if the clock alone would have
 * to be a bad one.
 */
static void learn_noise(struct smoother *s, const struct kalman *start)
{
	const struct noise before = s->at;

	if (s->setup.noise.known) {
		if (before.sd) {
			set_noise(s, s->calm);
			s->calm_likelihood = likelihood(s, start);
			set_noise(s, before);
		}
		return;
	}
	if (before.sd)
		set_noise(s, s->calm);
	learn_calm(s, start);
	if (!s->setup.pulses || s->rounded ||
	    (s->windows && !before.sd && s->at.rate < WANDERS && !s->at.correlation))
		return;
	if (before.sd)
		set_noise(s, before);
	else
		find_wander(s, start);
	if (!s->at.sd || !(climb(s, start) > s->calm_likelihood - WANDER_LOSS))
		set_noise(s, s->calm);
}

/* ---- averaging over noise models ---- */

struct maybe {
	struct noise noise;
	double share;
};

/* Wanders near the likeliest, and none, with their likelihoods. */
static int list_maybes(struct smoother *s, const struct kalman *start, struct maybe *list)
{
	const struct noise likeliest = s->at;
	double best = s->calm_likelihood, sum = 0;
	int n = 1, kept = 0;

	list[0] = (struct maybe){ s->calm, s->calm_likelihood };
	for (int sd = likeliest.sd - AROUND; sd <= likeliest.sd + AROUND; sd++)
		for (int tau = likeliest.tau - AROUND; tau <= likeliest.tau + AROUND; tau++) {
			struct noise there = likeliest;

			if (sd < 1 || sd >= SDS || !tau_fits(s, tau))
				continue;
			there.sd = sd;
			there.tau = tau;
			set_noise(s, there);
			list[n].share = likelihood(s, start);
			list[n].noise = s->at;
			best = fmax(best, list[n++].share);
		}
	for (int i = 0; i < n; i++) {
		list[i].share = exp(list[i].share - best);
		if (list[i].share < SHARE_MIN)
			continue;
		sum += list[i].share;
		list[kept++] = list[i];
	}
	for (int i = 0; i < kept; i++)
		list[i].share /= sum;
	set_noise(s, likeliest);
	return kept;
}

static void add_to_mixture(struct point *p, double share, bool first)
{
	struct mixture *m = &p->mixed;
	double d;

	if (first)
		*m = (struct mixture){ .first = p->offset };
	d = p->offset - m->first;
	m->offset += share * d;
	m->square += share * (p->var_offset + d * d);
	m->u2 += share * p->u * p->u;
	m->rate += share * p->rate;
	m->var_rate += share * p->var_rate;
}

/*
 * After a few minutes the size and time constant of a reference's wander are still poorly known,
 * and bounds depend on them: output the mean of all candidates weighted by likelihood; the variance
 * includes their spread.
 */
static void mix(struct smoother *s, const struct kalman *start)
{
	const struct noise likeliest = s->at;
	struct maybe list[MAYBES];
	double shock, size;
	int kept = list_maybes(s, start, list);

	for (int k = 0; k < kept; k++) {
		size_t n;

		set_noise(s, list[k].noise);
		forward(s, start, false, &n);
		backward(s, &shock, &size);
		for (size_t i = 0; i < s->n_points; i++)
			add_to_mixture(&s->p[i], list[k].share, !k);
	}
	set_noise(s, likeliest);
	for (size_t i = 0; i < s->n_points; i++) {
		struct point *p = &s->p[i];
		const struct mixture *m = &p->mixed;

		p->offset = m->first + m->offset;
		p->var_offset = m->square - m->offset * m->offset;
		p->u = sqrt(m->u2);
		p->rate = m->rate;
		p->var_rate = m->var_rate;
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
		e = reading(s, p, h, &var) - h[0] * p->offset - h[1] * p->rate - h[2] * p->drift;
		p->weight = (DOF + 1) / (DOF + e * e / (CORE * var));
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
	size_t n, shocks = 0;
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
	set_noise(s, at);
	find_wild(s, sqrt(fmax(at.jitter2, rough)));
	find_gaps(s);
	start = first_state(s, offset, slope * 1e9, scale);
	learn_noise(s, &start);
	for (;;) {
		size_t at_shock;

		forward(s, &start, true, &n);
		at_shock = backward(s, &shock, &size);
		if (shock < SHOCK || shocks++ == SHOCKS_MAX)
			break;
		s->p[at_shock].kick = 10 * size * size;
		s->setup.noise.known = false; /* this is not what it was */
		learn_noise(s, &start);
	}
	for (int pass = 0; pass < PASSES; pass++) {
		reweight(s);
		forward(s, &start, false, &n);
		backward(s, &shock, &size);
	}
	if (s->at.sd)
		mix(s, &start);
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

static void *open_smooth(const struct track_setup *setup, struct track_report *r)
{
	struct smoother *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->setup = *setup;
	s->r = r;
	s->thinner = (struct knot_thinner){ .r = r, .tolerance = 2 };
	set_noise(s, setup->noise.known ? noise_of(&setup->noise.likeliest) :
					  (struct noise){ .rate = 2, .drift = 2 });
	s->calm = setup->noise.known ? noise_of(&setup->noise.calm) : s->at;
	s->mark = malloc(WINDOW * sizeof(*s->mark));
	s->cap_points = 2 * WINDOW;
	s->p = malloc(s->cap_points * sizeof(*s->p));
	s->scratch = malloc(s->cap_points * sizeof(*s->scratch));
	if (s->mark && s->p && s->scratch)
		return s;
	free(s->mark);
	free(s->p);
	free(s->scratch);
	free(s);
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
	if (s->n == WINDOW) {
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
	return period * (double)kalman_horizon(&k, &s->q, period * 1e-9, r, HORIZON_REST, WINDOW);
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
	free(s->mark);
	free(s->p);
	free(s->scratch);
	free(s);
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
