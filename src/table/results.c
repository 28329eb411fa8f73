/* SPDX-License-Identifier: MIT */
/* Tables of what analyses find: violations, calls, tasks, power. The timeline is read when the first row is asked for. */
#include "table/internal.h"

#include <coeval/calls.h>
#include <coeval/check.h>
#include <coeval/power.h>
#include <coeval/tasks.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int needs(const struct cvl_table *t, const char *what, enum cvl_hint hint,
		 struct cvl_error *err)
{
	return cvl_hint(
		err, hint,
		cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "table '%s' needs %s", t->name, what));
}

/* ---- violations ---- */

enum {
	CASE_RULE,
	CASE_VERDICT,
	CASE_REASON,
	CASE_TIME,
	CASE_BOUND,
	CASE_FROM,
	CASE_TO,
	CASE_VALUE,
	CASE_VALUE_BOUND,
};

static const struct cvl_column case_columns[] = {
	[CASE_RULE] = { "rule", CVL_COLUMN_NAME, false, "" },
	[CASE_VERDICT] = { "verdict", CVL_COLUMN_NAME, false, "violated, or cannot tell" },
	[CASE_REASON] = { "reason", CVL_COLUMN_NAME, false, "" },
	[CASE_TIME] = { "time_ns", CVL_COLUMN_INT, false, "of the event that began the case" },
	[CASE_BOUND] = { "bound_ns", CVL_COLUMN_INT, true, "half-width of the time" },
	[CASE_FROM] = { "node", CVL_COLUMN_NAME, true, "" },
	[CASE_TO] = { "other", CVL_COLUMN_NAME, true, "the other node" },
	[CASE_VALUE] = { "value_ns", CVL_COLUMN_INT, true, "a distance or a length" },
	[CASE_VALUE_BOUND] = { "value_bound_ns", CVL_COLUMN_INT, true, "half-width of value_ns" },
};

struct cases {
	struct cvl_table *t;
	struct cvl_error *err;
	int rc;
};

static void put_case(void *ctx, const struct cvl_check_outcome *rule, bool violated,
		     const struct cvl_check_case *one)
{
	static const size_t columns[] = { CASE_RULE, CASE_VERDICT, CASE_REASON, CASE_FROM,
					  CASE_TO };
	const char *const texts[] = { rule->name,
				      cvl_check_verdict_name(violated ? CVL_CHECK_VIOLATED :
									CVL_CHECK_CANNOT_TELL),
				      cvl_check_reason_name(one->reason), one->from, one->to };
	struct cases *c = ctx;
	struct cvl_table *t = c->t;

	if (c->rc)
		return;
	c->rc = table_room(t, 1, c->err);
	c->rc = c->rc ? c->rc : table_put_names(t, columns, texts, 5, c->err);
	if (c->rc)
		return;
	table_ints(t, CASE_TIME)[t->n] = one->time.ns;
	table_ints(t, CASE_BOUND)[t->n] = one->bound_ns;
	table_ints(t, CASE_VALUE)[t->n] = one->has_value ? one->value_ns : INT_NULL;
	table_ints(t, CASE_VALUE_BOUND)[t->n] = one->has_value ? one->value_bound_ns : INT_NULL;
	t->n++;
}

static int violations_end(struct cvl_table *t, struct cvl_error *err)
{
	struct cases cases = { t, err, 0 };
	const struct cvl_check_opts opts = { t->opts.check, put_case, &cases };
	struct cvl_analysis *a = NULL;
	int rc;

	if (!t->opts.check)
		return needs(t, "rules", CVL_HINT_CHECK, err);
	rc = cvl_check_open(&a, t->tl, &opts, err);
	rc = rc ? rc : cvl_analyse(t->tl, &a, 1, err);
	cvl_analysis_free(a);
	return rc ? rc : cases.rc;
}

const struct table_kind table_violations = {
	.name = "violations",
	.what = "cases of rules that were violated, or are undecided",
	.result = true,
	.column = case_columns,
	.n_columns = sizeof(case_columns) / sizeof(*case_columns),
	.end = violations_end,
};

/* ---- calls ---- */

