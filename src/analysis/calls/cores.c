/* SPDX-License-Identifier: MIT */
/* Cores: which thread runs, and who ran instead. */
#include <stdlib.h>

#include "analysis/calls/internal.h"
#include <coeval/array.h>

int calls_add_core(struct calls *c, uint32_t node, uint32_t number, uint32_t *core,
		   struct cvl_error *err)
{
	struct core *k;

	if (c->n_cores == CALLS_THREADS_MAX)
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET,
				"more than %d cores; does a rule use a wrong field for the core?",
				CALLS_THREADS_MAX);
	if (cvl_room(&c->core, c->n_cores, &c->room_cores, sizeof(*c->core)))
		return cvl_no_memory(err);
	k = calloc(1, sizeof(*k));
	if (!k)
		return cvl_no_memory(err);
	k->pub = (struct cvl_calls_core){ .node = node, .number = number };
	k->index = (uint32_t)c->n_cores;
	k->last = INT64_MIN;
	k->task = CVL_CALLS_NONE;
	for (size_t i = 0; i < RECENT; i++)
		k->recent[i].thread = CVL_CALLS_NONE;
	*core = (uint32_t)c->n_cores;
	c->core[c->n_cores++] = k;
	return 0;
}

/* A time that goes back is replaced by the one before. */
static void forward(struct calls *c, struct core *core, struct cvl_calls_time *at)
{
	if (at->ns < core->last) {
		at->ns = core->last;
		c->repairs.backwards++;
	}
	core->last = at->ns;
}

uint32_t calls_task(const struct calls *c, uint32_t core)
{
	return c->core[core]->task;
}

uint32_t calls_running(const struct calls *c, uint32_t core)
{
	const struct core *k = c->core[core];

	return k->n_nested ? k->nested[k->n_nested - 1].thread : k->task;
}

/* Time that @core was idle, as far as is known, up to @ns. */
static int64_t idle_until(const struct calls *c, const struct core *core, int64_t ns)
{
	const uint32_t now = calls_running(c, core->index);

	if (now != CVL_CALLS_NONE && c->thread[now]->pub.idle && ns > core->slice_from.ns)
		return core->idle + (ns - core->slice_from.ns);
	return core->idle;
}

void put_out(const struct calls *c, struct thread *t, enum cvl_calls_reason reason,
	     struct cvl_calls_time at)
{
	t->out = true;
	t->done = false;
	t->woken = t->vague = false;
	t->out_reason = reason;
	t->out_core = t->pub.core;
	t->out_from = at;
	t->out_hidden = 0;
	if (t->out_core != CVL_CALLS_NONE)
		t->out_idle = idle_until(c, c->core[t->out_core], at.ns);
}

void goes_on(const struct calls *c, struct thread *t, uint32_t core, struct cvl_calls_time at)
{
	int64_t idle = 0;

	if (t->out_core != CVL_CALLS_NONE)
		idle = idle_until(c, c->core[t->out_core], at.ns) - t->out_idle;
	t->out_core = core;
	t->out_idle = idle_until(c, c->core[core], at.ns) - idle;
}

void stop_thread(struct calls *c, struct core *core, uint32_t thread, enum cvl_calls_reason reason,
		 bool done, struct cvl_calls_time at)
{
	struct thread *t = c->thread[thread];
	const struct cvl_calls_slice slice = { core->index, thread, core->slice_from, at };

	account(t, at.ns);
	core->idle += t->pub.idle ? at.ns - core->slice_from.ns : 0;
	core->slice_from = at;
	if (t->pub.core == core->index) { /* else it already runs on another one */
		put_out(c, t, reason, at);
		t->done = done;
	}
	core->recent[core->at] = (struct recent){ thread, slice.begin.ns, at.ns };
	core->at = (core->at + 1) % RECENT;
	if (c->sink.slice)
		c->sink.slice(c->sink.ctx, &slice);
}

