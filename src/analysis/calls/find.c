/* SPDX-License-Identifier: MIT */
#include "analysis/calls/find.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/calls/pairs.h"
#include "core/random.h"
#include <coeval/array.h>

/* Periods off the core or waiting that are remembered per thread. */
#define RECENT 256
/* Fewest spans that give a median. */
#define FEWEST 3
/* Spans that waited this many times the median have no typical length. */
#define WAITS 100
/* Long spans compared with each other. */
#define FINDINGS_MAX 1000

/* Compared figures: the whole and its parts. */
enum { WHOLE = CVL_CALLS_CAUSES, FIGURES };

struct one {
	struct cvl_calls_span span;
	uint32_t by[CVL_CALLS_CAUSES];
	int64_t by_ns[CVL_CALLS_CAUSES];
};

struct function {
	uint64_t n;                 /* spans seen */
	int64_t (*sample)[FIGURES]; /* up to CALLS_SAMPLE */
	size_t room_sample;
	struct one *longest; /* up to CALLS_LONGEST */
	size_t n_longest, room_longest;
};

/* Time that a thread lost to another. */
struct lost {
	int64_t from, to;
	uint32_t by;
	enum cvl_calls_cause cause;
};

struct thread {
	struct lost *recent; /* up to RECENT */
	size_t room;
	uint64_t n;
};

struct calls_find {
	struct function **function;
	size_t n_functions, room_functions;
	struct thread **thread;
	size_t n_threads, room_threads;
	struct sim_random random;
};

struct calls_find *calls_find_new(void)
{
	return calloc(1, sizeof(struct calls_find));
}

void calls_find_free(struct calls_find *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->n_functions; i++) {
		if (!f->function[i])
			continue;
		free(f->function[i]->sample);
		free(f->function[i]->longest);
		free(f->function[i]);
	}
	for (size_t i = 0; i < f->n_threads; i++) {
		if (f->thread[i])
			free(f->thread[i]->recent);
		free(f->thread[i]);
	}
	free(f->function);
	free(f->thread);
	free(f);
}

static void figures(const struct cvl_calls_span *s, int64_t out[FIGURES])
{
	int64_t whole = s->end.ns - s->begin.ns;

	out[CVL_CALLS_PREEMPTED] = s->part.preempted;
	out[CVL_CALLS_READY] = s->part.ready;
	out[CVL_CALLS_SWITCHED] = s->part.switched;
	out[CVL_CALLS_BLOCKED] = s->part.blocked;
	out[CVL_CALLS_WAITED] = s->part.waiting;
	out[CVL_CALLS_HIDDEN] = s->part.hidden;
	out[CVL_CALLS_ITSELF] = whole - s->part.preempted - s->part.ready - s->part.switched -
				s->part.blocked - s->part.waiting - s->part.hidden;
	out[WHOLE] = whole;
}

/* ---- lost time ---- */

static struct thread *thread_of(struct calls_find *f, uint32_t i)
{
	while (f->n_threads <= i) {
		if (cvl_room(&f->thread, f->n_threads, &f->room_threads, sizeof(*f->thread)))
			return NULL;
		f->thread[f->n_threads++] = NULL;
	}
	if (!f->thread[i])
		f->thread[i] = calloc(1, sizeof(**f->thread));
	return f->thread[i];
}

static int add_lost(struct calls_find *f, uint32_t thread, const struct lost *l)
{
	struct thread *t = thread_of(f, thread);

	if (!t ||
	    (t->n < RECENT && cvl_room(&t->recent, (size_t)t->n, &t->room, sizeof(*t->recent))))
		return CVL_E_NOMEM;
	t->recent[t->n++ % RECENT] = *l;
	return 0;
}

int calls_find_away(struct calls_find *f, const struct cvl_calls_away *a)
{
	static const enum cvl_calls_cause causes[] = {
		[CVL_CALLS_REASON_NONE] = CVL_CALLS_SWITCHED,
		[CVL_CALLS_REASON_PREEMPTED] = CVL_CALLS_PREEMPTED,
		[CVL_CALLS_REASON_BLOCKED] = CVL_CALLS_BLOCKED,
		[CVL_CALLS_REASON_READY] = CVL_CALLS_READY,
	};
	const bool blocked = a->reason == CVL_CALLS_REASON_BLOCKED;
	struct lost l = { a->begin.ns, a->end.ns,
			  !blocked                  ? a->by :
			  a->woken && a->waker.sure ? a->waker.by :
						      CVL_CALLS_NONE,
			  causes[a->reason] };

	return add_lost(f, a->thread, &l);
}

