/* SPDX-License-Identifier: MIT */
/*
 * Online: the estimate at a time depends only on the marks before it (kalman), or up to a delay
 * after it (lag), and is never revised.
 *
 * A bank of Kalman filters with different process noise runs side by side; the likelihood of recent
 * marks (Student's t with 4 degrees of freedom, half forgotten after 300 s) weights each filter.
 * Some let the reference of pulses wander (kalman.h). Innovations are clipped at 3 sd (Huber). The
 * jitter follows the squared innovations slowly. Innovations correlated by r widen the bound by
 * sqrt((1 + r) / (1 - r)), and so do recent large ones. Outlying marks are dropped, unless several
 * in turn agree: then the phase has jumped.
 *
 * The delay is that after which later marks change little, by the likeliest filter.
 */
#include "sync/kalman.h"
#include "sync/local.h"
#include "sync/problem.h"
#include "sync/student.h"
#include "sync/track.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CLOCKS 12 /* filters without reference wander */
#define WANDERS 8 /* filters with it */
#define BANK (CLOCKS + WANDERS)
#define FIRST_MARKS 12 /* to fit the initial line to */
#define HALF_LIFE_S 300.0
#define DOF 4.0
#define CORE 0.83 /* squared scale of the t that matches a normal in the middle */
#define HUBER 3.0
#define WILD 8.0 /* sd beyond which a mark is rejected */
#define AGREE 4  /* consecutive rejected marks that make a jump */
#define LAG_LEAST_NS 16e9
#define LAG_MOST_NS 128e9
#define LAG_REST 0.0113 /* of the variance, left to later marks: 10 % of the bound */
#define LAG_LEARNED 64  /* marks between updates of the delay */
#define LAG_POINTS 64   /* initially kept for the backward pass */
#define LAG_POINTS_MAX 4096
#define LAG_PIECE \
	8 /* emit an eighth of the pending points at a time: each backward pass covers all */
#define SHARE_MIN 0.02      /* of the likeliest filter's; smaller weights are ignored */
#define BOUND_SD 3.5        /* 99.9 %, and a margin for estimated noise */
#define BOUND_SD_PULSES 4.8 /* references are known less well */
#define WANDER_PRIOR 3      /* of log-likelihood, in favour of wander */
#define CHORD_PERIODS 2.5
#define TAU_PERIODS 2        /* shorter wander looks like jitter */
#define AHEAD_STEP_NS 0.25e9 /* step of a forecast if the reference may wander */
#define AHEAD_NS 6e9         /* horizon of a forecast, after which wander is unknown */
#define STEP_KICK_PPB 1000.0

static const double rates[3] = { 1, 3, 10 };               /* ns/s/sqrt(s) */
static const double drifts[4] = { 0.001, 0.03, 0.1, 0.3 }; /* ns/s^2/sqrt(s) */
static const struct {
	double sd, tau; /* sd relative to the jitter's; s */
} wanders[WANDERS] = { { 0.4, 0.5 }, { 1.2, 0.5 }, { 4, 0.5 }, { 12, 0.5 },
		       { 0.4, 1.5 }, { 1.2, 1.5 }, { 4, 1.5 }, { 12, 1.5 } };

struct filter {
	struct kalman_noise q;
	double sd; /* of wander, relative to the jitter */
	double log_weight;
	struct kalman_step *step; /* of each place */
};

/* A past point and its reading. */
struct place {
	int64_t x;
	double z, loc;
	bool mark;
};

struct bank {
	struct track_setup setup;
	struct track_report *r;
	double lag_ns; /* 0: kalman */
	struct track_mark first[FIRST_MARKS];
	size_t n; /* marks accepted */
	struct filter filter[BANK];
	struct kalman k[BANK];
	int filters;
	double jitter2, jitter_n;
	int64_t x;           /* of the last mark */
	size_t steps;        /* taken in all */
	size_t told;         /* of them, emitted by lag */
	struct place *place; /* ring of the last steps, a power of two */
	size_t room;
	struct local_noise local;
	struct track_mark near[3]; /* the last three */
	struct forecast now;
	struct knot_thinner thinner;
	struct residual_sums residuals;
	double product, squares, before; /* of innovations; the first two decay */
	double wild[AGREE];
	unsigned wilds;
	bool slipped; /* since the last mark */
};

