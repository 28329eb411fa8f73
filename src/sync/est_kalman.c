/* SPDX-License-Identifier: MIT */
/*
 * Online: what it says of a time follows from the marks before it (kalman), or from those up to a fixed delay after it
 * (lag), and is never taken back.
 *
 * A bank of Kalman filters, each with other process noise, runs side by side; how likely each found the last marks
 * (Student's t with 4 degrees of freedom, half forgotten after 300 s) is its weight. Innovations are held at 3 sd
 * (Huber). The jitter follows the squared innovations slowly. Innovations that are correlated by r widen the bound by
 * sqrt((1 + r) / (1 - r)). Marks far off are left out, unless several
 * in turn agree: then the phase has jumped.
 */
#include "sync/kalman.h"
#include "sync/problem.h"
#include "sync/student.h"
#include "sync/track.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BANK 12
#define FIRST_MARKS 12 /* for the line to start from */
#define HALF_LIFE_S 300.0
#define DOF 4.0
#define CORE 0.83 /* squared scale of that t whose middle is that of a normal distribution */
#define HUBER 3.0
#define WILD 8.0 /* sd from which on a mark is left out */
#define AGREE 4  /* wild marks in turn that make a jump */
#define LAG_NS 16e9
#define LAG_MAX 64   /* points kept for going back */
#define BOUND_SD 3.5 /* 99.9 %, and some for noise that is being learned */
#define STEP_KICK_PPB 1000.0

static const double rates[3] = { 1, 3, 10 };               /* ns/s/sqrt(s) */
static const double drifts[4] = { 0.001, 0.03, 0.1, 0.3 }; /* ns/s^2/sqrt(s) */

struct filter {
	struct kalman k;
	struct kalman_noise q;
	double log_weight;
	struct kalman_step step[LAG_MAX]; /* ring */
};

struct bank {
	struct track_setup setup;
	struct track_report *r;
	double lag_ns; /* 0: kalman */
	struct track_mark first[FIRST_MARKS];
	size_t n; /* marks seen that were not wild */
	struct filter filter[BANK];
	double jitter2, jitter_n;
	int64_t x; /* of the last mark */
	int64_t ring_x[LAG_MAX];
	size_t steps; /* taken in all */
	int64_t emitted;
	bool any;
	struct forecast now;
	struct knot_thinner thinner;
	struct residual_sums residuals;
	double product, squares, before; /* of innovations, the first two fading */
	double wild[AGREE];
	unsigned wilds;
	bool slipped; /* since the last mark */
};

static double correlation(const struct bank *b)
{
	return b->squares > 0 ? fmin(fmax(b->product / b->squares, 0), 0.95) : 0;
}

static double bound_sd(const struct bank *b)
{
	double c = correlation(b), widen = c > 0.05 && b->n > 30 ? sqrt((1 + c) / (1 - c)) : 1;

	return widen *
	       (b->n > 200 ? BOUND_SD : BOUND_SD / TRACK_999 * student_999((double)b->n - 2));
}

/* ---- the bank ---- */

static void shares(const struct bank *b, double share[BANK])
{
	double best = -INFINITY, sum = 0;

	for (int i = 0; i < BANK; i++)
		best = fmax(best, b->filter[i].log_weight);
	for (int i = 0; i < BANK; i++)
		sum += share[i] = exp(b->filter[i].log_weight - best);
	for (int i = 0; i < BANK; i++)
		share[i] /= sum;
}

/* Mean of the filters by their weights; variances take in how far they are apart. */
static void mix(const struct bank *b, double a[3], double var[3])
{
	double share[BANK];

	shares(b, share);
	for (int j = 0; j < 3; j++) {
		static const int diagonal[3] = { KALMAN_OFFSET, KALMAN_RATE, KALMAN_DRIFT };

		a[j] = var[j] = 0;
		for (int i = 0; i < BANK; i++)
			a[j] += share[i] * b->filter[i].k.a[j];
		for (int i = 0; i < BANK; i++) {
			double d = b->filter[i].k.a[j] - a[j];

			var[j] += share[i] * (fmax(b->filter[i].k.p[diagonal[j]], 0) + d * d);
		}
	}
}

static double walk_of(const struct bank *b)
{
	double share[BANK], walk = 0;

	shares(b, share);
	for (int i = 0; i < BANK; i++)
		walk += share[i] * b->filter[i].q.rate;
	return walk;
}

