/* SPDX-License-Identifier: MIT */
#include "export/brackets.h"

#include <stdlib.h>
#include <string.h>

static const char *const suffixes[][2] = { { "_begin", "_end" }, { "_entry", "_exit" } };

static bool ends_in(const char *name, const char *suffix, size_t *stem)
{
	size_t n = strlen(name), k = strlen(suffix);

	*stem = n - k;
	return n > k && !strcmp(name + n - k, suffix);
}

static int by_name(const void *pa, const void *pb)
{
	const char *const *a = pa, *const *b = pb;

	return strcmp(*a, *b);
}

/*
 * Whether a class is named by the first @stem characters of @name and @suffix. 1, 0, or -1: out of
 * memory.
 */
static int exists(const char **sorted, size_t n, const char *name, size_t stem, const char *suffix)
{
	char *other = malloc(stem + strlen(suffix) + 1);
	bool found;

	if (!other)
		return -1;
	memcpy(other, name, stem);
	strcpy(other + stem, suffix);
	found = bsearch(&other, sorted, n, sizeof(*sorted), by_name);
	free(other);
	return found;
}

/* Compares without the provider prefix. */
static bool is_called(const char *name, const char *one, const char *other)
{
	const char *colon = strrchr(name, ':');

	name = colon ? colon + 1 : name;
	return !strcmp(name, one) || !strcmp(name, other);
}

static int classify(struct bracket *b, const struct cvl_event_class *class, const char **sorted,
		    size_t n)
{
	size_t length = strlen(class->name), stem;

	for (size_t k = 0; class->kind == CVL_EVENT && k < 4 && !b->side; k++) {
		const char *const *pair = suffixes[k / 2];
		int found;

		if (!ends_in(class->name, pair[k % 2], &stem))
			continue;
		found = exists(sorted, n, class->name, stem, pair[!(k % 2)]);
		if (found < 0)
			return -1;
		if (found) {
			b->side = k % 2 ? BRACKET_END : BRACKET_BEGIN;
			b->is_function = is_called(class->name, "func_entry", "func_exit");
			length = stem;
		}
	}
	b->is_switch =
		class->kind == CVL_EVENT && is_called(class->name, "sched_switch", "task_switch");
	b->name = strndup(class->name, length);
	return b->name ? 0 : -1;
}

struct bracket *brackets_of(const struct cvl_trace *trace)
{
	size_t n = cvl_trace_events(trace);
	struct bracket *b = calloc(n + 1, sizeof(*b));
	const char **sorted = calloc(n + 1, sizeof(*sorted));
	int rc = b && sorted ? 0 : -1;

	for (size_t i = 0; i < n && !rc; i++)
		sorted[i] = cvl_trace_event(trace, i)->name;
	if (!rc)
		qsort(sorted, n, sizeof(*sorted), by_name);
	for (size_t i = 0; i < n && !rc; i++)
		rc = classify(&b[i], cvl_trace_event(trace, i), sorted, n);
	free(sorted);
	if (!rc)
		return b;
	brackets_free(b, n);
	return NULL;
}

void brackets_free(struct bracket *b, size_t n)
{
	for (size_t i = 0; b && i < n; i++)
		free(b[i].name);
	free(b);
}
