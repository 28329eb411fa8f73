/* SPDX-License-Identifier: MIT */
#include "view/study.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <coeval/array.h>
#include <coeval/flow.h>
#include <coeval/precision.h>
#include <coeval/tasks.h>

#define FOUND_MOST 1000 /* places of one list */

/* What an analysis is told from. */
struct study {
	struct intervals *all;
	struct cvl_timeline *tl;
	size_t n_told;
	bool no_memory;
};

static uint64_t tick_of(const struct study *s, uint32_t clock, int64_t ns)
{
	return cvl_map_tick(cvl_timeline_map(s->tl, clock), (struct cvl_time){ ns }).count;
}

/* The row @name of @clock, which is made if it is new. UINT32_MAX: no memory. */
static uint32_t row_of(struct study *s, const char *of, const char *name, uint32_t clock)
{
	for (uint32_t i = 0; i < s->all->n_rows; i++) {
		const struct interval_row *r = &s->all->row[i];

		if (r->clock == clock && !strcmp(r->of, of) && !strcmp(r->name, name))
			return i;
	}
	return intervals_row(s->all, of, name, clock);
}

/* Of which begin, half-widths, name and marks are set. */
static void add(struct study *s, uint32_t row, struct interval i)
{
	if (row == UINT32_MAX || i.name == UINT32_MAX) {
		s->no_memory = true;
		return;
	}
	i.begin = tick_of(s, s->all->row[row].clock, i.from);
	i.end = i.to == i.from ? i.begin : tick_of(s, s->all->row[row].clock, i.to);
	s->no_memory |= !intervals_add(s->all, row, &i);
}

static int run(struct cvl_analysis *a, struct study *s, struct cvl_error *err)
{
	int rc = cvl_analyse(s->tl, &a, 1, err);

	return rc ? rc : s->no_memory ? cvl_no_memory(err) : 0;
}

/* ---- losses ---- */

struct gaps {
	struct cvl_analysis analysis;
	struct study study;
};

static void want_none(struct cvl_analysis *a, size_t stream, struct cvl_pick *pick)
{
	(void)a, (void)stream, (void)pick; /* gaps come all the same */
}

static int push_gaps(struct cvl_analysis *a, const struct cvl_slice *sl, struct cvl_error *err)
{
	struct study *s = &((struct gaps *)a)->study;
	const struct cvl_batch *b = sl->batch;
	const struct cvl_map *map = cvl_timeline_map(s->tl, sl->clock);

	for (size_t i = sl->begin; i < sl->end; i++) {
		char lost[60] = "an unknown number of";
		int64_t to = sl->time[i].ns;

		if (b->kind[i] != CVL_GAP)
			continue;
		if (s->n_told++ >= FOUND_MOST)
			continue;
		if (b->aux[i] != CVL_TICK_UNKNOWN)
			to = cvl_map_time(map, (struct cvl_tick){ b->aux[i] }, NULL).ns;
		if (b->value[i] != CVL_LOST_UNKNOWN)
			snprintf(lost, sizeof(lost), "%" PRIu64, b->value[i]);
		if (!intervals_tell(s->all,
				    &(struct found){ "losses", NULL, (uint32_t)sl->clock,
						     UINT32_MAX, sl->time[i].ns, to, true },
				    "%s: %s, %s %s lost",
				    cvl_session_clock(cvl_timeline_session(s->tl), sl->clock)->name,
				    cvl_gap_name(b->cls[i]), lost,
				    b->cls[i] == CVL_GAP_PACKETS ? "packets" : "records"))
			return cvl_no_memory(err);
	}
	return 0;
}

static int end_gaps(struct cvl_analysis *a, struct cvl_time last, struct cvl_error *err)
{
	(void)a, (void)last, (void)err;
	return 0;
}

static void free_nothing(struct cvl_analysis *a)
{
	(void)a;
}

int study_gaps(struct intervals *all, struct cvl_timeline *tl, const struct cvl_view_studies *ask,
	       struct cvl_error *err)
{
	static const struct cvl_analysis_kind kind = { "gaps", want_none, push_gaps, end_gaps,
						       free_nothing };
	struct gaps g = { { &kind }, { .all = all, .tl = tl } };

	(void)ask;
	return run(&g.analysis, &g.study, err);
}

/* ---- checks ---- */

