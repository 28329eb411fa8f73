/* SPDX-License-Identifier: MIT */
/*
 * A straight line through pulses or beacons, for clocks whose rates hold still while they are watched.
 *
 * Pulses carry no number: period and phase are first found as the peak of |sum exp(2 pi i x / period)| over rates
 * up to +-2000 ppm in a short window, which missing, extra and jittery pulses only lower; then the window grows. The
 * line is fitted by iteratively reweighted least squares with Tukey's biweight (c = 4.685, scale from the median
 * absolute residual), of several marks for one number the nearest counts. Its uncertainty is that of weighted
 * regression, widened by (1 + r) / (1 - r) when successive residuals are correlated by r, times Student's quantile.
 */
#include "sync/problem.h"
#include "sync/student.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of Tukey's biweight: 95 % efficient. A scale found from few residuals is uncertain, so with few it takes more to be
 * thrown out; else the bound would come out too small. */
#define BIWEIGHT_C 4.685
#define BIWEIGHT_FEW 12.0
#define RATE_SEARCH 2000e-6
#define FIRST_WINDOW 240
#define ITERATIONS 30
#define KNOTS 65
#define CORRELATION_DEGRADED 0.2
#define MARKS_MIN 4

/* y = y0 + (1 + skew) (x - x0), with variances of y0 and skew, which are uncorrelated at the centre x0. ns. */
struct line {
	long double x0, y0, skew;
	double var_y, var_skew;
	double dof;
};

struct fit {
	bool done;
	struct line line; /* clock's x -> source's time */
	uint64_t used, rejected;
	struct cvl_residuals residuals;
	double correlation, scale;
};

/* One mark of the clock that is being fitted. */
struct sample {
	double x; /* ns from the first mark */
	double y; /* k * period, ns from that of the first */
	double weight, residual;
};

static int by_x(const void *pa, const void *pb)
{
	const struct sample *a = pa, *b = pb;

	return a->x < b->x ? -1 : a->x > b->x;
}

static int by_value(const void *pa, const void *pb)
{
	const double *a = pa, *b = pb;

	return *a < *b ? -1 : *a > *b;
}

/* ---- numbering pulses ---- */

static double coherence(const struct sample *s, size_t n, double period, double *phase)
{
	double re = 0, im = 0;

	for (size_t i = 0; i < n; i++) {
		double a = 2 * M_PI * fmod(s[i].x / period, 1);

		re += cos(a);
		im += sin(a);
	}
	*phase = atan2(im, re) / (2 * M_PI) * period;
	return sqrt(re * re + im * im) / (double)(n ? n : 1);
}

/* Period of the pulses as the clock sees it, and the x of one of them. */
static double find_period(const struct sample *s, size_t n, double nominal, double *phase)
{
	size_t w = n < FIRST_WINDOW ? n : FIRST_WINDOW;
	double span = s[w - 1].x > nominal ? s[w - 1].x : nominal;
	double step = nominal / span / 16, best = -1, period = nominal;

	if (step > RATE_SEARCH / 8)
		step = RATE_SEARCH / 8;
	for (double e = -RATE_SEARCH; e <= RATE_SEARCH; e += step) {
		double p, c = coherence(s, w, nominal * (1 + e), &p);

		if (c > best) {
			best = c;
			period = nominal * (1 + e);
			*phase = p;
		}
	}
	return period;
}

static void number_pulses(struct sample *s, size_t n, double nominal, double period, double phase)
{
	for (size_t i = 0; i < n; i++)
		s[i].y = nominal * round((s[i].x - phase) / period);
}

/* ---- regression ---- */

/* Of several marks with one number only that nearest to the line keeps its weight. */
static void one_each(struct sample *s, size_t n)
{
	size_t best = 0;

	for (size_t i = 1; i < n; i++) {
		if (s[i].y != s[best].y) {
			best = i;
		} else if (fabs(s[i].residual) < fabs(s[best].residual)) {
			s[best].weight = 0;
			best = i;
		} else {
			s[i].weight = 0;
		}
	}
}

