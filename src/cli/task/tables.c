/* SPDX-License-Identifier: MIT */
/* What tasks cost, as tables. */
#include "task/view.h"

#include <math.h>

/* Functions of a task that are shown. */
#define FUNCTIONS_SHOWN 20

/* ---- cells ---- */

static double half_of(const struct cvl_task_figure *f)
{
	return fmax(f->high - f->value, f->value - f->low);
}

/* "1234 +-256", "> 1234" where something was lost, "-" where nothing was measured. */
static void cell(struct table *t, const struct cvl_task_figure *f, int decimals, double unit)
{
	if (!f->known)
		table_cell(t, "-");
	else if (f->at_least)
		table_cell(t, ">= %.*f", decimals, fmax(0, f->low * unit));
	else
		table_cell(t, "%.*f +-%.*f", decimals, f->value * unit, decimals,
			   half_of(f) * unit);
}

static void time_cell(struct table *t, double ns)
{
	table_cell(t, "%.3f", ns * 1e-3);
}

static void mean_time_cell(struct table *t, const struct cvl_task_figures *f, double ns)
{
	char text[CVL_TIME_TEXT] = "unknown";

	if (f->seconds.known)
		cvl_bound_text(text, (int64_t)ceil(half_of(&f->seconds) * 1e9));
	table_cell(t, "%.3f +-%s", ns * 1e-3, text);
}

static void clock_cell(const struct task_view *v, struct table *t, const struct cvl_task *task)
{
	table_cell(t, "%s", cvl_session_clock(v->session, task->clock)->name);
}

static bool any_known(const struct task_view *v, unsigned from, unsigned to)
{
	return v->tasks->measured & ((2u << to) - (1u << from));
}

static bool has_cycles(const struct task_view *v)
{
	return v->tasks->opts.cpu_hz > 0 || any_known(v, CVL_TASK_CYC, CVL_TASK_CYC);
}

/* ---- tables of tasks ---- */

static void times(const struct task_view *v, struct cvl_out *o)
{
	struct table t;

	table_heads(&t, "task|clock|runs|mean us|least us|most us|own us|sum ms");
	for (size_t i = 0; i < v->tasks->n; i++) {
		const struct cvl_task *task = &v->tasks->task[i];
		const struct cvl_task_sum *sum = &task->sum;
		struct cvl_task_figures f;
		char text[24];
		bool any = cvl_task_mean(v->tasks, i, &f) && sum->timed;

		table_cell(&t, "%s", task_view_name(v, task, text));
		clock_cell(v, &t, task);
		table_counts(&t, task->runs);
		for (unsigned k = 0; k < 5 && !any; k++)
			table_cell(&t, "-");
		if (!any)
			continue;
		mean_time_cell(&t, &f, sum->ns / (double)sum->timed);
		time_cell(&t, sum->least_ns);
		time_cell(&t, sum->most_ns);
		time_cell(&t, sum->self_ns / (double)sum->timed);
		table_cell(&t, "%.6f", sum->ns * 1e-6);
	}
	table_print(&t, o, "llrrrrrr", "  ");
}

/* A column of figures: which, and how it is shown. */
struct column {
	const char *head;
	size_t at; /* in struct cvl_task_figures */
	int decimals;
	double unit;
};

#define FIGURE(member) offsetof(struct cvl_task_figures, member)

static void figures(const struct task_view *v, struct cvl_out *o, const struct column *column,
		    size_t n, bool sampled)
{
	struct table t;

	table_init(&t, 1 + n + sampled);
	if (column[0].head) {
		table_cell(&t, "task");
		for (size_t k = 0; k < n; k++)
			table_cell(&t, "%s", column[k].head);
		if (sampled)
			table_cell(&t, "runs sampled");
	}
	for (size_t i = 0; i < v->tasks->n; i++) {
		const struct cvl_task *task = &v->tasks->task[i];
		struct cvl_task_figures f;
		char text[24];

		if (!cvl_task_mean(v->tasks, i, &f))
			continue;
		table_cell(&t, "%s", task_view_name(v, task, text));
		for (size_t k = 0; k < n; k++)
			cell(&t, (const void *)((const char *)&f + column[k].at),
			     column[k].decimals, column[k].unit);
		if (sampled)
			table_counts(&t, task->sum.sampled);
	}
	table_print(&t, o, "lrrrrrrrr", "  ");
}

