/* SPDX-License-Identifier: MIT */
/*
 * For fewer exchanges the problem is solved again with every second, fourth, ... of them. For more
 * the bound is predicted by
 *
 * 	bound(k) = floor + (bound(1) - floor) * k^-p	with k times as many exchanges.
 *
 * The floor is half the shortest round trip: two such messages at the same instant do no better.
 * The excess over it comes from the drift limit rho: the earliest possible time of a clock is the
 * max over messages of (limit - rho * distance). With message rate r and delays that exceed their
 * minimum by e with distribution G, it is missed by more than z with probability exp(-2 r / rho *
 * integral of G from 0 to z): where G(e) goes as e^q the excess goes as r^-(1/(1+q)). So p is 1
 * for constant delays (only distance counts), 1/2 for a shifted exponential distribution, less if
 * fast messages are rare. It is fitted to the thinned runs, nearest to the present rate first.
 */
#include "sync/advise.h"

#include "core/order.h"
#include "sync/exchanges.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define INSTANTS 1000    /* where a clock's bound is sampled */
#define PHASES_MAX 4     /* averaged for each thinning */
#define STEP_MAX 64      /* largest thinning step */
#define EXCHANGES_MIN 8  /* that a clock must keep after thinning */
#define POWER_LEAST 0.05 /* smallest exponent fitted */
#define POWER_MOST 1.0

struct look {
	double median, worst, least;
	bool ok;
};

/* Samples a clock's bounds between its first and last exchange in the whole capture. */
static struct look look_at(const struct cvl_clock_sync *c, const struct cvl_map *whole,
			   const struct exchanges *x, size_t clock)
{
	uint64_t first = cvl_map_tick(whole, x->first[clock]).count,
		 last = cvl_map_tick(whole, x->last[clock]).count;
	double bound[INSTANTS];

	if (!c->map || c->verdict != CVL_GOOD || last <= first)
		return (struct look){ .ok = false };
	for (size_t i = 0; i < INSTANTS; i++) {
		uint64_t step = (last - first) / INSTANTS;
		struct cvl_tick tick = { first + step * i + step / 2 };
		int64_t ns;

		cvl_map_time(c->map, tick, &ns);
		bound[i] = (double)ns;
	}
	qsort(bound, INSTANTS, sizeof(*bound), order_doubles);
	return (struct look){ bound[INSTANTS / 2], bound[INSTANTS - 1], bound[0], true };
}

static struct cvl_clock_sync *new_clocks(const struct sync_problem *p)
{
	struct cvl_clock_sync *c = calloc(p->n_clocks + 1, sizeof(*c));

	for (size_t i = 0; c && i < p->n_clocks; i++)
		sync_reason(&c[i], CVL_UNSYNCHRONISED, "nothing ties it to the reference");
	return c;
}

static void free_clocks(struct cvl_clock_sync *c, const struct sync_problem *p)
{
	for (size_t i = 0; c && i < p->n_clocks; i++)
		cvl_map_free(c[i].map);
	free(c);
}

static int solve(struct cvl_clock_sync **out, char reference[SYNC_NAME_BYTES],
		 const struct sync_problem *p, const struct estimator *e, struct cvl_error *err)
{
	struct sync_solution s = { .clock = new_clocks(p) };
	int rc = s.clock ? e->solve(p, &s, err) : cvl_no_memory(err);

	*out = s.clock;
	if (reference)
		memcpy(reference, s.reference, SYNC_NAME_BYTES);
	return rc;
}

/* ---- fewer ---- */

struct work {
	const struct sync_problem *p;
	const struct estimator *e;
	struct cvl_advice *advice;
	struct cvl_clock_sync *whole; /* solution with all messages */
	struct exchanges x;
	struct sync_message *message; /* of a thinned problem */
	size_t *index;                /* clock of each entry of the advice */
	size_t reference;
	struct cvl_error *err;
};

/*
 * Keep every @step-th exchange, averaged over starting phases. A clock lost in one phase is not
 * measured at this step.
 */
