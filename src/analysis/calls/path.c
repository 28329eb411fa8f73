/* SPDX-License-Identifier: MIT */
#include "analysis/calls/path.h"

#include <stdlib.h>

#include "analysis/calls/pairs.h"
#include <coeval/array.h>

struct finder {
	struct calls_path *path;
	const struct cvl_calls_thread *threads;
	const struct cvl_calls_span **span; /* by thread, then begin, the outer first */
	const struct cvl_calls_span **open; /* scratch of the same size */
	size_t n_spans;
	const struct cvl_calls_away **away; /* by thread, then begin */
	size_t n_aways;
	const struct cvl_calls_message **message; /* those waited for, by receiver, then time */
	size_t n_messages;
	int64_t shortest;
	size_t hops;
	unsigned doubts; /* threads on the way here that another one may have woken */
	/* the segment being split, and its first step */
	size_t segment;
	uint32_t thread;
	struct cvl_calls_time from, to;
};

static int order(uint32_t ta, uint32_t tb, int64_t a, int64_t b)
{
	return ta != tb ? (ta > tb) - (ta < tb) : (a > b) - (a < b);
}

static int by_begin(const void *va, const void *vb)
{
	const struct cvl_calls_span *a = *(const struct cvl_calls_span *const *)va;
	const struct cvl_calls_span *b = *(const struct cvl_calls_span *const *)vb;
	int by = order(a->thread, b->thread, a->begin.ns, b->begin.ns);

	return by ? by : (a->depth > b->depth) - (a->depth < b->depth);
}

static int by_away(const void *va, const void *vb)
{
	const struct cvl_calls_away *a = *(const struct cvl_calls_away *const *)va;
	const struct cvl_calls_away *b = *(const struct cvl_calls_away *const *)vb;

	return order(a->thread, b->thread, a->begin.ns, b->begin.ns);
}

static int by_received(const void *va, const void *vb)
{
	const struct cvl_calls_message *a = *(const struct cvl_calls_message *const *)va;
	const struct cvl_calls_message *b = *(const struct cvl_calls_message *const *)vb;

	return order(a->to, b->to, a->received.ns, b->received.ns);
}

static int collect(struct finder *f, const struct cvl_calls_kept *k, int64_t from, int64_t to)
{
	f->span = calloc(k->spans.n + 1, sizeof(*f->span));
	f->open = calloc(k->spans.n + 1, sizeof(*f->open));
	f->away = calloc(k->aways.n + 1, sizeof(*f->away));
	f->message = calloc(k->messages.n + 1, sizeof(*f->message));
	if (!f->span || !f->open || !f->away || !f->message)
		return CVL_E_NOMEM;
	for (size_t i = 0; i < k->spans.n; i++) {
		const struct cvl_calls_span *s = &k->span[i];

		if (s->end.ns > from && s->begin.ns < to && s->end.ns - s->begin.ns >= f->shortest)
			f->span[f->n_spans++] = s;
	}
	for (size_t i = 0; i < k->aways.n; i++) {
		const struct cvl_calls_away *a = &k->away[i];

		if (a->end.ns > from && a->begin.ns < to && a->end.ns - a->begin.ns >= f->shortest)
			f->away[f->n_aways++] = a;
	}
	for (size_t i = 0; i < k->messages.n; i++) {
		const struct cvl_calls_message *m = &k->message[i];

		if (m->wait_from.ns < m->received.ns && m->received.ns > from &&
		    m->received.ns <= to)
			f->message[f->n_messages++] = m;
	}
	qsort(f->span, f->n_spans, sizeof(*f->span), by_begin);
	qsort(f->away, f->n_aways, sizeof(*f->away), by_away);
	qsort(f->message, f->n_messages, sizeof(*f->message), by_received);
	return 0;
}

