/* SPDX-License-Identifier: MIT */
/* The smoother's passes forward and back over a window, and the likelihood of a noise. */
#include "sync/smooth.h"

#include <math.h>

#define MEDIAN_1 0.455  /* of a squared standard normal variable */
#define MEDIAN_OFF 0.03 /* by which it may be wrong */
#define TRIES 3         /* of scaling the white part */

static const double rates[SMOOTH_RATES] = { 0.1, 0.3, 1, 3, 10, 30, 100, 300 }; /* ns/s/sqrt(s) */
static const double drifts[SMOOTH_DRIFTS] = {
	0.001, 0.005, 0.02, 0.06, 0.2, 0.6, 2, 8, 30
}; /* ns/s^2/sqrt(s) */
static const double correlations[SMOOTH_CORRELATIONS] = { 0, 0.3, 0.6, 0.8, 0.9, 0.95, 0.98 };
static const double sds[SMOOTH_SDS] = { 0, 0.2, 0.4, 0.8, 1.6, 3, 6, 12, 25 };
const double smooth_taus[SMOOTH_TAUS] = { 0.25, 0.5, 1, 2, 4, 8 }; /* s */

void smooth_set_noise(struct smoother *s, struct noise at)
{
	s->at = at;
	s->power[0] = 1;
	for (int i = 1; i < SMOOTH_PERIODS; i++)
		s->power[i] = s->power[i - 1] * correlations[at.correlation];
	s->q = (struct kalman_noise){ rates[at.rate], drifts[at.drift],
				      sds[at.sd] * sqrt(at.jitter2), smooth_taus[at.tau] };
}

static void set_jitter(struct smoother *s, double jitter2)
{
	s->at.jitter2 = jitter2;
	s->q.wander = sds[s->at.sd] * sqrt(jitter2);
}

/* ---- forward ---- */

double smooth_reading(const struct smoother *s, const struct point *p, double h[3], double *var)
{
	const double c = s->power[1], e = p->periods ? s->power[p->periods] : 0;

	h[0] = 1 - e;
	h[1] = e * p->gap;
	h[2] = -e * p->gap * p->gap / 2;
	*var = (s->at.jitter2 * (1 - e * e) / (1 - c * c) + p->var) / p->weight;
	return p->z - e * p->z_before;
}

/* Of the likelihood. */
struct weighing {
	double sum, product; /* one logarithm for several terms */
	size_t n;            /* squared normalised innovations, in scratch */
};

/* The innovation of @p, and what it weighs. @f: the variance of what was predicted. */
KALMAN_INLINE void innovate(struct smoother *s, struct point *p, double f, double r, bool counted,
			    bool robust, struct weighing *w)
{
	double u, t;

	p->step.f = f + r;
	p->step.r = r;
	p->u = p->step.v / sqrt(f + r * p->weight);
	if (!counted || !(w || robust))
		return;
	u = p->step.v * p->step.v / p->step.f;
	if (w) {
		t = 1 + u / (SMOOTH_DOF * SMOOTH_CORE);
		w->product *= p->step.f * t * t * t * t * t; /* t^(DOF + 1) */
		if (!(w->product > 1e-80 && w->product < 1e80)) {
			w->sum -= 0.5 * log(w->product);
			w->product = 1;
		}
		s->scratch[w->n++] = u;
	}
	if (robust && u > 9) {
		p->step.r = r * u / 9;
		p->step.f = f + p->step.r;
	}
}

/* @correlated: errors may be; else a reading is of the offset alone. @w: or NULL. */
KALMAN_INLINE void pass_forward(struct smoother *s, struct kalman k, int states, bool correlated,
				bool robust, struct weighing *w)
{
	kalman_begin_wander(&k, &s->q);
	for (size_t i = 0; i < s->n_points; i++) {
		struct point *p = &s->p[i];
		double *h = p->step.h, r, g[KALMAN_ALL], f;

		if (i)
			kalman_predict(&k, p->step.dt, &s->q);
		k.p[KALMAN_OFFSET] += p->jump + p->slip;
		k.p[KALMAN_RATE] += p->kick;
		p->step.predicted = k;
		p->step.f = 0;
		if (!(p->weight > 0))
			continue;
		if (correlated) {
			p->step.v = smooth_reading(s, p, h, &r) - h[0] * k.a[0] - h[1] * k.a[1] -
				    h[2] * k.a[2];
			kalman_gain(k.p, states, h, g);
			f = h[0] * g[0] + h[1] * g[1] + h[2] * g[2];
		} else {
			h[0] = 1;
			h[1] = h[2] = 0;
			r = (s->at.jitter2 + p->var) / p->weight;
			p->step.v = p->z - k.a[0];
			for (int j = 0; j < states; j++)
				g[j] = k.p[kalman_at(0, j)];
			f = g[0];
		}
		innovate(s, p, f, r, i > s->first + 2, robust, w);
		kalman_update(&k, states, g, p->step.v, p->step.f);
	}
}

