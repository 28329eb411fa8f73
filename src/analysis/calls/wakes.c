/* SPDX-License-Identifier: MIT */
/* Who woke whom, births and deaths, and what threads were blocked on. */
#include "analysis/calls/internal.h"
#include <coeval/array.h>

int calls_rc(const struct calls *c, struct cvl_error *err)
{
	return c->no_memory ? cvl_no_memory(err) : 0;
}

/* ---- waits ---- */

static struct cvl_calls_wait *wait_of(struct calls *c, uint32_t thread, uint32_t by)
{
	const uint64_t key = (uint64_t)thread << 32 | by;
	const uint32_t *known = calls_pairs_find(&c->waits, key);

	if (known)
		return &c->wait[*known];
	if (c->n_waits >= CALLS_WAITS_MAX && by != CVL_CALLS_NONE)
		return wait_of(c, thread, CVL_CALLS_NONE);
	if (cvl_room(&c->wait, c->n_waits, &c->room_waits, sizeof(*c->wait)) ||
	    calls_pairs_add(&c->waits, key, (uint32_t)c->n_waits)) {
		c->no_memory = true;
		return NULL;
	}
	c->wait[c->n_waits] = (struct cvl_calls_wait){ .thread = thread, .by = by };
	return &c->wait[c->n_waits++];
}

void add_wait(struct calls *c, const struct thread *t, const struct cvl_calls_waker *by, int64_t ns)
{
	struct cvl_calls_wait *w = wait_of(c, thread_number(c, t), by ? by->by : CVL_CALLS_NONE);

	if (!w)
		return;
	if (w->by != CVL_CALLS_NONE)
		w->context = c->thread[w->by]->pub.context;
	w->n++;
	w->unsure += by && by->by != CVL_CALLS_NONE && !by->sure;
	w->ns += ns;
	w->max = ns > w->max ? ns : w->max;
}

size_t calls_waits(const struct calls *c)
{
	return c->n_waits;
}

const struct cvl_calls_wait *calls_wait(const struct calls *c)
{
	return c->wait;
}

/* Whether @t is its core's task, and an interrupt goes on. */
static bool interrupted(const struct calls *c, const struct thread *t)
{
	return t->pub.core != CVL_CALLS_NONE && c->core[t->pub.core]->task == thread_number(c, t);
}

/* @t, which is not running, is blocked from @at on. */
static void wait_from(const struct calls *c, struct thread *t, struct cvl_calls_time at)
{
	put_out(c, t, CVL_CALLS_REASON_BLOCKED, at);
	t->since = at.ns > t->since ? at.ns : t->since;
}

/* Nothing is known of @t but its name. */
static bool is_unknown(const struct thread *t)
{
	return !t->scheduled && !t->out && !t->n;
}

/* ---- wakes ---- */

struct cvl_calls_waker calls_waker(const struct calls *c, uint32_t core)
{
	const struct core *k = c->core[core];
	struct cvl_calls_waker w = { .by = calls_running(c, core),
				     .sender = CVL_CALLS_NONE,
				     .sure = true };
	struct thread *t = w.by == CVL_CALLS_NONE ? NULL : c->thread[w.by];

	/* the idle task wakes nobody */
	if (!t || k->mixed || k->too_nested || (!k->n_nested && (k->unsure || t->pub.idle))) {
		w.by = CVL_CALLS_NONE;
		w.sure = false;
		return w;
	}
	w.context = t->pub.context;
	if (k->n_nested && t->n_heard) {
		/* of several messages it is not known which one was for whom */
		w.sender = t->n_heard == 1 ? t->heard.from : CVL_CALLS_NONE;
		w.sent = t->heard.sent;
		w.received = t->heard.received;
		t->n_heard = 0;
	}
	return w;
}

int calls_wake(struct calls *c, uint32_t thread, const struct cvl_calls_waker *waker, bool ready,
	       struct cvl_calls_time at, struct cvl_error *err)
{
	struct thread *t = c->thread[thread];

	if (is_unknown(t)) { /* since when it was blocked, too */
		wait_from(c, t, at);
		t->vague = true;
	}
	if (t->out && !t->done && !t->woken && t->out_reason != CVL_CALLS_REASON_PREEMPTED) {
		if (!ready || !t->called)
			t->waker = *waker;
		if (!t->vague)
			t->out_reason = CVL_CALLS_REASON_BLOCKED;
		blocked_ends(c, t, at.ns < t->out_from.ns ? t->out_from : at);
	} else if (ready && !t->out) {
		t->blocks = false; /* what it was about to wait for has come */
		t->on = CVL_CALLS_NONE;
	} else if (!ready && !t->out) {
		/* about to stop: its switch may come only now */
		t->waker = *waker;
		t->called = true;
		return 0;
	}
	t->called = false;
	return calls_rc(c, err);
}

void calls_born(struct calls *c, uint32_t thread, uint32_t parent, struct cvl_calls_time at)
{
	struct thread *t = c->thread[thread];

	t->pub.parent = parent;
	t->pub.born = at;
	calls_blocked(c, thread, at);
}

void calls_blocked(struct calls *c, uint32_t thread, struct cvl_calls_time at)
{
	struct thread *t = c->thread[thread];

	if (is_unknown(t))
		wait_from(c, t, at);
}

void calls_blocks(struct calls *c, uint32_t thread, uint32_t on, struct cvl_calls_time at)
{
	struct thread *t = c->thread[thread];

	if (on != CVL_CALLS_NONE)
		t->on = on;
	if (t->out && !t->done && at.ns >= t->out_from.ns &&
	    (t->woken || t->out_reason == CVL_CALLS_REASON_PREEMPTED) && !interrupted(c, t)) {
		away_ends(c, t, at);
		wait_from(c, t, at);
	} else {
		t->blocks = true;
	}
}

bool calls_doubtful(const struct calls *c, uint32_t core)
{
	return c->core[core]->unsure || c->core[core]->mixed;
}

void calls_ends(struct calls *c, uint32_t thread, struct cvl_calls_time at)
{
	struct thread *t = c->thread[thread];

	if (!t->out) {
		t->dying = t->blocks = true;
		return;
	}
	if (!t->done)
		away_ends(c, t, at);
	t->out = true;
	ended(c, t, at);
}

bool calls_will_block(const struct calls *c, uint32_t thread)
{
	return c->thread[thread]->blocks;
}

bool calls_inside(const struct calls *c, uint32_t thread)
{
	return c->thread[thread]->n > 0;
}

void calls_dying(struct calls *c, uint32_t thread)
{
	c->thread[thread]->dying = true;
}

void calls_migrated(struct calls *c, uint32_t thread, uint32_t core, struct cvl_calls_time at)
{
	struct thread *t = c->thread[thread];

	if (t->out)
		goes_on(c, t, core, at);
}