int calls_find_message(struct calls_find *f, const struct cvl_calls_message *m)
{
	struct lost l = { m->wait_from.ns, m->received.ns, m->from, CVL_CALLS_WAITED };
	struct thread *t;

	if (l.from >= l.to)
		return 0;
	t = thread_of(f, m->to);
	if (!t)
		return CVL_E_NOMEM;
	/* time off the core meanwhile is part of its waiting */
	for (uint64_t k = t->n; k-- > 0 && t->n - k < RECENT;) {
		struct lost *o = &t->recent[k % RECENT];

		if (o->to <= l.from)
			break;
		if (o->from >= l.from && o->cause != CVL_CALLS_WAITED)
			o->to = o->from;
	}
	return add_lost(f, m->to, &l);
}

/* Find to whom @one lost most, by cause. */
static void blame(const struct calls_find *f, struct one *one)
{
	const struct thread *t =
		one->span.thread < f->n_threads ? f->thread[one->span.thread] : NULL;
	struct {
		uint32_t by;
		enum cvl_calls_cause cause;
		int64_t ns;
	} sum[RECENT];
	size_t n = 0;

	for (int c = 0; c < CVL_CALLS_CAUSES; c++) {
		one->by[c] = CVL_CALLS_NONE;
		one->by_ns[c] = 0;
	}
	for (uint64_t k = t ? t->n : 0; k-- > 0 && t->n - k < RECENT;) {
		const struct lost *l = &t->recent[k % RECENT];
		int64_t from = l->from > one->span.begin.ns ? l->from : one->span.begin.ns;
		size_t i = 0;

		if (l->to < one->span.begin.ns)
			break;
		if (l->to <= from)
			continue;
		while (i < n && (sum[i].by != l->by || sum[i].cause != l->cause))
			i++;
		if (i == n) {
			sum[n].by = l->by;
			sum[n].cause = l->cause;
			sum[n++].ns = 0;
		}
		sum[i].ns += l->to - from;
		if (sum[i].ns > one->by_ns[l->cause]) {
			one->by_ns[l->cause] = sum[i].ns;
			one->by[l->cause] = l->by;
		}
	}
}

/* ---- spans ---- */

static int64_t length(const struct one *o)
{
	return o->span.end.ns - o->span.begin.ns;
}

static int keep_longest(const struct calls_find *f, struct function *k,
			const struct cvl_calls_span *s)
{
	int64_t ns = s->end.ns - s->begin.ns;
	size_t at = k->n_longest, least = 0;

	if (k->n_longest == CALLS_LONGEST) {
		for (size_t i = 1; i < CALLS_LONGEST; i++)
			if (length(&k->longest[i]) < length(&k->longest[least]))
				least = i;
		if (ns <= length(&k->longest[least]))
			return 0;
		at = least;
	} else {
		if (cvl_room(&k->longest, at, &k->room_longest, sizeof(*k->longest)))
			return CVL_E_NOMEM;
		k->n_longest++;
	}
	k->longest[at].span = *s;
	blame(f, &k->longest[at]);
	return 0;
}

int calls_find_span(struct calls_find *f, const struct cvl_calls_span *s)
{
	const uint32_t unsure =
		CVL_CALLS_LOST_ENTRY | CVL_CALLS_LOST_EXIT | CVL_CALLS_OPEN | CVL_CALLS_GUESSED;
	struct function *k;
	uint64_t at;

	if (s->marks & unsure || s->function == CVL_CALLS_NONE)
		return 0; /* its length is unknown */
	while (f->n_functions <= s->function) {
		if (cvl_room(&f->function, f->n_functions, &f->room_functions,
			     sizeof(*f->function)))
			return CVL_E_NOMEM;
		f->function[f->n_functions++] = NULL;
	}
	if (!f->function[s->function])
		f->function[s->function] = calloc(1, sizeof(**f->function));
	k = f->function[s->function];
	if (!k)
		return CVL_E_NOMEM;
	/* every span is equally likely in the sample (Vitter 1985, algorithm R) */
	at = k->n < CALLS_SAMPLE ? k->n : sim_u64(&f->random) % (k->n + 1);
	if (k->n < CALLS_SAMPLE &&
	    cvl_room(&k->sample, (size_t)k->n, &k->room_sample, sizeof(*k->sample)))
		return CVL_E_NOMEM;
	k->n++;
	if (at < CALLS_SAMPLE)
		figures(s, k->sample[at]);
	return keep_longest(f, k, s);
}

/* ---- findings ---- */

static int by_value(const void *va, const void *vb)
{
	const int64_t *a = va, *b = vb;

	return (*a > *b) - (*a < *b);
}