static void put_case(void *ctx, const struct cvl_check_outcome *rule, bool violated,
		     const struct cvl_check_case *c)
{
	struct study *s = ctx;
	const int clock = cvl_session_find(cvl_timeline_session(s->tl), c->from);
	const char *verdict = violated ? "violated" : "cannot tell";
	char value[CVL_TIME_TEXT] = "", half[CVL_TIME_TEXT] = "";
	const bool other = c->to && strcmp(c->to, c->from) != 0;
	struct found place = { violated ? "violations" : "cannot tell",
			       NULL,
			       clock < 0 ? NO_CLOCK : (uint32_t)clock,
			       UINT32_MAX,
			       c->time.ns,
			       c->time.ns,
			       violated };

	if (s->no_memory)
		return;
	if (c->has_value) {
		place.from += c->value_ns < 0 ? c->value_ns : 0;
		place.to += c->value_ns > 0 ? c->value_ns : 0;
		cvl_bound_text(value, c->value_ns < 0 ? -c->value_ns : c->value_ns);
		cvl_bound_text(half, c->value_bound_ns);
	}
	if (clock >= 0) {
		place.row = row_of(s, "check", rule->name, (uint32_t)clock);
		add(s, place.row,
		    (struct interval){
			    .from = place.from,
			    .to = place.to,
			    .half = c->bound_ns,
			    .apart = c->value_bound_ns,
			    .name = intervals_name(s->all, cvl_check_reason_text(c->reason)),
			    .marks = violated ? INTERVAL_BAD : INTERVAL_UNSURE });
	}
	if (s->n_told++ < FOUND_MOST &&
	    !intervals_tell(s->all, &place, "%s %s: %s%s%s, %s%s%s%s%s%s%s%s%s", rule->name,
			    verdict, c->from, other ? " to " : "", other ? c->to : "",
			    *value ? value : "", *value ? " +- " : "", half, *value ? ", " : "",
			    c->event ? c->event : "", c->event ? " after " : "",
			    c->event ? c->after : "", c->event ? ", " : "",
			    cvl_check_reason_text(c->reason)))
		s->no_memory = true;
}

int study_check(struct intervals *all, struct cvl_timeline *tl, const struct cvl_view_studies *ask,
		struct cvl_error *err)
{
	struct study s = { .all = all, .tl = tl };
	const struct cvl_check_opts opts = { ask->rules, put_case, &s };
	struct cvl_analysis *a;
	int rc = ask->rules ? cvl_check_open(&a, tl, &opts, err) : CVL_E_NO;

	if (rc)
		return rc;
	rc = run(a, &s, err);
	cvl_analysis_free(a);
	return rc;
}

/* ---- flow ---- */

struct flow {
	struct study study;
	const struct cvl_flow_map *map;
	uint32_t *name; /* of points */
	/* of each clock, the point that the program is at */
	struct {
		bool any;
		uint32_t point;
		struct cvl_flow_stamp since;
	} * at;
};

/* The program left the point that it was at. */
static void leave(struct flow *f, uint32_t clock, const struct cvl_flow_stamp *now)
{
	struct study *s = &f->study;

	if (!f->at[clock].any)
		return;
	f->at[clock].any = false;
	add(s, row_of(s, "flow", f->map->program, clock),
	    (struct interval){ .from = f->at[clock].since.time.ns,
			       .to = now->time.ns,
			       .half = cvl_bound_total(f->at[clock].since.bound),
			       .apart = CVL_BOUND_UNKNOWN,
			       .name = f->name[f->at[clock].point] });
}

static int put_item(void *ctx, const char *clock_name, const struct cvl_flow_item *i)
{
	struct flow *f = ctx;
	struct study *s = &f->study;
	const int clock = cvl_session_find(cvl_timeline_session(s->tl), clock_name);
	uint32_t row;

	if (clock < 0 || s->no_memory)
		return s->no_memory ? CVL_E_NOMEM : 0;
	leave(f, (uint32_t)clock, &i->begin);
	if (i->what == CVL_FLOW_POINT) {
		f->at[clock].any = true;
		f->at[clock].point = i->point;
		f->at[clock].since = i->end;
		return 0;
	}
	row = row_of(s, "flow", f->map->program, (uint32_t)clock);
	add(s, row,
	    (struct interval){ .from = i->begin.time.ns,
			       .to = i->end.time.ns,
			       .half = cvl_bound_total(i->begin.bound),
			       .apart = CVL_BOUND_UNKNOWN,
			       .name = intervals_name(s->all, cvl_flow_what_name(i->what)),
			       .marks = i->what == CVL_FLOW_GAP       ? INTERVAL_LOSS :
					i->what == CVL_FLOW_UNDECIDED ? INTERVAL_UNSURE :
									INTERVAL_BAD });
	if (s->n_told++ < FOUND_MOST &&
	    !intervals_tell(s->all,
			    &(struct found){ "what fits no path", NULL, (uint32_t)clock, row,
					     i->begin.time.ns, i->end.time.ns,
					     i->what != CVL_FLOW_UNDECIDED },
			    "%s: %s%s%s", clock_name, cvl_flow_what_name(i->what),
			    i->point == CVL_FLOW_NONE ? "" : " after ",
			    i->point == CVL_FLOW_NONE ? "" : f->map->point[i->point].name))
		s->no_memory = true;
	return 0;
}