static double correlation(const struct bank *b)
{
	return b->squares > 0 ? fmin(fmax(b->product / b->squares, 0), 0.95) : 0;
}

/* Share of the filters in which a reference wanders. */
static double wandering(const struct bank *b, const double *share)
{
	double sum = 0;

	for (int i = CLOCKS; i < b->filters; i++)
		sum += share[i];
	return sum;
}

/* ---- the bank ---- */

static double log_weight(const struct bank *b, int i)
{
	return b->filter[i].log_weight + (i < CLOCKS ? 0 : WANDER_PRIOR);
}

static void shares(const struct bank *b, double share[BANK])
{
	double best = -INFINITY, sum = 0;

	for (int i = 0; i < b->filters; i++)
		best = fmax(best, log_weight(b, i));
	for (int i = 0; i < b->filters; i++)
		sum += share[i] = exp(log_weight(b, i) - best);
	for (int i = 0; i < b->filters; i++)
		share[i] /= sum;
}

static double bound_sd(const struct bank *b)
{
	double c = correlation(b), widen = c > 0.05 && b->n > 30 ? sqrt((1 + c) / (1 - c)) : 1;
	double sd = b->filters > CLOCKS ? BOUND_SD_PULSES : BOUND_SD;

	return widen * (b->n > 200 ? sd : sd / TRACK_999 * student_999((double)b->n - 2));
}

/*
 * Weighted mean of the filters' states; the variance includes their spread.
 */
static void mix(const struct bank *b, const struct kalman *k, double a[3], double var[3])
{
	static const int diagonal[3] = { KALMAN_OFFSET, KALMAN_RATE, KALMAN_DRIFT };
	double share[BANK];

	shares(b, share);
	for (int j = 0; j < 3; j++) {
		a[j] = var[j] = 0;
		for (int i = 0; i < b->filters; i++)
			a[j] += share[i] * k[i].a[j];
		for (int i = 0; i < b->filters; i++) {
			double d = k[i].a[j] - a[j];

			var[j] += share[i] * (fmax(k[i].p[diagonal[j]], 0) + d * d);
		}
	}
}

static double walk_of(const struct bank *b)
{
	double share[BANK], walk = 0;

	shares(b, share);
	for (int i = 0; i < b->filters; i++)
		walk += share[i] * b->filter[i].q.rate;
	return walk;
}

static size_t at(const struct bank *b, size_t step)
{
	return step & (b->room - 1);
}

static void take(struct bank *b, int i, double z, double var, double dt)
{
	struct filter *f = &b->filter[i];
	struct kalman *k = &b->k[i];
	struct kalman_step *s = &f->step[at(b, b->steps)];
	const double forget = exp2(-dt / HALF_LIFE_S);
	double u, g[KALMAN_ALL];

	s->v = z - k->a[0];
	var += b->jitter2;
	s->r = var;
	s->f = k->p[0] + s->r;
	u = s->v * s->v / s->f;
	f->log_weight =
		f->log_weight * forget - 0.5 * log(s->f) - (DOF + 1) / 2 * log1p(u / (DOF * CORE));
	if (u > HUBER * HUBER) {
		s->r = var * u / (HUBER * HUBER);
		s->f = k->p[0] + s->r;
	}
	kalman_gain(k->p, kalman_states(&f->q), s->h, g);
	kalman_update(k, kalman_states(&f->q), g, s->v, s->f);
}

static int tell_late(struct bank *b, int64_t until, bool all);

