/* SPDX-License-Identifier: MIT */
#include "analysis/freq/fit_internal.h"

#include <math.h>
#include <stdlib.h>

/* Values tried per threshold when two counters are fitted. */
#define GRID 16

/* ---- one threshold ---- */

struct sample {
	int32_t x;
	const struct freq_case *c;
};

static int by_x(const void *a, const void *b)
{
	const struct sample *s = a, *t = b;

	return (s->x > t->x) - (s->x < t->x);
}

static double ratio(const struct freq_case *c, uint32_t p)
{
	return c->energy[p] / c->energy[0];
}

/* Points allowed on each side of the step. */
struct sides {
	uint32_t below_mask, above_mask;
};

#define ANY_POINT 0xffffffffu

static uint32_t least(const double *cost, uint32_t n, uint32_t mask)
{
	uint32_t best = UINT32_MAX;

	for (uint32_t p = 0; p < n; p++)
		if ((mask >> p & 1) && (best == UINT32_MAX || cost[p] < cost[best]))
			best = p;
	return best;
}

/*
 * The step of least energy over sorted samples: a threshold halfway between two values, or below or
 * above all of them. A step in the middle must be better than none.
 */
static void best_step(const struct sample *s, size_t n, uint32_t points, struct sides sides,
		      struct fitted *f)
{
	double below[DEVICE_POINTS] = { 0 }, above[DEVICE_POINTS] = { 0 }, cost = INFINITY;

	for (size_t i = 0; i < n; i++)
		for (uint32_t p = 0; p < points; p++)
			above[p] += ratio(s[i].c, p);
	for (size_t i = 0; i <= n; i++) {
		uint32_t b = least(below, points, sides.below_mask);
		uint32_t a = least(above, points, sides.above_mask);
		bool cut = !i || i == n || s[i - 1].x < s[i].x;

		if (cut && below[b] + above[a] < cost - 1e-9) {
			cost = below[b] + above[a];
			f->below = b;
			f->above = a;
			f->step = !i     ? INT32_MIN :
				  i == n ? INT32_MAX :
					   (int32_t)(((int64_t)s[i - 1].x + s[i].x + 1) / 2);
		}
		for (uint32_t p = 0; p < points && i < n; p++) {
			below[p] += ratio(s[i].c, p);
			above[p] -= ratio(s[i].c, p);
		}
	}
}

typedef int32_t value_fn(const struct freq_set *set, const struct freq_case *c, uint8_t feature);

static void fit_one(const struct freq_set *set, size_t skip, value_fn *value, uint8_t feature,
		    struct sides sides, struct fitted *f)
{
	struct sample *s = malloc((set->n + 1) * sizeof(*s));
	size_t n = 0;

	f->step = INT32_MAX;
	if (!s)
		return;
	for (size_t i = 0; i < set->n; i++) {
		s[n] = (struct sample){ value(set, &set->c[i], feature), &set->c[i] };
		n += i != skip && s[n].x != INT32_MIN;
	}
	qsort(s, n, sizeof(*s), by_x);
	if (n)
		best_step(s, n, set->n_points, sides, f);
	free(s);
}

/* ---- the thesis's rules ---- */

static int32_t cpi_value(const struct freq_set *set, const struct freq_case *c, uint8_t feature)
{
	uint64_t milli = swo_cpi_milli(&c->task);

	(void)set;
	(void)feature;
	return milli > INT32_MAX ? INT32_MIN : (int32_t)milli;
}

/* Thousandths, as compared by the rules. */
static int32_t milli_value(const struct freq_set *set, const struct freq_case *c, uint8_t feature)
{
	int32_t x = fit_feature(set, c, feature);

	return x == INT32_MIN ? x : (int32_t)((int64_t)x * 1000 >> 16);
}

static int32_t ppm_value(const struct freq_set *set, const struct freq_case *c, uint8_t feature)
{
	int32_t x = fit_feature(set, c, feature);

	return x == INT32_MIN ? x : (int32_t)((int64_t)x * 1000000 >> 16);
}

static int32_t saved_value(const struct freq_set *set, const struct freq_case *c, uint8_t feature)
{
	double saved = 1 - (double)c->cycles[set->other] / (double)c->cycles[0];

	(void)feature;
	return (int32_t)(1000 * fmax(saved, 0));
}

/* INT32_MAX becomes a threshold that nothing reaches, INT32_MIN one that everything does. */
static uint32_t threshold(int32_t step)
{
	return step < 0 ? 0 : step == INT32_MAX ? UINT32_MAX : (uint32_t)step;
}