/* Weighted regression of x on y; residuals of all. Returns false if there is too little to go by. */
static bool regress(struct sample *s, size_t n, double *x_mean, double *y_mean, double *slope)
{
	double w = 0, sx = 0, sy = 0, sxy = 0, syy = 0;

	for (size_t i = 0; i < n; i++) {
		w += s[i].weight;
		sx += s[i].weight * s[i].x;
		sy += s[i].weight * s[i].y;
	}
	if (!(w > 0))
		return false;
	*x_mean = sx / w;
	*y_mean = sy / w;
	for (size_t i = 0; i < n; i++) {
		double dx = s[i].x - *x_mean - (s[i].y - *y_mean), dy = s[i].y - *y_mean;

		sxy += s[i].weight * dx * dy;
		syy += s[i].weight * dy * dy;
	}
	if (!(syy > 0))
		return false;
	*slope = sxy / syy; /* beyond 1: kept small so that no digits are lost */
	for (size_t i = 0; i < n; i++) {
		double dy = s[i].y - *y_mean;

		s[i].residual = (s[i].x - *x_mean - dy) - *slope * dy;
	}
	return true;
}

static double median_abs(const struct sample *s, size_t n, double *scratch)
{
	size_t k = 0;

	for (size_t i = 0; i < n; i++)
		if (s[i].weight > 0)
			scratch[k++] = fabs(s[i].residual);
	if (!k)
		return 0;
	qsort(scratch, k, sizeof(*scratch), by_value);
	return scratch[k / 2];
}

static double cutoff(size_t n, double scale)
{
	return BIWEIGHT_C * (1 + BIWEIGHT_FEW / (double)n) * scale;
}

static void reweight(struct sample *s, size_t n, double scale)
{
	double reach = cutoff(n, scale);

	for (size_t i = 0; i < n; i++) {
		double u = s[i].residual / reach;

		s[i].weight = fabs(u) < 1 ? (1 - u * u) * (1 - u * u) : 0;
	}
	one_each(s, n);
}

/*
 * A start that wild marks cannot spoil: the median slope between marks half the series apart, within what a clock can
 * be off, and the median offset from it. Marks far from that line begin without weight.
 */
static void start_line(struct sample *s, size_t n, double floor, double *scratch)
{
	double slope = 0, offset, scale;
	size_t k = 0;

	for (size_t i = 0; i + n / 2 < n; i++) {
		const struct sample *a = &s[i], *b = &s[i + n / 2];
		double dy = b->y - a->y, e = dy > 0 ? (b->x - a->x) / dy - 1 : 1;

		if (fabs(e) <= RATE_SEARCH)
			scratch[k++] = e;
	}
	if (k) {
		qsort(scratch, k, sizeof(*scratch), by_value);
		slope = scratch[k / 2];
	}
	for (size_t i = 0; i < n; i++)
		scratch[i] = s[i].x - s[i].y - slope * s[i].y;
	qsort(scratch, n, sizeof(*scratch), by_value);
	offset = scratch[n / 2];
	for (size_t i = 0; i < n; i++) {
		s[i].residual = s[i].x - s[i].y - slope * s[i].y - offset;
		s[i].weight = 1;
	}
	scale = fmax(median_abs(s, n, scratch) * 1.4826, floor);
	for (size_t i = 0; i < n; i++)
		s[i].weight = fabs(s[i].residual) <= 10 * scale ? 1 : 0;
	one_each(s, n);
}

/* Robust line through @n samples, beginning with the weights there are. */
static bool robust_line(struct sample *s, size_t n, double floor, double *scratch, double *x_mean,
			double *y_mean, double *slope, double *scale)
{
	for (int i = 0; i < ITERATIONS; i++) {
		double before = *slope;

		if (!regress(s, n, x_mean, y_mean, slope))
			return false;
		*scale = fmax(median_abs(s, n, scratch) * 1.4826, floor);
		reweight(s, n, *scale);
		if (i > 2 && fabs(*slope - before) < 1e-13)
			break;
	}
	return true;
}