enum {
	CALL_BEGIN,
	CALL_END,
	CALL_BEGIN_BOUND,
	CALL_DURATION_BOUND,
	CALL_NODE,
	CALL_THREAD,
	CALL_FUNCTION,
	CALL_DEPTH,
	CALL_SELF,
	CALL_PREEMPTED,
	CALL_READY,
	CALL_SWITCHED,
	CALL_BLOCKED,
	CALL_WAITING,
	CALL_HIDDEN,
	CALL_REPAIRED,
};

static const struct cvl_column call_columns[] = {
	[CALL_BEGIN] = { "begin_ns", CVL_COLUMN_INT, false, "on the timeline" },
	[CALL_END] = { "end_ns", CVL_COLUMN_INT, false, "on the timeline" },
	[CALL_BEGIN_BOUND] = { "begin_bound_ns", CVL_COLUMN_INT, true, "half-width of begin_ns" },
	[CALL_DURATION_BOUND] = { "duration_bound_ns", CVL_COLUMN_INT, true,
				  "half-width of end_ns - begin_ns" },
	[CALL_NODE] = { "node", CVL_COLUMN_NAME, false, "" },
	[CALL_THREAD] = { "thread", CVL_COLUMN_NAME, false, "a task, an interrupt, or a core" },
	[CALL_FUNCTION] = { "function", CVL_COLUMN_NAME, false, "" },
	[CALL_DEPTH] = { "depth", CVL_COLUMN_INT, false, "calls around it" },
	[CALL_SELF] = { "self_ns", CVL_COLUMN_INT, false, "time in the function itself" },
	[CALL_PREEMPTED] = { "preempted_ns", CVL_COLUMN_INT, false, "others ran, it was ready" },
	[CALL_READY] = { "ready_ns", CVL_COLUMN_INT, false, "woken, it waited for a core" },
	[CALL_SWITCHED] = { "switched_ns", CVL_COLUMN_INT, false,
			    "others ran, it may have waited" },
	[CALL_BLOCKED] = { "blocked_ns", CVL_COLUMN_INT, false, "it could not go on" },
	[CALL_WAITING] = { "waiting_ns", CVL_COLUMN_INT, false, "for a message" },
	[CALL_HIDDEN] = { "hidden_ns", CVL_COLUMN_INT, false, "records were lost" },
	[CALL_REPAIRED] = { "repaired", CVL_COLUMN_BOOL, false,
			    "its begin or end was not seen: in no total" },
};

/* Spans, or times that threads did not run, as they end; what they are called is known once all ended. */
struct calls {
	bool aways;
	struct cvl_calls_span *span;
	struct cvl_calls_away *away;
	size_t n, room;
	bool failed;
};

static void keep_span(void *ctx, const struct cvl_calls_span *span)
{
	struct calls *c = ctx;

	if (c->aways)
		return;
	c->failed = c->failed || cvl_room(&c->span, c->n, &c->room, sizeof(*c->span));
	if (!c->failed)
		c->span[c->n++] = *span;
}

static void no_slice(void *ctx, const struct cvl_calls_slice *slice)
{
	(void)ctx, (void)slice;
}

static void keep_away(void *ctx, const struct cvl_calls_away *away)
{
	struct calls *c = ctx;

	if (!c->aways)
		return;
	c->failed = c->failed || cvl_room(&c->away, c->n, &c->room, sizeof(*c->away));
	if (!c->failed)
		c->away[c->n++] = *away;
}

static int put_call(struct cvl_table *t, const struct cvl_analysis *a,
		    const struct cvl_calls_result *r, const struct cvl_calls_span *s,
		    struct cvl_error *err)
{
	static const size_t columns[] = { CALL_NODE, CALL_THREAD, CALL_FUNCTION };
	const struct cvl_calls_thread *thread = &r->thread[s->thread];
	const char *const texts[] = { r->node[thread->node], thread->label,
				      cvl_calls_function_name(r, s->function) };
	int rc = table_room(t, 1, err);