/* Specialised by number of states and kind of reading, known to the compiler. */
void smooth_forward(struct smoother *s, const struct kalman *start, bool robust)
{
	if (s->q.wander > 0)
		pass_forward(s, *start, KALMAN_ALL, false, robust, NULL);
	else if (s->at.correlation)
		pass_forward(s, *start, KALMAN_CLOCK, true, robust, NULL);
	else
		pass_forward(s, *start, KALMAN_CLOCK, false, robust, NULL);
}

/* ---- back ---- */

KALMAN_INLINE size_t pass_back(struct smoother *s, int states, bool correlated, bool whole,
			       double *shock, double *size)
{
	struct kalman_back b = { 0 };
	size_t at = 0;

	*shock = 0;
	for (size_t i = s->n_points; i-- > 0;) {
		struct point *p = &s->p[i];
		double var;

		if (p->step.f > 0 && correlated)
			kalman_take_back(&b, &p->step, states);
		else if (p->step.f > 0)
			kalman_take_back_offset(&b, &p->step, states);
		p->offset = kalman_smoothed(&p->step, states, &b, 0, &p->var_offset);
		if (whole || correlated) {
			p->rate = kalman_smoothed(&p->step, states, &b, 1, &p->var_rate);
			p->drift = kalman_smoothed(&p->step, states, &b, 2, &var);
		}
		if (i > s->first + 2 && !(p->kick > 0) && b.n[KALMAN_RATE] > 0 &&
		    b.r[1] * b.r[1] > *shock * b.n[KALMAN_RATE]) {
			*shock = b.r[1] * b.r[1] / b.n[KALMAN_RATE];
			*size = b.r[1] / b.n[KALMAN_RATE];
			at = i;
		}
		if (i)
			kalman_pull_back(&b, p->step.dt, &s->q);
	}
	return at;
}

size_t smooth_backward(struct smoother *s, bool whole, double *shock, double *size)
{
	if (s->q.wander > 0)
		return pass_back(s, KALMAN_ALL, false, true, shock, size);
	if (s->at.correlation)
		return pass_back(s, KALMAN_CLOCK, true, true, shock, size);
	return whole ? pass_back(s, KALMAN_CLOCK, false, true, shock, size) :
		       pass_back(s, KALMAN_CLOCK, false, false, shock, size);
}

/* ---- likelihood ---- */

double smooth_jitter_floor(const struct smoother *s)
{
	return s->setup.resolution_ns * s->setup.resolution_ns / 12 + 1e-4;
}

static bool same_noise(const struct noise *a, const struct noise *b)
{
	return a->rate == b->rate && a->drift == b->drift && a->correlation == b->correlation &&
	       a->sd == b->sd && a->tau == b->tau && a->jitter2 == b->jitter2;
}

void smooth_forget(struct smoother *s)
{
	s->n_known = s->n_readings = 0;
}

static const struct known *find_known(const struct smoother *s, const struct noise *at)
{
	for (size_t i = 0; i < s->n_known; i++)
		if (same_noise(&s->known[i].asked, at))
			return &s->known[i];
	return NULL;
}

bool smooth_knows(const struct smoother *s, const struct noise *at)
{
	return find_known(s, at);
}

/* The points as they are now. */
static void take_readings(struct smoother *s)
{
	for (size_t i = 0; i < s->n_points; i++) {
		const struct point *p = &s->p[i];

		s->reading[i] =
			(struct lane_reading){ .dt = p->step.dt,
					       .jump = p->jump + p->slip,
					       .kick = p->kick,
					       .z = p->z,
					       .var = p->var,
					       .by_weight = p->weight > 0 ? 1 / p->weight : 0,
					       .counted = i > s->first + 2 };
	}
	s->n_readings = s->n_points;
}