static void describe(const struct sample *s, size_t n, double noise, struct fit *f)
{
	double sum = 0, sum2 = 0, product = 0, before = 0;
	struct cvl_residuals *r = &f->residuals;
	uint64_t pairs = 0;

	for (size_t i = 0; i < n; i++) {
		double v = s[i].residual;

		if (!(s[i].weight > 0)) {
			f->rejected++;
			continue;
		}
		f->used++;
		if (!r->n || v < r->min)
			r->min = v;
		if (!r->n || v > r->max)
			r->max = v;
		if (r->n) {
			product += v * before;
			pairs++;
		}
		before = v;
		r->n++;
		sum += v;
		sum2 += v * v;
	}
	if (!r->n)
		return;
	r->mean = sum / (double)r->n;
	r->sd = sqrt(sum2 / (double)r->n);
	if (pairs > 8 && sum2 > 0 && r->sd > noise)
		f->correlation = product / (double)pairs / (sum2 / (double)r->n);
}

/*
 * Variance of one mark that stands for what the robust fit is worth: Huber's proposal for M-estimates with two
 * parameters (Robust Statistics, 7.6), K^2 [sum psi^2 / (n - 2)] / [sum psi' / n]^2. @syy: spread of y of the marks used.
 */
static double estimate_variance(const struct sample *s, size_t n, double scale, double floor,
				double y_mean, double *syy)
{
	double psi2 = 0, slope = 0, slope2 = 0, used = 0, reach = cutoff(n, scale), k;

	*syy = 0;
	for (size_t i = 0; i < n; i++) {
		double u = s[i].residual / reach, dy = s[i].y - y_mean, d;

		if (!(s[i].weight > 0))
			continue;
		d = (1 - u * u) * (1 - 5 * u * u);
		psi2 += s[i].weight * s[i].residual * s[i].weight * s[i].residual;
		slope += d;
		slope2 += d * d;
		*syy += dy * dy;
		used++;
	}
	if (used <= 2 || !(slope > 0))
		return INFINITY;
	slope /= used;
	slope2 = slope2 / used - slope * slope;
	k = 1 + 2 / used * slope2 / (slope * slope);
	return fmax(k * k * psi2 / (used - 2) / (slope * slope), floor * floor);
}

static int fit_line(struct sample *s, size_t n, bool numbered, double period, double resolution,
		    struct fit *f, struct cvl_error *err)
{
	double x_mean = 0, y_mean = 0, slope = 0, scale = 0, phase = 0, syy = 0, variance,
	       widen = 1;
	double floor = resolution * 0.289,
	       *scratch = malloc((n + 1) * sizeof(*scratch)); /* 1 / sqrt(12) */
	bool ok = true;

	if (!scratch)
		return cvl_fail(err, CVL_E_NOMEM, CVL_NO_OFFSET, "out of memory");
	qsort(s, n, sizeof(*s), by_x);
	for (size_t i = 0; i < n; i++)
		s[i].weight = 1;
	if (!numbered) {
		size_t window = n < FIRST_WINDOW ? n : FIRST_WINDOW;
		double seen = find_period(s, n, period, &phase);

		/* number as far as the rate is known well enough, then fit again */
		for (;;) {
			number_pulses(s, window, period, seen, phase);
			for (size_t i = 0; i < window; i++) {
				s[i].residual = s[i].x - phase - s[i].y / period * seen;
				s[i].weight = fabs(s[i].residual) < seen / 8 ? 1 : 0;
			}
			one_each(s, window);
			ok = robust_line(s, window, floor, scratch, &x_mean, &y_mean, &slope,
					 &scale);
			if (!ok || window == n)
				break;
			seen = period * (1 + slope);
			phase = x_mean - y_mean / period * seen;
			window = 2 * window < n ? 2 * window : n;
		}
	} else {
		start_line(s, n, floor, scratch);
		ok = robust_line(s, n, floor, scratch, &x_mean, &y_mean, &slope, &scale);
	}
	free(scratch);
	if (!ok)
		return 0;
	describe(s, n, floor * 1.5, f);
	if (f->used < MARKS_MIN)
		return 0;
	if (f->correlation > 0)
		widen = (1 + fmin(f->correlation, 0.95)) / (1 - fmin(f->correlation, 0.95));
	f->line.dof = (double)f->used - 2;
	variance = estimate_variance(s, n, scale, floor, y_mean, &syy) * widen;
	if (!(syy > 0))
		return 0;
	/* y as a function of x: the inverse of what was fitted; its slope is 1 to within ppm, so the variances are
	 * those of x */
	f->line.x0 = (long double)x_mean;
	f->line.y0 = (long double)y_mean;
	f->line.skew = 1 / (1 + (long double)slope) - 1;
	f->line.var_y = variance / (double)f->used;
	f->line.var_skew = variance / syy;
	f->scale = scale;
	f->done = true;
	return 0;
}