/* Who ran longest on the core meanwhile. */
static void find_by(struct calls *c, struct cvl_calls_away *away)
{
	const struct core *core;

	if (away->core == CVL_CALLS_NONE)
		return;
	core = c->core[away->core];
	c->tally++;
	/* in time order, the last first */
	for (uint32_t i = 1; i <= RECENT; i++) {
		const struct recent *r = &core->recent[(core->at + RECENT - i) % RECENT];
		const int64_t from = r->from > away->begin.ns ? r->from : away->begin.ns;
		struct thread *t;

		if (r->thread == CVL_CALLS_NONE || r->to <= away->begin.ns)
			break;
		t = c->thread[r->thread];
		if (r->to <= from || t->pub.idle)
			continue;
		t->ran = t->tally == c->tally ? t->ran + (r->to - from) : r->to - from;
		t->tally = c->tally;
		if (t->ran > away->by_ns) {
			away->by = r->thread;
			away->by_ns = t->ran;
		}
	}
}

/* What @t lost to others and to an idle core up to @at, since it stopped or was woken. */
static void off_core(struct calls *c, struct thread *t, struct cvl_calls_time at)
{
	struct cvl_calls_away away = {
		.thread = thread_number(c, t),
		.core = t->out_core,
		.by = CVL_CALLS_NONE,
		.reason = t->woken ? CVL_CALLS_REASON_READY : t->out_reason,
		.begin = t->out_from,
		.end = at,
		.on = t->woken ? CVL_CALLS_NONE : t->on,
		.woken = t->woken,
		.waker = t->waker,
	};
	int64_t d = at.ns - t->out_from.ns - t->out_hidden, idle = 0;

	if (d < 0)
		d = 0;
	/* of a thread that is ready, what an idle core takes to begin is time ready, too */
	if (!t->woken && t->out_core != CVL_CALLS_NONE)
		idle = idle_until(c, c->core[t->out_core], at.ns) - t->out_idle;
	idle = idle < 0 ? 0 : idle; /* times of two cores may go back */
	if (!t->woken && (t->out_reason == CVL_CALLS_REASON_BLOCKED || idle > d))
		idle = d;
	away.others = d - idle;
	if (away.others < idle)
		away.reason = CVL_CALLS_REASON_BLOCKED;
	t->pub.part.blocked += idle;
	if (t->woken)
		t->pub.part.ready += d;
	else if (t->out_reason == CVL_CALLS_REASON_PREEMPTED)
		t->pub.part.preempted += d - idle;
	else
		t->pub.part.switched += d - idle;
	if (idle)
		add_wait(c, t, NULL, idle);
	t->pub.part.hidden += t->out_hidden;
	if (!c->sink.away || at.ns <= t->out_from.ns)
		return;
	if (!c->sink.away_by || c->sink.away_by(c->sink.ctx, &away))
		find_by(c, &away);
	c->sink.away(c->sink.ctx, &away);
}

void blocked_ends(struct calls *c, struct thread *t, struct cvl_calls_time at)
{
	struct cvl_calls_away away = {
		.thread = thread_number(c, t),
		.core = t->out_core,
		.by = CVL_CALLS_NONE,
		.reason = t->vague ? CVL_CALLS_REASON_NONE : CVL_CALLS_REASON_BLOCKED,
		.begin = t->out_from,
		.end = at,
		.on = t->on,
		.woken = true,
		.waker = t->waker,
	};
	int64_t d = at.ns - t->out_from.ns - t->out_hidden;

	d = d < 0 ? 0 : d;
	if (may_have_run(c, t))
		t->waker.sure = away.waker.sure = false;
	t->pub.part.hidden += t->out_hidden;
	if (t->vague) {
		t->pub.part.switched += d;
	} else {
		t->pub.part.blocked += d;
		add_wait(c, t, &t->waker, d);
	}
	if (c->sink.away && at.ns > t->out_from.ns)
		c->sink.away(c->sink.ctx, &away);
	t->out_from = at;
	t->out_hidden = 0;
	t->woken = true;
	if (t->since < at.ns)
		t->since = at.ns;
}