/* Twice as many places, each step at its new one. */
static int grow(struct bank *b)
{
	size_t more = b->room ? 2 * b->room : b->lag_ns > 0 ? LAG_POINTS : 1;
	struct place *place = calloc(more, sizeof(*place));

	if (!place)
		return CVL_E_NOMEM;
	for (size_t i = b->told; i < b->steps; i++)
		place[i & (more - 1)] = b->place[at(b, i)];
	free(b->place);
	b->place = place;
	for (int k = 0; k < b->filters; k++) {
		struct kalman_step *step = calloc(more, sizeof(*step));

		if (!step)
			return CVL_E_NOMEM;
		for (size_t i = b->told; i < b->steps; i++)
			step[i & (more - 1)] = b->filter[k].step[at(b, i)];
		free(b->filter[k].step);
		b->filter[k].step = step;
	}
	b->room = more;
	return 0;
}

/* Advance all filters to @x, a point of the ring. */
static int go_to(struct bank *b, int64_t x)
{
	double dt = (double)(x - b->x) * 1e-9;
	int rc = 0;

	if (!b->room || (b->lag_ns > 0 && b->steps - b->told == b->room))
		rc = b->room < LAG_POINTS_MAX ?
			     grow(b) :
			     tell_late(b, b->place[at(b, b->told + b->room / LAG_PIECE)].x, true);
	if (rc)
		return rc;
	for (int i = 0; i < b->filters; i++) {
		struct filter *f = &b->filter[i];

		f->q.wander = f->sd * sqrt(b->jitter2);
		kalman_predict(&b->k[i], dt, &f->q);
		f->step[at(b, b->steps)] =
			(struct kalman_step){ .predicted = b->k[i], .h = { 1, 0, 0 }, .dt = dt };
	}
	b->place[at(b, b->steps)] = (struct place){ .x = x, .loc = local_noise_now(&b->local) };
	b->x = x;
	return 0;
}

/* ---- the start ---- */

static void start_filters(struct bank *b, double offset, double slope, double var_offset,
			  double var_slope)
{
	for (int i = 0; i < CLOCKS + (b->setup.pulses ? WANDERS : 0); i++) {
		struct filter *f = &b->filter[b->filters];

		f->q = (struct kalman_noise){ .rate = rates[i / 4 % 3], .drift = drifts[i % 4] };
		f->sd = 0;
		if (i >= CLOCKS) {
			f->q = (struct kalman_noise){ .rate = rates[0],
						      .drift = drifts[2],
						      .tau = wanders[i - CLOCKS].tau };
			f->sd = wanders[i - CLOCKS].sd;
			if (f->q.tau * 1e9 < TAU_PERIODS * b->setup.period_ns)
				continue;
		}
		f->q.wander = f->sd * sqrt(b->jitter2);
		b->k[b->filters] = (struct kalman){ .a = { offset, slope, 0 },
						    .p = { var_offset, 0, var_slope, 0, 0, 100 } };
		kalman_begin_wander(&b->k[b->filters++], &f->q);
	}
}

/* Median line through the first marks; false if it fits no clock. */
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

