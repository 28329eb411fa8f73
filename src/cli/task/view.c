/* SPDX-License-Identifier: MIT */
#include "task/view.h"

#include <stdlib.h>

const char *task_view_name(const struct task_view *v, const struct task *t, char text[24])
{
	if (t->name)
		return t->name;
	for (size_t i = 0; i < v->n_aliases; i++)
		if (v->alias[i].number == t->number)
			return v->alias[i].name;
	snprintf(text, 24, "%llu", (unsigned long long)t->number);
	return text;
}

int task_view_sum(struct task_view *v)
{
	v->sum = calloc(v->tasks.n + 1, sizeof(*v->sum));
	v->whole = calloc(v->tasks.n + 1, sizeof(*v->whole));
	if (!v->sum || !v->whole)
		return -1;
	for (size_t i = 0; i < v->tasks.n_runs; i++) {
		const struct task_run *r = &v->tasks.run[i];

		task_sum_add(&v->sum[r->task], r);
		if (!r->gaps && r->bound != CVL_BOUND_UNKNOWN)
			task_sum_add(&v->whole[r->task], r);
	}
	return 0;
}

static void divide(struct task_figure *f, double n)
{
	f->value /= n;
	f->low /= n;
	f->high /= n;
}

bool task_view_mean(const struct task_view *v, size_t task, struct task_sum *sum,
		    struct task_figures *out)
{
	const struct task_sum *counted = v->whole[task].runs ? &v->whole[task] : &v->sum[task];
	struct task_figures all;

	*sum = v->sum[task];
	if (!sum->runs)
		return false;
	task_figure(sum, &v->scale, v->tasks.packets, &all);
	task_figure(counted, &v->scale, v->tasks.packets, out);
	out->seconds = all.seconds;
	out->joule = all.joule;
	out->watt = all.watt;
	if (sum->timed)
		divide(&out->seconds, (double)sum->timed);
	if (sum->sampled)
		divide(&out->joule, (double)sum->sampled);
	divide(&out->cycles, (double)counted->runs);
	divide(&out->instructions, (double)counted->runs);
	for (unsigned i = 0; i < TASK_WHATS; i++)
		divide(&out->count[i], (double)counted->runs);
	return true;
}
