/* SPDX-License-Identifier: MIT */
/* Second step: count what happened during the runs. */
#include <stdlib.h>

#include "analysis/tasks/internal.h"
#include <coeval/array.h>

enum place { OUTSIDE, MAYBE, WITHIN };

int task_active_move(struct task_study *s, struct task_active *a, int64_t from, int64_t to)
{
	const struct cvl_tasks_result *t = &s->r;
	int64_t pad = cvl_add_sat(s->reach, s->reach);
	size_t kept = 0;

	for (size_t i = 0; i < a->n; i++)
		if (cvl_add_sat(t->run[a->run[i]].end.time.ns, pad) >= from)
			a->run[kept++] = a->run[i];
	a->n = kept;
	for (; a->next < t->n_runs && cvl_add_sat(t->run[a->next].begin.time.ns, -pad) <= to;
	     a->next++) {
		if (cvl_add_sat(t->run[a->next].end.time.ns, pad) < from)
			continue;
		if (cvl_room(&a->run, a->n, &a->room, sizeof(*a->run)))
			return cvl_no_memory(s->err);
		a->run[a->n++] = (uint32_t)a->next;
	}
	return 0;
}

/* ---- before, within, after ---- */

static enum cvl_order order(int64_t ns, struct cvl_bound bound, const struct cvl_task_border *b,
			    bool same)
{
	return cvl_timeline_order((struct cvl_time){ ns }, b->time,
				  clocks_pair(same, bound, b->bound));
}

static enum place place_of(const struct task_study *s, const struct cvl_task_run *r,
			   const struct task_fact *f, struct cvl_bound bound)
{
	bool same = s->root[r->clock] == s->root[f->clock];

	if (r->stream == f->stream)
		return f->place > r->begin.place && f->place < r->end.place ? WITHIN : OUTSIDE;
	if (order(f->time, bound, &r->begin, same) == CVL_BEFORE ||
	    order(f->first, bound, &r->end, same) == CVL_AFTER)
		return OUTSIDE;
	return order(f->first, bound, &r->begin, same) == CVL_AFTER &&
			       order(f->time, bound, &r->end, same) == CVL_BEFORE ?
		       WITHIN :
		       MAYBE;
}

/* Runs that may contain it. */
static int about(struct task_study *s, const struct task_fact *f, struct task_active **out)
{
	*out = &s->stream[f->stream].active;
	return task_active_move(s, *out, f->first, f->time);
}

/* Fails at the first reading on another clock without any tie: later figures would be guesses. */
static bool tied(const struct task_study *s, const struct cvl_task_run *r, uint32_t clock,
		 struct cvl_bound b)
{
	return s->root[r->clock] == s->root[clock] ||
	       (r->begin.bound.map != CVL_BOUND_UNKNOWN && b.map != CVL_BOUND_UNKNOWN);
}

static void add(struct cvl_task_run *r, enum place place, unsigned what)
{
	for (unsigned w = 0; w < CVL_TASK_WHATS && place != OUTSIDE; w++) {
		r->count[w].sure += what >> w & 1 && place == WITHIN;
		r->count[w].maybe += what >> w & 1 && place == MAYBE;
	}
}

/* Add one to the counts in @what, in all runs that contain it. */
static int count(struct task_study *s, const struct task_fact *f, unsigned what)
{
	struct cvl_bound bound = task_fact_bound(s, f);
	bool anywhen = task_reach_of(bound) == CVL_BOUND_UNKNOWN;
	struct task_active *active;
	int rc = about(s, f, &active);

	for (size_t k = 0; k < active->n && !rc; k++) {
		struct cvl_task_run *r = &s->r.run[active->run[k]];

		if (r->stream != f->stream && (r->packets || anywhen))
			continue;
		if (!tied(s, r, f->clock, bound))
			return task_not_tied(s, r->clock, f->clock);
		add(r, place_of(s, r, f, bound), what);
	}
	for (size_t k = 0; anywhen && k < s->r.n_runs && !rc; k++)
		if (s->r.run[k].stream != f->stream && !s->r.run[k].packets)
			add(&s->r.run[k], MAYBE, what);
	return rc;
}

/* A sample too close to a border counts where it appears to be. */
static int pc_sample(struct task_study *s, const struct task_fact *f)
{
	struct cvl_bound bound = task_fact_bound(s, f);
	struct task_active *active;
	int rc = about(s, f, &active);

	for (size_t k = 0; k < active->n && !rc; k++) {
		const struct cvl_task_run *r = &s->r.run[active->run[k]];
		enum place place = place_of(s, r, f, bound);

		if (r->packets && r->stream != f->stream)
			continue;
		if ((place == WITHIN || (place == MAYBE && r->begin.time.ns <= f->time &&
					 f->time <= r->end.time.ns)) &&
		    !task_function_add(s, r->task, f->name))
			rc = s->err->code;
	}
	return rc;
}

/*
 * A gap belongs to all runs that it may overlap. In the stream of a run's marks its order relative
 * to them is known.
 */
static bool loses(const struct task_fact *f, const struct cvl_task_run *r, int64_t pad)
{
	if (r->stream == f->stream)
		return f->place < r->end.place &&
		       (f->place > r->begin.place || f->to > r->begin.time.ns);
	return !r->packets && cvl_add_sat(f->time, -pad) <= r->end.time.ns &&
	       cvl_add_sat(f->to, pad) >= r->begin.time.ns;
}

static void gap(struct task_study *s, const struct task_fact *f)
{
	struct cvl_tasks_result *t = &s->r;
	int64_t pad = cvl_add_sat(s->reach, task_reach_of(task_fact_bound(s, f)));
	size_t low = 0, high = t->n_runs;
	bool any = false;

	if (s->stream[f->stream].channel >= 0)
		s->power.known = false;
	if (!s->stream[f->stream].counts)
		return;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (t->run[mid].begin.time.ns <= cvl_add_sat(f->to, pad))
			low = mid + 1;
		else
			high = mid;
	}
	while (low-- > 0 && s->end_so_far[low] >= cvl_add_sat(f->time, -pad)) {
		if (!loses(f, &t->run[low], pad))
			continue;
		t->run[low].gaps++;
		any = true;
	}
	t->lost_gaps += !any;
}

static int replay(struct task_study *s, const struct task_fact *f)
{
	switch ((enum task_fact_kind)f->kind) {
	case FACT_COUNTS: return count(s, f, f->what);
	case FACT_MATCH: return s->match_role[f->comparator] == f->role ? count(s, f, f->what) : 0;
	case FACT_PC: return pc_sample(s, f);
	case FACT_SAMPLE: return task_power_sample(s, f);
	case FACT_GAP: gap(s, f); break;
	}
	return 0;
}

int task_counts(struct task_study *s)
{
	s->end_so_far = calloc(s->r.n_runs + 1, sizeof(*s->end_so_far));
	if (!s->end_so_far)
		return cvl_no_memory(s->err);
	for (size_t i = 0; i < s->r.n_runs; i++) {
		int64_t before = i ? s->end_so_far[i - 1] : INT64_MIN,
			end = s->r.run[i].end.time.ns;

		s->end_so_far[i] = end > before ? end : before;
	}
	return task_log_each(s, replay);
}