/* Emit the line through the first marks; the filters begin at the last of them. */
static int start(struct bank *b)
{
	double slope, offset, scale, span = (double)(b->first[b->n - 1].x - b->first[0].x) * 1e-9;
	double q, n = (double)b->n, sd_slope;
	int rc = 0;

	if (b->n < TRACK_MARKS_MIN || !start_line(b, &slope, &offset, &scale))
		return CVL_E_NO;
	/*
	 * variances of a line through n equally spaced marks; those of medians are pi/2 times
	 * larger
	 */
	sd_slope = scale * 1.26 * sqrt(12 / n) / span;
	q = BOUND_SD / TRACK_999 * student_999(n - 2);
	for (size_t i = 0; i < b->n && !rc; i++) {
		double d = (double)(b->first[i].x - b->first[b->n - 1].x), s = d * 1e-9 + span / 2;
		struct track_knot k = { b->first[i].x, offset + slope * d,
					q * hypot(scale * 1.26 / sqrt(n), sd_slope * s) };

		if (i + 1 < b->n)
			rc = thinner_put(&b->thinner, &k);
		if (i + 1 < b->n && b->lag_ns > 0)
			residual_add(&b->residuals, b->first[i].offset - k.offset);
	}
	b->r->before = (struct cvl_map_edge){ .rate_ppb = track_rate_ppb(slope),
					      .drift_ppb = q * sd_slope,
					      .wander_ppb_s = 10 };
	b->jitter2 = scale * scale;
	b->jitter_n = n;
	b->x = b->first[b->n - 1].x;
	start_filters(b, offset, slope * 1e9, scale * scale * 1.6 * 4 / n + 0.01,
		      4 * sd_slope * sd_slope + 1e4);
	if (!rc)
		rc = go_to(b, b->x);
	b->steps += !rc;
	return rc;
}

/* ---- output ---- */

static void foresee(struct bank *b)
{
	double a[3], var[3], k = bound_sd(b) * sqrt(local_noise_now(&b->local)),
			     walk = k * walk_of(b) / sqrt(3);

	mix(b, b->k, a, var);
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

/*
 * Emit the forecast from the last point to just before @until. Wander is not a polynomial, so it
 * needs points in between.
 */
static int tell_ahead(struct bank *b, int64_t until)
{
	double span = (double)(until - 1 - b->x),
	       k = bound_sd(b) * sqrt(local_noise_now(&b->local));
	int steps = (int)fmin(fmax(ceil(span / AHEAD_STEP_NS), 1), TRACK_FILL_MAX), rc = 0;
	struct kalman ahead[BANK];

	if (b->filters <= CLOCKS)
		return forecast_emit(b->r, &b->now, until);
	memcpy(ahead, b->k, sizeof(ahead));
	for (int i = 0; i <= steps && !rc; i++) {
		struct track_knot knot = { .x = b->x + (int64_t)(span * i / steps) };
		double a[3], var[3];

		for (int f = 0; f < b->filters && i; f++)
			kalman_predict(&ahead[f], span * 1e-9 / steps, &b->filter[f].q);
		mix(b, ahead, a, var);
		knot.offset = a[0];
		knot.bound = k * sqrt(var[0]);
		rc = track_emit(b->r, &knot);
	}
	return rc;
}

static int likeliest(const struct bank *b)
{
	int best = 0;

	for (int i = 1; i < b->filters; i++)
		if (log_weight(b, i) > log_weight(b, best))
			best = i;
	return best;
}

static void learn_lag(struct bank *b)
{
	const int best = likeliest(b);
	const double most = fmin(LAG_MOST_NS / b->setup.period_ns, LAG_POINTS_MAX);
	const size_t marks =
		kalman_horizon(&b->k[best], &b->filter[best].q, b->setup.period_ns * 1e-9,
			       b->jitter2, LAG_REST, (size_t)most);

	b->lag_ns = fmin(fmax((double)marks * b->setup.period_ns, LAG_LEAST_NS), LAG_MOST_NS);
}

/* Weighted means of the filters at a point; offsets are relative to the first filter's. */
struct late {
	double first, offset, square;
};

/* Backward pass of filter @f from the last point over all pending ones; the first @n are used. */
static void go_back(const struct bank *b, const struct filter *f, double share, size_t n,
		    struct late *late, bool first)
{
	int states = kalman_states(&f->q);
	struct kalman_back back = { 0 };

	for (size_t i = b->steps - b->told; i-- > 0;) {
		const struct kalman_step *s = &f->step[at(b, b->told + i)];
		double d, var;

		if (s->f > 0)
			kalman_take_back(&back, s, states);
		if (i < n) {
			d = kalman_smoothed(s, states, &back, 0, &var);
			if (first)
				late[i] = (struct late){ .first = d };
			d -= late[i].first;
			late[i].offset += share * d;
			late[i].square += share * (var + d * d);
		}
		kalman_pull_back(&back, s->dt, &f->q);
	}
}

static int emit_late(struct bank *b, const struct late *late, size_t n)
{
	size_t waiting = b->steps - b->told;
	double k = bound_sd(b);
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++) {
		const struct place *p = &b->place[at(b, b->told + i)];
		size_t later = i + LOCAL_NEAR < waiting ? i + LOCAL_NEAR : waiting - 1;
		double loc = fmax(p->loc, b->place[at(b, b->told + later)].loc),
		       var = fmax(late[i].square - late[i].offset * late[i].offset, 0);
		struct track_knot knot = { p->x, late[i].first + late[i].offset,
					   k * sqrt(var * loc) };

		if (p->mark)
			residual_add(&b->residuals, p->z - knot.offset);
		rc = thinner_put(&b->thinner, &knot);
	}
	b->told += n;
	return rc;
}