static int measure(struct work *w, size_t step)
{
	size_t phases = step < PHASES_MAX ? step : PHASES_MAX, n = w->advice->n;
	struct look *sum = calloc(n + 1, sizeof(*sum));
	int rc = 0;

	if (!sum)
		return cvl_no_memory(w->err);
	for (size_t i = 0; i < n; i++)
		sum[i].ok = true;
	for (size_t phase = 0; phase < phases && !rc; phase++) {
		struct cvl_clock_sync *thin;
		struct sync_problem p;

		rc = sync_go_on(w->p, w->err);
		if (rc)
			break;
		exchanges_thin(&p, w->p, &w->x, step, phase * step / phases, w->message);
		p.reference = (int)w->reference;
		rc = solve(&thin, NULL, &p, w->e, w->err);
		for (size_t i = 0; i < n && !rc; i++) {
			size_t c = w->index[i];
			struct look l = look_at(&thin[c], w->whole[c].map, &w->x, c);

			sum[i].ok = sum[i].ok && l.ok;
			sum[i].median += l.median / (double)phases;
			sum[i].worst += l.worst / (double)phases;
		}
		free_clocks(thin, w->p);
	}
	for (size_t i = 0; i < n && !rc; i++) {
		struct cvl_clock_advice *a = &w->advice->clock[i];

		if (sum[i].ok && a->exchanges >= step * EXCHANGES_MIN)
			a->run[a->n++] = (struct cvl_advice_run){ 1 / (double)step, true,
								  sum[i].median, sum[i].worst };
	}
	free(sum);
	return rc;
}

/* ---- more ---- */

static double value_of(const struct cvl_advice_run *r, bool worst)
{
	return worst ? r->worst_ns : r->median_ns;
}

/*
 * The power p by which the excess over the floor falls; 0 if it cannot be fitted. Runs are weighted
 * by their number of exchanges.
 */
static double fit(const struct cvl_clock_advice *a, bool worst)
{
	double now = value_of(&a->run[0], worst) - a->floor_ns, up = 0, down = 0;

	for (size_t i = 1; i < a->n; i++) {
		double rate = log(1 / a->run[i].times),
		       excess = value_of(&a->run[i], worst) - a->floor_ns;

		if (!(excess > 0) || !(now > 0))
			continue;
		up += a->run[i].times * rate * log(excess / now);
		down += a->run[i].times * rate * rate;
	}
	return down > 0 ? fmin(fmax(up / down, POWER_LEAST), POWER_MOST) : 0;
}

static double predict(const struct cvl_clock_advice *a, bool worst, double times)
{
	double now = value_of(&a->run[0], worst);

	return a->floor_ns + fmax(now - a->floor_ns, 0) * pow(times, -fit(a, worst));
}

/*
 * How many times as many exchanges reach @wanted: between measured runs by log-log interpolation,
 * beyond them by the model.
 */
static double times_for(const struct cvl_clock_advice *a, size_t measured, bool worst,
			double wanted)
{
	double now = value_of(&a->run[0], worst), p = fit(a, worst);

	if (wanted <= a->floor_ns)
		return INFINITY;
	if (wanted < now)
		return p > 0 ? pow((now - a->floor_ns) / (wanted - a->floor_ns), 1 / p) : INFINITY;
	for (size_t i = 1; i < measured; i++) {
		double low = value_of(&a->run[i - 1], worst), high = value_of(&a->run[i], worst);

		if (wanted < high && high > low)
			return a->run[i - 1].times * pow(a->run[i].times / a->run[i - 1].times,
							 log(wanted / low) / log(high / low));
	}
	return a->run[measured - 1].times;
}

static int by_times(const void *pa, const void *pb)
{
	const struct cvl_advice_run *a = pa, *b = pb;

	return a->times < b->times ? -1 : a->times > b->times;
}

static void foresee(struct cvl_clock_advice *a, double wanted)
{
	size_t measured = a->n;

	a->times_median = a->times_worst = NAN;
	if (wanted > 0) {
		a->times_median = times_for(a, measured, false, wanted);
		a->times_worst = times_for(a, measured, true, wanted);
	}
	for (size_t i = 0; i < 2 && measured > 1; i++) {
		double times = i ? 4 : 2;

		a->run[a->n++] = (struct cvl_advice_run){ times, false, predict(a, false, times),
							  predict(a, true, times) };
	}
	qsort(a->run, a->n, sizeof(*a->run), by_times);
}

/* ---- everything ---- */