void away_ends(struct calls *c, struct thread *t, struct cvl_calls_time at)
{
	off_core(c, t, at);
	t->out = false;
	if (t->since < at.ns)
		t->since = at.ns;
}

static void start_thread(struct calls *c, uint32_t core, uint32_t thread, struct cvl_calls_time at)
{
	struct thread *t = c->thread[thread];

	c->core[core]->slice_from = at;
	if (t->out && !t->done) {
		if (t->woken) {
			t->pub.wakes++;
			t->pub.latency = cvl_add_sat(t->pub.latency, at.ns - t->out_from.ns);
			t->out_core = core; /* that it waited for in the end */
			if (at.ns - t->out_from.ns > t->pub.latency_max && !may_have_run(c, t)) {
				t->pub.latency_max = at.ns - t->out_from.ns;
				t->pub.slowest = at;
			}
		}
		away_ends(c, t, at);
	}
	if (!t->scheduled && !t->n) /* nothing known of it yet */
		sign_of_life(t, at);
	if (t->scheduled) /* it may still run on another core */
		account(t, at.ns);
	t->out = t->done = t->woken = false;
	t->scheduled = true;
	t->pub.core = core;
	if (t->since < at.ns) /* it had ended, or is new */
		t->since = at.ns;
}

void ended(struct calls *c, struct thread *t, struct cvl_calls_time at)
{
	t->done = true;
	t->pub.died = at;
	if (at.ns >= t->last)
		close_all(c, t, at, 0);
}

/* @t stopped for @reason: if it was its last, it has ended. */
static void stopped(struct calls *c, struct thread *t, enum cvl_calls_reason reason,
		    struct cvl_calls_time at)
{
	if (t->dying && reason == CVL_CALLS_REASON_BLOCKED)
		ended(c, t, at);
}

int calls_switch(struct calls *c, uint32_t core, uint32_t thread, enum cvl_calls_reason reason,
		 struct cvl_calls_time at, struct cvl_error *err)
{
	struct core *k = c->core[core];
	uint32_t before = k->task;

	forward(c, k, &at);
	k->pub.switches = true;
	k->unsure = false;
	if (before == thread) {
		c->thread[thread]->dying = c->thread[thread]->blocks = false;
		return 0;
	}
	if (before != CVL_CALLS_NONE) {
		c->thread[before]->blocks = false;
		if (reason != CVL_CALLS_REASON_BLOCKED)
			c->thread[before]->on = CVL_CALLS_NONE;
	}
	k->task = thread;
	if (k->n_nested) {
		if (before != CVL_CALLS_NONE && c->thread[before]->out) {
			c->thread[before]->out_reason = reason;
			stopped(c, c->thread[before], reason, at);
		}
		return 0;
	}
	if (before != CVL_CALLS_NONE) {
		stop_thread(c, k, before, reason, false, at);
		stopped(c, c->thread[before], reason, at);
	}
	start_thread(c, core, thread, at);
	c->thread[thread]->dying = c->thread[thread]->blocks = false;
	c->thread[thread]->on = CVL_CALLS_NONE;
	return calls_rc(c, err);
}

int calls_ran(struct calls *c, uint32_t core, uint32_t thread, bool alone, struct cvl_calls_time at,
	      struct cvl_error *err)
{
	struct core *k = c->core[core];
	uint32_t before = k->task;