/*
 * Emit pending points up to @until; unless @all, only once there are enough of them.
 */
static int tell_late(struct bank *b, int64_t until, bool all)
{
	size_t waiting = b->steps - b->told, n = 0;
	double share[BANK], most = 0;
	bool first = true;
	struct late *late;
	int rc;

	if (!waiting || (!all && b->place[at(b, b->told + waiting / LAG_PIECE)].x > until))
		return 0;
	while (n < waiting && b->place[at(b, b->told + n)].x <= until)
		n++;
	late = calloc(n + 1, sizeof(*late));
	if (!late)
		return CVL_E_NOMEM;
	shares(b, share);
	for (int i = 0; i < b->filters; i++)
		most = fmax(most, share[i]);
	for (int i = 0; i < b->filters; i++)
		if (share[i] > SHARE_MIN * most) {
			go_back(b, &b->filter[i], share[i], n, late, first);
			first = false;
		}
	rc = emit_late(b, late, n);
	free(late);
	return rc;
}

static int step_told(struct bank *b)
{
	b->steps++;
	return b->lag_ns > 0 ? tell_late(b, b->x - (int64_t)b->lag_ns, false) : 0;
}

/* Add points without a mark in a gap, so that the output can bend there. */
static int fill_gap(struct bank *b, int64_t x)
{
	int64_t from = b->x;
	double gap = (double)(x - from);
	int steps = (int)fmin(ceil(gap / TRACK_FILL_NS), TRACK_FILL_MAX / 2), rc = 0;

	for (int i = 1; i < steps && !rc; i++) {
		rc = go_to(b, from + (int64_t)(gap * i / steps));
		rc = rc ? rc : step_told(b);
	}
	return rc;
}

/* ---- marks ---- */

/* Whether the last rejected marks agree on another phase. */
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
	for (int i = 0; i < b->filters; i++) {
		b->k[i].p[KALMAN_OFFSET] += v * v;
		b->k[i].p[KALMAN_RATE] += STEP_KICK_PPB * STEP_KICK_PPB;
	}
	b->r->steps++;
	b->wilds = 0;
}

static void follow_jitter(struct bank *b, double v, double p00, double var)
{
	double floor = b->setup.resolution_ns * b->setup.resolution_ns / 12 + 1e-4;
	double f = p00 + b->jitter2 + var, u = fmin(v * v / f, 9);

	/*
	 * clipping affects 0.27 % of normal innovations, more of others, and removes 1.5 % of the
	 * variance
	 */
	b->jitter_n = fmin(b->jitter_n + 1, 300);
	b->jitter2 =
		fmax(b->jitter2 + (u * f / 0.985 - p00 - var - b->jitter2) / b->jitter_n, floor);
	b->jitter2 = fmax(b->jitter2, floor);
}

/*
 * Distance of the middle one of three marks from the chord of the others, squared over its
 * variance; negative if they are too far apart.
 */
