/* SPDX-License-Identifier: MIT */
/*
 * Offline smoother, in overlapping windows so that memory does not grow with the capture.
 *
 * In each window: marks far from their neighbours lose their say, and places where the offset jumps for good are
 * found, by running medians. The noise of the clock (two densities) is the point of a grid with the greatest
 * likelihood under Student's t with 4 degrees of freedom; the jitter comes from the median squared innovation. A fixed-interval
 * smoother (de Jong: Smoothing and interpolation with the state-space model, JASA 84, 1989) gives offset and
 * variance at every mark; its auxiliary residuals r^2/N (de Jong, Penzer: Diagnosing shocks in time series, JASA 93, 1998)
 * tell where the rate changed suddenly, and there the model is told so. Marks are then reweighted by Student's t
 * and smoothed again. Correlated innovations widen the jitter by (1 + r) / (1 - r).
 */
#include "sync/kalman.h"
#include "sync/problem.h"
#include "sync/student.h"
#include "sync/track.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW 1536
#define OVERLAP 128
#define FILL_NS 2e9 /* longest step of the filter: between distant marks points without a mark are put */
#define FILL_MAX 64
#define DOF 4.0        /* of Student's t */
#define CORE 0.83      /* squared scale of that t whose middle is that of a normal distribution */
#define MEDIAN_1 0.455 /* of a squared standard normal variable */
#define PASSES 3       /* of reweighting */
#define SHOCK 30.0     /* auxiliary residual, squared, from which on it is one */
#define SHOCKS_MAX 12  /* in a window */
#define RATE_PRIOR 2000.0 /* ppb, about the first line */
#define DRIFT_PRIOR 20.0  /* ppb/s */
#define RATES 7
#define DRIFTS 7

static const double rates[RATES] = { 0.1, 0.3, 1, 3, 10, 30, 100 };             /* ns/s/sqrt(s) */
static const double drifts[DRIFTS] = { 0.001, 0.005, 0.02, 0.06, 0.2, 0.6, 2 }; /* ns/s^2/sqrt(s) */

struct point {
	int64_t x;
	double z, var;     /* of the mark */
	double dt;         /* s since the point before */
	double weight;     /* 0: no mark, or one that does not count */
	double jump, kick; /* variance that phase and rate get before this point */
	bool mark;
	struct kalman predicted;
	double v, f;        /* innovation and its variance */
	double offset, var_offset, rate, var_rate; /* smoothed */
};

struct smoother {
	struct track_setup setup;
	struct track_report *r;
	struct track_mark *mark;
	size_t n;        /* marks waiting */
	int64_t emitted; /* x up to which knots are out */
	bool any;
	struct point *p;
	size_t n_points, cap_points;
	double *scratch;
	int rate, drift; /* of the grid */
	double jitter2;
	struct knot_thinner thinner;
	struct residual_sums residuals;
	double product, squares; /* of successive innovations, over all windows */
	double jitter_sum;
	unsigned windows;
};

/* ---- the filter ---- */

static struct kalman first_state(const struct smoother *s, double offset, double slope, double scale)
{
	double span = (double)(s->p[s->n_points - 1].x - s->p[0].x) * 1e-9;
	double reach = 100 * scale + 1000, rate = RATE_PRIOR + 100 * scale / fmax(span, 1e-3);

	return (struct kalman){ .a = { offset, slope, 0 },
				.p = { reach * reach, 0, 0, rate * rate, 0,
				       DRIFT_PRIOR * DRIFT_PRIOR } };
}

/* One pass forward. @keep: store what the smoother needs. Returns the log-likelihood; @ratio: squared innovations
 * against what was expected of them. */
static double forward(struct smoother *s, struct kalman k, const struct kalman_noise *q, double jitter2,
		      bool robust, bool keep, size_t *n_ratio)
{
	double sum = 0;

	*n_ratio = 0;
	for (size_t i = 0; i < s->n_points; i++) {
		struct point *p = &s->p[i];
		double f, v, r;

		if (i)
			kalman_predict(&k, p->dt, q);
		k.p[0] += p->jump;
		k.p[3] += p->kick;
		if (keep)
			p->predicted = k;
		p->f = 0;
		if (!(p->weight > 0))
			continue;
		r = (jitter2 + p->var) / p->weight;
		v = p->z - k.a[0];
		f = k.p[0] + r;
		if (i > 2) {
			double u = v * v / f;

			sum -= 0.5 * log(f) + (DOF + 1) / 2 * log1p(u / (DOF * CORE));
			s->scratch[(*n_ratio)++] = u;
			if (robust && u > 9)
				f = k.p[0] + r * u / 9;
		}
		p->v = v;
		p->f = f;
		kalman_update(&k, v, f);
	}
	return sum;
}