/* A clock's entry before thinning. */
static void begin_clock(struct work *w, struct cvl_clock_advice *a, size_t c)
{
	const struct cvl_clock_sync *whole = &w->whole[c];
	double span = (double)w->x.last[c].ns - (double)w->x.first[c].ns;
	struct look l;

	a->exchanges = w->x.count[c];
	a->per_second = span > 0 ? (double)a->exchanges / span * 1e9 : 0;
	a->drift_ppm = w->p->clock[c].drift_ppm + w->p->clock[w->reference].drift_ppm;
	a->gap_ns = 1e9 / a->per_second;
	a->drift_ns = a->drift_ppm * 1e-6 * a->gap_ns / 2;
	if (!whole->map || whole->verdict != CVL_GOOD) {
		snprintf(a->reason, sizeof(a->reason), "%s", whole->reason);
		return;
	}
	l = look_at(whole, whole->map, &w->x, c);
	if (a->exchanges < 2 * EXCHANGES_MIN || !l.ok) {
		snprintf(a->reason, sizeof(a->reason),
			 "%llu exchanges are too few to leave some out: it takes %d",
			 (unsigned long long)a->exchanges, 2 * EXCHANGES_MIN);
		return;
	}
	a->floor_ns = fmin(w->x.floor[c], l.least);
	a->run[a->n++] = (struct cvl_advice_run){ 1, true, l.median, l.worst };
}

static int begin(struct work *w)
{
	const struct sync_problem *p = w->p;
	char reference[SYNC_NAME_BYTES] = "";
	int rc = solve(&w->whole, reference, p, w->e, w->err);

	while (!rc && w->reference < p->n_clocks && strcmp(p->clock[w->reference].name, reference))
		w->reference++;
	if (!rc && w->reference == p->n_clocks)
		rc = cvl_fail(w->err, CVL_E_NO, CVL_NO_OFFSET,
			      "nothing can be advised: no clock is the reference");
	if (!rc)
		rc = exchanges_find(&w->x, p, w->whole, w->reference, w->err);
	if (rc)
		return rc;
	for (size_t c = 0; c < p->n_clocks; c++) {
		struct cvl_clock_advice *a = &w->advice->clock[w->advice->n];

		if (p->clock[c].same_as != c || c == w->reference)
			continue;
		a->clock = strdup(p->clock[c].name);
		if (!a->clock)
			return cvl_no_memory(w->err);
		w->index[w->advice->n++] = c;
		begin_clock(w, a, c);
	}
	w->advice->reference = strdup(reference);
	return w->advice->reference ? 0 : cvl_no_memory(w->err);
}

/* Whether thinning by @step leaves any clock with enough exchanges. */
static bool worth(const struct work *w, size_t step)
{
	for (size_t i = 0; i < w->advice->n; i++)
		if (w->advice->clock[i].n && w->advice->clock[i].exchanges >= step * EXCHANGES_MIN)
			return true;
	return false;
}

int advise(struct cvl_advice **out, const struct sync_problem *p, const struct estimator *e,
	   double wanted_ns, struct cvl_error *err)
{
	struct work w = { .p = p, .e = e, .err = err };
	bool any = false;
	int rc = 0;

	w.advice = calloc(1, sizeof(*w.advice));
	if (w.advice)
		*w.advice = (struct cvl_advice){ .reached = true };
	if (w.advice)
		w.advice->clock = calloc(p->n_clocks + 1, sizeof(*w.advice->clock));
	w.index = calloc(p->n_clocks + 1, sizeof(*w.index));
	w.message = calloc(p->n_messages + 1, sizeof(*w.message));
	if (!w.advice || !w.advice->clock || !w.index || !w.message)
		rc = cvl_no_memory(err);
	rc = rc ? rc : begin(&w);
	for (size_t step = 2; step <= STEP_MAX && !rc && worth(&w, step); step *= 2)
		rc = measure(&w, step);
	for (size_t i = 0; !rc && i < w.advice->n; i++) {
		struct cvl_clock_advice *a = &w.advice->clock[i];

		any = any || a->n;
		if (a->n)
			foresee(a, wanted_ns);
		if (a->n && isinf(a->times_median))
			w.advice->reached = false;
	}
	if (!rc && !any)
		rc = cvl_fail(err, CVL_E_NO, CVL_NO_OFFSET, "nothing can be advised: %s",
			      w.advice->n ? w.advice->clock[0].reason : "there is one clock only");
	exchanges_free(&w.x);
	free_clocks(w.whole, p);
	free(w.index);
	free(w.message);
	if (rc) {
		cvl_advice_free(w.advice);
		w.advice = NULL;
	}
	*out = w.advice;
	return rc;
}

void cvl_advice_free(struct cvl_advice *a)
{
	if (!a)
		return;
	for (size_t i = 0; a->clock && i < a->n; i++)
		free(a->clock[i].clock);
	free(a->clock);
	free(a->reference);
	free(a);
}
