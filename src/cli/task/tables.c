/* SPDX-License-Identifier: MIT */
/* What tasks cost, as tables. */
#include "task/view.h"

#include <math.h>

#include "analysis/binomial.h"

/* Functions of a task that are shown. */
#define FUNCTIONS_SHOWN 20

/* ---- cells ---- */

static double half_of(const struct task_figure *f)
{
	return fmax(f->high - f->value, f->value - f->low);
}

/* "1234 +-256", "> 1234" where something was lost, "-" where nothing was measured. */
static void cell(struct table *t, const struct task_figure *f, int decimals, double unit)
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

static void mean_time_cell(struct table *t, const struct task_figures *f, double ns)
{
	char text[CVL_TIME_TEXT] = "unknown";

	if (f->seconds.known)
		cvl_bound_text(text, (int64_t)ceil(half_of(&f->seconds) * 1e9));
	table_cell(t, "%.3f +-%s", ns * 1e-3, text);
}

static void clock_cell(const struct task_view *v, struct table *t, const struct task *task)
{
	table_cell(t, "%s", cvl_session_clock(v->session, task->clock)->name);
}

static bool any_known(const struct task_view *v, unsigned from, unsigned to)
{
	for (unsigned i = from; i <= to; i++)
		if (v->tasks.packets[i] || (v->scale.enabled >> i & 1))
			return true;
	return false;
}

/* ---- tables of tasks ---- */

static void times(const struct task_view *v, struct cvl_out *o)
{
	static const char *const heads[] = { "task",    "clock",  "runs",   "mean us", "least us",
					     "most us", "own us", "sum ms", NULL };
	struct table t;

	table_init(&t, 8);
	table_heads(&t, heads);
	for (size_t i = 0; i < v->tasks.n; i++) {
		const struct task *task = &v->tasks.task[i];
		struct task_figures f;
		struct task_sum sum;
		char text[24];
		bool any = task_view_mean(v, i, &sum, &f) && sum.timed;

		table_cell(&t, "%s", task_view_name(v, task, text));
		clock_cell(v, &t, task);
		table_cell(&t, "%llu", (unsigned long long)task->runs);
		for (unsigned k = 0; k < 5 && !any; k++)
			table_cell(&t, "-");
		if (!any)
			continue;
		mean_time_cell(&t, &f, sum.ns / (double)sum.timed);
		time_cell(&t, sum.least_ns);
		time_cell(&t, sum.most_ns);
		time_cell(&t, sum.self_ns / (double)sum.timed);
		table_cell(&t, "%.6f", sum.ns * 1e-6);
	}
	table_print(&t, o, "llrrrrrr", "  ");
}

/* Begin the row of task @i, whose means there are; false: there are none. */
static bool mean_row(const struct task_view *v, struct table *t, size_t i, struct task_sum *sum,
		     struct task_figures *f)
{
	char text[24];

	if (!task_view_mean(v, i, sum, f))
		return false;
	table_cell(t, "%s", task_view_name(v, &v->tasks.task[i], text));
	return true;
}

static void cycles(const struct task_view *v, struct cvl_out *o)
{
	static const char *const heads[] = { "task", "cycles", "instructions", "cycles/instruction",
					     NULL };
	struct table t;

	cvl_out_text(o, "\ncycles and instructions a run\n");
	table_init(&t, 4);
	table_heads(&t, heads);
	for (size_t i = 0; i < v->tasks.n; i++) {
		struct task_figures f;
		struct task_sum sum;

		if (!mean_row(v, &t, i, &sum, &f))
			continue;
		cell(&t, &f.cycles, 0, 1);
		cell(&t, &f.instructions, 0, 1);
		cell(&t, &f.cycles_per_instruction, 3, 1);
	}
	table_print(&t, o, "lrrr", "  ");
}

/* Counts a run with @share false, else parts of the cycles in percent, accesses a cycle. */
static void counts(const struct task_view *v, struct cvl_out *o, unsigned from, unsigned to,
		   bool share, const char *title)
{
	unsigned columns = 1;
	struct table t;

	for (unsigned k = from; k <= to; k++)
		columns += any_known(v, k, k);
	cvl_out_printf(o, "\n%s\n", title);
	table_init(&t, columns);
	table_cell(&t, "task");
	for (unsigned k = from; k <= to; k++)
		if (any_known(v, k, k))
			table_cell(&t, "%s", task_what_name((enum task_what)k));
	for (size_t i = 0; i < v->tasks.n; i++) {
		struct task_figures f;
		struct task_sum sum;

		if (!mean_row(v, &t, i, &sum, &f))
			continue;
		for (unsigned k = from; k <= to; k++)
			if (any_known(v, k, k))
				cell(&t, share ? &f.share[k] : &f.count[k],
				     share          ? k <= TASK_FOLD ? 2 : 5 :
				     k <= TASK_FOLD ? 0 :
						      1,
				     share && k <= TASK_FOLD ? 100 : 1);
	}
	table_print(&t, o, "lrrrrrrrr", "  ");
}