static int add(struct finder *f, const struct cvl_calls_step *s)
{
	struct calls_path *p = f->path;

	struct cvl_calls_step *last = p->n > f->segment ? &p->step[p->n - 1] : NULL;

	if (s->end.ns <= s->begin.ns)
		return 0;
	/* a step too short, or equal to the last, is merged into the last */
	if (last &&
	    (s->end.ns - s->begin.ns < f->shortest ||
	     (s->kind == last->kind && s->function == last->function && s->by == last->by))) {
		last->end = s->end;
		return 0;
	}
	if (cvl_room(&p->step, p->n, &p->room, sizeof(*p->step)))
		return CVL_E_NOMEM;
	p->step[p->n] = *s;
	p->step[p->n++].unsure |= f->doubts != 0;
	return 0;
}

static size_t first_away(const struct finder *f)
{
	size_t lo = 0, hi = f->n_aways;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (f->away[mid]->thread < f->thread ||
		    (f->away[mid]->thread == f->thread && f->away[mid]->end.ns <= f->from.ns))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static struct cvl_calls_time earlier(struct cvl_calls_time a, struct cvl_calls_time b)
{
	return b.ns < a.ns ? b : a;
}

static struct cvl_calls_time later(struct cvl_calls_time a, struct cvl_calls_time b)
{
	return b.ns > a.ns ? b : a;
}

/* @function was innermost from *@at to @to: add steps for when it ran and did not. */
static int piece(struct finder *f, uint32_t function, struct cvl_calls_time *at,
		 struct cvl_calls_time to)
{
	static const enum cvl_calls_step_kind kinds[] = {
		[CVL_CALLS_REASON_NONE] = CVL_CALLS_STEP_SWITCHED,
		[CVL_CALLS_REASON_PREEMPTED] = CVL_CALLS_STEP_PREEMPTED,
		[CVL_CALLS_REASON_BLOCKED] = CVL_CALLS_STEP_BLOCKED,
		[CVL_CALLS_REASON_READY] = CVL_CALLS_STEP_READY,
	};
	struct cvl_calls_step s = { .thread = f->thread,
				    .function = function,
				    .by = CVL_CALLS_NONE };
	int rc = 0;

	to = earlier(to, f->to);
	for (size_t i = first_away(f); i < f->n_aways && f->away[i]->thread == f->thread && !rc;
	     i++) {
		const struct cvl_calls_away *a = f->away[i];

		if (a->end.ns <= at->ns)
			continue;
		if (a->begin.ns >= to.ns)
			break;
		s.kind = CVL_CALLS_STEP_RUN;
		s.by = CVL_CALLS_NONE;
		s.unsure = false;
		s.begin = *at;
		s.end = later(*at, a->begin);
		rc = add(f, &s);
		s.kind = kinds[a->reason];
		s.by = a->reason != CVL_CALLS_REASON_BLOCKED ? a->by :
		       a->woken                              ? a->waker.by :
							       CVL_CALLS_NONE;
		s.unsure = s.kind == CVL_CALLS_STEP_BLOCKED && s.by != CVL_CALLS_NONE &&
			   !a->waker.sure;
		s.begin = s.end;
		s.end = earlier(a->end, to);
		*at = s.end;
		if (!rc)
			rc = add(f, &s);
	}
	s.kind = CVL_CALLS_STEP_RUN;
	s.by = CVL_CALLS_NONE;
	s.unsure = false;
	s.begin = *at;
	s.end = to;
	if (to.ns > at->ns)
		*at = to;
	return rc ? rc : add(f, &s);
}

/* Split the segment by the thread's innermost spans. */
static int split(struct finder *f)
{
	const struct cvl_calls_span **open = f->open;
	struct cvl_calls_time at = f->from;
	size_t n = 0, lo = 0, hi = f->n_spans;
	int rc = 0;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (f->span[mid]->thread < f->thread)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < f->n_spans && f->span[lo]->thread == f->thread && !rc; lo++) {
		const struct cvl_calls_span *s = f->span[lo];

		if (s->begin.ns >= f->to.ns)
			break;
		if (s->end.ns <= f->from.ns)
			continue;
		while (n && open[n - 1]->end.ns <= s->begin.ns && !rc) {
			rc = piece(f, open[n - 1]->function, &at, open[n - 1]->end);
			n--;
		}
		if (!rc && s->begin.ns > at.ns)
			rc = piece(f, n ? open[n - 1]->function : CVL_CALLS_NONE, &at, s->begin);
		open[n++] = s;
	}
	for (; n && !rc; n--)
		rc = piece(f, open[n - 1]->function, &at, open[n - 1]->end);
	return rc ? rc : piece(f, CVL_CALLS_NONE, &at, f->to);
}