static int64_t median(const struct function *k, int figure)
{
	size_t n = k->n < CALLS_SAMPLE ? (size_t)k->n : CALLS_SAMPLE;
	int64_t v[CALLS_SAMPLE];

	for (size_t i = 0; i < n; i++)
		v[i] = k->sample[i][figure];
	qsort(v, n, sizeof(*v), by_value);
	return v[(n - 1) / 2];
}

int64_t calls_find_median(const struct calls_find *f, uint32_t function)
{
	const struct function *k = function < f->n_functions ? f->function[function] : NULL;

	return k ? median(k, WHOLE) : INT64_MIN;
}

/* Find the part that exceeds its usual value by most. */
static void explain(const struct one *one, const int64_t usual[FIGURES],
		    struct cvl_calls_finding *out)
{
	int64_t v[FIGURES], most = INT64_MIN;

	figures(&one->span, v);
	for (int c = 0; c < CVL_CALLS_CAUSES; c++)
		if (v[c] - usual[c] > most) {
			most = v[c] - usual[c];
			out->cause = (enum cvl_calls_cause)c;
		}
	out->ns = out->cause == CVL_CALLS_ITSELF ? most : v[out->cause];
	out->by = one->by[out->cause];
	out->by_ns = one->by_ns[out->cause];
}

static int add_function(const struct function *k, int64_t capture_ns,
			struct cvl_calls_finding **list, size_t *n, size_t *room)
{
	int64_t usual[FIGURES];

	if (k->n < FEWEST)
		return 0;
	for (int i = 0; i < FIGURES; i++)
		usual[i] = median(k, i);
	for (size_t i = 0; i < k->n_longest; i++) {
		const struct one *one = &k->longest[i];
		struct cvl_calls_finding *out;

		if (length(one) - usual[WHOLE] <= usual[WHOLE] / 2 ||
		    length(one) - usual[WHOLE] < capture_ns / 1000)
			continue;
		if (cvl_room(list, *n, room, sizeof(**list)))
			return -1;
		out = &(*list)[(*n)++];
		*out = (struct cvl_calls_finding){ .span = one->span,
						   .median = usual[WHOLE],
						   .of = k->n };
		explain(one, usual, out);
		/* waiting for arbitrary events has no usual length */
		if ((out->cause == CVL_CALLS_WAITED || out->cause == CVL_CALLS_BLOCKED) &&
		    length(one) / WAITS > usual[WHOLE])
			--*n;
	}
	return 0;
}

static bool within(const struct cvl_calls_span *in, const struct cvl_calls_span *out)
{
	return in->thread == out->thread && in->begin.ns >= out->begin.ns &&
	       in->end.ns <= out->end.ns && in->depth > out->depth;
}

/* Which of @in and the enclosing @out is redundant? -1: @in, 1: @out, 0: neither. */
static int redundant(const struct cvl_calls_finding *in, const struct cvl_calls_finding *out)
{
	if (!within(&in->span, &out->span))
		return 0;
	if (out->cause == CVL_CALLS_ITSELF) /* explained by what is within it */
		return in->span.end.ns - in->span.begin.ns - in->median > out->ns / 2;
	return in->cause == out->cause && in->by == out->by ? -1 : 0;
}

static int by_excess(const void *va, const void *vb)
{
	const struct cvl_calls_finding *a = va, *b = vb;
	int64_t ea = a->span.end.ns - a->span.begin.ns - a->median;
	int64_t eb = b->span.end.ns - b->span.begin.ns - b->median;

	if (ea != eb)
		return ea > eb ? -1 : 1;
	return a->span.thread < b->span.thread ? -1 : a->span.thread > b->span.thread;
}

struct cvl_calls_finding *calls_find_all(const struct calls_find *f, int64_t capture_ns, size_t *n)
{
	struct cvl_calls_finding *list = NULL;
	size_t all = 0, room = 0, kept = 0;
	bool *gone;

	for (size_t i = 0; i < f->n_functions; i++)
		if (f->function[i] &&
		    add_function(f->function[i], capture_ns, &list, &all, &room)) {
			free(list);
			*n = 1;
			return NULL;
		}
	if (all)
		qsort(list, all, sizeof(*list), by_excess);
	all = all < FINDINGS_MAX ? all : FINDINGS_MAX;
	gone = calloc(all + 1, sizeof(*gone));
	for (size_t i = 0; gone && i < all; i++)
		for (size_t k = 0; k < all; k++) {
			int which = redundant(&list[i], &list[k]);

			if (which)
				gone[which < 0 ? i : k] = true;
		}
	for (size_t i = 0; gone && i < all; i++)
		if (!gone[i])
			list[kept++] = list[i];
	free(gone);
	*n = kept;
	return list;
}