	rc = rc ? rc : table_put_names(t, columns, texts, 3, err);
	if (rc)
		return rc;
	table_ints(t, CALL_BEGIN)[t->n] = s->begin.ns;
	table_ints(t, CALL_END)[t->n] = s->end.ns;
	table_ints(t, CALL_BEGIN_BOUND)[t->n] = cvl_calls_bound(a, s->begin);
	table_ints(t, CALL_DURATION_BOUND)[t->n] = cvl_calls_apart(a, s->begin, s->end);
	table_ints(t, CALL_DEPTH)[t->n] = s->depth;
	table_ints(t, CALL_SELF)[t->n] = s->self;
	table_ints(t, CALL_PREEMPTED)[t->n] = s->part.preempted;
	table_ints(t, CALL_READY)[t->n] = s->part.ready;
	table_ints(t, CALL_SWITCHED)[t->n] = s->part.switched;
	table_ints(t, CALL_BLOCKED)[t->n] = s->part.blocked;
	table_ints(t, CALL_WAITING)[t->n] = s->part.waiting;
	table_ints(t, CALL_HIDDEN)[t->n] = s->part.hidden;
	table_bools(t, CALL_REPAIRED)[t->n] = (s->marks & CVL_CALLS_MADE_UP) != 0;
	t->n++;
	return 0;
}

enum {
	WAIT_BEGIN,
	WAIT_END,
	WAIT_BEGIN_BOUND,
	WAIT_DURATION_BOUND,
	WAIT_NODE,
	WAIT_THREAD,
	WAIT_WHY,
	WAIT_ON,
	WAIT_BY,
	WAIT_CONTEXT,
	WAIT_SURE,
	WAIT_SENDER,
};

static const struct cvl_column wait_columns[] = {
	[WAIT_BEGIN] = { "begin_ns", CVL_COLUMN_INT, false, "on the timeline" },
	[WAIT_END] = { "end_ns", CVL_COLUMN_INT, false, "on the timeline" },
	[WAIT_BEGIN_BOUND] = { "begin_bound_ns", CVL_COLUMN_INT, true, "half-width of begin_ns" },
	[WAIT_DURATION_BOUND] = { "duration_bound_ns", CVL_COLUMN_INT, true,
				  "half-width of end_ns - begin_ns" },
	[WAIT_NODE] = { "node", CVL_COLUMN_NAME, false, "" },
	[WAIT_THREAD] = { "thread", CVL_COLUMN_NAME, false, "that did not run" },
	[WAIT_WHY] = { "why", CVL_COLUMN_NAME, false,
		       "switched out, preempted, blocked, or ready: woken, without a core" },
	[WAIT_ON] = { "on", CVL_COLUMN_NAME, true, "what it was blocked on, if the trace says so" },
	[WAIT_BY] = { "by", CVL_COLUMN_NAME, true,
		      "who woke it, if it was blocked; else who ran meanwhile, longest" },
	[WAIT_CONTEXT] = { "context", CVL_COLUMN_NAME, true,
			   "what woke it is: task, interrupt, softirq, timer, network, ..." },
	[WAIT_SURE] = { "sure", CVL_COLUMN_BOOL, false, "nothing else can have woken it" },
	[WAIT_SENDER] = { "sender", CVL_COLUMN_NAME, true,
			  "whose message the interrupt had received that woke it" },
};

static int put_wait(struct cvl_table *t, const struct cvl_analysis *a,
		    const struct cvl_calls_result *r, const struct cvl_calls_away *w,
		    struct cvl_error *err)
{
	static const size_t columns[] = { WAIT_NODE,    WAIT_THREAD, WAIT_WHY, WAIT_BY,
					  WAIT_CONTEXT, WAIT_SENDER, WAIT_ON };
	const struct cvl_calls_thread *thread = &r->thread[w->thread];
	const bool woken = w->reason == CVL_CALLS_REASON_BLOCKED && w->woken;
	const uint32_t by = woken                                 ? w->waker.by :
			    w->reason == CVL_CALLS_REASON_BLOCKED ? CVL_CALLS_NONE :
								    w->by;
	const char *const texts[] = {
		r->node[thread->node],
		thread->label,
		cvl_calls_reason_name(w->reason),
		by == CVL_CALLS_NONE ? NULL : r->thread[by].label,
		woken && w->waker.context ? cvl_calls_context_name(w->waker.context) : NULL,
		woken && w->waker.sender != CVL_CALLS_NONE ? r->thread[w->waker.sender].label :
							     NULL,
		w->on == CVL_CALLS_NONE ? NULL : cvl_calls_function_name(r, w->on),
	};
	int rc = table_room(t, 1, err);

