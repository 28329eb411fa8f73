/* SPDX-License-Identifier: MIT */
/* The stacks of threads: spans and their repair. */
#include "analysis/calls/calls.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/calls/internal.h"
#include <coeval/array.h>

/* Error for find_cost() and find_node(). */
static int no_room(const struct calls *c, struct cvl_error *err)
{
	if (c->n_costs < CALLS_COSTS_MAX)
		return cvl_no_memory(err);
	return cvl_fail(
		err, CVL_E_LIMIT, CVL_NO_OFFSET,
		"more than %u functions of threads; does a rule use a wrong field for the name or the thread?",
		CALLS_COSTS_MAX);
}

struct calls *calls_new(const struct calls_sink *sink)
{
	struct calls *c = calloc(1, sizeof(*c));

	if (c && sink)
		c->sink = *sink;
	return c;
}

void calls_free(struct calls *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n_threads; i++) {
		free(c->thread[i]->frame);
		free(c->thread[i]->pub.name);
		free(c->thread[i]);
	}
	for (size_t i = 0; i < c->n_cores; i++)
		free(c->core[i]);
	free(c->thread);
	free(c->core);
	free(c->node);
	free(c->cost);
	free(c->nodes.slot);
	free(c->costs.slot);
	free(c->waits.slot);
	free(c->wait);
	free(c->losses);
	for (size_t i = 0; i < c->n_chains; i++)
		free(c->chain[i].sample);
	free(c->chain);
	free(c->chains.slot);
	free(c->sent);
	free(c);
}

/* ---- threads ---- */

int calls_add_thread(struct calls *c, uint32_t node, uint32_t core, const char *name,
		     struct cvl_calls_time since, uint32_t *thread, struct cvl_error *err)
{
	struct thread *t;

	if (c->n_threads == CALLS_THREADS_MAX)
		return cvl_fail(
			err, CVL_E_LIMIT, CVL_NO_OFFSET,
			"more than %d threads; does a rule use a wrong field for the thread?",
			CALLS_THREADS_MAX);
	if (cvl_room(&c->thread, c->n_threads, &c->room_threads, sizeof(*c->thread)))
		return cvl_no_memory(err);
	t = calloc(1, sizeof(*t));
	if (!t)
		return cvl_no_memory(err);
	*thread = (uint32_t)c->n_threads;
	c->thread[c->n_threads++] = t;
	t->pub.node = node;
	t->pub.core = core;
	t->pub.clock = since.clock;
	t->since = t->last = since.ns;
	t->first = t->sign = since;
	t->pub.context = CVL_CALLS_CONTEXT_TASK;
	t->on = CVL_CALLS_NONE;
	t->pub.parent = CVL_CALLS_NONE;
	t->pub.born.clock = t->pub.died.clock = CVL_CALLS_NONE;
	t->pub.name = name ? strdup(name) : NULL;
	if ((name && !t->pub.name) ||
	    new_node(c, *thread, CVL_CALLS_NONE, CVL_CALLS_NONE, CVL_CALLS_NONE, &t->pub.root))
		return cvl_no_memory(err);
	return 0;
}

struct cvl_calls_time calls_first(const struct calls *c, uint32_t thread)
{
	return c->thread[thread]->first;
}

uint32_t thread_number(const struct calls *c, const struct thread *t)
{
	return c->node[t->pub.root].thread;
}

/* A time that goes back is replaced by the one before. */
static void forward(struct calls *c, struct thread *t, struct cvl_calls_time *at)
{
	if (at->ns < t->last) {
		at->ns = t->last;
		c->repairs.backwards++;
	}
	t->last = at->ns;
	account(t, at->ns);
}

void sign_of_life(struct thread *t, struct cvl_calls_time at)
{
	t->sign = at;
	t->sign_self = 0;
	t->sign_part = t->pub.part;
}

void calls_sign(struct calls *c, uint32_t thread, struct cvl_calls_time at)
{
	struct thread *t = c->thread[thread];

	forward(c, t, &at);
	sign_of_life(t, at);
}

/* ---- spans ---- */

static struct cvl_calls_parts since(const struct cvl_calls_parts *now,
				    const struct cvl_calls_parts *before)
{
	return (struct cvl_calls_parts){
		now->preempted - before->preempted, now->ready - before->ready,
		now->switched - before->switched,   now->blocked - before->blocked,
		now->waiting - before->waiting,     now->hidden - before->hidden
	};
}

static void add_parts(struct cvl_calls_parts *to, const struct cvl_calls_parts *p)
{
	to->preempted += p->preempted;
	to->ready += p->ready;
	to->switched += p->switched;
	to->blocked += p->blocked;
	to->waiting += p->waiting;
	to->hidden += p->hidden;
}