/* The last message up to @to that @thread had waited for. */
static const struct cvl_calls_message *last_wait(const struct finder *f, uint32_t thread,
						 int64_t to)
{
	size_t lo = 0, hi = f->n_messages;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (order(f->message[mid]->to, thread, f->message[mid]->received.ns, to) <= 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && f->message[lo - 1]->to == thread ? f->message[lo - 1] : NULL;
}

/* Whether what ended @a is something that a thread did. */
static bool leads_on(const struct cvl_calls_away *a)
{
	return a->reason == CVL_CALLS_REASON_BLOCKED && a->woken && a->waker.by != CVL_CALLS_NONE &&
	       a->waker.by != a->thread &&
	       (a->waker.context == CVL_CALLS_CONTEXT_TASK || a->waker.sender != CVL_CALLS_NONE);
}

/* The last time from @from to @to that a thread woke @thread. */
static const struct cvl_calls_away *last_block(const struct finder *f, uint32_t thread,
					       int64_t from, int64_t to)
{
	size_t lo = 0, hi = f->n_aways;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (order(f->away[mid]->thread, thread, f->away[mid]->begin.ns, to) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo && f->away[lo - 1]->thread == thread && f->away[lo - 1]->end.ns > from; lo--)
		if (f->away[lo - 1]->end.ns <= to && leads_on(f->away[lo - 1]))
			return f->away[lo - 1];
	return NULL;
}

static void reverse(struct calls_path *p, size_t from, size_t to)
{
	for (; from + 1 < to; from++, to--) {
		struct cvl_calls_step s = p->step[from];

		p->step[from] = p->step[to - 1];
		p->step[to - 1] = s;
	}
}

/* What @thread did from @from to @to, on its own. */
static int segment(struct finder *f, uint32_t thread, struct cvl_calls_time from,
		   struct cvl_calls_time to)
{
	size_t before = f->path->n;
	int rc;

	f->segment = before;
	f->thread = thread;
	f->from = from;
	f->to = to;
	rc = split(f);
	reverse(f->path, before, f->path->n); /* the whole is reversed at the end */
	return rc;
}

static int alone(struct finder *f, const struct cvl_calls_step *step)
{
	f->segment = f->path->n;
	return add(f, step);
}

static int resolve(struct finder *f, uint32_t thread, struct cvl_calls_time from,
		   struct cvl_calls_time to, unsigned depth);

/* @thread waited for what the interrupt @by did: what caused that is not known. */
static int until_interrupt(struct finder *f, uint32_t thread, uint32_t by,
			   struct cvl_calls_time from, struct cvl_calls_time to)
{
	const struct cvl_calls_step step = { .kind = CVL_CALLS_STEP_BLOCKED,
					     .thread = thread,
					     .function = CVL_CALLS_NONE,
					     .by = by,
					     .begin = from,
					     .end = to };

	return alone(f, &step);
}

/* What ended @a, from @from on. */
static int resolve_block(struct finder *f, const struct cvl_calls_away *a,
			 struct cvl_calls_time from, unsigned depth)
{
	const struct cvl_calls_waker *w = &a->waker;
	struct cvl_calls_step step = { .thread = a->thread, .function = CVL_CALLS_NONE };
	int rc = 0;

	if (w->sender == CVL_CALLS_NONE || w->sent.ns > w->received.ns ||
	    w->received.ns > a->end.ns) {
		f->doubts += !w->sure;
		rc = w->context == CVL_CALLS_CONTEXT_TASK ?
			     resolve(f, w->by, from, a->end, depth + 1) :
			     segment(f, a->thread, from, a->end);
		f->doubts -= !w->sure;
		return rc;
	}
	step.kind = CVL_CALLS_STEP_BLOCKED;
	step.by = w->by;
	step.begin = later(from, w->received);
	step.end = a->end;
	rc = alone(f, &step);
	step.kind = CVL_CALLS_STEP_MESSAGE;
	step.by = w->sender;
	step.begin = later(from, w->sent);
	step.end = w->received;
	if (!rc)
		rc = alone(f, &step);
	if (rc || w->sent.ns <= from.ns)
		return rc;
	if (!f->threads[w->sender].interrupt)
		return resolve(f, w->sender, from, w->sent, depth + 1);
	return until_interrupt(f, a->thread, w->sender, from, w->sent);
}

/* All of @from to @to, the latest first. */
static int resolve(struct finder *f, uint32_t thread, struct cvl_calls_time from,
		   struct cvl_calls_time to, unsigned depth)
{
	int rc = 0;

	while (!rc && to.ns > from.ns) {
		const struct cvl_calls_message *m = last_wait(f, thread, to.ns);
		const struct cvl_calls_away *a =
			depth < CALLS_NESTED_WAITS ? last_block(f, thread, from.ns, to.ns) : NULL;
		const struct cvl_calls_thread *t = &f->threads[thread];
		struct cvl_calls_time cut = from;
		struct cvl_calls_step way;

		if (m && m->received.ns <= from.ns)
			m = NULL;
		if (m && a && m->received.ns >= a->end.ns)
			a = NULL;
		if (f->hops++ >= CALLS_HOPS_MAX) {
			f->path->cut = true;
			return segment(f, thread, from, to);
		}
		if (a) {
			rc = segment(f, thread, a->end, to);
			to = later(from, a->begin);
			if (!rc)
				rc = resolve_block(f, a, to, depth);
			continue;
		}
		if (m)
			cut = m->received;
		else if (t->born.clock != CVL_CALLS_NONE && t->born.ns > from.ns &&
			 t->born.ns <= to.ns && t->parent != CVL_CALLS_NONE && t->parent != thread)
			cut = t->born;
		rc = segment(f, thread, cut, to);
		to = cut;
		if (!m) {
			thread = t->parent;
			continue;
		}
		way = (struct cvl_calls_step){ .kind = CVL_CALLS_STEP_MESSAGE,
					       .thread = thread,
					       .function = CVL_CALLS_NONE,
					       .by = m->from,
					       .begin = later(from, m->sent),
					       .end = m->received };
		if (!rc)
			rc = alone(f, &way);
		to = m->sent;
		if (!f->threads[m->from].interrupt) {
			thread = m->from;
			continue;
		}
		to = earlier(later(from, m->wait_from), later(from, m->sent));
		if (!rc)
			rc = until_interrupt(f, thread, m->from, to, later(from, m->sent));
	}
	return rc;
}

int calls_path_find(struct calls_path *path, const struct cvl_calls_kept *kept,
		    const struct cvl_calls_thread *threads, uint32_t thread,
		    struct cvl_calls_time from, struct cvl_calls_time to)
{
	struct finder f = { .path = path,
			    .threads = threads,
			    .shortest = (to.ns - from.ns) / 1000 };
	int rc;

	*path = (struct calls_path){ 0 };
	rc = collect(&f, kept, from.ns, to.ns);
	if (!rc)
		rc = resolve(&f, thread, from, to, 0);
	reverse(path, 0, path->n);
	free(f.span);
	free(f.open);
	free(f.away);
	free(f.message);
	return rc;
}

void calls_path_free(struct calls_path *path)
{
	for (size_t i = 0; i < path->n; i++)
		free(path->step[i].text);
	free(path->step);
	*path = (struct calls_path){ 0 };
}