	rc = rc ? rc : table_put_names(t, columns, texts, 7, err);
	if (rc)
		return rc;
	table_ints(t, WAIT_BEGIN)[t->n] = w->begin.ns;
	table_ints(t, WAIT_END)[t->n] = w->end.ns;
	table_ints(t, WAIT_BEGIN_BOUND)[t->n] = cvl_calls_bound(a, w->begin);
	table_ints(t, WAIT_DURATION_BOUND)[t->n] = cvl_calls_apart(a, w->begin, w->end);
	table_bools(t, WAIT_SURE)[t->n] = woken && w->waker.sure;
	t->n++;
	return 0;
}

static int study_calls(struct cvl_table *t, bool aways, struct cvl_error *err)
{
	struct cvl_calls_opts opts = t->opts.calls ? *t->opts.calls : (struct cvl_calls_opts){ 0 };
	struct calls kept = { .aways = aways };
	const struct cvl_calls_sink sink = { keep_span, no_slice, keep_away, &kept };
	struct cvl_analysis *a = NULL;
	int rc;

	opts.sink = &sink;
	rc = cvl_calls_open(&a, t->tl, &opts, err);
	rc = rc ? rc : cvl_analyse(t->tl, &a, 1, err);
	if (!rc && kept.failed)
		rc = cvl_no_memory(err);
	for (size_t i = 0; i < kept.n && !rc; i++)
		rc = aways ? put_wait(t, a, cvl_calls_result(a), &kept.away[i], err) :
			     put_call(t, a, cvl_calls_result(a), &kept.span[i], err);
	cvl_analysis_free(a);
	free(kept.span);
	free(kept.away);
	return rc;
}

static int calls_end(struct cvl_table *t, struct cvl_error *err)
{
	return study_calls(t, false, err);
}

static int waits_end(struct cvl_table *t, struct cvl_error *err)
{
	return study_calls(t, true, err);
}

const struct table_kind table_waits = {
	.name = "waits",
	.what = "times that threads did not run: why, and who woke them",
	.result = true,
	.column = wait_columns,
	.n_columns = sizeof(wait_columns) / sizeof(*wait_columns),
	.end = waits_end,
};

const struct table_kind table_calls = {
	.name = "calls",
	.what = "executions of functions and tasks, with where their time went",
	.result = true,
	.column = call_columns,
	.n_columns = sizeof(call_columns) / sizeof(*call_columns),
	.end = calls_end,
};

/* ---- tasks ---- */

enum {
	RUN_BEGIN,
	RUN_END,
	RUN_BEGIN_BOUND,
	RUN_DURATION_BOUND,
	RUN_CLOCK,
	RUN_TASK,
	RUN_ID,
	RUN_GAPS,
	RUN_JOULE,
	RUN_JOULE_LOW,
	RUN_JOULE_HIGH,
	RUN_CYCLES,
	RUN_CYCLES_LOW,
	RUN_CYCLES_HIGH,
};

static const struct cvl_column run_columns[] = {
	[RUN_BEGIN] = { "begin_ns", CVL_COLUMN_INT, false, "on the timeline" },
	[RUN_END] = { "end_ns", CVL_COLUMN_INT, false, "on the timeline" },
	[RUN_BEGIN_BOUND] = { "begin_bound_ns", CVL_COLUMN_INT, true, "half-width of begin_ns" },
	[RUN_DURATION_BOUND] = { "duration_bound_ns", CVL_COLUMN_INT, true,
				 "half-width of end_ns - begin_ns" },
	[RUN_CLOCK] = { "clock", CVL_COLUMN_NAME, false, "" },
	[RUN_TASK] = { "task", CVL_COLUMN_NAME, false, "" },
	[RUN_ID] = { "id", CVL_COLUMN_UINT, false, "" },
	[RUN_GAPS] = { "gaps", CVL_COLUMN_UINT, false, "losses within it" },
	[RUN_JOULE] = { "joule", CVL_COLUMN_DOUBLE, true, "energy, if power was read" },
	[RUN_JOULE_LOW] = { "joule_low", CVL_COLUMN_DOUBLE, true, "at least" },
	[RUN_JOULE_HIGH] = { "joule_high", CVL_COLUMN_DOUBLE, true, "at most" },
	[RUN_CYCLES] = { "cycles", CVL_COLUMN_DOUBLE, true, "of the processor, if known" },
	[RUN_CYCLES_LOW] = { "cycles_low", CVL_COLUMN_DOUBLE, true, "at least" },
	[RUN_CYCLES_HIGH] = { "cycles_high", CVL_COLUMN_DOUBLE, true, "at most" },
};