/* Count a closed span and pass it to the sink. @f: its frame; NULL: its begin was not seen. */
static void told(struct calls *c, struct thread *t, const struct cvl_calls_span *s, uint32_t cost,
		 const struct frame *f)
{
	struct cvl_calls_cost *k = &c->cost[cost];
	struct cvl_calls_way *node = &c->node[s->node];
	int64_t total = s->end.ns - s->begin.ns;

	t->pub.spans++;
	if (s->depth < t->pub.depth_min)
		t->pub.depth_min = s->depth;
	if (s->depth > t->pub.depth_max)
		t->pub.depth_max = s->depth;
	node->calls++;
	node->self += s->self;
	node->total += total;
	k->calls++;
	if (s->marks & CVL_CALLS_MADE_UP) {
		k->made_up++;
		k->made_up_ns += total;
	} else if (f) {
		node->off += s->part.preempted + s->part.ready + s->part.switched +
			     s->part.blocked + s->part.waiting;
		k->self += s->self;
		k->total = f->total + total;
		k->part = f->part;
		add_parts(&k->part, &s->part);
	}
	if (s->marks) {
		k->repaired++;
	} else {
		k->whole++;
		k->sum += total;
		k->min = total < k->min ? total : k->min;
		k->max = total > k->max ? total : k->max;
	}
	if (c->sink.span)
		c->sink.span(c->sink.ctx, s);
}

/* Close frame @i. */
static void closed(struct calls *c, struct thread *t, size_t i, struct cvl_calls_time at,
		   uint32_t marks, const struct cvl_calls_parts *now)
{
	const struct frame *f = &t->frame[i];
	struct cvl_calls_span s = {
		.thread = thread_number(c, t),
		.function = f->function,
		.node = f->node,
		.depth = t->base + (int32_t)i,
		.marks = marks | (f->gaps != t->gaps ? CVL_CALLS_GAP : 0),
		.begin = f->begin,
		.end = at,
		.self = f->self,
		.part = since(now, &f->before),
	};

	c->cost[f->cost].active--;
	if (!(s.marks & (CVL_CALLS_MADE_UP | CVL_CALLS_OPEN)))
		chain_ends(c, f, at);
	told(c, t, &s, f->cost, f);
}

/*
 * Time that a lost exit leaves to the enclosing span: what its thread did after the loss.
 */
static int64_t behind_gap(const struct thread *t, size_t i)
{
	return i == t->gap_top ? t->frame[i].self - t->gap_self : 0;
}

/*
 * Close all spans above frame @keep - 1, whose exits are missing. Those not known to be open after
 * records were lost are taken to have ended there.
 */
static void close_lost(struct calls *c, struct thread *t, size_t keep, struct cvl_calls_time at)
{
	int64_t moved = 0;

	while (t->n > keep) {
		size_t i = t->n - 1;
		struct frame *f = &t->frame[i];

		c->repairs.lost_exits++;
		if (t->gaps && t->gap_from.ns >= f->alive) {
			moved += behind_gap(t, i);
			f->self -= behind_gap(t, i);
			closed(c, t, i, t->gap_from, CVL_CALLS_LOST_EXIT, &t->gap_part);
		} else {
			f->self += moved;
			moved = 0;
			closed(c, t, i, at, CVL_CALLS_LOST_EXIT, &t->pub.part);
		}
		t->n--;
	}
	if (t->n)
		t->frame[t->n - 1].self += moved;
}

void close_all(struct calls *c, struct thread *t, struct cvl_calls_time at, uint32_t marks)
{
	if (marks & CVL_CALLS_LOST_EXIT) {
		close_lost(c, t, 0, at);
	} else {
		while (t->n) {
			c->repairs.open += (marks & CVL_CALLS_OPEN) != 0;
			closed(c, t, t->n - 1, at, marks, &t->pub.part);
			t->n--;
		}
	}
	t->too_deep = 0;
}