/* ---- the graph of clocks and sources ---- */

struct work {
	const struct sync_problem *p;
	struct fit *fit;     /* [clock * sources + source] */
	struct line *clock;  /* x of each clock -> timeline */
	struct line *source; /* time of each source -> timeline */
	bool *clock_tied, *source_tied;
	const struct fit **by; /* fit that tied a clock */
	size_t *by_source;
};

static struct fit *fit_of(const struct work *w, size_t clock, size_t source)
{
	return &w->fit[clock * w->p->n_sources + source];
}

/* g after f. The slopes are 1 to within ppm. */
static struct line compose(const struct line *f, const struct line *g)
{
	long double at = f->y0 - g->x0;

	return (struct line){
		.x0 = f->x0,
		.y0 = g->y0 + at + g->skew * at,
		.skew = f->skew + g->skew + f->skew * g->skew,
		.var_y = f->var_y + g->var_y + g->var_skew * (double)(at * at),
		.var_skew = f->var_skew + g->var_skew,
		.dof = f->dof > 0 && g->dof > 0 ? fmin(f->dof, g->dof) : f->dof + g->dof,
	};
}

static struct line invert(const struct line *f)
{
	return (struct line){
		.x0 = f->y0,
		.y0 = f->x0,
		.skew = 1 / (1 + f->skew) - 1,
		.var_y = f->var_y,
		.var_skew = f->var_skew,
		.dof = f->dof,
	};
}

static int fit_pair(struct work *w, size_t clock, size_t source, struct cvl_error *err)
{
	const struct sync_problem *p = w->p;
	const struct sync_source *src = &p->source[source];
	struct fit *f = fit_of(w, clock, source);
	struct sample *s;
	size_t n = 0;
	int64_t x0 = 0, k0 = 0;
	int rc;

	for (size_t i = 0; i < p->n_marks; i++)
		n += p->clock[p->mark[i].clock].same_as == clock && p->mark[i].source == source;
	if (n < MARKS_MIN)
		return 0;
	s = calloc(n, sizeof(*s));
	if (!s)
		return cvl_fail(err, CVL_E_NOMEM, CVL_NO_OFFSET, "out of memory");
	n = 0;
	for (size_t i = 0; i < p->n_marks; i++) {
		const struct sync_mark *m = &p->mark[i];
		int64_t x;

		if (p->clock[m->clock].same_as != clock || m->source != source)
			continue;
		x = sync_x(p, m->clock, m->tick);
		if (!n) {
			x0 = x;
			k0 = m->index;
		}
		s[n].x = (double)(x - x0);
		s[n++].y = (double)(m->index - k0) * (double)src->period_ns;
	}
	rc = fit_line(s, n, src->numbered, (double)src->period_ns,
		      (double)p->clock[clock].resolution_ns, f, err);
	free(s);
	if (!f->done)
		return rc;
	f->line.x0 += (long double)x0;
	if (src->numbered) {
		f->line.y0 += (long double)k0 * (long double)src->period_ns;
	} else {
		/* unnumbered pulses stand at whole periods nearest to where the clock itself puts them */
		long double nominal = f->line.x0 - f->line.y0, period = (long double)src->period_ns;

		f->line.y0 += roundl(nominal / period) * period;
	}
	return rc;
}

