/* SPDX-License-Identifier: MIT */
/* Second reading: what happened during the runs. */
#include <stdlib.h>
#include <string.h>

#include "analysis/tasks/internal.h"
#include <coeval/array.h>

struct counter {
	struct task_study *s;
	struct task_power power;
	struct task_function_table functions;
	int64_t *end_so_far; /* latest end of this run and those before it */
};

enum place { OUTSIDE, MAYBE, WITHIN };

int task_active_move(struct task_study *s, struct task_active *a, int64_t from, int64_t to)
{
	const struct tasks *t = s->t;
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
			return task_no_memory(s);
		a->run[a->n++] = (uint32_t)a->next;
	}
	return 0;
}

/* ---- before, within, after ---- */

static enum cvl_order order(struct cvl_time a, struct cvl_bound bound, const struct task_border *b,
			    bool same)
{
	return cvl_timeline_order(a, b->time, clocks_pair(same, bound, b->bound));
}

static int64_t earliest(const struct task_study *s, const struct cvl_slice *sl, size_t i)
{
	return sl->batch->kind[i] == CVL_EVENT ? task_earliest(s, sl->stream, sl->time[i].ns) :
						 sl->time[i].ns;
}

static enum place place_of(const struct counter *c, const struct task_run *r,
			   const struct cvl_slice *sl, size_t i, struct cvl_bound bound)
{
	const struct task_study *s = c->s;
	bool same = s->root[r->clock] == s->root[sl->clock];
	struct cvl_time first = { earliest(s, sl, i) };
	uint64_t place = s->stream[sl->stream].place;

	if (r->stream == sl->stream)
		return place > r->begin.place && place < r->end.place ? WITHIN : OUTSIDE;
	if (order(sl->time[i], bound, &r->begin, same) == CVL_BEFORE ||
	    order(first, bound, &r->end, same) == CVL_AFTER)
		return OUTSIDE;
	return order(first, bound, &r->begin, same) == CVL_AFTER &&
			       order(sl->time[i], bound, &r->end, same) == CVL_BEFORE ?
		       WITHIN :
		       MAYBE;
}

/* Runs that the record may be in. */
static int about(const struct counter *c, const struct cvl_slice *sl, size_t i,
		 struct task_active **out)
{
	*out = &c->s->stream[sl->stream].active;
	return task_active_move(c->s, *out, earliest(c->s, sl, i), sl->time[i].ns);
}

/* The first reading of a run on another clock, without any tie, makes every later figure a guess. */
static bool tied(const struct task_study *s, const struct task_run *r, uint32_t clock,
		 struct cvl_bound b)
{
	return s->root[r->clock] == s->root[clock] ||
	       (r->begin.bound.map != CVL_BOUND_UNKNOWN && b.map != CVL_BOUND_UNKNOWN);
}

static void add(struct task_run *r, enum place place, const bool what[TASK_WHATS])
{
	for (unsigned w = 0; w < TASK_WHATS && place != OUTSIDE; w++) {
		r->count[w].sure += what[w] && place == WITHIN;
		r->count[w].maybe += what[w] && place == MAYBE;
	}
}

/* Add one to what @what[] names, in all runs that it was in. */
static int count(struct counter *c, const struct cvl_slice *sl, size_t i,
		 const bool what[TASK_WHATS])
{
	struct task_study *s = c->s;
	struct cvl_bound bound = cvl_timeline_bound_parts(s->tl, sl, i);
	bool anywhen = task_reach_of(bound) == CVL_BOUND_UNKNOWN;
	struct task_active *active;
	int rc = about(c, sl, i, &active);

	for (size_t k = 0; k < active->n && !rc; k++) {
		struct task_run *r = &s->t->run[active->run[k]];

		if (r->stream != sl->stream && (r->packets || anywhen))
			continue;
		if (!tied(s, r, (uint32_t)sl->clock, bound))
			return task_not_tied(s, r->clock, (uint32_t)sl->clock);
		add(r, place_of(c, r, sl, i, bound), what);
	}
	for (size_t k = 0; anywhen && k < s->t->n_runs && !rc; k++)
		if (s->t->run[k].stream != sl->stream && !s->t->run[k].packets)
			add(&s->t->run[k], MAYBE, what);
	return rc;
}

/* ---- records ---- */

/* A sample too close to an end to tell counts where it seems to be. */
static int pc_sample(struct counter *c, const struct cvl_slice *sl, size_t i, const char *name)
{
	struct task_study *s = c->s;
	struct cvl_bound bound = cvl_timeline_bound_parts(s->tl, sl, i);
	int64_t t = sl->time[i].ns;
	struct task_active *active;
	int rc = about(c, sl, i, &active);

	if (!rc)
		rc = task_function_add(s, &c->functions, TASK_NONE, name);
	for (size_t k = 0; k < active->n && !rc; k++) {
		const struct task_run *r = &s->t->run[active->run[k]];
		enum place place = place_of(c, r, sl, i, bound);

		if (r->packets && r->stream != sl->stream)
			continue;
		if (place == WITHIN ||
		    (place == MAYBE && r->begin.time.ns <= t && t <= r->end.time.ns))
			rc = task_function_add(s, &c->functions, r->task, name);
	}
	return rc;
}