struct backward {
	double r[3], n[6]; /* n packed as in struct kalman */
};

/* r and N of the transition over @dt: T' r and T' N T. */
static void pull_back(struct backward *b, double dt)
{
	double h = dt * dt / 2, *n = b->n, *r = b->r;
	double n00 = n[0], n01 = n[1], n02 = n[2], n11 = n[3], n12 = n[4], n22 = n[5];

	r[2] += h * r[0] + dt * r[1];
	r[1] += dt * r[0];
	n[1] = n01 + dt * n00;
	n[2] = n02 + dt * n01 + h * n00;
	n[3] = n11 + 2 * dt * n01 + dt * dt * n00;
	n[4] = n12 + dt * n11 + h * n01 + dt * (n02 + dt * n01 + h * n00);
	n[5] = n22 + dt * dt * n11 + h * h * n00 + 2 * dt * n12 + 2 * h * n02 + 2 * dt * h * n01;
}

/* r and N before the mark of @p. */
static void take_back(struct backward *b, const struct point *p)
{
	const double *c = p->predicted.p;
	double g0 = c[0] / p->f, g1 = c[1] / p->f, g2 = c[2] / p->f, *n = b->n, *r = b->r;
	double rg = r[0] * g0 + r[1] * g1 + r[2] * g2;
	double m0 = n[0] * g0 + n[1] * g1 + n[2] * g2, m1 = n[1] * g0 + n[3] * g1 + n[4] * g2,
	       m2 = n[2] * g0 + n[4] * g1 + n[5] * g2;
	double gng = g0 * m0 + g1 * m1 + g2 * m2;

	r[0] += p->v / p->f - rg;
	n[0] += 1 / p->f - 2 * m0 + gng;
	n[1] -= m1;
	n[2] -= m2;
}

static double quadratic(const double *n, double a, double b, double c)
{
	return n[0] * a * a + n[3] * b * b + n[5] * c * c +
	       2 * (n[1] * a * b + n[2] * a * c + n[4] * b * c);
}

/* One pass back: smoothed offsets. Returns the point before which the rate was most clearly kicked, and by how
 * much (a square). */
