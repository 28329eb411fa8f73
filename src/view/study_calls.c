/* SPDX-License-Identifier: MIT */
/* Threads: what they did, and which calls they were in. */
#include "view/study.h"

#include <stdlib.h>
#include <string.h>

#include <coeval/calls.h>

#define KEPT 400000 /* of each kind */
#define GROUPS_TOLD 100
#define STEPS_TOLD 200

struct threads {
	struct intervals *all;
	const struct cvl_analysis *a;
	const struct cvl_calls_result *r;
	const struct cvl_timeline *tl;
	uint32_t *row;      /* thread -> row, or UINT32_MAX */
	uint32_t *function; /* function -> name; the last: unknown */
	uint32_t *away;     /* thread that ran meanwhile, or none, and reason -> name */
	uint32_t runs;      /* a name */
	bool *states;       /* thread -> it is known when it ran */
};

/* A time's tick on the clock @clock. */
static uint64_t tick_on(const struct threads *t, struct cvl_calls_time at, uint32_t clock)
{
	if (at.clock == clock)
		return at.tick;
	return cvl_map_tick(cvl_timeline_map(t->tl, clock), (struct cvl_time){ at.ns }).count;
}

static bool add(struct threads *t, uint32_t thread, struct cvl_calls_time begin,
		struct cvl_calls_time end, int depth, uint32_t name, unsigned marks)
{
	const uint32_t row = t->row[thread];
	const uint32_t clock = row == UINT32_MAX ? 0 : t->all->row[row].clock;

	if (row == UINT32_MAX || depth < 0 || depth > UINT16_MAX)
		return true;
	return intervals_add(t->all, row,
			     &(struct interval){ begin.ns, end.ns, tick_on(t, begin, clock),
						 tick_on(t, end, clock),
						 cvl_calls_bound(t->a, begin),
						 cvl_calls_apart(t->a, begin, end), name,
						 (uint16_t)depth, (uint16_t)marks });
}

/* ---- rows ---- */

static bool make_rows(struct threads *t)
{
	const struct cvl_calls_result *r = t->r;

	for (size_t i = 0; i < r->kept->slices.n; i++)
		t->states[r->kept->slice[i].thread] = true;
	for (size_t i = 0; i < r->n_threads; i++)
		t->row[i] = UINT32_MAX;
	for (size_t i = 0; i < r->n_threads; i++) {
		const struct cvl_calls_thread *k = &r->thread[r->order[i]];
		uint32_t row;

		if ((k->idle && !k->spans) || k->clock == CVL_CALLS_NONE)
			continue;
		row = intervals_row(t->all, "calls", k->task, k->clock);
		if (row == UINT32_MAX)
			return false;
		t->all->row[row].states = t->states[r->order[i]];
		t->row[r->order[i]] = row;
	}
	return true;
}

/* ---- names ---- */

static bool name_functions(struct threads *t)
{
	for (size_t i = 0; i < t->r->n_functions; i++) {
		t->function[i] = intervals_name(t->all, cvl_calls_function_name(t->r, (uint32_t)i));
		if (t->function[i] == UINT32_MAX)
			return false;
	}
	t->function[t->r->n_functions] = intervals_name(t->all, "?");
	t->runs = intervals_name(t->all, "runs");
	return t->function[t->r->n_functions] != UINT32_MAX && t->runs != UINT32_MAX;
}

/* "preempted by X" */
static uint32_t name_away(struct threads *t, const struct cvl_calls_away *a)
{
	static const char *const words[] = {
		[CVL_CALLS_REASON_NONE] = "switched out",
		[CVL_CALLS_REASON_PREEMPTED] = "preempted",
		[CVL_CALLS_REASON_BLOCKED] = "blocked",
	};
	const bool by = a->by != CVL_CALLS_NONE && a->reason != CVL_CALLS_REASON_BLOCKED;
	uint32_t *name = &t->away[(by ? a->by + 1 : 0) * 3 + a->reason];
	char text[300];

	if (!*name) {
		snprintf(text, sizeof(text), "%s%s%.200s", words[a->reason],
			 !by                                     ? "" :
			 a->reason == CVL_CALLS_REASON_PREEMPTED ? " by " :
								   " for ",
			 by ? t->r->thread[a->by].task : "");
		*name = intervals_name(t->all, text) +
			1; /* 0: not yet; after all bits: no memory */
	}
	return *name - 1;
}

