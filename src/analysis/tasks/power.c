/* SPDX-License-Identifier: MIT */
/* Energy of runs from samples of power: see coeval/power.h. */
#include <math.h>

#include "analysis/tasks/internal.h"

int task_power_sample(struct task_study *s, const struct task_fact *f)
{
	struct cvl_bound bound = task_fact_bound(s, f);
	struct task_power *p = &s->power;
	int rc = 0;

	if (!isfinite(f->watt)) {
		p->known = false;
		return 0;
	}
	if (s->r.n_runs && s->root[s->r.run[0].clock] != s->root[f->clock] &&
	    clocks_pair(false, bound, s->r.run[0].begin.bound) == CVL_BOUND_UNKNOWN)
		return task_not_tied(s, s->r.run[0].clock, f->clock);
	if (p->known && p->clock == f->clock && f->time > p->time) {
		rc = task_active_move(s, &p->active, p->time, f->time);
		for (size_t k = 0; k < p->active.n && !rc; k++) {
			struct cvl_task_run *r = &s->r.run[p->active.run[k]];
			bool same = s->root[r->clock] == s->root[f->clock];
			int64_t pair = clocks_pair(same, bound, r->begin.bound);

			if (pair == CVL_BOUND_UNKNOWN)
				return task_not_tied(s, r->clock, f->clock);
			energy_add(&r->energy, r->begin.time.ns, r->end.time.ns,
				   &(struct energy_pair){ p->time, f->time, p->watt, f->watt },
				   pair);
		}
	}
	p->known = true;
	p->time = f->time;
	p->clock = f->clock;
	p->watt = f->watt;
	return rc;
}
