/* SPDX-License-Identifier: MIT */
/* PC samples by task and function. */
#include <stdlib.h>
#include <string.h>

#include "analysis/tasks/internal.h"

#define FUNCTIONS_MAX (1u << 18)

static uint64_t hash(uint32_t task, const char *name)
{
	uint64_t h = 0xcbf29ce484222325u ^ task; /* FNV-1a */

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 0x100000001b3u;
	return h ^ h >> 32;
}

static struct task_function *slot(struct task_function *at, size_t size, uint32_t task,
				  const char *name)
{
	size_t i = (size_t)hash(task, name) & (size - 1);

	while (at[i].name && (at[i].task != task || strcmp(at[i].name, name)))
		i = (i + 1) & (size - 1);
	return &at[i];
}

static int grow(struct task_study *s, struct task_function_table *t)
{
	size_t size = t->size ? 2 * t->size : 256;
	struct task_function *at = calloc(size, sizeof(*at));

	if (!at)
		return task_no_memory(s);
	for (size_t i = 0; i < t->size; i++)
		if (t->at[i].name)
			*slot(at, size, t->at[i].task, t->at[i].name) = t->at[i];
	free(t->at);
	t->at = at;
	t->size = size;
	return 0;
}

int task_function_add(struct task_study *s, struct task_function_table *t, uint32_t task,
		      const char *name)
{
	struct task_function *f;

	if (2 * t->used >= t->size && grow(s, t))
		return CVL_E_NOMEM;
	f = slot(t->at, t->size, task, name);
	if (!f->name) {
		if (t->used == FUNCTIONS_MAX)
			return cvl_fail(s->err, CVL_E_LIMIT, CVL_NO_OFFSET,
					"more than %u functions of tasks", FUNCTIONS_MAX);
		f->name = strdup(name);
		if (!f->name)
			return task_no_memory(s);
		f->task = task;
		t->used++;
	}
	f->samples++;
	return 0;
}

/* Tasks in their order, those of any time last. */
static int by_samples(const void *va, const void *vb)
{
	const struct task_function *a = va, *b = vb;

	if (a->task != b->task)
		return a->task < b->task ? -1 : 1;
	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	return strcmp(a->name, b->name);
}

void task_function_end(struct task_study *s, struct task_function_table *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->size; i++)
		if (t->at[i].name)
			t->at[n++] = t->at[i];
	if (n)
		qsort(t->at, n, sizeof(*t->at), by_samples);
	s->t->function = t->at;
	s->t->n_functions = n;
}
