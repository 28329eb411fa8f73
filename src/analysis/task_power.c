/* SPDX-License-Identifier: MIT */
/*
 * Energy of runs from samples of power: the trapezoids between samples, cut at the ends of a run.
 *
 * What this can be off by has three parts. The power may step at an end of the run, anywhere between the two samples about it:
 * at most their difference over what of that interval lies in the run. The end's own time is known to within a bound: the
 * power there over that time. Within the run readings are noisy, and power between two of them is not known: taking two
 * successive readings to differ by noise alone, of variance v each, (p1 - p0)^2 estimates 2 v, and an interval adds
 * v dt^2. A power that changes and changes back between two samples is seen by none of this.
 */
#include <math.h>
#include <string.h>

#include "analysis/tasks_internal.h"

/* Power at @t on the straight line between two samples. */
static double watt_at(const struct task_power *p, int64_t t1, double w1, int64_t t)
{
	int64_t t0 = p->time.ns;

	return p->watt + (w1 - p->watt) * (double)(t - t0) / (double)(t1 - t0);
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

static void add_interval(struct task_run *r, const struct task_power *p, int64_t t1, double w1,
			 int64_t pad)
{
	int64_t begin = r->begin.time.ns, end = r->end.time.ns, t0 = p->time.ns;
	int64_t from = begin > t0 ? begin : t0, to = end < t1 ? end : t1;
	double most = larger(fabs(p->watt), fabs(w1)), dt;

	if (t0 <= cvl_add_sat(begin, pad) && t1 >= cvl_add_sat(begin, -pad))
		r->energy.begin_w = larger(r->energy.begin_w, most);
	if (t0 <= cvl_add_sat(end, pad) && t1 >= cvl_add_sat(end, -pad))
		r->energy.end_w = larger(r->energy.end_w, most);
	if (from >= to)
		return;
	dt = (double)(to - from);
	r->energy.samples += t1 < end;
	r->energy.joule += 0.5 * (watt_at(p, t1, w1, from) + watt_at(p, t1, w1, to)) * dt * 1e-9;
	r->energy.covered_ns += dt;
	if (from > t0 || to < t1)
		r->energy.bound += fabs(w1 - p->watt) * dt * 1e-9;
	else
		r->energy.variance += 0.5 * (w1 - p->watt) * (w1 - p->watt) * dt * dt * 1e-18;
}

int task_power_sample(struct task_study *s, struct task_power *p, const struct cvl_slice *sl,
		      size_t i)
{
	struct cvl_bound bound = cvl_timeline_bound_parts(s->tl, sl, i);
	int64_t t1 = sl->time[i].ns;
	double w1;
	int rc = 0;

	memcpy(&w1, &sl->batch->value[i], sizeof(w1));
	w1 *= s->opts->watts;
	if (!isfinite(w1)) {
		p->known = false;
		return 0;
	}
	s->t->samples++;
	if (s->t->n_runs && s->root[s->t->run[0].clock] != s->root[sl->clock] &&
	    task_pair(false, bound, s->t->run[0].begin.bound) == CVL_BOUND_UNKNOWN)
		return task_not_tied(s, s->t->run[0].clock, (uint32_t)sl->clock);
	if (p->known && p->clock == sl->clock && t1 > p->time.ns) {
		rc = task_active_move(s, &p->active, p->time.ns, t1);
		for (size_t k = 0; k < p->active.n && !rc; k++) {
			struct task_run *r = &s->t->run[p->active.run[k]];
			bool same = s->root[r->clock] == s->root[sl->clock];
			int64_t pair = task_pair(same, bound, r->begin.bound);

			if (pair == CVL_BOUND_UNKNOWN)
				return task_not_tied(s, r->clock, (uint32_t)sl->clock);
			add_interval(r, p, t1, w1, pair);
			if (pair > r->energy.apart)
				r->energy.apart = pair;
		}
	}
	p->known = true;
	p->time = sl->time[i];
	p->clock = (uint32_t)sl->clock;
	p->watt = w1;
	return rc;
}
