/* SPDX-License-Identifier: MIT */
/* What tasks cost for other programs: JSON and CSV. */
#include <jansson.h>
#include <math.h>

#include "clocks_print.h"
#include "task/view.h"

/* ---- JSON ---- */

static json_t *figure_json(const struct cvl_task_figure *f)
{
	if (!f->known)
		return json_null();
	return json_pack("{s:f, s:f, s:o}", "value", f->value, "low", f->low, "high",
			 f->at_least ? json_null() : json_real(f->high));
}

static json_t *figures_json(const struct cvl_task_figures *f)
{
	json_t *counts = json_object(), *shares = json_object();

	for (unsigned i = 0; i < CVL_TASK_WHATS; i++) {
		const char *name = cvl_task_what_name((enum cvl_task_what)i);

		json_object_set_new(counts, name, figure_json(&f->count[i]));
		if (i != CVL_TASK_CYC)
			json_object_set_new(shares, name, figure_json(&f->share[i]));
	}
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o}", "seconds",
			 figure_json(&f->seconds), "cycles", figure_json(&f->cycles),
			 "instructions", figure_json(&f->instructions), "cycles_per_instruction",
			 figure_json(&f->cycles_per_instruction), "counts", counts, "per_cycle",
			 shares, "bounds_of_counts", f->statistical ? "99.9 %" : "proven",
			 "combined", figure_json(&f->combined), "joule", figure_json(&f->joule),
			 "watt", figure_json(&f->watt));
}

static json_t *functions_json(const struct task_view *v, uint32_t task)
{
	json_t *list = json_array();

	for (size_t i = 0; i < v->tasks->n_functions; i++) {
		const struct cvl_task_function *f = &v->tasks->function[i];

		if (f->task == task)
			json_array_append_new(
				list, json_pack("{s:s, s:I, s:f, s:f, s:f}", "function", f->name,
						"samples", (json_int_t)f->samples, "share",
						f->share, "low", f->low, "high", f->high));
	}
	return list;
}

static json_t *task_json(const struct task_view *v, size_t i)
{
	const struct cvl_task *task = &v->tasks->task[i];
	struct cvl_task_figures f;
	const struct cvl_task_sum *sum = &task->sum;
	char text[24];
	bool any = cvl_task_mean(v->tasks, i, &f);

	json_t *j = json_pack(
		"{s:s, s:s, s:I, s:I, s:I, s:I, s:f, s:f}", "task", task_view_name(v, task, text),
		"clock", cvl_session_clock(v->session, task->clock)->name, "runs",
		(json_int_t)task->runs, "unfinished", (json_int_t)task->unfinished, "unbegun",
		(json_int_t)task->unbegun, "runs_with_gaps", (json_int_t)sum->lost, "sum_s",
		sum->ns * 1e-9, "own_s", sum->self_ns * 1e-9);
	json_object_set_new(j, "mean", any ? figures_json(&f) : json_null());
	if (v->opts.functions)
		json_object_set_new(j, "functions", functions_json(v, (uint32_t)i));
	return j;
}

static json_t *run_json(const struct task_view *v, const struct cvl_task_run *r)
{
	struct cvl_task_figures f;
	char text[24];
	json_t *j;

	cvl_task_run_figures(v->tasks, r, &f);
	j = figures_json(&f);
	json_object_set_new(j, "task",
			    json_string(task_view_name(v, &v->tasks->task[r->task], text)));
	json_object_set_new(j, "begin_ns", json_integer(r->begin.time.ns));
	json_object_set_new(j, "end_ns", json_integer(r->end.time.ns));
	json_object_set_new(j, "duration_bound_ns",
			    r->bound == CVL_BOUND_UNKNOWN ? json_null() : json_integer(r->bound));
	json_object_set_new(j, "within_ns", json_integer(r->within));
	json_object_set_new(j, "gaps", json_integer(r->gaps));
	return j;
}

void task_view_json(const struct task_view *v, struct cvl_out *o)
{
	json_t *list = json_array(), *root;

	for (size_t i = 0; i < v->tasks->n; i++)
		json_array_append_new(list, task_json(v, i));
	root = json_pack("{s:s, s:o}", "session", cvl_session_path(v->session), "tasks", list);
	if (v->opts.functions)
		json_object_set_new(root, "functions", functions_json(v, CVL_TASK_NONE));
	if (v->each) {
		json_t *runs = json_array();

		for (size_t i = 0; i < v->tasks->n_runs; i++)
			json_array_append_new(runs, run_json(v, &v->tasks->run[i]));
		json_object_set_new(root, "runs", runs);
	}
	report_json(o, root);
}

/* ---- CSV ---- */

static void csv_count(struct cvl_out *o, const struct cvl_task_figure *f)
{
	cvl_out_char(o, ',');
	if (f->known)
		cvl_out_u64(o, (uint64_t)llround(fmax(0, f->value)));
}

static void csv_row(const struct task_view *v, struct cvl_out *o, const struct cvl_task *task,
		    const struct cvl_task_figures *f)
{
	static const uint8_t order[] = { CVL_TASK_CPI,   CVL_TASK_EXC,       CVL_TASK_SLEEP,
					 CVL_TASK_LSU,   CVL_TASK_FOLD,      CVL_TASK_RAM,
					 CVL_TASK_FLASH, CVL_TASK_PERIPHERAL };
	const char *const setting[] = { v->policy, v->adaption, v->cache };
	char text[24];
	const char *name = task_view_name(v, task, text);

	cvl_out_csv(o, name, strlen(name));
	cvl_out_char(o, ',');
	cvl_out_u64(o, v->hz);
	for (unsigned i = 0; i < 3; i++)
		if (setting[i]) {
			cvl_out_char(o, ',');
			cvl_out_csv(o, setting[i], strlen(setting[i]));
		}
	csv_count(o, &f->cycles);
	for (size_t i = 0; i < sizeof(order); i++)
		csv_count(o, &f->count[order[i]]);
	cvl_out_char(o, ',');
	if (f->joule.known)
		cvl_out_double(o, f->joule.value * 1e6);
	cvl_out_char(o, '\n');
}

void task_view_csv(const struct task_view *v, struct cvl_out *o)
{
	cvl_out_text(o, "task,frequency");
	cvl_out_text(o, v->policy ? ",policy" : "");
	cvl_out_text(o, v->adaption ? ",adaption" : "");
	cvl_out_text(o, v->cache ? ",cache" : "");
	cvl_out_text(o, ",cycles,cpi,exc,sleep,lsu,fold,ram,flash,peripheral,energy_uj\n");
	for (size_t i = 0; i < (v->each ? v->tasks->n_runs : v->tasks->n); i++) {
		const size_t task = v->each ? v->tasks->run[i].task : i;
		struct cvl_task_figures f;

		if (v->each)
			cvl_task_run_figures(v->tasks, &v->tasks->run[i], &f);
		else if (!cvl_task_mean(v->tasks, i, &f))
			continue;
		csv_row(v, o, &v->tasks->task[task], &f);
	}
}