/* Tie what is tied to nothing yet but shares a fit with something that is; until nothing more can be. */
static void spread(struct work *w)
{
	const struct sync_problem *p = w->p;

	for (bool again = true; again;) {
		again = false;
		for (size_t c = 0; c < p->n_clocks; c++)
			for (size_t s = 0; s < p->n_sources; s++) {
				const struct fit *f = fit_of(w, c, s);

				if (!f->done || w->clock_tied[c] == w->source_tied[s])
					continue;
				if (w->source_tied[s]) {
					w->clock[c] = compose(&f->line, &w->source[s]);
					w->clock_tied[c] = true;
					w->by[c] = f;
					w->by_source[c] = s;
				} else {
					struct line back = invert(&f->line);

					w->source[s] = compose(&back, &w->clock[c]);
					w->source_tied[s] = true;
				}
				again = true;
			}
	}
}

/* Choose what the timeline is: the reference clock's own time, or that of the source heard most. */
static void choose_root(struct work *w, struct sync_solution *s)
{
	const struct sync_problem *p = w->p;
	size_t best = 0;
	bool any = false;
	int64_t first = 0;

	if (p->reference >= 0) {
		size_t c = p->clock[p->reference].same_as;

		w->clock[c] = (struct line){ 0 };
		w->clock_tied[c] = true;
		snprintf(s->reference, sizeof(s->reference), "%s", p->clock[c].name);
		return;
	}
	for (size_t i = 1; i < p->n_sources; i++)
		if (p->source[i].marks > p->source[best].marks)
			best = i;
	/* numbers count from somewhere: move them by whole periods to where the first clock puts its first mark */
	for (size_t i = 0; p->source[best].numbered && i < p->n_marks && !any; i++) {
		const struct sync_mark *m = &p->mark[i];

		if (m->source != best)
			continue;
		any = true;
		first = (int64_t)llround((double)sync_x(p, m->clock, m->tick) /
					 (double)p->source[best].period_ns) -
			m->index;
	}
	w->source[best] =
		(struct line){ .y0 = (long double)first * (long double)p->source[best].period_ns };
	w->source_tied[best] = true;
	snprintf(s->reference, sizeof(s->reference), "%s", p->source[best].name);
}

static long double line_offset(const struct line *l, int64_t x)
{
	return (l->y0 - l->x0) + l->skew * ((long double)x - l->x0);
}

static int make_map(const struct work *w, size_t clock, struct cvl_clock_sync *out,
		    struct cvl_error *err)
{
	const struct sync_problem *p = w->p;
	const struct line *l = &w->clock[p->clock[clock].same_as];
	uint64_t first = p->clock[clock].first, last = p->clock[clock].last;
	struct cvl_knot k[KNOTS] = { 0 };
	struct cvl_map_spec spec = { .rate_hz = p->clock[clock].rate_hz,
				     .knots = k,
				     .kind = CVL_BOUND_STATISTICAL };
	/* what is read off the reference was rounded like its marks, by half a step on average */
	int64_t rounding = p->reference < 0 ? 0 : (p->clock[p->reference].resolution_ns + 1) / 2;
	double q = student_999(l->dof);

	if (last - first < KNOTS)
		last = first + KNOTS;
	for (int i = 0; i < KNOTS; i++) {
		uint64_t tick = first + (uint64_t)((long double)(last - first) * i / (KNOTS - 1));
		int64_t x = sync_x(p, clock, tick);
		long double theta = line_offset(l, x), floor = floorl(theta);
		double d = (double)((long double)x - l->x0);

		if (spec.n && tick <= k[spec.n - 1].tick.count)
			continue;
		k[spec.n].tick.count = tick;
		k[spec.n].time.ns = x + (int64_t)floor;
		k[spec.n].frac = (uint32_t)((theta - floor) * 4294967295.0L);
		k[spec.n].bound_ns =
			(int64_t)ceil(q * sqrt(l->var_y + l->var_skew * d * d)) + 1 + rounding;
		spec.n++;
	}
	out->rate_ppb = (double)((1 / (1 + l->skew) - 1) * 1e9L);
	out->rate_bound_ppb = q * sqrt(l->var_skew) * 1e9;
	spec.before.rate_ppb = spec.after.rate_ppb = out->rate_ppb;
	spec.before.drift_ppb = spec.after.drift_ppb = out->rate_bound_ppb;
	return cvl_map_new(&out->map, &spec, err);
}

