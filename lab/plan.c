/* SPDX-License-Identifier: MIT */
#include "lab/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_STEPS 1000000

static enum quantity quantity_of(const struct lab_experiment *e, const struct lab_counter *counter)
{
	return counter ? counter->quantity : e->kind == KIND_ENERGY ? Q_ENERGY : Q_DELAY;
}

static void add_counters(struct lab_plan *p, struct lab_step s)
{
	const struct lab_counter *counters = s.experiment->counters.item;

	if (s.experiment->kind != KIND_TRACE) {
		s.quantity = quantity_of(s.experiment, NULL);
		p->step[p->n++] = s;
		return;
	}
	for (size_t i = 0; i < s.experiment->counters.n; i++) {
		s.counter = &counters[i];
		s.quantity = counters[i].quantity;
		p->step[p->n++] = s;
	}
}

static void add_settings(struct lab_plan *p, struct lab_step s)
{
	const struct lab_experiment *e = s.experiment;

	for (size_t h = 0; h < e->hz.n; h++)
		for (size_t k = 0; k < e->policies.n; k++)
			for (size_t a = 0; a < e->adaption.n; a++)
				for (size_t c = 0; c < e->cache.n; c++) {
					s.key.hz = (uint64_t)e->hz.item[h];
					snprintf(s.key.policy, sizeof(s.key.policy), "%s",
						 e->policies.item[k]);
					s.key.adaption = e->adaption.item[a];
					s.key.cache = e->cache.item[c];
					add_counters(p, s);
				}
}

static double steps_of(const struct lab_experiment *e)
{
	size_t counters = e->kind == KIND_TRACE ? e->counters.n : 1;

	return e->repetitions * (double)e->workloads.n * (double)e->hz.n * (double)e->policies.n *
	       (double)e->adaption.n * (double)e->cache.n * (double)counters;
}

static int by_cell(const void *a, const void *b)
{
	const struct lab_step *x = a, *y = b;
	int d = strcmp(x->key.task, y->key.task);

	d = d ? d : strcmp(x->key.policy, y->key.policy);
	d = d ? d : (x->key.hz > y->key.hz) - (x->key.hz < y->key.hz);
	d = d ? d : (int)x->key.adaption - (int)y->key.adaption;
	d = d ? d : (int)x->key.cache - (int)y->key.cache;
	d = d ? d : (int)x->quantity - (int)y->quantity;
	return d ? d :
		   (x->key.repetition > y->key.repetition) -
			       (x->key.repetition < y->key.repetition);
}

/* Two runs for one cell are a mistake: the second would never be made. */
static int check_twice(const struct lab_plan *p, const struct lab_config *c, struct cvl_error *err)
{
	struct lab_step *sorted = malloc((p->n ? p->n : 1) * sizeof(*sorted));
	char name[200];
	int rc = 0;

	if (!sorted)
		return cvl_no_memory(err);
	memcpy(sorted, p->step, p->n * sizeof(*sorted));
	qsort(sorted, p->n, sizeof(*sorted), by_cell);
	for (size_t i = 1; !rc && i < p->n; i++)
		if (!by_cell(&sorted[i - 1], &sorted[i]))
			rc = cvl_fail(
				err, CVL_E_RANGE, CVL_NO_OFFSET,
				"%s: two experiments ask for %s; give one workload another label",
				c->file, lab_step_name(&sorted[i], name, sizeof(name)));
	free(sorted);
	return rc;
}

int lab_plan_make(struct lab_plan *p, const struct lab_config *c, struct cvl_error *err)
{
	const struct lab_experiment *e = c->experiments.item;
	double all = 0;

	*p = (struct lab_plan){ 0 };
	for (size_t i = 0; i < c->experiments.n; i++)
		all += steps_of(&e[i]);
	if (all > MAX_STEPS)
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET,
				"%s: it asks for %.0f runs; more than %d are for several files",
				c->file, all, MAX_STEPS);
	p->step = calloc((size_t)all + 1, sizeof(*p->step));
	if (!p->step)
		return cvl_no_memory(err);
	for (size_t i = 0; i < c->experiments.n; i++)
		for (unsigned r = 1; r <= (unsigned)e[i].repetitions; r++)
			for (size_t w = 0; w < e[i].workloads.n; w++) {
				struct lab_step s = { .experiment = &e[i], .key.repetition = r };

				s.workload = &e[i].workloads.item[w];
				snprintf(s.key.task, sizeof(s.key.task), "%s", s.workload->label);
				add_settings(p, s);
			}
	return check_twice(p, c, err);
}

void lab_plan_free(struct lab_plan *p)
{
	free(p->step);
	*p = (struct lab_plan){ 0 };
}

int lab_set_command(const struct lab_config *c, const struct lab_step *s, char out[LAB_COMMAND],
		    struct cvl_error *err)
{
	char hz[24];
	const struct fill fill[] = { { "hz", hz },
				     { "policy", s->key.policy },
				     { "adaption", s->key.adaption ? "1" : "0" },
				     { "cache", s->key.cache ? "1" : "0" } };

	snprintf(hz, sizeof(hz), "%llu", (unsigned long long)s->key.hz);
	return fill_text(out, LAB_COMMAND, c->target.commands.set, fill, 4, err);
}

int lab_run_command(const struct lab_config *c, const struct lab_step *s, uint64_t iterations,
		    uint64_t pass, char out[LAB_COMMAND], struct cvl_error *err)
{
	const struct lab_commands *k = &c->target.commands;
	bool memory = s->counter && s->counter->ranges.n;
	const char *command = memory                             ? k->ranges :
			      s->experiment->kind == KIND_TRACE  ? k->trace :
			      s->experiment->kind == KIND_ENERGY ? k->energy :
								   k->delay;
	char count[24], number[24], arg[40] = "";
	const struct fill fill[] = { { "workload", s->workload->name },
				     { "iterations", count },
				     { "counter", s->counter ? s->counter->name : "" },
				     { "ranges", memory ? s->counter->text : "" },
				     { "pass", number },
				     { "arg", arg } };

	snprintf(count, sizeof(count), "%llu", (unsigned long long)iterations);
	snprintf(number, sizeof(number), "%llu", (unsigned long long)pass);
	if (s->workload->arg >= 0)
		snprintf(arg, sizeof(arg), " arg=%.0f", s->workload->arg);
	return fill_text(out, LAB_COMMAND, command, fill, 6, err);
}

char *lab_step_name(const struct lab_step *s, char *out, size_t size)
{
	snprintf(out, size, "%s at %g MHz, %s%s%s, %s, repetition %u", s->key.task,
		 (double)s->key.hz / 1e6, s->key.policy, s->key.adaption ? "" : ", no adaption",
		 s->key.cache ? "" : ", no cache", quantity_name(s->quantity), s->key.repetition);
	return out;
}