static void take(struct bank *b, struct filter *f, double z, double var, double dt)
{
	struct kalman_step *s = &f->step[b->steps % LAG_MAX];
	const double forget = exp2(-dt / HALF_LIFE_S);
	double u, g[KALMAN_ALL];

	s->v = z - f->k.a[0];
	var += b->jitter2;
	s->r = var;
	s->f = f->k.p[0] + s->r;
	u = s->v * s->v / s->f;
	f->log_weight =
		f->log_weight * forget - 0.5 * log(s->f) - (DOF + 1) / 2 * log1p(u / (DOF * CORE));
	if (u > HUBER * HUBER) {
		s->r = var * u / (HUBER * HUBER);
		s->f = f->k.p[0] + s->r;
	}
	kalman_gain(f->k.p, kalman_states(&f->q), s->h, g);
	kalman_update(&f->k, kalman_states(&f->q), g, s->v, s->f);
}

/* All filters to @x, a point of the ring. */
static void go_to(struct bank *b, int64_t x)
{
	double dt = (double)(x - b->x) * 1e-9;

	for (int i = 0; i < BANK; i++) {
		struct filter *f = &b->filter[i];

		kalman_predict(&f->k, dt, &f->q);
		f->step[b->steps % LAG_MAX] =
			(struct kalman_step){ .predicted = f->k, .h = { 1, 0, 0 }, .dt = dt };
	}
	b->ring_x[b->steps % LAG_MAX] = x;
	b->x = x;
}

/* ---- the start ---- */

static void start_filters(struct bank *b, double offset, double slope, double var_offset,
			  double var_slope)
{
	for (int i = 0; i < BANK; i++) {
		struct filter *f = &b->filter[i];

		f->q = (struct kalman_noise){ .rate = rates[i / 4], .drift = drifts[i % 4] };
		f->k = (struct kalman){ .a = { offset, slope, 0 },
					.p = { var_offset, 0, var_slope, 0, 0, 100 } };
		f->log_weight = 0;
	}
}

/* Median line through the first marks; false if they make no sense. */
static bool start_line(struct bank *b, double *slope, double *offset, double *scale)
{
	double v[FIRST_MARKS * FIRST_MARKS];
	size_t n = b->n, k = 0;
	const struct track_mark *m = b->first;

	for (size_t i = 0; i < n; i++)
		for (size_t j = i + n / 3 + 1; j < n; j++)
			v[k++] = (m[j].offset - m[i].offset) / (double)(m[j].x - m[i].x);
	*slope = median_of(v, k);
	for (size_t i = 0; i < n; i++)
		v[i] = m[i].offset - *slope * (double)(m[i].x - m[n - 1].x);
	*offset = median_of(v, n);
	for (size_t i = 0; i < n; i++)
		v[i] = fabs(m[i].offset - *slope * (double)(m[i].x - m[n - 1].x) - *offset);
	*scale = fmax(1.4826 * median_of(v, n), b->setup.resolution_ns * 0.289 + 0.01);
	return k && isfinite(*slope);
}

/* The first marks are told as their line; the filters begin at the last of them. */
static int start(struct bank *b)
{
	double slope, offset, scale, span = (double)(b->first[b->n - 1].x - b->first[0].x) * 1e-9;
	double q, n = (double)b->n, sd_slope;
	int rc = 0;

	if (b->n < TRACK_MARKS_MIN || !start_line(b, &slope, &offset, &scale))
		return CVL_E_NO;
	/* variances of a line through n equally distant marks, those of medians being pi/2 times as great */
	sd_slope = scale * 1.26 * sqrt(12 / n) / span;
	q = BOUND_SD / TRACK_999 * student_999(n - 2);
	for (size_t i = 0; i < b->n && !rc; i++) {
		double d = (double)(b->first[i].x - b->first[b->n - 1].x), s = d * 1e-9 + span / 2;
		struct track_knot k = { b->first[i].x, offset + slope * d,
					q * hypot(scale * 1.26 / sqrt(n), sd_slope * s) };

		if (i + 1 < b->n)
			rc = thinner_put(&b->thinner, &k);
		b->emitted = k.x;
		b->any = true;
	}
	b->r->before = (struct cvl_map_edge){ .rate_ppb = track_rate_ppb(slope),
					      .drift_ppb = q * sd_slope,
					      .wander_ppb_s = 10 };
	b->jitter2 = scale * scale;
	b->jitter_n = n;
	b->x = b->first[b->n - 1].x;
	start_filters(b, offset, slope * 1e9, scale * scale * 1.6 * 4 / n + 0.01,
		      4 * sd_slope * sd_slope + 1e4);
	go_to(b, b->x);
	b->steps++;
	return rc;
}

/* ---- what is told ---- */

static void foresee(struct bank *b)
{
	double a[3], var[3], k = bound_sd(b), walk = k * walk_of(b) / sqrt(3);

	mix(b, a, var);
	b->now = (struct forecast){
		.x = b->x,
		.offset = a[0],
		.slope = a[1],
		.curve = a[2],
		.bound = k * sqrt(var[0]),
		/* t^1.5 <= (5 t + 0.05 t^2), see est_smooth.c */
		.bound_rate = k * sqrt(var[1]) + 5 * walk,
		.bound_acceleration = k * sqrt(var[2]) + 0.1 * walk,
	};
}

