/* SPDX-License-Identifier: MIT */
#include "sync/track.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define OFFSET_MAX 0x1p61 /* ns */
#define TOLERATED 0.04    /* part of its bound that a knot may be off a chord */

int track_emit(struct track_report *r, const struct track_knot *k)
{
	if (!(fabs(k->offset) < OFFSET_MAX) || !(k->bound >= 0 && k->bound < OFFSET_MAX))
		return CVL_E_RANGE;
	if (r->knots && k->x <= r->last_x)
		return 0;
	r->knots++;
	r->last_x = k->x;
	return r->emit(r->ctx, k);
}

static bool has_room(struct track *t, size_t more)
{
	if (spill_room(&t->knots, (t->n + more) * sizeof(*t->knot)))
		return false;
	t->knot = t->knots.at;
	return true;
}

int track_keep(void *track, const struct track_knot *k)
{
	struct track *t = track;

	if (!has_room(t, 1))
		return CVL_E_NOMEM;
	t->knot[t->n++] = *k;
	return 0;
}

/* Growth of an edge from @d ns beyond its knot, so that a knot may be placed there. */
static void steepen(struct cvl_map_edge *e, double d)
{
	e->drift_ppb += e->wander_ppb_s * fabs(d) * 1e-9;
}

static void carry_back(struct track *t, const struct track_slip *s)
{
	struct track_knot k[2] = { { .x = s->from }, { .x = s->to } };
	size_t n = s->to < t->knot[0].x ? 2 : 1;

	k[0].offset = track_at(t, s->from, &k[0].bound);
	k[1].offset = track_at(t, s->to, &k[1].bound);
	k[0].bound += s->half_ns;
	steepen(&t->report.before, track_span(t->knot[0].x, s->from));
	memmove(t->knot + n, t->knot, t->n * sizeof(*t->knot));
	memcpy(t->knot, k, n * sizeof(*k));
	t->n += n;
}

static void carry_on(struct track *t, const struct track_slip *s)
{
	const struct track_knot *last = &t->knot[t->n - 1];
	struct track_knot k[2] = { { .x = s->from }, { .x = s->to } };
	size_t n = s->from > last->x ? 2 : 1;

	k[0].offset = track_at(t, s->from, &k[0].bound);
	k[1].offset = track_at(t, s->to, &k[1].bound);
	k[1].bound += s->half_ns;
	steepen(&t->report.after, track_span(s->to, last->x));
	memcpy(t->knot + t->n, n == 2 ? k : k + 1, n * sizeof(*k));
	t->n += n;
}

int track_carry(struct track *t, const struct track_slip *slip, size_t n)
{
	if (!n || !t->n)
		return 0;
	if (!has_room(t, 2 * n))
		return CVL_E_NOMEM;
	for (size_t i = n; i-- > 0;)
		if (slip[i].from < t->knot[0].x)
			carry_back(t, &slip[i]);
	for (size_t i = 0; i < n; i++)
		if (slip[i].to > t->knot[t->n - 1].x)
			carry_on(t, &slip[i]);
	return 0;
}

void track_free(struct track *t)
{
	spill_free(&t->knots);
	*t = (struct track){ 0 };
}

/* Beyond an end: the rate against nominal continues, dT/dx = 1 / (1 + rate). */
static double beyond(const struct track_knot *k, const struct cvl_map_edge *e, double d,
		     double *bound)
{
	double s = fabs(d) * 1e-9;

	if (bound)
		*bound = k->bound + e->drift_ppb * s + e->wander_ppb_s / 2 * s * s;
	return k->offset + d * (1 / (1 + e->rate_ppb * 1e-9) - 1);
}

double track_at(const struct track *t, int64_t x, double *bound)
{
	size_t low = 0, high = t->n;
	const struct track_knot *a, *b;
	double part;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (t->knot[mid].x <= x)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return beyond(&t->knot[0], &t->report.before, track_span(x, t->knot[0].x), bound);
	a = &t->knot[low - 1];
	if (low == t->n)
		return beyond(a, &t->report.after, track_span(x, a->x), bound);
	b = &t->knot[low];
	part = track_span(x, a->x) / track_span(b->x, a->x);
	if (bound)
		*bound = a->bound + (b->bound - a->bound) * part;
	return a->offset + (b->offset - a->offset) * part;
}

int64_t track_inverse(const struct track *t, int64_t time)
{
	int64_t x, from;

	if (__builtin_sub_overflow(time, t->base, &from))
		from = time < 0 ? INT64_MIN : INT64_MAX;
	x = from;
	/* offset slopes are a few 1e-4: each round gains more than three digits */
	for (int i = 0; i < 8; i++) {
		double off = fmax(fmin(track_at(t, x, NULL), OFFSET_MAX), -OFFSET_MAX);
		int64_t next = cvl_add_sat(from, -(int64_t)llround(off));

		if (next == x)
			break;
		x = next;
	}
	return x;
}

/* ---- thinning ---- */

static int hand_on(struct knot_thinner *t, const struct track_knot *k)
{
	t->last = *k;
	t->begun = true;
	return track_emit(t->r, k);
}

