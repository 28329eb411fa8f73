/* SPDX-License-Identifier: MIT */
#include "symbols/spans.h"

#include <coeval/array.h>

#include <stdlib.h>
#include <string.h>

int spans_add(struct spans *s, struct span span)
{
	if (span.from >= span.end)
		return 0;
	if (cvl_room(&s->at, s->n, &s->room, sizeof(*s->at)))
		return -1;
	s->at[s->n++] = span;
	return 0;
}

/* By start; the longest first, so that nested ones come later; the preferred one last. */
static int by_start(const void *va, const void *vb)
{
	const struct span *a = va, *b = vb;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return strcmp(b->name, a->name);
}

/* A piece of @span that begins at @from. */
static int piece(struct spans *out, const struct span *span, uint64_t from, uint64_t end)
{
	struct span cut = *span;

	cut.from = from;
	cut.end = end;
	return spans_add(out, cut);
}

int spans_flatten(struct spans *s)
{
	struct spans out = { 0 };
	size_t *open = calloc(s->n ? s->n : 1, sizeof(*open)), depth = 0;
	uint64_t done = 0; /* everything before it is settled */
	int rc = open ? 0 : -1;

	if (s->n)
		qsort(s->at, s->n, sizeof(*s->at), by_start);
	for (size_t i = 0; i <= s->n && !rc; i++) {
		uint64_t until = i < s->n ? s->at[i].from : UINT64_MAX;

		while (depth && done < until && !rc) {
			const struct span *top = &s->at[open[depth - 1]];
			uint64_t end = top->end < until ? top->end : until;

			if (end > done) {
				rc = piece(&out, top, done, end);
				done = end;
			}
			if (top->end <= done)
				depth--;
		}
		if (i < s->n && !rc) {
			done = until;
			open[depth++] = i;
		}
	}
	free(open);
	free(s->at);
	*s = out;
	return rc;
}

const struct span *spans_find(struct spans *s, uint64_t address)
{
	size_t low = 0, high = s->n;

	if (s->last < s->n && address >= s->at[s->last].from && address < s->at[s->last].end)
		return &s->at[s->last];
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->at[mid].from <= address)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || address >= s->at[low - 1].end)
		return NULL;
	s->last = low - 1;
	return &s->at[s->last];
}

void spans_free(struct spans *s)
{
	free(s->at);
	*s = (struct spans){ 0 };
}