/* The likeliest filter, back from the last point to all that are older than the delay and were not told yet. */
static int tell_late(struct bank *b, int64_t until)
{
	size_t have = b->steps < LAG_MAX ? b->steps : LAG_MAX, best = 0, n = 0;
	struct kalman_back back = { 0 };
	struct track_knot told[LAG_MAX];
	double k = bound_sd(b);
	int rc = 0;

	for (size_t i = 1; i < BANK; i++)
		if (b->filter[i].log_weight > b->filter[best].log_weight)
			best = i;
	for (size_t i = 0; i < have; i++) {
		size_t at = (b->steps - 1 - i) % LAG_MAX;
		const struct kalman_step *s = &b->filter[best].step[at];
		double var;

		if (b->any && b->ring_x[at] <= b->emitted)
			break;
		if (s->f > 0)
			kalman_take_back(&back, s, 3);
		if (b->ring_x[at] <= until)
			told[n++] = (struct track_knot){
				b->ring_x[at], kalman_smoothed(s, 3, &back, 0, &var),
				k * sqrt(var) };
		kalman_pull_back(&back, s->dt, &b->filter[best].q);
	}
	while (n-- && !rc) {
		rc = thinner_put(&b->thinner, &told[n]);
		b->emitted = told[n].x;
	}
	return rc;
}

/* Points without a mark in a gap, so that what is told there bends as it should. */
static int fill_gap(struct bank *b, int64_t x)
{
	int64_t from = b->x;
	double gap = (double)(x - from);
	int steps = (int)fmin(ceil(gap / TRACK_FILL_NS), TRACK_FILL_MAX / 2), rc = 0;

	for (int i = 1; i < steps && !rc; i++) {
		go_to(b, from + (int64_t)(gap * i / steps));
		b->steps++;
		if (b->lag_ns > 0)
			rc = tell_late(b, b->x - (int64_t)b->lag_ns);
	}
	return rc;
}

/* ---- marks ---- */

/* Whether the wild marks seen last agree that the phase is elsewhere. */
static bool has_jumped(const struct bank *b)
{
	double low = INFINITY, high = -INFINITY;

	if (b->wilds < AGREE)
		return false;
	for (int i = 0; i < AGREE; i++) {
		low = fmin(low, b->wild[i]);
		high = fmax(high, b->wild[i]);
	}
	return low * high > 0 && high - low < 0.5 * fmax(fabs(low), fabs(high));
}

static void jump(struct bank *b, double v)
{
	for (int i = 0; i < BANK; i++) {
		b->filter[i].k.p[0] += v * v;
		b->filter[i].k.p[KALMAN_RATE] += STEP_KICK_PPB * STEP_KICK_PPB;
	}
	b->r->steps++;
	b->wilds = 0;
}

static void follow_jitter(struct bank *b, double v, double p00, double var)
{
	double floor = b->setup.resolution_ns * b->setup.resolution_ns / 12 + 1e-4;
	double f = p00 + b->jitter2 + var, u = fmin(v * v / f, 9);

	/* of normal innovations 0.27 % are cut, of others more: what is cut is 1.5 % of the variance */
	b->jitter_n = fmin(b->jitter_n + 1, 300);
	b->jitter2 =
		fmax(b->jitter2 + (u * f / 0.985 - p00 - var - b->jitter2) / b->jitter_n, floor);
	b->jitter2 = fmax(b->jitter2, floor);
}

/* A point without a mark. */
static int pass(struct bank *b, int64_t x, double slip)
{
	go_to(b, x);
	for (int i = 0; i < BANK && slip > 0; i++) {
		struct filter *f = &b->filter[i];

		f->k.p[0] += slip * slip / 3;
		f->step[b->steps % LAG_MAX].predicted = f->k;
	}
	b->steps++;
	foresee(b);
	return b->lag_ns > 0 ? tell_late(b, x - (int64_t)b->lag_ns) : 0;
}

/* Over the slips before @x. What is told up to each is told by what was known before it. */
static int pass_slips(struct bank *b, int64_t x)
{
	int rc = 0;

	for (size_t i = track_slip_from(&b->setup, b->x);
	     i < b->setup.n_slips && b->setup.slip[i].to <= x && !rc; i++) {
		const struct track_slip *s = &b->setup.slip[i];

		if (!(b->lag_ns > 0))
			rc = forecast_emit(b->r, &b->now, s->from + 1);
		if (!rc)
			rc = fill_gap(b, s->from);
		if (!rc)
			rc = pass(b, s->from, 0);
		if (!rc)
			rc = pass(b, s->to, s->half_ns);
		b->slipped = true;
	}
	return rc;
}

