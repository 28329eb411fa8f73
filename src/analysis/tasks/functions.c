/* SPDX-License-Identifier: MIT */
/* PC samples by task and function. */
#include <stdlib.h>
#include <string.h>

#include "analysis/binomial.h"
#include "analysis/tasks/internal.h"

#define FUNCTIONS_MAX (1u << 18)

static uint64_t hash(uint32_t task, const char *name)
{
	uint64_t h = 0xcbf29ce484222325u ^ task; /* FNV-1a */

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 0x100000001b3u;
	return h ^ h >> 32;
}

static struct cvl_task_function *slot(struct cvl_task_function *at, size_t size, uint32_t task,
				      const char *name)
{
	size_t i = (size_t)hash(task, name) & (size - 1);

	while (at[i].name && (at[i].task != task || strcmp(at[i].name, name)))
		i = (i + 1) & (size - 1);
	return &at[i];
}

static int grow(struct task_study *s)
{
	struct task_function_table *t = &s->functions;
	size_t size = t->size ? 2 * t->size : 256;
	struct cvl_task_function *at = calloc(size, sizeof(*at));

	if (!at)
		return cvl_no_memory(s->err);
	for (size_t i = 0; i < t->size; i++)
		if (t->at[i].name)
			*slot(at, size, t->at[i].task, t->at[i].name) = t->at[i];
	free(t->at);
	t->at = at;
	t->size = size;
	return 0;
}

const char *task_function_add(struct task_study *s, uint32_t task, const char *name)
{
	struct task_function_table *t = &s->functions;
	struct cvl_task_function *f;

	if (2 * t->used >= t->size && grow(s))
		return NULL;
	f = slot(t->at, t->size, task, name);
	if (!f->name) {
		if (t->used == FUNCTIONS_MAX) {
			cvl_fail(s->err, CVL_E_LIMIT, CVL_NO_OFFSET,
				 "more than %u functions of tasks", FUNCTIONS_MAX);
			return NULL;
		}
		f->name = strdup(name);
		if (!f->name) {
			cvl_no_memory(s->err);
			return NULL;
		}
		f->task = task;
		t->used++;
	}
	f->samples++;
	return f->name;
}

/* Tasks in order, samples outside of tasks last. */
static int by_samples(const void *va, const void *vb)
{
	const struct cvl_task_function *a = va, *b = vb;

	if (a->task != b->task)
		return a->task < b->task ? -1 : 1;
	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	return strcmp(a->name, b->name);
}

void task_function_end(struct task_study *s)
{
	struct task_function_table *t = &s->functions;
	size_t n = 0, last;

	for (size_t i = 0; i < t->size; i++)
		if (t->at[i].name)
			t->at[n++] = t->at[i];
	if (n)
		qsort(t->at, n, sizeof(*t->at), by_samples);
	for (size_t i = 0; i < n; i = last) {
		uint64_t all = 0;

		for (last = i; last < n && t->at[last].task == t->at[i].task; last++)
			all += t->at[last].samples;
		for (size_t k = i; k < last; k++) {
			struct cvl_task_function *f = &t->at[k];

			f->share = (double)f->samples / (double)all;
			binomial_999(f->samples, all, &f->low, &f->high);
		}
	}
	s->r.function = t->at;
	s->r.n_functions = n;
	*t = (struct task_function_table){ 0 };
}