/* Sums of the ratios at each point if a rule's tasks get point 0 and all others this one. */
static void cost_otherwise(const struct fitted *f, const struct freq_set *set, size_t skip,
			   double cost[DEVICE_POINTS])
{
	for (uint32_t p = 0; p < set->n_points; p++)
		cost[p] = 0;
	for (size_t i = 0; i < set->n; i++) {
		bool said = i != skip && fit_choose(f, set, &set->c[i]) >= 0;

		for (uint32_t p = 0; p < set->n_points && i != skip; p++)
			cost[p] += ratio(&set->c[i], said ? 0 : p);
	}
}

/*
 * Two thresholds on a grid from 0 to 1000 thousandths, denser at the low end, and the point where
 * they do not decide.
 */
static void fit_two(const struct freq_set *set, size_t skip, uint32_t *cpi, uint32_t *lsu,
		    struct fitted *f)
{
	uint32_t best_cpi = *cpi, best_lsu = *lsu, otherwise = 0;
	double least_cost = INFINITY, cost[DEVICE_POINTS];

	for (uint32_t i = 0; i < GRID * GRID; i++) {
		uint32_t p, x = i / GRID, y = i % GRID;

		*cpi = 1000 * x * x / (GRID * GRID);
		*lsu = 1000 * y * y / (GRID * GRID);
		cost_otherwise(f, set, skip, cost);
		p = least(cost, set->n_points, ANY_POINT);
		if (cost[p] < least_cost - 1e-9) {
			least_cost = cost[p];
			best_cpi = *cpi;
			best_lsu = *lsu;
			otherwise = p;
		}
	}
	*cpi = best_cpi;
	*lsu = best_lsu;
	f->otherwise = otherwise;
}

static void fit_thesis(const struct freq_set *set, size_t skip, struct fitted *f)
{
	const struct sides high_or_any = { 1, ANY_POINT };
	const struct sides high_or_low = { 1, 1u << (set->n_points - 1) };
	double alpha_c;

	switch (f->rule) {
	case SWO_RULE_CPI:
		fit_one(set, skip, cpi_value, 0, high_or_any, f);
		f->t.cpi_milli = threshold(f->step);
		f->t.cpi_hz = set->point[f->above].hz;
		return;
	case SWO_RULE_SAVED:
		fit_one(set, skip, saved_value, 0, high_or_any, f);
		f->t.saved = threshold(f->step);
		f->t.saved_hz = set->point[f->above].hz;
		return;
	case SWO_RULE_SLEEP:
		fit_one(set, skip, milli_value, SWO_F_SLEEP, high_or_low, f);
		f->t.sleep = threshold(f->step);
		return;
	case SWO_RULE_PERIPHERAL:
		fit_one(set, skip, ppm_value, SWO_F_PERIPHERAL, high_or_low, f);
		f->t.peripheral_ppm = threshold(f->step);
		return;
	case SWO_RULE_LOW: fit_two(set, skip, &f->t.low_cpi, &f->t.low_lsu, f); return;
	case SWO_RULE_CPI_LSU: fit_two(set, skip, &f->t.high_cpi, &f->t.high_lsu, f); return;
	case SWO_RULE_ENERGY:
		alpha_c = freq_alpha_c(set, skip);
		f->alpha_c_ff = (uint32_t)fmax(1, fmin(0x1p28, alpha_c * 1e15 + 0.5));
		return;
	case SWO_RULE_LEARNED:
	case SWO_RULES: return;
	}
}

struct fitted fit_make(const struct fit_rule *rule, const struct freq_set *set, size_t skip)
{
	const struct sides any = { ANY_POINT, ANY_POINT };
	struct fitted f = fit_given(rule, 0);
	double sum[DEVICE_POINTS] = { 0 };

	switch (rule->kind) {
	case FIT_CONSTANT:
		for (size_t i = 0; i < set->n; i++)
			for (uint32_t p = 0; p < set->n_points && i != skip; p++)
				sum[p] += ratio(&set->c[i], p);
		f.point = least(sum, set->n_points, ANY_POINT);
		break;
	case FIT_RULE: fit_thesis(set, skip, &f); break;
	case FIT_STEP:
		f.feature = rule->feature[0];
		fit_one(set, skip, fit_feature, f.feature, any, &f);
		break;
	case FIT_LINEAR: f.tasks = fit_linear(&f.model, rule, set, skip); break;
	}
	return f;
}
