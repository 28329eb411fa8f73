/* SPDX-License-Identifier: MIT */
/* The smoother's noise: the likeliest point of a grid, and those nearly as likely. */
#include "sync/smooth.h"

#include <math.h>

#define CORRELATION_GAIN 4 /* of the log-likelihood, needed to accept correlation */
#define WANDERS 4          /* searched from this index of rates on */
#define WANDER_LOSS 1      /* of the log-likelihood, up to which wander stays possible */
#define TAU_PERIODS 2
#define TAU_SPANS 8
#define AROUND 2 /* grid steps around the likeliest that are also weighed */
#define MAYBES (1 + (2 * AROUND + 1) * (2 * AROUND + 1))
#define SHARE_MIN 0.02 /* of the likeliest; anything less likely is dropped */

enum axis { RATE, DRIFT, CORRELATION, SD, TAU, AXES };

/*
 * Whether wander of that time constant is distinguishable from jitter, and recurred often enough to
 * be estimated.
 */
static bool tau_fits(const struct smoother *s, int tau)
{
	double span = (double)(s->mark[s->n - 1].x - s->mark[0].x);

	return tau >= 0 && tau < SMOOTH_TAUS &&
	       smooth_taus[tau] * 1e9 >= TAU_PERIODS * s->setup.period_ns &&
	       smooth_taus[tau] * 1e9 * TAU_SPANS <= span;
}

/* One step along @axis; false at its end. Correlation and wander exclude each other. */
static bool step_along(const struct smoother *s, enum axis axis, int by, struct noise *at)
{
	*at = s->at;
	switch (axis) {
	case RATE: at->rate += by; return at->rate >= 0 && at->rate < SMOOTH_RATES;
	case DRIFT: at->drift += by; return at->drift >= 0 && at->drift < SMOOTH_DRIFTS;
	case CORRELATION:
		at->correlation += by;
		return at->correlation >= 0 &&
		       at->correlation < (s->rounded || at->sd ? 1 : SMOOTH_CORRELATIONS);
	case SD: at->sd += by; return s->at.sd && at->sd > 0 && at->sd < SMOOTH_SDS;
	case TAU: at->tau += by; return at->sd && tau_fits(s, at->tau);
	case AXES: break;
	}
	return false;
}

/* What is one step from here; returns how many. */
static size_t list_steps(const struct smoother *s, struct noise *list)
{
	size_t n = 0;

	for (int axis = RATE; axis <= DRIFT; axis++)
		for (int by = -1; by <= 1; by += 2)
			n += step_along(s, (enum axis)axis, by, &list[n]);
	return n;
}

/* Weigh @next, and with it all that is one step from here: at where we are, with that too. */
static void look_ahead(struct smoother *s, const struct kalman *start, const struct noise *next)
{
	const bool here = next == &s->at;
	struct noise list[LANES] = { s->at };

	if (s->at.sd || s->at.correlation || next->correlation || smooth_knows(s, next))
		return;
	smooth_foresee(s, start, list, here + list_steps(s, list + here), here);
}

static double climb(struct smoother *s, const struct kalman *start)
{
	double best;

	look_ahead(s, start, &s->at);
	best = smooth_likelihood(s, start);
	for (int axis = 0, tried = 0; tried < AXES; axis = (axis + 1) % AXES, tried++)
		for (int by = -1; by <= 1; by += 2) {
			struct noise next;

			while (step_along(s, (enum axis)axis, by, &next)) {
				const struct noise before = s->at;
				double l;

				look_ahead(s, start, &next);
				smooth_set_noise(s, next);
				l = smooth_likelihood(s, start);
				if (!(l > best + (axis == CORRELATION ? CORRELATION_GAIN : 0.5))) {
					smooth_set_noise(s, before);
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
		smooth_set_noise(s, there);
		l = climb(s, start);
		if (l > best + (s->at.correlation > before.correlation ? CORRELATION_GAIN : 0))
			best = l;
		else
			smooth_set_noise(s, before);
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

	for (int sd = 1; sd < SMOOTH_SDS; sd += 2)
		for (int tau = 0; tau < SMOOTH_TAUS; tau += 2) {
			const struct noise there = { .rate = 2,
						     .drift = 3,
						     .sd = sd,
						     .tau = tau,
						     .jitter2 = s->calm.jitter2 };
			double l;

			if (!tau_fits(s, tau))
				continue;
			smooth_set_noise(s, there);
			l = smooth_likelihood(s, start);
			if (l > most) {
				most = l;
				likeliest = s->at;
			}
		}
	smooth_set_noise(s, likeliest);
}

/*
 * If the last window found wander, search for it here too; else only if the clock alone would have
 * to be a bad one.
 */
void smooth_learn(struct smoother *s, const struct kalman *start)
{
	const struct noise before = s->at;

	smooth_forget(s);
	if (s->setup.noise.known) {
		if (before.sd) {
			smooth_set_noise(s, s->calm);
			s->calm_likelihood = smooth_likelihood(s, start);
			smooth_set_noise(s, before);
		}
		return;
	}
	if (before.sd)
		smooth_set_noise(s, s->calm);
	learn_calm(s, start);
	if (!s->setup.pulses || s->rounded ||
	    (s->windows && !before.sd && s->at.rate < WANDERS && !s->at.correlation))
		return;
	if (before.sd)
		smooth_set_noise(s, before);
	else
		find_wander(s, start);
	if (!s->at.sd || !(climb(s, start) > s->calm_likelihood - WANDER_LOSS))
		smooth_set_noise(s, s->calm);
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

			if (sd < 1 || sd >= SMOOTH_SDS || !tau_fits(s, tau))
				continue;
			there.sd = sd;
			there.tau = tau;
			smooth_set_noise(s, there);
			list[n].share = smooth_likelihood(s, start);
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
	smooth_set_noise(s, likeliest);
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
void smooth_mix(struct smoother *s, const struct kalman *start)
{
	const struct noise likeliest = s->at;
	struct maybe list[MAYBES];
	double shock, size;
	int kept = list_maybes(s, start, list);

	for (int k = 0; k < kept; k++) {
		smooth_set_noise(s, list[k].noise);
		smooth_forward(s, start, false);
		smooth_backward(s, true, &shock, &size);
		for (size_t i = 0; i < s->n_points; i++)
			add_to_mixture(&s->p[i], list[k].share, !k);
	}
	smooth_set_noise(s, likeliest);
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
