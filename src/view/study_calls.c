/* SPDX-License-Identifier: MIT */
/* Threads: what they did, and which calls they were in. */
#include "view/study.h"

#include <stdlib.h>
#include <string.h>

#include <coeval/calls.h>

#define GROUPS_TOLD 100
#define STEPS_TOLD 200
#define STATES INT16_MIN /* depth of what a thread did, until all depths are known */
#define NO_TICK UINT64_MAX

/* Names, before threads and functions have theirs: */
#define RUNS UINT32_MAX
#define AWAY (UINT32_C(1) << 31) /* and the thread that ran meanwhile, or none, and why */
#define REASONS (CVL_CALLS_REASON_READY + 1)

struct threads {
	struct intervals *all;
	const struct cvl_timeline *tl;
	const struct cvl_analysis *a;
	const struct cvl_calls_result *r;
	struct {
		uint32_t row, clock; /* clock: of its first record */
	} * thread;
	size_t n;
	uint32_t *name; /* of functions, and after these of AWAY */
	uint32_t runs;
	bool no_memory;
};

/* ---- as they come ---- */

static uint32_t row_of(struct threads *t, uint32_t thread)
{
	if (thread >= t->n) {
		const size_t n = 2 * (size_t)thread + 16;
		void *grown = realloc(t->thread, n * sizeof(*t->thread));

		if (!grown)
			return UINT32_MAX;
		t->thread = grown;
		for (; t->n < n; t->n++) {
			t->thread[t->n].row = UINT32_MAX;
			t->thread[t->n].clock = CVL_CALLS_NONE;
		}
	}
	if (t->thread[thread].row == UINT32_MAX)
		t->thread[thread].row = intervals_row(t->all, "calls", "", NO_CLOCK);
	return t->thread[thread].row;
}

static uint64_t tick_of(const struct threads *t, uint32_t thread, struct cvl_calls_time at)
{
	return at.clock == t->thread[thread].clock && at.clock != CVL_CALLS_NONE ? at.tick :
										   NO_TICK;
}

static void add(struct threads *t, uint32_t thread, const struct cvl_calls_time *begin,
		const struct cvl_calls_time *end, int depth, uint32_t name, unsigned marks)
{
	const uint32_t row = row_of(t, thread);

	if (row == UINT32_MAX) {
		t->no_memory = true;
		return;
	}
	if (depth <= STATES && depth != STATES)
		return;
	if (t->thread[thread].clock == CVL_CALLS_NONE)
		t->thread[thread].clock =
			begin->clock != CVL_CALLS_NONE ? begin->clock : end->clock;
	t->no_memory |= !intervals_add(
		t->all, row,
		&(struct interval){ .from = begin->ns,
				    .to = end->ns,
				    .begin = tick_of(t, thread, *begin),
				    .end = tick_of(t, thread, *end),
				    .half = cvl_calls_bound(t->a, *begin),
				    .apart = cvl_calls_apart(t->a, *begin, *end),
				    .name = name,
				    .depth = (int16_t)(depth > INT16_MAX ? INT16_MAX : depth),
				    .marks = (uint16_t)marks });
}

static void see_span(void *ctx, const struct cvl_calls_span *s)
{
	const unsigned marks = (s->marks & CVL_CALLS_MADE_UP ? INTERVAL_MADE_UP : 0) |
			       (s->marks & CVL_CALLS_GAP ? INTERVAL_LOSS : 0);

	add(ctx, s->thread, &s->begin, &s->end, s->depth, s->function, marks);
}

static void see_slice(void *ctx, const struct cvl_calls_slice *s)
{
	add(ctx, s->thread, &s->begin, &s->end, STATES, RUNS, 0);
}

static void see_away(void *ctx, const struct cvl_calls_away *a)
{
	const uint32_t by = a->reason != CVL_CALLS_REASON_BLOCKED ? a->by :
			    a->woken && a->waker.sure             ? a->waker.by :
								    CVL_CALLS_NONE;

	add(ctx, a->thread, &a->begin, &a->end, STATES,
	    AWAY | ((by != CVL_CALLS_NONE ? by + 1 : 0) * REASONS + a->reason), INTERVAL_AWAY);
}

/* ---- once all is known ---- */

/* "preempted by X", "blocked until X" woke it */
static uint32_t away_name(struct threads *t, uint32_t by, enum cvl_calls_reason reason)
{
	static const char *const words[REASONS][2] = {
		[CVL_CALLS_REASON_NONE] = { "switched out", " for " },
		[CVL_CALLS_REASON_PREEMPTED] = { "preempted", " by " },
		[CVL_CALLS_REASON_BLOCKED] = { "blocked", " until " },
		[CVL_CALLS_REASON_READY] = { "ready", " while " },
	};
	char text[300];

	snprintf(text, sizeof(text), "%s%s%.200s", words[reason][0], by ? words[reason][1] : "",
		 by && by <= t->r->n_threads ? t->r->thread[by - 1].task : "");
	return intervals_name(t->all, text);
}

