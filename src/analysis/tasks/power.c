/* SPDX-License-Identifier: MIT */
/* Energy of runs from samples of power: see energy.h. */
#include <math.h>
#include <string.h>

#include "analysis/tasks/internal.h"

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
	    clocks_pair(false, bound, s->t->run[0].begin.bound) == CVL_BOUND_UNKNOWN)
		return task_not_tied(s, s->t->run[0].clock, (uint32_t)sl->clock);
	if (p->known && p->clock == sl->clock && t1 > p->time.ns) {
		rc = task_active_move(s, &p->active, p->time.ns, t1);
		for (size_t k = 0; k < p->active.n && !rc; k++) {
			struct task_run *r = &s->t->run[p->active.run[k]];
			bool same = s->root[r->clock] == s->root[sl->clock];
			int64_t pair = clocks_pair(same, bound, r->begin.bound);

			if (pair == CVL_BOUND_UNKNOWN)
				return task_not_tied(s, r->clock, (uint32_t)sl->clock);
			energy_add(&r->energy, r->begin.time.ns, r->end.time.ns,
				   &(struct energy_pair){ p->time.ns, t1, p->watt, w1 }, pair);
		}
	}
	p->known = true;
	p->time = sl->time[i];
	p->clock = (uint32_t)sl->clock;
	p->watt = w1;
	return rc;
}