/*
 * Whether the median of @n innovations, each @step apart, surely is as expected, which is seen by
 * counting them.
 */
static bool median_fits(const double *u, size_t n, size_t step)
{
	const double low = MEDIAN_1 * (1 - MEDIAN_OFF + 1e-9),
		     high = MEDIAN_1 * (1 + MEDIAN_OFF - 1e-9);
	size_t below = 0, not_above = 0;

	for (size_t i = 0; i < n; i++) {
		below += u[step * i] < low;
		not_above += u[step * i] < high;
	}
	return below < n / 2 && not_above > n / 2;
}

/*
 * By how much the white part is to be scaled for innovations, each @step apart, to be as expected;
 * 1: it need not. They may be those in scratch.
 */
static double scale_of(struct smoother *s, const double *u, size_t n, size_t step)
{
	double ratio;

	if (n < 8 || s->rounded || median_fits(u, n, step))
		return 1;
	for (size_t i = 0; i < n; i++)
		s->scratch[i] = u[step * i];
	ratio = median_of(s->scratch, n) / MEDIAN_1;
	if (!(ratio > 0) || fabs(ratio - 1) < MEDIAN_OFF)
		return 1;
	return fmin(fmax(ratio, 0.05), 20);
}

/* Weigh noises @at of those known once more. */
static void weigh_known(struct smoother *s, const struct kalman *start, const size_t *at, size_t n)
{
	struct lane lane[LANES];
	size_t readings;

	for (size_t i = 0; i < n; i++) {
		const struct noise *noise = &s->known[at[i]].scaled;

		lane[i] = (struct lane){ rates[noise->rate], drifts[noise->drift], noise->jitter2,
					 0 };
	}
	readings = lanes_weigh(s->reading, s->n_readings, start, lane, n, s->u);
	for (size_t i = 0; i < n; i++) {
		struct known *known = &s->known[at[i]];
		const double scale = scale_of(s, s->u + i, readings, LANES);

		known->likelihood = lane[i].likelihood;
		known->fits = scale == 1;
		known->tries++;
		if (scale != 1)
			known->scaled.jitter2 =
				fmax(known->scaled.jitter2 * scale, smooth_jitter_floor(s));
	}
}

void smooth_foresee(struct smoother *s, const struct kalman *start, const struct noise *list,
		    size_t n, bool steps)
{
	size_t at[LANES], left;

	if (!s->n_readings)
		take_readings(s);
	s->n_known = n;
	for (size_t i = 0; i < n; i++)
		s->known[i] = (struct known){ .asked = list[i], .scaled = list[i] };
	for (;;) {
		const double first = s->known[0].scaled.jitter2;

		left = 0;
		for (size_t i = 0; i < n; i++)
			if (!s->known[i].fits && s->known[i].tries < TRIES)
				at[left++] = i;
		if (!left)
			return;
		weigh_known(s, start, at, left);
		for (size_t i = 1; steps && i < n && s->known[0].scaled.jitter2 != first; i++) {
			s->known[i] = (struct known){ .asked = list[i] };
			s->known[i].asked.jitter2 = s->known[0].scaled.jitter2;
			s->known[i].scaled = s->known[i].asked;
		}
	}
}

static double weigh(struct smoother *s, const struct kalman *start, size_t *n)
{
	struct weighing w = { .product = 1 };

	if (s->q.wander > 0)
		pass_forward(s, *start, KALMAN_ALL, false, true, &w);
	else
		pass_forward(s, *start, KALMAN_CLOCK, true, true, &w);
	*n = w.n;
	return w.sum - 0.5 * log(w.product);
}

double smooth_likelihood(struct smoother *s, const struct kalman *start)
{
	double sum = 0;

	if (!s->at.sd && !s->at.correlation) {
		const struct known *known = find_known(s, &s->at);

		if (!known) {
			const struct noise at = s->at;

			smooth_foresee(s, start, &at, 1, false);
			known = s->known;
		}
		smooth_set_noise(s, known->scaled);
		return known->likelihood;
	}
	for (int i = 0; i < TRIES; i++) {
		double scale;
		size_t n;

		sum = weigh(s, start, &n);
		scale = scale_of(s, s->scratch, n, 1);
		if (scale == 1)
			break;
		set_jitter(s, fmax(s->at.jitter2 * scale, smooth_jitter_floor(s)));
	}
	return sum;
}