int study_flow(struct intervals *all, struct cvl_timeline *tl, const struct cvl_view_studies *ask,
	       struct cvl_error *err)
{
	struct flow f = { { .all = all, .tl = tl }, .map = ask->flow };
	const struct cvl_flow_opts opts = { .map = ask->flow, .item = put_item, .ctx = &f };
	struct cvl_analysis *a;
	int rc;

	if (!ask->flow)
		return CVL_E_NO;
	f.name = calloc(f.map->n + 1, sizeof(*f.name));
	f.at = calloc(cvl_session_clocks(cvl_timeline_session(tl)) + 1, sizeof(*f.at));
	rc = f.name && f.at ? cvl_flow_open(&a, tl, &opts, err) : cvl_no_memory(err);
	if (!rc) {
		for (size_t i = 0; i < f.map->n; i++)
			f.name[i] = intervals_name(all, f.map->point[i].name);
		rc = run(a, &f.study, err);
		cvl_analysis_free(a);
	}
	free(f.name);
	free(f.at);
	return rc;
}

/* ---- tasks ---- */

/* Those that are marked by numbers: spans are told with the calls. */
static int put_runs(struct study *s, const struct cvl_tasks_result *r, struct cvl_error *err)
{
	uint32_t *row = calloc(r->n + 1, sizeof(*row));
	const struct cvl_task_run **longest = calloc(r->n + 1, sizeof(*longest));
	const uint32_t name = intervals_name(s->all, "runs");

	s->no_memory = !row || !longest;
	for (size_t k = 0; k < r->n && !s->no_memory; k++) {
		char text[40];

		snprintf(text, sizeof(text), "task %" PRIu64, r->task[k].number);
		row[k] = r->task[k].name || r->task[k].kernel ?
				 UINT32_MAX :
				 row_of(s, "task", text, r->task[k].clock);
	}
	for (size_t k = 0; k < r->n_runs && !s->no_memory; k++) {
		const struct cvl_task_run *x = &r->run[k];
		const struct cvl_task_run **most = &longest[x->task];

		if (row[x->task] == UINT32_MAX)
			continue;
		if (!*most || x->end.time.ns - x->begin.time.ns >
				      (*most)->end.time.ns - (*most)->begin.time.ns)
			*most = x;
		add(s, row[x->task],
		    (struct interval){ .from = x->begin.time.ns,
				       .to = x->end.time.ns,
				       .half = cvl_bound_total(x->begin.bound),
				       .apart = x->bound,
				       .name = name,
				       .marks = x->gaps ? INTERVAL_LOSS : 0 });
	}
	for (size_t k = 0; k < r->n && !s->no_memory; k++) {
		struct cvl_task_figures f;

		if (!longest[k] || !cvl_task_mean(r, k, &f) || s->n_told++ >= FOUND_MOST)
			continue;
		s->no_memory = !intervals_tell(
			s->all,
			&(struct found){ "tasks: the longest run of each", NULL, r->task[k].clock,
					 row[k], longest[k]->begin.time.ns, longest[k]->end.time.ns,
					 false },
			"task %" PRIu64 ": %" PRIu64 " runs of %.4g +- %.2g ms", r->task[k].number,
			r->task[k].runs, f.seconds.value * 1e3, cvl_task_half(&f.seconds) * 1e3);
	}
	free(row);
	free(longest);
	return s->no_memory ? cvl_no_memory(err) : 0;
}

int study_tasks(struct intervals *all, struct cvl_timeline *tl, const struct cvl_view_studies *ask,
		struct cvl_error *err)
{
	const struct cvl_tasks_opts opts = { 0 };
	struct study s = { .all = all, .tl = tl };
	struct cvl_analysis *a;
	int rc = cvl_tasks_open(&a, tl, &opts, err);