	if (alone)
		drop_nested(c, k, at, CVL_CALLS_LOST_EXIT);
	if (before == thread)
		return 0;
	if (k->n_nested) { /* it was interrupted, whichever it was */
		if (before != CVL_CALLS_NONE) {
			c->repairs.switches++;
			c->thread[before]->vague = c->thread[before]->out;
			c->thread[before]->out_reason = CVL_CALLS_REASON_NONE;
		}
		k->task = thread;
		return 0;
	}
	forward(c, k, &at);
	if (c->thread[thread]->out && !c->thread[thread]->scheduled) {
		/* woken, as it seemed: it ran already */
		c->thread[thread]->out = c->thread[thread]->woken = false;
		c->thread[thread]->since = at.ns;
	}
	if (before != CVL_CALLS_NONE) {
		c->repairs.switches++;
		stop_thread(c, k, before, CVL_CALLS_REASON_NONE, false, at);
		c->thread[before]->vague = true;
	}
	k->task = thread;
	start_thread(c, core, thread, at);
	return calls_rc(c, err);
}

int calls_stops(struct calls *c, uint32_t core, uint32_t thread, struct cvl_calls_time at,
		struct cvl_error *err)
{
	struct core *k = c->core[core];

	if (k->task != CVL_CALLS_NONE && k->task != thread && !k->unsure) {
		k->mixed = true;
		c->repairs.mixed++;
	}
	return calls_ran(c, core, thread, false, at, err);
}

int calls_interrupt(struct calls *c, uint32_t core, uint32_t thread, uint32_t function,
		    uint64_t key, struct cvl_calls_time at, struct cvl_error *err)
{
	struct core *k = c->core[core];
	struct thread *t = c->thread[thread];
	uint32_t before = calls_running(c, core);

	forward(c, k, &at);
	t->pub.interrupt = true;
	t->n_heard = 0;
	if (k->n_nested == CALLS_NESTED_MAX) {
		k->too_nested++;
		return 0;
	}
	if (before != CVL_CALLS_NONE)
		stop_thread(c, k, before, CVL_CALLS_REASON_PREEMPTED, false, at);
	k->nested[k->n_nested++] = (struct nested){ thread, function, key };
	start_thread(c, core, thread, at);
	return calls_begin(c, thread, at, function, 0, err);
}

/* The innermost interrupt is over; @seen: by a record of its own. */
static int pop(struct calls *c, struct core *k, bool seen, struct cvl_calls_time at,
	       struct cvl_error *err)
{
	const struct nested *n = &k->nested[--k->n_nested];
	struct thread *t = c->thread[n->thread];
	uint32_t now;
	int rc = 0;

	if (at.ns < t->last)
		at.ns = t->last;
	if (seen) /* everything it called ends with it */
		rc = calls_end(c, n->thread, at, n->function, 0, false, err);
	else
		close_all(c, t, at, CVL_CALLS_LOST_EXIT);
	stop_thread(c, k, n->thread, CVL_CALLS_REASON_NONE, true, at);
	now = calls_running(c, k->index);
	if (now != CVL_CALLS_NONE)
		start_thread(c, k->index, now, at);
	return rc;
}

int calls_return(struct calls *c, uint32_t core, uint64_t key, struct cvl_calls_time at,
		 struct cvl_error *err)
{
	struct core *k = c->core[core];
	uint32_t i = k->n_nested;
	int rc;

	forward(c, k, &at);
	if (k->too_nested) {
		k->too_nested--;
		return 0;
	}
	while (i && k->nested[i - 1].key != key)
		i--;
	if (!i) {
		c->repairs.strays++;
		return 0;
	}
	while (k->n_nested > i) {
		c->repairs.returns++;
		pop(c, k, false, at, err);
	}
	rc = pop(c, k, true, at, err);
	return rc ? rc : calls_rc(c, err);
}

void drop_nested(struct calls *c, struct core *core, struct cvl_calls_time at, uint32_t marks)
{
	core->too_nested = 0;
	while (core->n_nested) {
		struct thread *t = c->thread[core->nested[core->n_nested - 1].thread];

		if (at.ns < t->last)
			at.ns = t->last;
		close_all(c, t, at, marks);
		forward(c, core, &at);
		pop(c, core, false, at, NULL);
	}
}

size_t calls_cores(const struct calls *c)
{
	return c->n_cores;
}

const struct cvl_calls_core *calls_core(const struct calls *c, size_t i)
{
	return &c->core[i]->pub;
}