/*
 * Whether the chord from the last knot to @k may replace the pending ones, each within its own
 * tolerance. @short_by: how much k's bound falls short of theirs.
 */
static bool chord_fits(const struct knot_thinner *t, const struct track_knot *k, double *short_by)
{
	bool fits = true;

	*short_by = 0;
	for (size_t i = 0; i < t->n; i++) {
		const struct track_knot *p = &t->pending[i];
		double part = track_span(p->x, t->last.x) / track_span(k->x, t->last.x);
		double off = t->last.offset + (k->offset - t->last.offset) * part - p->offset;
		double bound = t->last.bound + (k->bound - t->last.bound) * part;
		double reach = fmax(t->tolerance, TOLERATED * p->bound);

		*short_by = fmax(*short_by, p->bound + fabs(off) - bound);
		fits = fits && fabs(off) <= reach && p->bound - bound <= reach;
	}
	return fits;
}

int thinner_put(struct knot_thinner *t, const struct track_knot *k)
{
	double short_by;
	int rc = 0;

	if (!t->begun)
		return hand_on(t, k);
	if (t->n && (t->n == THINNER_PENDING || !chord_fits(t, k, &short_by)))
		rc = thinner_end(t);
	t->pending[t->n++] = *k;
	return rc;
}

int thinner_end(struct knot_thinner *t)
{
	struct track_knot keep;
	double short_by;

	if (!t->n)
		return 0;
	keep = t->pending[--t->n];
	chord_fits(t, &keep, &short_by);
	keep.bound += short_by;
	t->n = 0;
	return hand_on(t, &keep);
}

/* ---- forecasts ---- */

static struct track_knot forecast_at(const struct forecast *f, int64_t x)
{
	double d = (double)(x - f->x) * 1e-9;

	return (struct track_knot){ x, f->offset + f->slope * d + f->curve / 2 * d * d,
				    f->bound + f->bound_rate * d +
					    f->bound_acceleration / 2 * d * d };
}

int forecast_emit(struct track_report *r, const struct forecast *f, int64_t until)
{
	double span = (double)(until - 1 - f->x);
	int steps = (int)fmin(fmax(ceil(span / TRACK_FILL_NS), 1), TRACK_FILL_MAX), rc = 0;

	for (int i = 0; i <= steps && !rc; i++) {
		struct track_knot k = forecast_at(f, f->x + (int64_t)(span * i / steps));

		rc = track_emit(r, &k);
	}
	return rc;
}

void forecast_last(struct track_report *r, const struct forecast *f)
{
	double slope = f->slope * 1e-9;

	r->after = (struct cvl_map_edge){
		.rate_ppb = track_rate_ppb(slope),
		.drift_ppb = f->bound_rate,
		.wander_ppb_s = f->bound_acceleration + fabs(f->curve),
	};
}

bool forecast_error(struct forecast_errors *e, double error)
{
	bool wild = e->n > 16 && error * error > 100 * e->mean2;
	double reach = e->n > 4 ? 25 * e->mean2 : INFINITY;

	e->n++;
	e->mean2 += (fmin(error * error, reach) - e->mean2) / fmin((double)e->n, 256);
	return wild;
}

double forecast_bound(const struct forecast_errors *e)
{
	return TRACK_999 * sqrt(e->mean2) * (1 + 4 / (double)(e->n + 1));
}

/* ---- residuals ---- */

void residual_add(struct residual_sums *s, double v)
{
	if (!s->n || v < s->min)
		s->min = v;
	if (!s->n || v > s->max)
		s->max = v;
	if (s->n) {
		s->product += v * s->before;
		s->pairs++;
	}
	s->before = v;
	s->n++;
	s->sum += v;
	s->sum2 += v * v;
}

void residual_end(const struct residual_sums *s, struct track_report *r)
{
	double n = (double)s->n;

	r->residuals = (struct cvl_residuals){ .n = s->n, .min = s->min, .max = s->max };
	if (!s->n)
		return;
	r->residuals.mean = s->sum / n;
	r->residuals.sd = sqrt(fmax(s->sum2 / n - r->residuals.mean * r->residuals.mean, 0));
}

/*
 * Hoare's selection: afterwards v[k] is as if sorted, and nothing before it is greater.
 */
static double select_nth(double *v, size_t n, size_t k)
{
	size_t low = 0, high = n - 1;

	while (low < high) {
		double pivot = v[low + (high - low) / 2];
		size_t i = low, j = high;

		for (;;) {
			double swap;

			while (v[i] < pivot)
				i++;
			while (v[j] > pivot)
				j--;
			if (i >= j)
				break;
			swap = v[i];
			v[i++] = v[j];
			v[j--] = swap;
		}
		if (i == j && v[j] <= pivot && k > j)
			low = j + 1;
		else if (k <= j)
			high = j;
		else
			low = j + 1;
	}
	return v[k];
}

double median_of(double *v, size_t n)
{
	double upper, lower;

	if (!n)
		return 0;
	upper = select_nth(v, n, n / 2);
	if (n % 2)
		return upper;
	lower = v[0];
	for (size_t i = 1; i < n / 2; i++)
		lower = v[i] > lower ? v[i] : lower;
	return (lower + upper) / 2;
}
