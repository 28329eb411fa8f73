/* SPDX-License-Identifier: MIT */
/* What tasks cost for other programs: JSON and CSV. */
#include <math.h>

#include "json.h"
#include "task/view.h"

/* ---- JSON ---- */

static void put_figure(struct js *j, const char *key, const struct cvl_task_figure *f)
{
	js_range(j, key, f->known, f->value, f->low, f->at_least ? NAN : f->high);
}

static void put_figures(struct js *j, const struct cvl_task_figures *f)
{
	put_figure(j, "seconds", &f->seconds);
	put_figure(j, "cycles", &f->cycles);
	put_figure(j, "instructions", &f->instructions);
	put_figure(j, "cycles_per_instruction", &f->cycles_per_instruction);
	js_open(j, "counts", '{');
	for (unsigned i = 0; i < CVL_TASK_WHATS; i++)
		put_figure(j, cvl_task_what_name((enum cvl_task_what)i), &f->count[i]);
	js_close(j, '}');
	js_open(j, "per_cycle", '{');
	for (unsigned i = 0; i < CVL_TASK_WHATS; i++)
		if (i != CVL_TASK_CYC)
			put_figure(j, cvl_task_what_name((enum cvl_task_what)i), &f->share[i]);
	js_close(j, '}');
	js_text(j, "bounds_of_counts", f->statistical ? "99.9 %" : "proven");
	put_figure(j, "combined", &f->combined);
	put_figure(j, "joule", &f->joule);
	put_figure(j, "watt", &f->watt);
}

static void put_functions(struct js *j, const struct task_view *v, uint32_t task)
{
	if (!v->opts.functions)
		return;
	js_open(j, "functions", '[');
	for (size_t i = 0; i < v->tasks->n_functions; i++) {
		const struct cvl_task_function *f = &v->tasks->function[i];

		if (f->task != task)
			continue;
		js_open(j, NULL, '{');
		js_text(j, "function", f->name);
		js_count(j, "samples", f->samples);
		js_reals(j, "share low high", f->share, f->low, f->high);
		js_close(j, '}');
	}
	js_close(j, ']');
}

static void put_task(struct js *j, const struct task_view *v, size_t i)
{
	const struct cvl_task *task = &v->tasks->task[i];
	struct cvl_task_figures f;
	char text[24];

	js_open(j, NULL, '{');
	js_texts(j, "task clock", task_view_name(v, task, text),
		 cvl_session_clock(v->session, task->clock)->name);
	js_counts(j, "runs unfinished unbegun runs_with_gaps", task->runs, task->unfinished,
		  task->unbegun, task->sum.lost);
	js_reals(j, "sum_s own_s", task->sum.ns * 1e-9, task->sum.self_ns * 1e-9);
	if (cvl_task_mean(v->tasks, i, &f)) {
		js_open(j, "mean", '{');
		put_figures(j, &f);
		js_close(j, '}');
	} else {
		js_text(j, "mean", NULL);
	}
	put_functions(j, v, (uint32_t)i);
	js_close(j, '}');
}

static void put_run(struct js *j, const struct task_view *v, const struct cvl_task_run *r)
{
	struct cvl_task_figures f;
	char text[24];

	cvl_task_run_figures(v->tasks, r, &f);
	js_open(j, NULL, '{');
	put_figures(j, &f);
	js_text(j, "task", task_view_name(v, &v->tasks->task[r->task], text));
	js_ints(j, "begin_ns end_ns", r->begin.time.ns, r->end.time.ns);
	js_bound(j, "duration_bound_ns", r->bound);
	js_ints(j, "within_ns gaps", r->within, r->gaps);
	js_close(j, '}');
}

void task_view_json(const struct task_view *v, struct cvl_out *o)
{
	struct js j = js_begin(o);

	js_text(&j, "session", cvl_session_path(v->session));
	js_open(&j, "tasks", '[');
	for (size_t i = 0; i < v->tasks->n; i++)
		put_task(&j, v, i);
	js_close(&j, ']');
	put_functions(&j, v, CVL_TASK_NONE);
	if (v->each) {
		js_open(&j, "runs", '[');
		for (size_t i = 0; i < v->tasks->n_runs; i++)
			put_run(&j, v, &v->tasks->run[i]);
		js_close(&j, ']');
	}
	js_end(&j);
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