int calls_begin(struct calls *c, uint32_t thread, struct cvl_calls_time at, uint32_t function,
		uint64_t id, struct cvl_error *err)
{
	struct thread *t = c->thread[thread];
	struct frame *f;
	uint32_t parent;

	forward(c, t, &at);
	sign_of_life(t, at);
	t->blocks = false;
	if (t->n >= CALLS_DEPTH_MAX) {
		t->too_deep++;
		c->repairs.too_deep++;
		return 0;
	}
	if (cvl_room(&t->frame, t->n, &t->room, sizeof(*t->frame)))
		return cvl_no_memory(err);
	parent = t->n ? t->frame[t->n - 1].node : t->pub.root;
	if (t->n)
		t->frame[t->n - 1].alive = at.ns;
	f = &t->frame[t->n];
	*f = (struct frame){ .function = function,
			     .gaps = t->gaps,
			     .id = id,
			     .begin = at,
			     .alive = at.ns,
			     .chain = CVL_CALLS_NONE,
			     .before = t->pub.part };
	if (find_cost(c, thread, function, &f->cost) ||
	    find_node(c, thread, parent, function, f->cost, &f->node))
		return no_room(c, err);
	c->cost[f->cost].active++;
	f->total = c->cost[f->cost].total;
	f->part = c->cost[f->cost].part;
	t->n++;
	return 0;
}

/*
 * An exit of something not open. It began where the thread's record does: around everything known
 * of it, if nothing is open.
 */
static int lost_entry(struct calls *c, struct thread *t, struct cvl_calls_time at,
		      uint32_t function, struct cvl_calls_time last_sign, struct cvl_error *err)
{
	const struct frame *top = t->n ? &t->frame[t->n - 1] : NULL;
	struct cvl_calls_span s = {
		.thread = thread_number(c, t),
		.function = function,
		.marks = CVL_CALLS_LOST_ENTRY,
		.begin = t->first,
		.end = at,
	};
	uint32_t cost;

	if (find_cost(c, s.thread, function, &cost) ||
	    find_node(c, s.thread, top ? top->node : t->pub.root, function, cost, &s.node))
		return no_room(c, err);
	c->repairs.lost_entries++;
	if (t->gaps) {
		s.begin = t->gap_from;
		s.marks |= CVL_CALLS_GAP;
	}
	if (top && s.begin.ns < top->alive)
		s.begin = last_sign;
	if (s.begin.ns > at.ns)
		s.begin = at;
	if (t->gaps && s.begin.ns == t->gap_from.ns)
		s.part.hidden = (t->gap_to.ns < at.ns ? t->gap_to.ns : at.ns) - s.begin.ns;
	s.depth = top ? t->base + (int32_t)t->n : t->base > INT32_MIN ? --t->base : t->base;
	told(c, t, &s, cost, NULL);
	return 0;
}

static size_t find_frame(struct calls *c, const struct thread *t, uint32_t function, uint64_t id)
{
	const struct cvl_calls_cost *cost;
	const struct frame *top = &t->frame[t->n - 1];

	if (top->function == function && top->id == id)
		return t->n - 1;
	cost = known_cost(c, thread_number(c, t), function);
	if (!cost || !cost->active)
		return SIZE_MAX;
	for (size_t i = t->n - 1; i-- > 0;)
		if (t->frame[i].function == function && t->frame[i].id == id)
			return i;
	return SIZE_MAX;
}

int calls_end(struct calls *c, uint32_t thread, struct cvl_calls_time at, uint32_t function,
	      uint64_t id, bool overlap, struct cvl_error *err)
{
	struct thread *t = c->thread[thread];
	struct cvl_calls_time last_sign = t->sign;
	uint32_t marks = 0;
	size_t i;

	forward(c, t, &at);
	sign_of_life(t, at);
	t->blocks = false;
	if (t->too_deep) {
		t->too_deep--;
		return 0;
	}
	i = !t->n                      ? SIZE_MAX :
	    function == CVL_CALLS_NONE ? t->n - 1 :
					 find_frame(c, t, function, id);
	if (i == SIZE_MAX)
		return lost_entry(c, t, at, function, last_sign, err);
	if (!overlap)
		close_lost(c, t, i + 1, at);
	if (function == CVL_CALLS_NONE && t->gaps && t->gap_from.ns >= t->frame[i].alive) {
		marks = CVL_CALLS_GUESSED;
		c->repairs.guessed++;
	}
	closed(c, t, i, at, marks, &t->pub.part);
	memmove(&t->frame[i], &t->frame[i + 1], (t->n - i - 1) * sizeof(*t->frame));
	t->n--;
	if (t->n)
		t->frame[t->n - 1].alive = at.ns;
	return 0;
}

/* ---- losses ---- */

static void gap_of(struct thread *t, struct cvl_calls_time from, struct cvl_calls_time to)
{
	if (from.ns < t->last)
		from.ns = t->last;
	if (to.ns < from.ns)
		to.ns = from.ns;
	account(t, from.ns);
	t->gaps++;
	t->gap_part = t->pub.part;
	t->gap_top = t->n ? t->n - 1 : SIZE_MAX;
	t->gap_self = t->n ? t->frame[t->n - 1].self : 0;
	t->gap_from = from;
	t->gap_to = to;
	t->too_deep = 0;
	t->called = false;
	if (to.ns <= t->since)
		return;
	if (t->out)
		t->out_hidden += to.ns - t->since;
	else if (t->n || t->scheduled)
		t->pub.part.hidden += to.ns - t->since;
	t->since = to.ns;
}