static int finish(const struct work *w, size_t clock, struct cvl_clock_sync *out,
		  struct cvl_error *err)
{
	const struct sync_problem *p = w->p;
	size_t c = p->clock[clock].same_as;
	const struct fit *f = w->by[c];
	uint64_t marks = 0;
	int rc;

	for (size_t i = 0; i < p->n_marks; i++)
		marks += p->clock[p->mark[i].clock].same_as == c;
	if (!w->clock_tied[c]) {
		if (!marks)
			sync_reason(out, CVL_UNSYNCHRONISED, "it heard no pulse or beacon");
		else
			sync_reason(
				out, CVL_UNSYNCHRONISED,
				"%" PRIu64
				" marks tie it to nothing that the reference heard, or fit no line",
				marks);
		return 0;
	}
	rc = make_map(w, clock, out, err);
	if (rc)
		return rc;
	out->used = f->used;
	out->rejected = f->rejected;
	out->residuals = f->residuals;
	if (f->correlation > CORRELATION_DEGRADED)
		sync_reason(
			out, CVL_DEGRADED,
			"its rate did not hold still, or what it heard drifted: successive residuals are correlated by "
			"%.2f",
			f->correlation);
	else if (f->rejected > f->used)
		sync_reason(out, CVL_DEGRADED,
			    "more marks were rejected (%" PRIu64 ") than used (%" PRIu64 ")",
			    f->rejected, f->used);
	else
		sync_reason(out, CVL_GOOD, "%" PRIu64 " marks of %s", f->used,
			    p->source[w->by_source[c]].name);
	return 0;
}

static int solve(const struct sync_problem *p, struct sync_solution *s, struct cvl_error *err)
{
	struct work w = {
		.p = p,
		.fit = calloc(p->n_clocks * p->n_sources + 1, sizeof(*w.fit)),
		.clock = calloc(p->n_clocks, sizeof(*w.clock)),
		.source = calloc(p->n_sources + 1, sizeof(*w.source)),
		.clock_tied = calloc(p->n_clocks, sizeof(*w.clock_tied)),
		.source_tied = calloc(p->n_sources + 1, sizeof(*w.source_tied)),
		.by = calloc(p->n_clocks, sizeof(*w.by)),
		.by_source = calloc(p->n_clocks, sizeof(*w.by_source)),
	};
	int rc = 0;

	if (!w.fit || !w.clock || !w.source || !w.clock_tied || !w.source_tied || !w.by ||
	    !w.by_source)
		rc = cvl_fail(err, CVL_E_NOMEM, CVL_NO_OFFSET, "out of memory");
	for (size_t c = 0; c < p->n_clocks && !rc; c++)
		for (size_t i = 0; i < p->n_sources && !rc; i++)
			rc = p->clock[c].same_as == c ? fit_pair(&w, c, i, err) : 0;
	if (!rc) {
		choose_root(&w, s);
		spread(&w);
	}
	for (size_t c = 0; c < p->n_clocks && !rc; c++) {
		if (p->reference >= 0 && p->clock[c].same_as == p->clock[p->reference].same_as)
			rc = sync_reference_map(p, s, c, err);
		else
			rc = finish(&w, c, &s->clock[c], err);
	}
	free(w.fit);
	free(w.clock);
	free(w.source);
	free(w.clock_tied);
	free(w.source_tied);
	free(w.by);
	free(w.by_source);
	return rc;
}

const struct estimator estimator_line = {
	.name = "line",
	.what = "pulses or beacons: one robust straight line a clock",
	.messages = false,
	.solve = solve,
};