static double off_chord(const struct bank *b, const struct track_mark m[3])
{
	double span = (double)(m[2].x - m[0].x), u = (double)(m[1].x - m[0].x) / span;
	double off = m[1].offset - (1 - u) * m[0].offset - u * m[2].offset;

	if (!(span < CHORD_PERIODS * b->setup.period_ns))
		return -1;
	return off * off / (1 + u * u + (1 - u) * (1 - u));
}

/* Innovations cannot separate wander from jitter, but neighbouring marks share the wander. */
static void follow_chord(struct bank *b, const struct track_mark *m)
{
	double floor = b->setup.resolution_ns * b->setup.resolution_ns / 12 + 1e-4, off;

	b->near[0] = b->near[1];
	b->near[1] = b->near[2];
	b->near[2] = *m;
	off = off_chord(b, b->near);
	if (off < 0 || b->n < FIRST_MARKS + 3)
		return;
	b->jitter_n = fmin(b->jitter_n + 1, 300);
	b->jitter2 += (fmin(off, 9 * b->jitter2) / 0.985 - b->jitter2) / b->jitter_n;
	b->jitter2 = fmax(b->jitter2, floor);
}

/* Add a point without a mark. */
static int pass(struct bank *b, int64_t x, double slip)
{
	int rc = go_to(b, x);

	for (int i = 0; i < b->filters && slip > 0 && !rc; i++) {
		b->k[i].p[KALMAN_OFFSET] += slip * slip / 3;
		b->filter[i].step[at(b, b->steps)].predicted = b->k[i];
	}
	if (!rc)
		rc = step_told(b);
	foresee(b);
	return rc;
}