static void combined(const struct task_view *v, struct cvl_out *o)
{
	struct table t;

	if (!any_known(v, TASK_LSU, TASK_LSU) || !any_known(v, TASK_RAM, TASK_RAM))
		return;
	cvl_out_printf(o, "\nLSU without RAM, of the cycles, at %g cycles an access\n",
		       v->scale.cycles_per_access);
	table_init(&t, 2);
	for (size_t i = 0; i < v->tasks.n; i++) {
		struct task_figures f;
		struct task_sum sum;

		if (!mean_row(v, &t, i, &sum, &f))
			continue;
		cell(&t, &f.combined, 4, 1);
	}
	table_print(&t, o, "lr", "  ");
}

static void energies(const struct task_view *v, struct cvl_out *o)
{
	static const char *const heads[] = { "task", "energy uJ", "power mW", "runs sampled",
					     NULL };
	struct table t;

	cvl_out_text(o, "\nenergy a run");
	if (v->scale.tracing_w > 0)
		cvl_out_printf(o, ", without %g mW of tracing", v->scale.tracing_w * 1e3);
	cvl_out_char(o, '\n');
	table_init(&t, 4);
	table_heads(&t, heads);
	for (size_t i = 0; i < v->tasks.n; i++) {
		struct task_figures f;
		struct task_sum sum;

		if (!mean_row(v, &t, i, &sum, &f))
			continue;
		cell(&t, &f.joule, 4, 1e6);
		cell(&t, &f.watt, 4, 1e3);
		table_cell(&t, "%llu", (unsigned long long)sum.sampled);
	}
	table_print(&t, o, "lrrr", "  ");
}

/* ---- functions ---- */

static uint64_t samples_of(const struct task_view *v, size_t i, uint32_t task)
{
	uint64_t n = 0;

	for (; i < v->tasks.n_functions && v->tasks.function[i].task == task; i++)
		n += v->tasks.function[i].samples;
	return n;
}

static void functions(const struct task_view *v, struct cvl_out *o)
{
	static const char *const heads[] = { "task",   "function", "samples", "share %",
					     "99.9 %", "own ms",   NULL };
	struct table t;
	uint32_t task = 0;
	uint64_t all = 0;
	unsigned shown = 0;

	cvl_out_text(o, "\nfunctions, by samples of the program counter\n");
	table_init(&t, 6);
	table_heads(&t, heads);
	for (size_t i = 0; i < v->tasks.n_functions; i++) {
		const struct task_function *f = &v->tasks.function[i];
		struct task_figures figures;
		struct task_sum sum;
		double low, high, share;
		char text[24];

		if (!i || f->task != task) {
			task = f->task;
			all = samples_of(v, i, task);
			shown = 0;
		}
		if (++shown > FUNCTIONS_SHOWN)
			continue;
		binomial_999(f->samples, all, &low, &high);
		share = (double)f->samples / (double)all;
		table_cell(&t, "%s",
			   task == TASK_NONE ? "(all the time)" :
					       task_view_name(v, &v->tasks.task[task], text));
		table_cell(&t, "%s", *f->name ? f->name : "(no symbol)");
		table_cell(&t, "%llu", (unsigned long long)f->samples);
		table_cell(&t, "%.2f", 100 * share);
		table_cell(&t, "%.2f to %.2f", 100 * low, 100 * high);
		if (task != TASK_NONE && task_view_mean(v, task, &sum, &figures))
			table_cell(&t, "%.3f", share * sum.ns * 1e-6);
		else
			table_cell(&t, "-");
	}
	table_print(&t, o, "llrrrr", "  ");
	if (!v->tasks.n_functions)
		cvl_out_text(o, "  there are no samples\n");
}

/* ---- runs ---- */