static void put_figure(struct cvl_table *t, size_t column, const struct cvl_task_figure *f)
{
	table_doubles(t, column)[t->n] = f->known ? f->value : NAN;
	table_doubles(t, column + 1)[t->n] = f->known ? f->low : NAN;
	table_doubles(t, column + 2)[t->n] = f->known && !f->at_least ? f->high : NAN;
}

static int put_run(struct cvl_table *t, const struct cvl_tasks_result *r,
		   const struct cvl_task_run *run, struct cvl_error *err)
{
	static const size_t columns[] = { RUN_CLOCK, RUN_TASK };
	const struct cvl_task *task = &r->task[run->task];
	struct cvl_task_figures figures;
	char number[24];
	const char *const texts[] = { cvl_session_clock(t->session, run->clock)->name,
				      task->name ? task->name : number };
	int rc = table_room(t, 1, err);

	snprintf(number, sizeof(number), "%llu", (unsigned long long)task->number);
	rc = rc ? rc : table_put_names(t, columns, texts, 2, err);
	if (rc)
		return rc;
	cvl_task_run_figures(r, run, &figures);
	table_ints(t, RUN_BEGIN)[t->n] = run->begin.time.ns;
	table_ints(t, RUN_END)[t->n] = run->end.time.ns;
	table_ints(t, RUN_BEGIN_BOUND)[t->n] = cvl_bound_total(run->begin.bound);
	table_ints(t, RUN_DURATION_BOUND)[t->n] = run->bound;
	table_uints(t, RUN_ID)[t->n] = run->id;
	table_uints(t, RUN_GAPS)[t->n] = run->gaps;
	put_figure(t, RUN_JOULE, &figures.joule);
	put_figure(t, RUN_CYCLES, &figures.cycles);
	t->n++;
	return 0;
}

static int tasks_end(struct cvl_table *t, struct cvl_error *err)
{
	const struct cvl_tasks_opts none = { 0 };
	const struct cvl_tasks_result *r;
	struct cvl_analysis *a = NULL;
	int rc = cvl_tasks_open(&a, t->tl, t->opts.tasks ? t->opts.tasks : &none, err);

	rc = rc ? rc : cvl_analyse(t->tl, &a, 1, err);
	r = rc ? NULL : cvl_tasks_result(a);
	for (size_t i = 0; r && i < r->n_runs && !rc; i++)
		rc = put_run(t, r, &r->run[i], err);
	cvl_analysis_free(a);
	return rc;
}

const struct table_kind table_tasks = {
	.name = "tasks",
	.what = "runs of tasks, with their energy and cycles",
	.result = true,
	.column = run_columns,
	.n_columns = sizeof(run_columns) / sizeof(*run_columns),
	.end = tasks_end,
};

/* ---- power ---- */

enum {
	PART_BEGIN,
	PART_END,
	PART_DURATION_BOUND,
	PART_CLOCK,
	PART_SOURCE,
	PART_HIGH,
	PART_JOULE,
	PART_JOULE_BOUND,
	PART_WATT,
	PART_WATT_BOUND,
	PART_PEAK,
	PART_SAMPLES,
	PART_GAPS,
};