/* ---- what was kept ---- */

static bool add_spans(struct threads *t)
{
	for (size_t i = 0; i < t->r->kept->spans.n; i++) {
		const struct cvl_calls_span *s = &t->r->kept->span[i];
		const unsigned marks = (s->marks & CVL_CALLS_MADE_UP ? INTERVAL_MADE_UP : 0) |
				       (s->marks & CVL_CALLS_GAP ? INTERVAL_LOSS : 0);
		const int depth = s->depth - t->r->thread[s->thread].depth_min;

		if (!add(t, s->thread, s->begin, s->end, depth + t->states[s->thread],
			 t->function[s->function == CVL_CALLS_NONE ? t->r->n_functions :
								     s->function],
			 marks))
			return false;
	}
	return true;
}

static bool add_states(struct threads *t)
{
	for (size_t i = 0; i < t->r->kept->slices.n; i++) {
		const struct cvl_calls_slice *s = &t->r->kept->slice[i];

		if (!add(t, s->thread, s->begin, s->end, 0, t->runs, 0))
			return false;
	}
	for (size_t i = 0; i < t->r->kept->aways.n; i++) {
		const struct cvl_calls_away *a = &t->r->kept->away[i];
		const uint32_t name = name_away(t, a);

		if (name == UINT32_MAX ||
		    (t->states[a->thread] &&
		     !add(t, a->thread, a->begin, a->end, 0, name, INTERVAL_AWAY)))
			return false;
	}
	return true;
}

static bool tell(struct threads *t)
{
	const struct cvl_calls_result *r = t->r;

	for (size_t i = 0; i < r->n_groups && i < GROUPS_TOLD; i++) {
		const struct cvl_calls_span *s = &r->group[i].first->span;

		if (!intervals_tell(t->all,
				    &(struct found){ "much longer than usual", NULL,
						     r->thread[s->thread].clock, t->row[s->thread],
						     s->begin.ns, s->end.ns, false },
				    "%s", r->group[i].text))
			return false;
	}
	for (size_t i = 0; i < r->n_steps && i < STEPS_TOLD; i++) {
		const struct cvl_calls_step *s = &r->step[i];

		if (!intervals_tell(t->all,
				    &(struct found){ "critical path", NULL,
						     r->thread[s->thread].clock, t->row[s->thread],
						     s->begin.ns, s->end.ns, false },
				    "%s: %s", r->thread[s->thread].label, s->text))
			return false;
	}
	return true;
}

static void leave_out(struct intervals *all, const struct cvl_calls_list *l)
{
	all->left_out += l->left_out;
	if (l->left_out && l->shortest > all->no_longer)
		all->no_longer = l->shortest;
}

static int take(struct intervals *all, const struct cvl_timeline *tl, const struct cvl_analysis *a,
		struct cvl_error *err)
{
	const struct cvl_calls_result *r = cvl_calls_result(a);
	struct threads t = { .all = all, .a = a, .r = r, .tl = tl };
	bool good;

	t.row = calloc(r->n_threads + 1, sizeof(*t.row));
	t.states = calloc(r->n_threads + 1, sizeof(*t.states));
	t.function = calloc(r->n_functions + 1, sizeof(*t.function));
	t.away = calloc(3 * (r->n_threads + 1), sizeof(*t.away));
	good = t.row && t.states && t.function && t.away && make_rows(&t) && name_functions(&t) &&
	       add_spans(&t) && add_states(&t) && tell(&t);
	leave_out(all, &r->kept->spans);
	leave_out(all, &r->kept->slices);
	leave_out(all, &r->kept->aways);
	free(t.row);
	free(t.states);
	free(t.function);
	free(t.away);
	return good ? 0 : cvl_no_memory(err);
}

int study_calls(struct intervals *all, struct cvl_timeline *tl, const struct cvl_view_studies *ask,
		struct cvl_error *err)
{
	const struct cvl_calls_opts opts = { .config = ask->calls, .kept = KEPT };
	struct cvl_analysis *a;
	int rc = cvl_calls_open(&a, tl, &opts, err);

	rc = rc ? rc : cvl_analyse(tl, &a, 1, err);
	rc = rc ? rc : take(all, tl, a, err);
	cvl_analysis_free(a);
	return rc;
}
