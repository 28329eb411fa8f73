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

uint32_t calls_running(const struct calls *c, uint32_t core)
{
	const struct core *k = c->core[core];

	return k->n_nested ? k->nested[k->n_nested - 1] : k->task;
}

void stop_thread(struct calls *c, struct core *core, uint32_t thread, enum cvl_calls_reason reason,
		 bool done, struct cvl_calls_time at)
{
	struct thread *t = c->thread[thread];
	const struct cvl_calls_slice slice = { core->index, thread, core->slice_from, at };

	account(t, at.ns);
	if (t->pub.core == core->index) { /* else it already runs on another one */
		t->out = true;
		t->done = done;
		t->out_reason = reason;
		t->out_core = core->index;
		t->out_from = at;
		t->out_hidden = 0;
	}
	core->recent[core->at] = (struct recent){ thread, core->slice_from.ns, at.ns };
	core->at = (core->at + 1) % RECENT;
	if (c->sink.slice)
		c->sink.slice(c->sink.ctx, &slice);
}

struct runner {
	uint32_t thread;
	int64_t ns;
};

/* Sum up what a core ran since @from. The slices are in time order. */
static size_t runners(const struct core *core, int64_t from, struct runner out[RECENT])
{
	size_t n = 0;

	for (uint32_t i = 1; i <= RECENT; i++) {
		const struct recent *r = &core->recent[(core->at + RECENT - i) % RECENT];
		size_t k = 0;

		if (r->thread == CVL_CALLS_NONE || r->to <= from)
			break;
		while (k < n && out[k].thread != r->thread)
			k++;
		if (k == n)
			out[n++] = (struct runner){ r->thread, 0 };
		out[k].ns += r->to - (r->from > from ? r->from : from);
	}
	return n;
}

void away_ends(struct calls *c, struct thread *t, struct cvl_calls_time at)
{
	struct cvl_calls_away away = {
		.thread = thread_number(c, t),
		.core = t->out_core,
		.by = CVL_CALLS_NONE,
		.reason = t->out_reason,
		.begin = t->out_from,
		.end = at,
	};
	const struct core *core = c->core[t->out_core];
	struct runner ran[RECENT];
	size_t n = runners(core, t->out_from.ns, ran);
	int64_t d = at.ns - t->out_from.ns - t->out_hidden, idle = 0;

	if (d < 0)
		d = 0;
	for (size_t i = 0; i < n; i++) {
		if (c->thread[ran[i].thread]->pub.idle) {
			idle += ran[i].ns;
		} else if (ran[i].ns > away.by_ns) {
			away.by = ran[i].thread;
			away.by_ns = ran[i].ns;
		}
	}
	idle = t->out_reason == CVL_CALLS_REASON_BLOCKED || idle > d ? d : idle;
	away.others = d - idle;
	if (away.others < idle)
		away.reason = CVL_CALLS_REASON_BLOCKED;
	t->pub.part.blocked += idle;
	if (t->out_reason == CVL_CALLS_REASON_PREEMPTED)
		t->pub.part.preempted += d - idle;
	else
		t->pub.part.switched += d - idle;
	t->pub.part.hidden += t->out_hidden;
	if (c->sink.away && at.ns > t->out_from.ns)
		c->sink.away(c->sink.ctx, &away);
	t->out = false;
	if (t->since < at.ns)
		t->since = at.ns;
}

static void start_thread(struct calls *c, uint32_t core, uint32_t thread, struct cvl_calls_time at)
{
	struct thread *t = c->thread[thread];

	if (t->out && !t->done)
		away_ends(c, t, at);
	if (!t->scheduled && !t->n) /* nothing known of it yet */
		sign_of_life(t, at);
	if (t->scheduled) /* it may still run on another core */
		account(t, at.ns);
	t->out = t->done = false;
	t->scheduled = true;
	t->pub.core = core;
	if (t->since < at.ns) /* it had ended, or is new */
		t->since = at.ns;
	c->core[core]->slice_from = at;
}

int calls_switch(struct calls *c, uint32_t core, uint32_t thread, enum cvl_calls_reason reason,
		 struct cvl_calls_time at, struct cvl_error *err)
{
	struct core *k = c->core[core];
	uint32_t before = k->task;

	(void)err;
	forward(c, k, &at);
	k->pub.switches = true;
	if (before == thread)
		return 0;
	k->task = thread;
	if (k->n_nested) {
		if (before != CVL_CALLS_NONE && c->thread[before]->out)
			c->thread[before]->out_reason = reason;
		return 0;
	}
	if (before != CVL_CALLS_NONE)
		stop_thread(c, k, before, reason, false, at);
	start_thread(c, core, thread, at);
	return 0;
}

int calls_interrupt(struct calls *c, uint32_t core, uint32_t thread, struct cvl_calls_time at,
		    struct cvl_error *err)
{
	struct core *k = c->core[core];
	uint32_t before = calls_running(c, core);

	(void)err;
	forward(c, k, &at);
	c->thread[thread]->pub.interrupt = true;
	if (k->n_nested == CALLS_NESTED_MAX) {
		k->too_nested++;
		return 0;
	}
	if (before != CVL_CALLS_NONE)
		stop_thread(c, k, before, CVL_CALLS_REASON_PREEMPTED, false, at);
	k->nested[k->n_nested++] = thread;
	start_thread(c, core, thread, at);
	return 0;
}

int calls_return(struct calls *c, uint32_t core, struct cvl_calls_time at, struct cvl_error *err)
{
	struct core *k = c->core[core];
	uint32_t before, now;

	(void)err;
	forward(c, k, &at);
	if (k->too_nested) {
		k->too_nested--;
		return 0;
	}
	if (!k->n_nested) {
		c->repairs.strays++;
		return 0;
	}
	before = k->nested[--k->n_nested];
	stop_thread(c, k, before, CVL_CALLS_REASON_NONE, true, at);
	now = calls_running(c, core);
	if (now != CVL_CALLS_NONE)
		start_thread(c, core, now, at);
	return 0;
}

void drop_nested(struct calls *c, struct core *core, struct cvl_calls_time at, uint32_t marks)
{
	core->too_nested = 0;
	while (core->n_nested) {
		struct thread *t = c->thread[core->nested[core->n_nested - 1]];

		if (at.ns < t->last)
			at.ns = t->last;
		close_all(c, t, at, marks);
		calls_return(c, core->index, at, NULL);
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