	(void)ask;
	if (rc)
		return rc;
	rc = run(a, &s, err);
	rc = rc ? rc : put_runs(&s, cvl_tasks_result(a), err);
	cvl_analysis_free(a);
	return rc;
}

/* ---- power ---- */

static int put_power(void *ctx, const struct cvl_power_interval *i,
		     const struct cvl_power_result *so_far)
{
	struct study *s = ctx;
	struct cvl_power_sum sum = { 0 };
	struct cvl_power_figures f;
	char text[120];

	cvl_power_sum_add(&sum, i);
	f = cvl_power_figures(&sum, so_far->source[i->source].rounded_w);
	snprintf(text, sizeof(text), sum.sampled ? "%.4g +- %.2g J, %.4g +- %.2g W" : "no reading",
		 f.joule, f.joule_half, f.watt, f.watt_half);
	add(s,
	    row_of(s, "power",
		   so_far->of == CVL_POWER_ALL     ? "energy" :
		   so_far->of == CVL_POWER_BETWEEN ? "energy between" :
		   i->high                         ? "energy, high" :
						     "energy, low",
		   (uint32_t)i->clock),
	    (struct interval){ .from = i->begin.ns,
			       .to = i->end.ns,
			       .half = i->energy.apart,
			       .apart = i->bound,
			       .name = intervals_name(s->all, text),
			       .marks = i->gaps ? INTERVAL_LOSS : 0 });
	return s->no_memory ? CVL_E_NOMEM : 0;
}

int study_power(struct intervals *all, struct cvl_timeline *tl, const struct cvl_view_studies *ask,
		struct cvl_error *err)
{
	struct study s = { .all = all, .tl = tl };
	struct cvl_power_opts opts;
	struct cvl_analysis *a;
	int rc;

	if (!ask->power)
		return CVL_E_NO;
	opts = *ask->power;
	opts.put = put_power;
	opts.ctx = &s;
	rc = cvl_power_open(&a, tl, &opts, err);
	if (rc)
		return rc;
	rc = run(a, &s, err);
	cvl_analysis_free(a);
	return rc;
}

/* ---- loops that stamp ---- */

static void put_pause(struct study *s, const struct cvl_precision_clock *c,
		      const struct cvl_precision_gap *g)
{
	const struct cvl_map *map = cvl_timeline_map(s->tl, c->clock);
	const int64_t from = cvl_map_time(map, (struct cvl_tick){ g->end - g->ticks }, NULL).ns,
		      to = cvl_map_time(map, (struct cvl_tick){ g->end }, NULL).ns;
	const char *clock = cvl_session_clock(cvl_timeline_session(s->tl), c->clock)->name;
	const uint32_t row = row_of(s, "loops", "pauses of the loop", (uint32_t)c->clock);
	char length[CVL_TIME_TEXT];

	add(s, row,
	    (struct interval){ .from = from,
			       .to = to,
			       .half = CVL_BOUND_UNKNOWN,
			       .apart = CVL_BOUND_UNKNOWN,
			       .name = intervals_name(s->all, g->cause),
			       .marks = INTERVAL_AWAY });
	cvl_bound_text(length, to - from);
	if (s->n_told++ < FOUND_MOST &&
	    !intervals_tell(s->all,
			    &(struct found){ "pauses of loops", NULL, (uint32_t)c->clock, row, from,
					     to, false },
			    "%s: %s, %s%s%s", clock, length, g->cause, g->detail ? ": " : "",
			    g->detail ? g->detail : ""))
		s->no_memory = true;
}

static int put_pauses(struct study *s, const struct cvl_precision_result *r, struct cvl_error *err)
{
	for (size_t i = 0; i < r->n_gaps; i++)
		for (size_t k = 0; k < r->n; k++)
			if (r->clock[k].clock == r->gap[i].clock)
				put_pause(s, &r->clock[k], &r->gap[i]);
	return s->no_memory ? cvl_no_memory(err) : 0;
}

int study_loops(struct intervals *all, struct cvl_timeline *tl, const struct cvl_view_studies *ask,
		struct cvl_error *err)
{
	const struct cvl_precision_opts opts = { 0 };
	struct study s = { .all = all, .tl = tl };
	struct cvl_analysis *a;
	int rc = cvl_precision_open(&a, tl, &opts, err);

	(void)ask;
	if (rc)
		return rc;
	rc = run(a, &s, err);
	rc = rc ? rc : put_pauses(&s, cvl_precision_result(a), err);
	cvl_analysis_free(a);
	return rc;
}