static int event(struct counter *c, const struct cvl_slice *sl, size_t i)
{
	struct task_study *s = c->s;
	enum task_role role = task_role(s, sl, i);
	bool what[TASK_WHATS] = { false }, any = false;
	struct task_fields f;

	if (role == ROLE_NONE)
		return 0;
	task_see_time(&s->stream[sl->stream], sl->time[i].ns);
	if (role == ROLE_SOFTWARE)
		return 0;
	if (role == ROLE_SLEEP)
		return s->opts->functions ? pc_sample(c, sl, i, "(sleep)") : 0;
	if ((role == ROLE_PC && !s->opts->functions) || !task_fields(s, sl, i, &f))
		return 0;
	if (role == ROLE_PC)
		return pc_sample(c, sl, i, f.symbol);
	if (role == ROLE_COUNTERS) {
		for (unsigned k = 0; k <= TASK_FOLD; k++)
			what[k] = f.counter[k] && !(s->opts->edges && s->opts->counting == k);
	} else if (f.comparator < TASK_COMPARATORS) {
		uint8_t region = s->opts->region[f.comparator];

		if (region < TASK_WHATS && s->match_role[f.comparator] == role &&
		    !(s->opts->edges && s->opts->counting == region))
			what[region] = true;
	}
	for (unsigned k = 0; k < TASK_WHATS; k++)
		any = any || what[k];
	return any ? count(c, sl, i, what) : 0;
}

static int edge(struct counter *c, const struct cvl_slice *sl, size_t i)
{
	struct task_stream *stream = &c->s->stream[sl->stream];
	uint64_t changed = cvl_levels_take(&stream->levels, sl->batch, i);
	bool what[TASK_WHATS] = { false };

	if (stream->edges < 0 || !((changed & stream->levels.now) >> stream->edges & 1))
		return 0;
	what[c->s->opts->counting] = true;
	c->s->t->packets[c->s->opts->counting]++;
	return count(c, sl, i, what);
}

/* A gap belongs to all runs that it may overlap. In the stream of a run's marks it stands before, between or after them. */
static bool loses(const struct task_study *s, const struct cvl_slice *sl, const struct task_run *r,
		  int64_t from, int64_t to, int64_t pad)
{
	uint64_t place = s->stream[sl->stream].place;

	if (r->stream == sl->stream)
		return place < r->end.place && (place > r->begin.place || to > r->begin.time.ns);
	return !r->packets && cvl_add_sat(from, -pad) <= r->end.time.ns &&
	       cvl_add_sat(to, pad) >= r->begin.time.ns;
}

static void gap(struct counter *c, const struct cvl_slice *sl, size_t i)
{
	struct task_study *s = c->s;
	struct tasks *t = s->t;
	int64_t pad = cvl_add_sat(s->reach, task_reach_of(cvl_timeline_bound_parts(s->tl, sl, i)));
	int64_t from = sl->time[i].ns, to = INT64_MAX;
	size_t low = 0, high = t->n_runs;
	bool any = false;

	if (sl->batch->aux[i] != CVL_TICK_UNKNOWN)
		to = cvl_map_time(cvl_timeline_map(s->tl, sl->clock),
				  (struct cvl_tick){ sl->batch->aux[i] }, NULL)
			     .ns;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (t->run[mid].begin.time.ns <= cvl_add_sat(to, pad))
			low = mid + 1;
		else
			high = mid;
	}
	while (low-- > 0 && c->end_so_far[low] >= cvl_add_sat(from, -pad)) {
		if (!loses(s, sl, &t->run[low], from, to, pad))
			continue;
		t->run[low].gaps++;
		any = true;
	}
	t->lost_gaps += !any;
}

static int record(struct counter *c, const struct cvl_slice *sl, size_t i)
{
	struct task_stream *stream = &c->s->stream[sl->stream];

	switch (sl->batch->kind[i]) {
	case CVL_EVENT: return event(c, sl, i);
	case CVL_EDGE: return edge(c, sl, i);
	case CVL_SAMPLE:
		if (stream->channel < 0 || sl->batch->cls[i] != (uint32_t)stream->channel)
			return 0;
		return task_power_sample(c->s, &c->power, sl, i);
	case CVL_GAP:
		stream->levels.known = 0;
		if (stream->channel >= 0)
			c->power.known = false;
		if (stream->counts)
			gap(c, sl, i);
		return 0;
	default: return 0;
	}
}

int task_counts(struct task_study *s)
{
	struct counter c = { .s = s };
	struct cvl_slice sl;
	int rc = 0;

	c.end_so_far = calloc(s->t->n_runs + 1, sizeof(*c.end_so_far));
	if (!c.end_so_far)
		return task_no_memory(s);
	for (size_t i = 0; i < s->t->n_runs; i++) {
		int64_t before = i ? c.end_so_far[i - 1] : INT64_MIN,
			end = s->t->run[i].end.time.ns;

		c.end_so_far[i] = end > before ? end : before;
	}
	while (!rc && (rc = cvl_timeline_next(s->tl, &sl, s->err)) > 0) {
		rc = 0;
		for (size_t i = sl.begin; i < sl.end && !rc; i++, s->stream[sl.stream].place++)
			rc = record(&c, &sl, i);
	}
	task_function_end(s, &c.functions);
	free(c.end_so_far);
	free(c.power.active.run);
	return rc;
}