static struct losses *losses_of(struct calls *c, uint32_t node)
{
	while (c->n_losses <= node) {
		if (cvl_room(&c->losses, c->n_losses, &c->room_losses, sizeof(*c->losses)))
			return NULL;
		c->losses[c->n_losses++] = (struct losses){ 0 };
	}
	return &c->losses[node];
}

bool may_have_run(const struct calls *c, const struct thread *t)
{
	const struct losses *l = t->pub.node < c->n_losses ? &c->losses[t->pub.node] : NULL;

	return l && (l->open || (l->any && l->to >= t->out_from.ns));
}

int calls_gap_begins(struct calls *c, uint32_t node, struct cvl_error *err)
{
	struct losses *l = losses_of(c, node);

	if (!l)
		return cvl_no_memory(err);
	l->open++;
	return 0;
}

int calls_gap(struct calls *c, uint32_t node, uint32_t core, struct cvl_calls_time from,
	      struct cvl_calls_time to, uint64_t lost, bool began, struct cvl_error *err)
{
	const struct cvl_calls_gap gap = { core, node, from, to, lost };
	struct losses *l = losses_of(c, node);

	if (!l)
		return cvl_no_memory(err);
	l->open -= began;
	l->to = !l->any || to.ns > l->to ? to.ns : l->to;
	l->any = true;
	c->repairs.gaps++;
	for (size_t i = 0; i < c->n_cores; i++)
		if (core == CVL_CALLS_NONE ? c->core[i]->pub.node == node : core == i) {
			drop_nested(c, c->core[i], from, CVL_CALLS_LOST_EXIT);
			c->core[i]->unsure = true;
		}
	for (size_t i = 0; i < c->n_threads; i++) {
		struct thread *t = c->thread[i];

		if (t->pub.node == node && (core == CVL_CALLS_NONE || t->pub.core == core))
			gap_of(t, from, to);
	}
	if (c->sink.gap)
		c->sink.gap(c->sink.ctx, &gap);
	return calls_rc(c, err);
}

/* ---- messages ---- */

void calls_received(struct calls *c, struct cvl_calls_message *m)
{
	struct thread *t = c->thread[m->to];
	struct cvl_calls_parts d;
	int64_t waited;

	m->wait_from = m->received;
	if (t->pub.interrupt) { /* for whomever it wakes */
		t->heard = *m;
		t->n_heard++;
	} else if (m->sent.ns > t->sign.ns && m->sent.ns <= m->received.ns) {
		forward(c, t, &m->received);
		m->wait_from = t->sign;
		d = since(&t->pub.part, &t->sign_part);
		waited = t->sign_self + d.preempted + d.ready + d.switched + d.blocked;
		if (!t->n && !t->scheduled)
			waited = t->last - t->sign.ns - d.hidden;
		if (t->n)
			t->frame[t->n - 1].self -= t->sign_self;
		t->pub.busy -= t->sign_self;
		t->sign_self = 0;
		t->pub.part.preempted -= d.preempted;
		t->pub.part.ready -= d.ready;
		t->pub.part.switched -= d.switched;
		t->pub.part.blocked -= d.blocked;
		t->pub.part.waiting += waited;
	}
	if (c->sink.message)
		c->sink.message(c->sink.ctx, m);
}

/* ---- the end ---- */

void calls_finish(struct calls *c, uint32_t node, struct cvl_calls_time at)
{
	for (size_t i = 0; i < c->n_cores; i++) {
		struct core *core = c->core[i];

		if (core->pub.node != node)
			continue;
		drop_nested(c, core, at, CVL_CALLS_OPEN);
		if (core->task != CVL_CALLS_NONE && at.ns >= core->last)
			stop_thread(c, core, core->task, CVL_CALLS_REASON_NONE, true, at);
	}
	for (size_t i = 0; i < c->n_threads; i++) {
		struct thread *t = c->thread[i];
		struct cvl_calls_time end = at;

		if (t->pub.node != node)
			continue;
		if (t->out && !t->done)
			away_ends(c, t, at);
		account(t, at.ns);
		if (end.ns < t->last)
			end.ns = t->last;
		close_all(c, t, end, CVL_CALLS_OPEN);
	}
}