static int feed_filters(struct bank *b, const struct track_mark *m)
{
	double a[3], var[3], v, f, dt = (double)(m->x - b->x) * 1e-9, u;
	bool slipped;
	int rc = pass_slips(b, m->x);

	if (!rc && !(b->lag_ns > 0))
		rc = forecast_emit(b->r, &b->now, m->x);
	if (!rc)
		rc = fill_gap(b, m->x);
	if (rc)
		return rc;
	slipped = b->slipped;
	b->slipped = false;
	go_to(b, m->x);
	mix(b, a, var);
	v = m->offset - a[0];
	f = var[0] + b->jitter2 + m->var;
	if (v * v > WILD * WILD * f) {
		b->wild[b->wilds++ % AGREE] = v;
		b->r->rejected++;
		if (has_jumped(b))
			jump(b, v);
		b->steps++;
		foresee(b);
		return 0;
	}
	b->wilds = 0;
	b->n++;
	b->r->used++;
	for (int i = 0; i < BANK; i++)
		take(b, &b->filter[i], m->offset, m->var, dt);
	b->steps++;
	if (slipped) { /* how far it is off tells of the slip */
		foresee(b);
		return b->lag_ns > 0 ? tell_late(b, m->x - (int64_t)b->lag_ns) : 0;
	}
	follow_jitter(b, v, var[0], m->var);
	u = fmax(fmin(v / sqrt(f), HUBER), -HUBER);
	b->product += u * b->before - b->product / 300;
	b->squares += u * u - b->squares / 300;
	b->before = u;
	residual_add(&b->residuals, v);
	foresee(b);
	return b->lag_ns > 0 ? tell_late(b, m->x - (int64_t)b->lag_ns) : 0;
}

static void *open_bank(const struct track_setup *setup, struct track_report *r, double lag_ns)
{
	struct bank *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->setup = *setup;
	b->r = r;
	b->lag_ns = lag_ns;
	b->thinner = (struct knot_thinner){ .r = r, .tolerance = lag_ns > 0 ? 2 : 0 };
	return b;
}

static void *open_kalman(const struct track_setup *setup, struct track_report *r)
{
	return open_bank(setup, r, 0);
}

static void *open_lag(const struct track_setup *setup, struct track_report *r)
{
	return open_bank(setup, r, LAG_NS);
}

static int begin(struct bank *b)
{
	int rc = start(b);

	if (!rc)
		foresee(b);
	if (!rc && !(b->lag_ns > 0))
		rc = thinner_end(&b->thinner);
	return rc;
}

static bool slips_since(const struct bank *b, int64_t from, int64_t to)
{
	size_t i = track_slip_from(&b->setup, from);

	return i < b->setup.n_slips && b->setup.slip[i].to <= to;
}

static int feed(void *state, const struct track_mark *m)
{
	struct bank *b = state;

	if (b->steps)
		return m->x > b->x ? feed_filters(b, m) : 0;
	if (b->n && m->x <= b->first[b->n - 1].x)
		return 0;
	if (b->n && slips_since(b, b->first[b->n - 1].x, m->x)) {
		if (b->n >= TRACK_MARKS_MIN) {
			int rc = begin(b);

			return rc ? rc : feed_filters(b, m);
		}
		b->r->used -= b->n; /* too few to go by on their side */
		b->r->rejected += b->n;
		b->n = 0;
	}
	b->first[b->n++] = *m;
	b->r->used++;
	return b->n == FIRST_MARKS ? begin(b) : 0;
}

static int close_bank(void *state, int rc)
{
	struct bank *b = state;

	if (!rc && !b->steps)
		rc = begin(b);
	if (!rc && b->lag_ns > 0) {
		rc = tell_late(b, INT64_MAX);
		rc = rc ? rc : thinner_end(&b->thinner);
	} else if (!rc) {
		rc = forecast_emit(b->r, &b->now, b->x + 2);
	}
	if (!rc) {
		forecast_last(b->r, &b->now);
		residual_end(&b->residuals, b->r);
		b->r->correlation = correlation(b);
		b->r->jitter_ns = sqrt(b->jitter2);
	}
	free(b);
	return rc;
}

static const struct tracker kalman = { open_kalman, feed, close_bank, false, true };
static const struct tracker lag = { open_lag, feed, close_bank, false, true };

const struct estimator estimator_kalman = {
	.info = { "kalman",
		  "pulses and beacons, online: a bank of Kalman filters, nothing is taken back",
		  false },
	.tracker = &kalman,
};

const struct estimator estimator_lag = {
	.info = { "lag", "the same, told 16 s late", false },
	.tracker = &lag,
};