static void runs(const struct task_view *v, struct cvl_out *o)
{
	static const char *const heads[] = { "task",         "from s",    "time us", "cycles",
					     "instructions", "energy uJ", "gaps",    NULL };
	struct table t;

	cvl_out_text(o, "\nruns\n");
	table_init(&t, 7);
	table_heads(&t, heads);
	for (size_t i = 0; i < v->tasks.n_runs; i++) {
		const struct task_run *r = &v->tasks.run[i];
		struct task_sum sum = { 0 };
		struct task_figures f;
		char text[24], from[CVL_TIME_TEXT];

		task_sum_add(&sum, r);
		task_figure(&sum, &v->scale, v->tasks.packets, &f);
		cvl_time_text(from, r->begin.time);
		table_cell(&t, "%s", task_view_name(v, &v->tasks.task[r->task], text));
		table_cell(&t, "%s", from);
		mean_time_cell(&t, &f, (double)(r->end.time.ns - r->begin.time.ns));
		cell(&t, &f.cycles, 0, 1);
		cell(&t, &f.instructions, 0, 1);
		cell(&t, &f.joule, 4, 1e6);
		table_cell(&t, "%u", r->gaps);
	}
	table_print(&t, o, "lrrrrrr", "  ");
}

/* ---- what must be said besides ---- */

static void note_losses(const struct task_view *v, struct cvl_out *o)
{
	for (size_t i = 0; i < v->tasks.n; i++) {
		const struct task *task = &v->tasks.task[i];
		struct task_figures f;
		struct task_sum sum;
		char text[24];
		const char *name = task_view_name(v, task, text);

		task_view_mean(v, i, &sum, &f);
		if (sum.lost)
			cvl_out_printf(
				o, "%s: gaps overlap %llu of its %llu runs: its counts are %s\n",
				name, (unsigned long long)sum.lost, (unsigned long long)task->runs,
				v->whole[i].runs ? "of the others" : "lower bounds");
		if (sum.timed < sum.runs)
			cvl_out_printf(
				o,
				"%s: nobody knows when %llu of its runs began or ended: times are of the others\n",
				name, (unsigned long long)(sum.runs - sum.timed));
		if (v->opts.power && sum.sampled < sum.timed)
			cvl_out_printf(
				o,
				"%s: %llu runs without a sample of power: the energy is of the others\n",
				name, (unsigned long long)(sum.timed - sum.sampled));
		if (task->unfinished)
			cvl_out_printf(o, "%s: %llu begun and never ended: left out\n", name,
				       (unsigned long long)task->unfinished);
		if (task->unbegun)
			cvl_out_printf(o, "%s: %llu ended that never began: left out\n", name,
				       (unsigned long long)task->unbegun);
	}
}

static void note_counters(const struct task_view *v, struct cvl_out *o)
{
	bool first = true;

	if (!any_known(v, TASK_CPI, TASK_CPI) || !any_known(v, TASK_LSU, TASK_LSU))
		return;
	for (unsigned i = TASK_EXC; i <= TASK_FOLD; i++)
		if (!any_known(v, i, i)) {
			cvl_out_text(o, first ? "no packet of " : ", ");
			cvl_out_text(o, task_what_name((enum task_what)i));
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

	for (size_t i = 0; i < v->tasks.n; i++) {
		const struct cvl_timeline *tl = v->tl;
		struct task_figures f;
		struct task_sum sum;

		if (task_view_mean(v, i, &sum, &f))
			statistical = statistical || f.statistical;
		nominal = nominal ||
			  cvl_timeline_bound_kind(tl, v->tasks.task[i].clock) == CVL_BOUND_NONE;
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
	cvl_out_text(o, ": ");
	cli_count(o, v->tasks.n, "task");
	cvl_out_text(o, ", ");
	cli_count(o, v->tasks.n_runs, "run");
	cvl_out_text(o, "\n\n");
	times(v, o);
	if (v->scale.cpu_hz > 0 || any_known(v, TASK_CYC, TASK_CYC))
		cycles(v, o);
	if (any_known(v, TASK_CPI, TASK_FOLD)) {
		counts(v, o, TASK_CPI, TASK_FOLD, false, "counters a run");
		if (v->scale.cpu_hz > 0 || any_known(v, TASK_CYC, TASK_CYC))
			counts(v, o, TASK_CPI, TASK_FOLD, true, "counters, % of the cycles");
	}
	if (any_known(v, TASK_FLASH, TASK_PERIPHERAL)) {
		counts(v, o, TASK_FLASH, TASK_PERIPHERAL, false, "accesses a run");
		if (v->scale.cpu_hz > 0 || any_known(v, TASK_CYC, TASK_CYC))
			counts(v, o, TASK_FLASH, TASK_PERIPHERAL, true, "accesses a cycle");
	}
	combined(v, o);
	if (v->opts.power)
		energies(v, o);
	if (v->opts.functions)
		functions(v, o);
	if (v->each)
		runs(v, o);
	notes(v, o);
}
