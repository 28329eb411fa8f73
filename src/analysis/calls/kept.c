/* SPDX-License-Identifier: MIT */
#include "analysis/calls/kept.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/calls/pairs.h"
#include <coeval/array.h>

void calls_kept_init(struct cvl_calls_kept *k, size_t most)
{
	*k = (struct cvl_calls_kept){ 0 };
	k->spans.most = k->slices.most = k->aways.most = k->messages.most = k->gaps.most = most;
}

void calls_kept_free(struct cvl_calls_kept *k)
{
	free(k->span);
	free(k->slice);
	free(k->away);
	free(k->message);
	free(k->gap);
	*k = (struct cvl_calls_kept){ 0 };
}

static int by_length(const void *va, const void *vb)
{
	int64_t a, b;

	memcpy(&a, va, sizeof(a));
	memcpy(&b, vb, sizeof(b));
	return (a > b) - (a < b);
}

/*
 * Drop the shorter half of the entries of @size bytes; of those of median length the later ones.
 */
static int thin(struct cvl_calls_list *l, char *entry, size_t size, int64_t (*length)(const void *))
{
	int64_t *sorted = calloc(l->n, sizeof(*sorted));
	size_t kept = 0, equal;

	if (!sorted)
		return -1;
	for (size_t i = 0; i < l->n; i++)
		sorted[i] = length(entry + i * size);
	qsort(sorted, l->n, sizeof(*sorted), by_length);
	l->shortest = sorted[l->n / 2];
	for (equal = l->n / 2; equal < l->n && sorted[equal] == l->shortest; equal++)
		;
	equal -= l->n / 2; /* so many of these may stay */
	free(sorted);
	for (size_t i = 0; i < l->n; i++) {
		int64_t ns = length(entry + i * size);

		if (ns < l->shortest || (ns == l->shortest && !equal))
			continue;
		equal -= ns == l->shortest;
		memmove(entry + kept++ * size, entry + i * size, size);
	}
	l->left_out += l->n - kept;
	l->n = kept;
	return 0;
}

static void keep(struct cvl_calls_kept *k, struct cvl_calls_list *l, void *list, const void *one,
		 size_t size, int64_t (*length)(const void *))
{
	char *entry;

	if (length(one) < l->shortest) {
		l->left_out++;
		return;
	}
	if (l->n < l->most && cvl_room(list, l->n, &l->room, size)) {
		k->no_memory = true;
		return;
	}
	memcpy(&entry, list, sizeof(entry));
	if (l->n == l->most && thin(l, entry, size, length)) {
		k->no_memory = true;
		return;
	}
	if (length(one) < l->shortest)
		l->left_out++;
	else
		memcpy(entry + l->n++ * size, one, size);
}

static int64_t span_length(const void *v)
{
	const struct cvl_calls_span *s = v;

	return s->end.ns - s->begin.ns;
}

static int64_t slice_length(const void *v)
{
	const struct cvl_calls_slice *s = v;

	return s->end.ns - s->begin.ns;
}

static int64_t away_length(const void *v)
{
	const struct cvl_calls_away *a = v;

	return a->end.ns - a->begin.ns;
}

static int64_t message_length(const void *v)
{
	const struct cvl_calls_message *m = v;

	return m->received.ns - m->wait_from.ns;
}

static int64_t gap_length(const void *v)
{
	const struct cvl_calls_gap *g = v;

	return g->end.ns - g->begin.ns;
}

void calls_kept_span(struct cvl_calls_kept *k, const struct cvl_calls_span *s)
{
	keep(k, &k->spans, &k->span, s, sizeof(*s), span_length);
}

void calls_kept_slice(struct cvl_calls_kept *k, const struct cvl_calls_slice *s)
{
	keep(k, &k->slices, &k->slice, s, sizeof(*s), slice_length);
}

void calls_kept_away(struct cvl_calls_kept *k, const struct cvl_calls_away *a)
{
	keep(k, &k->aways, &k->away, a, sizeof(*a), away_length);
}

bool calls_kept_takes_away(const struct cvl_calls_kept *k, const struct cvl_calls_away *a)
{
	return away_length(a) >= k->aways.shortest;
}

void calls_kept_message(struct cvl_calls_kept *k, const struct cvl_calls_message *m)
{
	keep(k, &k->messages, &k->message, m, sizeof(*m), message_length);
}

void calls_kept_gap(struct cvl_calls_kept *k, const struct cvl_calls_gap *g)
{
	keep(k, &k->gaps, &k->gap, g, sizeof(*g), gap_length);
}