/* What is called @name so far. */
static uint32_t final_name(struct threads *t, uint32_t name)
{
	uint32_t *known;

	if (name == RUNS)
		return t->runs;
	if (name == CVL_CALLS_NONE || (!(name & AWAY) && name >= t->r->n_functions))
		name = (uint32_t)t->r->n_functions;
	known = &t->name[name & AWAY ? t->r->n_functions + 1 + (name & ~AWAY) : name];
	if (*known)
		return *known - 1;
	*known = 1 + (name & AWAY ?
			      away_name(t, (name & ~AWAY) / REASONS, (name & ~AWAY) % REASONS) :
			      intervals_name(t->all, cvl_calls_function_name(t->r, name)));
	return *known - 1;
}

static void finish_row(struct threads *t, struct interval_row *row)
{
	const bool states = row->n && row->least == STATES;
	const struct cvl_map *map = cvl_timeline_map(t->tl, row->clock);
	int least = INT16_MAX;

	for (size_t i = 0; i < row->n; i++)
		if (row->list[i].depth != STATES && row->list[i].depth < least)
			least = row->list[i].depth;
	for (size_t i = 0; i < row->n; i++) {
		struct interval *x = &row->list[i];

		x->depth = (int16_t)(x->depth == STATES ? 0 : x->depth - least + states);
		x->name = final_name(t, x->name);
		x->longest_name = final_name(t, x->longest_name);
		if (x->begin == NO_TICK)
			x->begin = cvl_map_tick(map, (struct cvl_time){ x->from }).count;
		if (x->end == NO_TICK)
			x->end = cvl_map_tick(map, (struct cvl_time){ x->to }).count;
		if (!i || x->depth > row->most)
			row->most = x->depth;
	}
	row->least = 0;
	row->states = states;
}

static int finish(struct threads *t, struct cvl_error *err)
{
	const struct cvl_calls_result *r = t->r;

	t->name = calloc(r->n_functions + 1 + REASONS * (r->n_threads + 2), sizeof(*t->name));
	t->runs = intervals_name(t->all, "runs");
	if (!t->name || t->runs == UINT32_MAX)
		return cvl_no_memory(err);
	for (uint32_t rank = 0; rank < r->n_threads; rank++) {
		const uint32_t i = r->order[rank];
		const struct cvl_calls_thread *k = &r->thread[i];
		struct interval_row *row;
		char *name;

		if (i >= t->n || t->thread[i].row == UINT32_MAX)
			continue;
		row = &t->all->row[t->thread[i].row];
		row->rank = rank;
		name = strdup(k->task);
		if (!name)
			return cvl_no_memory(err);
		free(row->name);
		row->name = name;
		row->clock = t->thread[i].clock;
		if ((k->idle && !k->spans) || row->clock == CVL_CALLS_NONE)
			row->n = 0; /* nobody asks what an idle core did */
		finish_row(t, row);
	}
	return 0;
}

static uint32_t row_told(const struct threads *t, uint32_t thread)
{
	return thread < t->n ? t->thread[thread].row : UINT32_MAX;
}

static bool tell(struct threads *t)
{
	const struct cvl_calls_result *r = t->r;

	for (size_t i = 0; i < r->n_groups && i < GROUPS_TOLD; i++) {
		const struct cvl_calls_span *s = &r->group[i].first->span;

		if (!intervals_tell(t->all,
				    &(struct found){ "much longer than usual", NULL,
						     r->thread[s->thread].clock,
						     row_told(t, s->thread), s->begin.ns, s->end.ns,
						     false },
				    "%s", r->group[i].text))
			return false;
	}
	for (size_t i = 0; i < r->n_steps && i < STEPS_TOLD; i++) {
		const struct cvl_calls_step *s = &r->step[i];

		if (!intervals_tell(t->all,
				    &(struct found){
					    "critical path", NULL, r->thread[s->thread].clock,
					    row_told(t, s->thread), s->begin.ns, s->end.ns, false },
				    "%s: %s", r->thread[s->thread].label, s->text))
			return false;
	}
	return true;
}

int study_calls(struct intervals *all, struct cvl_timeline *tl, const struct cvl_view_studies *ask,
		struct cvl_error *err)
{
	struct threads t = { .all = all, .tl = tl };
	const struct cvl_calls_sink sink = { see_span, see_slice, see_away, &t };
	const struct cvl_calls_opts opts = { .config = ask->calls, .sink = &sink };
	struct cvl_analysis *a;
	int rc = cvl_calls_open(&a, tl, &opts, err);

	t.a = a;
	rc = rc ? rc : cvl_analyse(tl, &a, 1, err);
	if (!rc) {
		t.r = cvl_calls_result(a);
		rc = t.no_memory ? cvl_no_memory(err) : finish(&t, err);
		rc = rc || tell(&t) ? rc : cvl_no_memory(err);
	}
	cvl_analysis_free(a);
	free(t.thread);
	free(t.name);
	return rc;
}