static const struct cvl_column part_columns[] = {
	[PART_BEGIN] = { "begin_ns", CVL_COLUMN_INT, false, "on the timeline" },
	[PART_END] = { "end_ns", CVL_COLUMN_INT, false, "on the timeline" },
	[PART_DURATION_BOUND] = { "duration_bound_ns", CVL_COLUMN_INT, true,
				  "half-width of end_ns - begin_ns" },
	[PART_CLOCK] = { "clock", CVL_COLUMN_NAME, false, "that marks the interval" },
	[PART_SOURCE] = { "source", CVL_COLUMN_NAME, false, "clock whose readings these are" },
	[PART_HIGH] = { "high", CVL_COLUMN_BOOL, true,
			"level of the line; NULL: no line was asked for" },
	[PART_JOULE] = { "joule", CVL_COLUMN_DOUBLE, true, "NULL: no reading within" },
	[PART_JOULE_BOUND] = { "joule_bound", CVL_COLUMN_DOUBLE, true, "half-width of joule" },
	[PART_WATT] = { "watt", CVL_COLUMN_DOUBLE, true, "mean while readings cover it" },
	[PART_WATT_BOUND] = { "watt_bound", CVL_COLUMN_DOUBLE, true, "half-width of watt" },
	[PART_PEAK] = { "peak_watt", CVL_COLUMN_DOUBLE, true, "greatest reading within" },
	[PART_SAMPLES] = { "samples", CVL_COLUMN_UINT, false, "readings within" },
	[PART_GAPS] = { "gaps", CVL_COLUMN_UINT, false, "losses of readings within" },
};

static int put_part(struct cvl_table *t, const struct cvl_power_result *r,
		    const struct cvl_power_interval *part, struct cvl_error *err)
{
	static const size_t columns[] = { PART_CLOCK, PART_SOURCE };
	const struct cvl_power_source *source = &r->source[part->source];
	const char *const texts[] = { cvl_session_clock(t->session, part->clock)->name,
				      cvl_session_clock(t->session, source->clock)->name };
	struct cvl_power_sum one = { 0 };
	struct cvl_power_figures f;
	int rc = table_room(t, 1, err);

	rc = rc ? rc : table_put_names(t, columns, texts, 2, err);
	if (rc)
		return rc;
	cvl_power_sum_add(&one, part);
	f = cvl_power_figures(&one, source->rounded_w);
	table_ints(t, PART_BEGIN)[t->n] = part->begin.ns;
	table_ints(t, PART_END)[t->n] = part->end.ns;
	table_ints(t, PART_DURATION_BOUND)[t->n] = part->bound;
	table_bools(t, PART_HIGH)[t->n] = r->of == CVL_POWER_STATES ? part->high : BOOL_NULL;
	table_doubles(t, PART_JOULE)[t->n] = one.sampled ? f.joule : NAN;
	table_doubles(t, PART_JOULE_BOUND)[t->n] = one.sampled ? f.joule_half : NAN;
	table_doubles(t, PART_WATT)[t->n] = one.sampled ? f.watt : NAN;
	table_doubles(t, PART_WATT_BOUND)[t->n] = one.sampled ? f.watt_half : NAN;
	table_doubles(t, PART_PEAK)[t->n] = one.sampled ? part->peak_w : NAN;
	table_uints(t, PART_SAMPLES)[t->n] = part->energy.samples;
	table_uints(t, PART_GAPS)[t->n] = part->gaps;
	t->n++;
	return 0;
}

static int power_end(struct cvl_table *t, struct cvl_error *err)
{
	const struct cvl_power_result *r;
	struct cvl_power_opts opts;
	struct cvl_analysis *a = NULL;
	int rc;

	if (!t->opts.power)
		return needs(t, "the channel of power", CVL_HINT_WATTS, err);
	opts = *t->opts.power;
	opts.keep = true;
	rc = cvl_power_open(&a, t->tl, &opts, err);
	rc = rc ? rc : cvl_analyse(t->tl, &a, 1, err);
	r = rc ? NULL : cvl_power_result(a);
	for (size_t i = 0; r && i < r->n_intervals && !rc; i++)
		rc = put_part(t, r, &r->interval[i], err);
	cvl_analysis_free(a);
	return rc;
}

const struct table_kind table_power = {
	.name = "power",
	.what = "energy and power of intervals",
	.result = true,
	.column = part_columns,
	.n_columns = sizeof(part_columns) / sizeof(*part_columns),
	.end = power_end,
};