static size_t backward(struct smoother *s, double *shock, double *size)
{
	struct backward b = { 0 };
	size_t at = 0;

	*shock = 0;
	for (size_t i = s->n_points; i-- > 0;) {
		struct point *p = &s->p[i];
		const double *c = p->predicted.p, *a = p->predicted.a;

		if (p->f > 0)
			take_back(&b, p);
		p->offset = a[0] + c[0] * b.r[0] + c[1] * b.r[1] + c[2] * b.r[2];
		p->var_offset = c[0] - quadratic(b.n, c[0], c[1], c[2]);
		p->rate = a[1] + c[1] * b.r[0] + c[3] * b.r[1] + c[4] * b.r[2];
		p->var_rate = c[3] - quadratic(b.n, c[1], c[3], c[4]);
		if (i > 2 && !(p->kick > 0) && b.n[3] > 0 && b.r[1] * b.r[1] / b.n[3] > *shock) {
			*shock = b.r[1] * b.r[1] / b.n[3];
			*size = b.r[1] / b.n[3];
			at = i;
		}
		if (i)
			pull_back(&b, p->dt);
	}
	return at;
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

static int lay_out(struct smoother *s)
{
	int rc = 0;

	s->n_points = 0;
	for (size_t i = 0; i < s->n && !rc; i++) {
		const struct track_mark *m = &s->mark[i];
		struct point p = { .x = m->x, .z = m->offset, .var = m->var, .mark = true,
				   .weight = 1 };

		if (i) {
			int64_t from = s->mark[i - 1].x;
			double gap = (double)(m->x - from);
			int fill = (int)fmin(ceil(gap / FILL_NS), FILL_MAX);

			p.dt = gap * 1e-9 / fill;
			for (int k = 1; k < fill && !rc; k++) {
				struct point between = { .x = from + (int64_t)(gap * k / fill),
							 .dt = p.dt };

				rc = add_point(s, &between);
			}
		}
		if (!rc)
			rc = add_point(s, &p);
	}
	return rc;
}

/* Median slope between marks a quarter of the first 64 apart, and the median offset from it at the first. */
static void start_line(const struct smoother *s, double *offset, double *slope, double *scale)
{
	size_t n = s->n < 64 ? s->n : 64, k = 0, lag = n > 4 ? n / 4 : 1;

	for (size_t i = 0; i + lag < n; i++) {
		const struct track_mark *a = &s->mark[i], *b = &s->mark[i + lag];

		s->scratch[k++] = (b->offset - a->offset) / (double)(b->x - a->x);
	}
	*slope = median_of(s->scratch, k);
	for (size_t i = 0; i < n; i++)
		s->scratch[i] = s->mark[i].offset -
				*slope * (double)(s->mark[i].x - s->mark[0].x);
	*offset = median_of(s->scratch, n);
	for (size_t i = 0; i < n; i++)
		s->scratch[i] = fabs(s->mark[i].offset -
				     *slope * (double)(s->mark[i].x - s->mark[0].x) - *offset);
	*scale = 1.4826 * median_of(s->scratch, n);
}

/* Jitter from how far each mark is off the chord of its neighbours: no clock wanders much in that time. */
static double rough_jitter2(const struct smoother *s)
{
	size_t k = 0;
	double m;

	for (size_t i = 1; i + 1 < s->n; i++) {
		const struct track_mark *a = &s->mark[i - 1], *b = &s->mark[i], *c = &s->mark[i + 1];
		double u = (double)(b->x - a->x) / (double)(c->x - a->x);
		double off = b->offset - (1 - u) * a->offset - u * c->offset;

		s->scratch[k++] = fabs(off) / sqrt(1 + u * u + (1 - u) * (1 - u));
	}
	m = 1.4826 * median_of(s->scratch, k);
	return fmax(m * m, s->setup.resolution_ns * s->setup.resolution_ns / 12 + 1e-4);
}

/*
 * Marks that have no neighbour near them lose their say; where two on both sides agree among themselves but not across,
 * the phase jumped. What clocks may wander in between (20 ppm) is allowed for.
 */
static void find_wild(struct smoother *s, double slope, double jitter)
{
	struct point *m[5] = { 0 };
	double y[5] = { 0 }, x0 = (double)s->p[0].x;
	size_t have = 0;

	for (size_t i = 0; i < s->n_points; i++) {
		double reach;

		if (!s->p[i].mark)
			continue;
		memmove(m, m + 1, 4 * sizeof(*m));
		memmove(y, y + 1, 4 * sizeof(*y));
		m[4] = &s->p[i];
		y[4] = m[4]->z - slope * ((double)m[4]->x - x0);
		if (++have < 5)
			continue;
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

static double log_likelihood(struct smoother *s, const struct kalman *start, int rate, int drift,
			     double jitter2)
{
	const struct kalman_noise q = { rates[rate], drifts[drift] };
	size_t n;

	return forward(s, *start, &q, jitter2, true, false, &n);
}

/* Climb on the grid from where the last window was; after each round the jitter is made to fit. */
static void learn_noise(struct smoother *s, const struct kalman *start)
{
	for (int round = 0; round < 3; round++) {
		struct kalman_noise q;
		double best = log_likelihood(s, start, s->rate, s->drift, s->jitter2), ratio;
		bool moved = true;
		size_t n;

		while (moved) {
			static const int step[4][2] = { { 1, 0 }, { -1, 0 }, { 0, 1 }, { 0, -1 } };

			moved = false;
			for (int k = 0; k < 4; k++) {
				int rate = s->rate + step[k][0], drift = s->drift + step[k][1];
				double l;

				if (rate < 0 || rate >= RATES || drift < 0 || drift >= DRIFTS)
					continue;
				l = log_likelihood(s, start, rate, drift, s->jitter2);
				if (l > best + 1e-9) {
					best = l;
					s->rate = rate;
					s->drift = drift;
					moved = true;
					break;
				}
			}
		}
		q = (struct kalman_noise){ rates[s->rate], drifts[s->drift] };
		forward(s, *start, &q, s->jitter2, true, false, &n);
		ratio = median_of(s->scratch, n) / MEDIAN_1;
		if (!(ratio > 0) || n < 8)
			break;
		s->jitter2 = fmax(s->jitter2 * fmin(fmax(ratio, 0.1), 10),
				  s->setup.resolution_ns * s->setup.resolution_ns / 12 + 1e-4);
		if (fabs(ratio - 1) < 0.02)
			break;
	}
}

static void reweight(struct smoother *s)
{
	for (size_t i = 0; i < s->n_points; i++) {
		struct point *p = &s->p[i];
		double e = p->z - p->offset;

		if (p->mark && p->weight > 0)
			p->weight = (DOF + 1) / (DOF + e * e / (CORE * (s->jitter2 + p->var)));
	}
}

/* Correlation of successive innovations, each held at 3 sd. */
static double correlation(struct smoother *s, double *product, double *squares)
{
	double before = 0;
	bool any = false;

	*product = *squares = 0;
	for (size_t i = 3; i < s->n_points; i++) {
		const struct point *p = &s->p[i];
		double u;

		if (!(p->f > 0))
			continue;
		u = fmax(fmin(p->v / sqrt(p->f), 3), -3);
		if (any)
			*product += u * before;
		*squares += u * u;
		before = u;
		any = true;
	}
	return *squares > 0 ? *product / *squares : 0;
}

static int emit_window(struct smoother *s, int64_t until, double widen)
{
	double k = s->n > 200 ? TRACK_999 : student_999((double)s->n - 3);
	int rc = 0;

	for (size_t i = 0; i < s->n_points && !rc; i++) {
		const struct point *p = &s->p[i];
		struct track_knot knot = { p->x, p->offset,
					   k * sqrt(fmax(p->var_offset * widen, 0)) };

		if (s->any && p->x <= s->emitted)
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
			s->r->before.rate_ppb = -p->rate / (1 + p->rate * 1e-9);
			s->r->before.drift_ppb = k * sqrt(fmax(p->var_rate, 0));
		}
		s->any = true;
		s->emitted = p->x;
		rc = thinner_put(&s->thinner, &knot);
	}
	return rc;
}

static int smooth_window(struct smoother *s, bool last)
{
	struct kalman_noise q;
	struct kalman start;
	double offset, slope, scale, shock, size, rho, product, squares;
	int64_t until;
	size_t n, shocks = 0;
	int rc = lay_out(s);

	if (rc)
		return rc;
	start_line(s, &offset, &slope, &scale);
	if (!s->windows)
		s->jitter2 = rough_jitter2(s);
	find_wild(s, slope, sqrt(fmax(s->jitter2, rough_jitter2(s))));
	start = first_state(s, offset, slope * 1e9, scale);
	learn_noise(s, &start);
	for (;;) {
		size_t at;

		q = (struct kalman_noise){ rates[s->rate], drifts[s->drift] };
		forward(s, start, &q, s->jitter2, true, true, &n);
		at = backward(s, &shock, &size);
		if (shock < SHOCK || shocks++ == SHOCKS_MAX)
			break;
		s->p[at].kick = 10 * size * size;
		learn_noise(s, &start);
	}
	for (int pass = 0; pass < PASSES; pass++) {
		reweight(s);
		forward(s, start, &q, s->jitter2, false, true, &n);
		backward(s, &shock, &size);
	}
	rho = correlation(s, &product, &squares);
	s->product += product;
	s->squares += squares;
	if (rho > 0.05) {
		double r = fmin(rho, 0.95);

		forward(s, start, &q, s->jitter2 * (1 + r) / (1 - r), false, true, &n);
		backward(s, &shock, &size);
	}
	s->jitter_sum += sqrt(s->jitter2);
	s->windows++;
	until = last ? INT64_MAX : s->mark[s->n - OVERLAP].x;
	return emit_window(s, until, 1);
}

/* ---- the tracker ---- */

static void *open_smooth(const struct track_setup *setup, struct track_report *r)
{
	struct smoother *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->setup = *setup;
	s->r = r;
	s->thinner = (struct knot_thinner){ .r = r, .tolerance = 2 };
	s->rate = 3;
	s->drift = 3;
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
 * Growth of the half-width beyond the marks: k sqrt(P11) t, the drift's k sqrt(P22) t^2 / 2, and the random walk's
 * k q1 sqrt(t^3 / 3), which is below k q1 / sqrt(3) * (5 t + 0.05 t^2) by t^1.5 <= (t sqrt(h) + t^2 / sqrt(h)) / 2 at h = 100 s.
 */
static void set_edges(struct smoother *s)
{
	const struct point *first = &s->p[0], *p = &s->p[s->n_points - 1];
	double k = s->n > 200 ? TRACK_999 : student_999((double)s->n - 3);
	double walk = k * rates[s->rate] / sqrt(3), drift = k * sqrt(fmax(p->predicted.p[5], 0));
	struct track_report *r = s->r;

	(void)first;
	r->after = (struct cvl_map_edge){
		.rate_ppb = -p->rate / (1 + p->rate * 1e-9),
		.drift_ppb = k * sqrt(fmax(p->var_rate, 0)) + 5 * walk,
		.wander_ppb_s = drift + 0.1 * walk + k * drifts[s->drift] * 8,
	};
	r->before.drift_ppb += 5 * walk;
	r->before.wander_ppb_s = r->after.wander_ppb_s;
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
		s->r->correlation = s->squares > 0 ? s->product / s->squares : 0;
		s->r->jitter_ns = s->jitter_sum / s->windows;
	}
	free(s->mark);
	free(s->p);
	free(s->scratch);
	free(s);
	return rc;
}

const struct tracker tracker_smooth = { open_smooth, feed_smooth, close_smooth, false };

const struct estimator estimator_smooth = {
	.info = { "smooth",
		  "pulses and beacons: offline smoother that learns each clock's noise (default for them)" },
	.tracker = &tracker_smooth,
};