/* Counts a run with @share false, else parts of the cycles in percent, accesses a cycle. */
static void counts(const struct task_view *v, struct cvl_out *o, unsigned from, unsigned to,
		   bool share, const char *title)
{
	const bool counter = to <= CVL_TASK_FOLD;
	struct column column[CVL_TASK_WHATS];
	size_t n = 0;

	for (unsigned k = from; k <= to; k++)
		if (any_known(v, k, k))
			column[n++] = (struct column){
				cvl_task_what_name((enum cvl_task_what)k),
				(share ? FIGURE(share) : FIGURE(count)) +
					k * sizeof(struct cvl_task_figure),
				share ? (counter ? 2 : 5) : !counter,
				share && counter ? 100 : 1,
			};
	cvl_out_printf(o, "\n%s\n", title);
	figures(v, o, column, n, false);
}

/* Figures of the cycles, the counters and the accesses, as far as there are any. */
static void all_counts(const struct task_view *v, struct cvl_out *o)
{
	static const struct column cycles[] = {
		{ "cycles", FIGURE(cycles), 0, 1 },
		{ "instructions", FIGURE(instructions), 0, 1 },
		{ "cycles/instruction", FIGURE(cycles_per_instruction), 3, 1 },
	};
	static const struct column combined[] = { { NULL, FIGURE(combined), 4, 1 } };
	static const struct {
		unsigned from, to;
		const char *title[2];
	} groups[] = {
		{ CVL_TASK_CPI, CVL_TASK_FOLD, { "counters a run", "counters, % of the cycles" } },
		{ CVL_TASK_FLASH, CVL_TASK_PERIPHERAL, { "accesses a run", "accesses a cycle" } },
	};

	if (has_cycles(v)) {
		cvl_out_text(o, "\ncycles and instructions a run\n");
		figures(v, o, cycles, 3, false);
	}
	for (unsigned i = 0; i < 2; i++)
		for (unsigned share = 0; share <= has_cycles(v); share++)
			if (any_known(v, groups[i].from, groups[i].to))
				counts(v, o, groups[i].from, groups[i].to, share,
				       groups[i].title[share]);
	if (any_known(v, CVL_TASK_LSU, CVL_TASK_LSU) && any_known(v, CVL_TASK_RAM, CVL_TASK_RAM)) {
		cvl_out_printf(o, "\nLSU without RAM, of the cycles, at %g cycles an access\n",
			       v->tasks->opts.cycles_per_access);
		figures(v, o, combined, 1, false);
	}
}

static void energies(const struct task_view *v, struct cvl_out *o)
{
	static const struct column column[] = { { "energy uJ", FIGURE(joule), 4, 1e6 },
						{ "power mW", FIGURE(watt), 4, 1e3 } };

	cvl_out_text(o, "\nenergy a run");
	if (v->tasks->opts.tracing_w > 0)
		cvl_out_printf(o, ", without %g mW of tracing", v->tasks->opts.tracing_w * 1e3);
	cvl_out_char(o, '\n');
	figures(v, o, column, 2, true);
}

/* ---- functions ---- */

static void functions(const struct task_view *v, struct cvl_out *o)
{
	const struct cvl_tasks_result *r = v->tasks;
	struct table t;
	unsigned shown = 0;

	cvl_out_text(o, "\nfunctions, by samples of the program counter\n");
	table_heads(&t, "task|function|samples|share %|99.9 %|own ms");
	for (size_t i = 0; i < r->n_functions; i++) {
		const struct cvl_task_function *f = &r->function[i];
		const struct cvl_task *task = f->task == CVL_TASK_NONE ? NULL : &r->task[f->task];
		char text[24];

		shown = i && f->task == f[-1].task ? shown + 1 : 1;
		if (shown > FUNCTIONS_SHOWN)
			continue;
		table_row(&t, task ? task_view_name(v, task, text) : "(all the time)",
			  *f->name ? f->name : "(no symbol)");
		table_counts(&t, f->samples);
		table_cell(&t, "%.2f", 100 * f->share);
		table_cell(&t, "%.2f to %.2f", 100 * f->low, 100 * f->high);
		if (task && task->sum.runs)
			table_cell(&t, "%.3f", f->share * task->sum.ns * 1e-6);
		else
			table_cell(&t, "-");
	}
	table_print(&t, o, "llrrrr", "  ");
	if (!r->n_functions)
		cvl_out_text(o, "  there are no samples\n");
}

/* ---- runs ---- */