/* Pass the slips before @x. Output up to each slip uses only what came before it. */
static int pass_slips(struct bank *b, int64_t x)
{
	int rc = 0;

	for (size_t i = track_slip_from(&b->setup, b->x);
	     i < b->setup.n_slips && b->setup.slip[i].to <= x && !rc; i++) {
		const struct track_slip *s = &b->setup.slip[i];

		if (!(b->lag_ns > 0))
			rc = tell_ahead(b, s->from + 1);
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

/* Update the noise from innovation @v of variance @f. */
static void follow_noise(struct bank *b, const struct track_mark *m, double v, double f, double p00)
{
	double u = fmax(fmin(v / sqrt(f), HUBER), -HUBER);

	if (b->filters > CLOCKS)
		follow_chord(b, m);
	else
		follow_jitter(b, v, p00, m->var);
	local_noise_add(&b->local, v / sqrt(f));
	b->product += u * b->before - b->product / 300;
	b->squares += u * u - b->squares / 300;
	b->before = u;
	if (b->lag_ns > 0 && b->n % LAG_LEARNED == 0)
		learn_lag(b);
	if (!(b->lag_ns > 0))
		residual_add(&b->residuals, v);
}

static int feed_filters(struct bank *b, const struct track_mark *m)
{
	double a[3], var[3], v, f, dt = (double)(m->x - b->x) * 1e-9;
	bool slipped;
	int rc = pass_slips(b, m->x);

	if (!rc && !(b->lag_ns > 0))
		rc = tell_ahead(b, m->x);
	if (!rc)
		rc = fill_gap(b, m->x);
	if (!rc)
		rc = go_to(b, m->x);
	if (rc)
		return rc;
	slipped = b->slipped;
	b->slipped = false;
	mix(b, b->k, a, var);
	v = m->offset - a[0];
	f = var[0] + b->jitter2 + m->var;
	if (v * v > WILD * WILD * f) {
		b->wild[b->wilds++ % AGREE] = v;
		b->r->rejected++;
		if (has_jumped(b))
			jump(b, v);
		rc = step_told(b);
		foresee(b);
		return rc;
	}
	b->wilds = 0;
	b->n++;
	b->r->used++;
	for (int i = 0; i < b->filters; i++)
		take(b, i, m->offset, m->var, dt);
	if (!slipped) /* after a slip the innovation is that of the slip */
		follow_noise(b, m, v, f, var[0]);
	b->place[at(b, b->steps)] = (struct place){
		.x = m->x, .z = m->offset, .loc = local_noise_now(&b->local), .mark = true
	};
	rc = step_told(b);
	foresee(b);
	return rc;
}

static void *open_bank(const struct track_setup *setup, struct track_report *r, double lag_ns)
{
	struct bank *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->setup = *setup;
	b->r = r;
	b->lag_ns = lag_ns;
	b->local.luck = setup->pulses ? 0 : LOCAL_LUCK; /* references are known less well */
	b->thinner = (struct knot_thinner){ .r = r, .tolerance = lag_ns > 0 ? 2 : 0 };
	return b;
}

static void *open_kalman(const struct track_setup *setup, struct track_report *r)
{
	return open_bank(setup, r, 0);
}

static void *open_lag(const struct track_setup *setup, struct track_report *r)
{
	return open_bank(setup, r, LAG_LEAST_NS);
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
		b->r->used -= b->n; /* too few on that side */
		b->r->rejected += b->n;
		b->n = 0;
	}
	b->first[b->n++] = *m;
	b->r->used++;
	return b->n == FIRST_MARKS ? begin(b) : 0;
}

/* End of a forecast: where wander becomes unknown, but not beyond a slip. */
static int64_t end_of_forecast(const struct bank *b)
{
	size_t slip = track_slip_from(&b->setup, b->x);
	int64_t end = b->x + (b->filters > CLOCKS ? (int64_t)AHEAD_NS : 2);

	return slip < b->setup.n_slips && b->setup.slip[slip].from < end ?
		       b->setup.slip[slip].from + 1 :
		       end;
}

/* Report the likeliest wander, if likelier than none. */
static void report_wander(const struct bank *b)
{
	double share[BANK], most = 0;

	shares(b, share);
	if (wandering(b, share) < 0.5)
		return;
	for (int i = CLOCKS; i < b->filters; i++)
		if (share[i] > most) {
			most = share[i];
			b->r->wander_ns = b->filter[i].q.wander;
			b->r->wander_s = b->filter[i].q.tau;
		}
}

static int close_bank(void *state, int rc)
{
	struct bank *b = state;

	if (!rc && !b->steps)
		rc = begin(b);
	if (!rc && b->lag_ns > 0) {
		int64_t end = end_of_forecast(b);

		if (b->filters > CLOCKS)
			rc = fill_gap(b, end);
		rc = rc ? rc : tell_late(b, INT64_MAX, true);
		rc = rc ? rc : thinner_end(&b->thinner);
	} else if (!rc) {
		rc = tell_ahead(b, end_of_forecast(b));
	}
	if (!rc) {
		if (b->filters > CLOCKS)
			pass(b, end_of_forecast(b), 0);
		forecast_last(b->r, &b->now);
		residual_end(&b->residuals, b->r);
		b->r->correlation = correlation(b);
		b->r->jitter_ns = sqrt(b->jitter2);
		b->r->horizon_ns = b->lag_ns;
		report_wander(b);
	}
	for (int i = 0; i < BANK; i++)
		free(b->filter[i].step);
	free(b->place);
	free(b);
	return rc;
}

static const struct tracker kalman = { open_kalman, feed, close_bank, false, true };
static const struct tracker lag = { open_lag, feed, close_bank, false, true };

const struct estimator estimator_kalman = {
	.info = { .name = "kalman",
		  .what = "pulses and beacons, online: a bank of Kalman filters, never revised",
		  .options = sync_mark_options,
		  .follows = true },
	.tracker = &kalman,
};

const struct estimator estimator_lag = {
	.info = { .name = "lag",
		  .what = "the same, delayed until later marks would change little (at least 16 s)",
		  .options = sync_mark_options,
		  .follows = true },
	.tracker = &lag,
};