static void runs(const struct task_view *v, struct cvl_out *o)
{
	struct table t;

	cvl_out_text(o, "\nruns\n");
	table_heads(&t, "task|from s|time us|cycles|instructions|energy uJ|gaps");
	for (size_t i = 0; i < v->tasks->n_runs; i++) {
		const struct cvl_task_run *r = &v->tasks->run[i];
		struct cvl_task_figures f;
		char text[24];

		cvl_task_run_figures(v->tasks, r, &f);
		table_row(&t, task_view_name(v, &v->tasks->task[r->task], text));
		table_time(&t, true, r->begin.time);
		mean_time_cell(&t, &f, (double)(r->end.time.ns - r->begin.time.ns));
		cell(&t, &f.cycles, 0, 1);
		cell(&t, &f.instructions, 0, 1);
		cell(&t, &f.joule, 4, 1e6);
		table_counts(&t, r->gaps);
	}
	table_print(&t, o, "lrrrrrr", "  ");
}

/* ---- what must be said besides ---- */

static void note_losses(const struct task_view *v, struct cvl_out *o)
{
	for (size_t i = 0; i < v->tasks->n; i++) {
		const struct cvl_task *task = &v->tasks->task[i];
		const struct cvl_task_sum *sum = &task->sum;
		char text[24];
		const char *name = task_view_name(v, task, text);
		const struct {
			uint64_t n;
			const char *what;
		} notes[] = {
			{ sum->runs - sum->timed,
			  "runs begin or end at an unknown time: times are of the others" },
			{ v->opts.power ? sum->timed - sum->sampled : 0,
			  "runs without a sample of power: the energy is of the others" },
			{ task->unfinished, "begun and never ended: left out" },
			{ task->unbegun, "ended that never began: left out" },
		};

		if (sum->lost)
			cvl_out_printf(
				o, "%s: gaps overlap %llu of its %llu runs: its counts are %s\n",
				name, (unsigned long long)sum->lost, (unsigned long long)task->runs,
				task->whole.runs ? "of the others" : "lower bounds");
		for (unsigned k = 0; k < sizeof(notes) / sizeof(*notes); k++)
			if (notes[k].n)
				cvl_out_printf(o, "%s: %llu %s\n", name,
					       (unsigned long long)notes[k].n, notes[k].what);
	}
}

static void note_counters(const struct task_view *v, struct cvl_out *o)
{
	bool first = true;

	if (!any_known(v, CVL_TASK_CPI, CVL_TASK_CPI) || !any_known(v, CVL_TASK_LSU, CVL_TASK_LSU))
		return;
	for (unsigned i = CVL_TASK_EXC; i <= CVL_TASK_FOLD; i++)
		if (!any_known(v, i, i)) {
			cvl_out_text(o, first ? "no packet of " : ", ");
			cvl_out_text(o, cvl_task_what_name((enum cvl_task_what)i));
			first = false;
		}
	if (!first)
		cvl_out_text(
			o,
			": taken as none in the instructions (--counters names what was enabled)\n");
}

static void notes(const struct task_view *v, struct cvl_out *o)
{
	bool statistical = false, nominal = false;

	for (size_t i = 0; i < v->tasks->n; i++) {
		const struct cvl_timeline *tl = v->tl;
		struct cvl_task_figures f;

		if (cvl_task_mean(v->tasks, i, &f))
			statistical = statistical || f.statistical;
		nominal = nominal ||
			  cvl_timeline_bound_kind(tl, v->tasks->task[i].clock) == CVL_BOUND_NONE;
	}
	cvl_out_char(o, '\n');
	note_losses(v, o);
	note_counters(v, o);
	if (statistical)
		cvl_out_text(
			o,
			"bounds of counts over 4 and more runs hold 99.9 % of the time, unless the runs are in step with the counters\n");
	if (nominal)
		cvl_out_text(
			o,
			"not synchronised: durations by each clock's nominal rate and how far that can be off\n");
}

void task_view_text(const struct task_view *v, struct cvl_out *o)
{
	cvl_out_text(o, cvl_session_path(v->session));
	cli_count(o, ": ", v->tasks->n, "task", ", ");
	cli_count(o, "", v->tasks->n_runs, "run", "\n\n");
	times(v, o);
	all_counts(v, o);
	if (v->opts.power)
		energies(v, o);
	if (v->opts.functions)
		functions(v, o);
	if (v->each)
		runs(v, o);
	notes(v, o);
}
