/* SPDX-License-Identifier: MIT */
/* Records of tasks: switches, interrupts, who woke whom, births and deaths. */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/calls/read_internal.h"

/* ---- states ---- */

enum state { READY, BLOCKED, DEAD };

/*
 * `prev_state` of sched_switch, of a Linux @release. One bit is set for tasks that were preempted,
 * the one beyond those of real states: 256 since 4.14, 1024 (3.10) to 4096 (4.11) before. 64 was
 * dead before 4.14, and is parked since (LTTng modules, instrumentation/events/sched.h).
 */
static enum state linux_state(uint64_t state, unsigned release)
{
	const bool old = release && release < 4014;

	if (!state || state == 1024 || state == 2048 || state == 4096 || (!old && state == 256))
		return READY;
	return state & (old ? 16 | 32 | 64 : 16 | 32) ? DEAD : BLOCKED;
}

/* Why the task that ran stopped; CVL_CALLS_REASON_NONE if the record does not say it. */
static enum cvl_calls_reason reason_of(const struct bound_class *b, const struct taken *t,
				       bool *dead)
{
	const struct taken_value *v = &t->slot[CALLS_SLOT_BLOCKED];

	*dead = false;
	if (!v->has)
		return b->reason;
	if (v->is_text && !v->number) /* a letter, or a name of 0 */
		return v->len && v->text[0] == 'R' ? CVL_CALLS_REASON_PREEMPTED :
		       v->len >= 7 && !memcmp(v->text + v->len - 7, "RUNNING", 7) ?
						     CVL_CALLS_REASON_PREEMPTED :
						     CVL_CALLS_REASON_NONE;
	if (b->rule->states == CALLS_STATES_LINUX) {
		const enum state s = linux_state(v->number, b->release);

		*dead = s == DEAD;
		return s == READY ? CVL_CALLS_REASON_PREEMPTED : CVL_CALLS_REASON_BLOCKED;
	}
	return v->number ? CVL_CALLS_REASON_BLOCKED : CVL_CALLS_REASON_PREEMPTED;
}

/* ---- switches ---- */

/* The task that ran is known by its number alone; there is one idle task a core. */
static uint32_t known_task(const struct calls_read *r, uint32_t node, uint32_t core,
			   const struct taken_value *v)
{
	const uint32_t *known =
		calls_pairs_find(&r->tasks, thread_key(KEY_TASK, node, value_key(v)));

	if (!known || *known == CVL_CALLS_NONE)
		known = calls_pairs_find(&r->tasks, thread_key(KEY_IDLE, core, value_key(v)));
	return known ? *known : CVL_CALLS_NONE;
}

static int ran(struct calls_read *r, uint32_t node, uint32_t core, const struct taken_value *prev,
	       bool alone, bool stops, struct cvl_calls_time at)
{
	uint32_t thread = known_task(r, node, core, prev);
	int rc = 0;

	if (thread == CVL_CALLS_NONE && !prev->is_text && !prev->number)
		return 0; /* idle, of which the name is not known yet */
	if (thread == CVL_CALLS_NONE)
		rc = find_task(r, prev, &(struct taken_value){ 0 }, false, node, core, &thread);
	if (rc)
		return rc;
	return stops ? calls_stops(r->calls, core, thread, at, r->err) :
		       calls_ran(r->calls, core, thread, alone, at, r->err);
}

static int switched(struct calls_read *r, const struct bound_class *b, uint32_t node, uint32_t core,
		    const struct taken *t, struct cvl_calls_time at)
{
	const struct taken_value *next = &t->slot[CALLS_SLOT_NEXT],
				 *name = &t->slot[CALLS_SLOT_NAME];
	uint32_t thread, before;
	bool dead;
	enum cvl_calls_reason reason = reason_of(b, t, &dead);
	int rc = 0;

	if (!next->has && !name->has) {
		r->counts.unnamed++;
		return 0;
	}
	if (t->slot[CALLS_SLOT_PREV].has)
		rc = ran(r, node, core, &t->slot[CALLS_SLOT_PREV],
			 b->rule->states == CALLS_STATES_LINUX, false, at);
	if (!rc)
		rc = find_task(r, next, name, false, node, core, &thread);
	if (!rc && next->has && name->has && name->is_text)
		rc = name_task(r, thread, name, next->number);
	if (rc)
		return rc;
	before = calls_task(r->calls, core);
	if (!t->slot[CALLS_SLOT_BLOCKED].has && before != CVL_CALLS_NONE &&
	    calls_will_block(r->calls, before))
		reason = CVL_CALLS_REASON_BLOCKED;
	if (dead && before != CVL_CALLS_NONE) {
		calls_dying(r->calls, before);
		if (t->slot[CALLS_SLOT_PREV].has)
			forget_task(r, node, t->slot[CALLS_SLOT_PREV].number);
	}
	return calls_switch(r->calls, core, thread, reason, at, r->err);
}

/* ---- interrupts ---- */

static uint64_t interrupt_key(const struct bound_class *b, const struct taken *t)
{
	const struct taken_value *id = &t->slot[CALLS_SLOT_ID];

	return calls_mix(b->number + 1) ^ (id->has ? value_key(id) : 0);
}

/* The thread of an interrupt that has not come on its core yet. */
static int new_interrupt(struct calls_read *r, const struct calls_rule *rule, uint64_t key,
			 uint32_t node, uint32_t core, const struct taken_value *v,
			 uint32_t *thread)
{
	const size_t i = v->has && !v->is_text && v->number < CALLS_NUMBERS_MAX ? v->number : 0;
	char text[140] = "interrupt";
	uint32_t function;
	int rc;

	if (v->has && !v->is_text && v->number < rule->n_names)
		snprintf(text, sizeof(text), "%.100s", rule->names[v->number]);
	else if (v->has && v->is_text)
		snprintf(text, sizeof(text), "interrupt %.*s", (int)(v->len < 100 ? v->len : 100),
			 v->text);
	else if (v->has)
		snprintf(text, sizeof(text), "interrupt %" PRIu64, v->number);
	else if (rule->n_names)
		snprintf(text, sizeof(text), "%.100s", rule->names[0]);
	rc = function_of(r, &(struct taken_value){ 0 }, text, &function);
	if (!rc)
		rc = find_thread(r, key, node, core, text, thread);
	if (rc)
		return rc;
	r->task[*thread].function = function;
	calls_thread(r->calls, *thread)->context = !rule->n_contexts ? CVL_CALLS_CONTEXT_INTERRUPT :
						   i < rule->n_contexts ? rule->context[i] :
									  rule->context[0];
	return 0;
}

static int interrupt(struct calls_read *r, const struct bound_class *b, uint32_t node,
		     uint32_t core, const struct taken *t, struct cvl_calls_time at)
{
	const struct taken_value *v = &t->slot[CALLS_SLOT_NAME];
	const uint64_t key = thread_key(KEY_INTERRUPT, core,
					calls_mix(b->number + 1) ^ (v->has ? value_key(v) + 1 : 0));
	const uint32_t *known = calls_pairs_find(&r->tasks, key);
	uint32_t thread = known ? *known : CVL_CALLS_NONE;
	int rc = 0;

	if (thread == CVL_CALLS_NONE || !calls_thread(r->calls, thread)->interrupt)
		rc = new_interrupt(r, b->rule, key, node, core, v, &thread);
	return rc ? rc :
		    calls_interrupt(r->calls, core, thread, r->task[thread].function,
				    interrupt_key(b, t), at, r->err);
}

/* ---- who woke whom ---- */

/* Linux' flags of a record's context: what was interrupted is not the waker. */
#define IN_INTERRUPT 8
#define IN_SOFTIRQ 16

static bool is_soft(enum cvl_calls_context context)
{
	return context == CVL_CALLS_CONTEXT_SOFTIRQ || context == CVL_CALLS_CONTEXT_NETWORK ||
	       context == CVL_CALLS_CONTEXT_BLOCK;
}

/* A record that tells the interrupt that it is in (0: none; 255: it cannot know). */
static struct cvl_calls_waker inside(const struct calls_read *r, struct cvl_calls_waker w,
				     uint32_t core, const struct taken *t)
{
	const struct taken_value *v = &t->slot[CALLS_SLOT_INSIDE];
	const bool interrupted = w.context != CVL_CALLS_CONTEXT_TASK;

	if (!v->has || v->number == 255)
		return w;
	w.sure = w.by != CVL_CALLS_NONE && interrupted == (v->number != 0) &&
		 !calls_doubtful(r->calls, core);
	if (interrupted != (v->number != 0)) {
		w.by = CVL_CALLS_NONE;
		w.context = v->number ? CVL_CALLS_CONTEXT_INTERRUPT : CVL_CALLS_CONTEXT_NONE;
	}
	return w;
}

/* Whether the task is one that softirqs wake between their events. */
static bool is_unseen(const struct bound_class *b, const struct taken *t)
{
	const struct taken_value *name = &t->slot[CALLS_SLOT_NAME];
	char text[32];

	if (!b->rule->unseen || !name->has || !name->is_text)
		return false;
	snprintf(text, sizeof(text), "%.*s", (int)(name->len < 31 ? name->len : 31), name->text);
	return !fnmatch(b->rule->unseen, text, 0);
}

static struct cvl_calls_waker waker_of(struct calls_read *r, const struct bound_class *b,
				       uint32_t core, const struct taken *t)
{
	const struct taken_value *flags = &t->slot[CALLS_SLOT_FLAGS],
				 *target = &t->slot[CALLS_SLOT_TARGET];
	struct cvl_calls_waker w = calls_waker(r->calls, core);
	const bool hard = flags->has && flags->number & IN_INTERRUPT,
		   soft = flags->has && !hard && flags->number & IN_SOFTIRQ;
	bool agrees = true;

	/* what the flags say must be what is known of the core */
	if (flags->has)
		agrees = w.context == CVL_CALLS_CONTEXT_TASK  ? !hard && !soft :
			 w.context == CVL_CALLS_CONTEXT_TIMER ? hard || soft : /* there are both */
			 is_soft(w.context)                   ? soft :
								hard;
	/* "ready" in an interrupt by another core is at that one's request */
	if (!agrees || (b->kind == BOUND_WAKE && w.context == CVL_CALLS_CONTEXT_PROCESSOR)) {
		w.by = CVL_CALLS_NONE;
		w.sender = CVL_CALLS_NONE;
	}
	if (!agrees && (hard || soft))
		w.context = hard ? CVL_CALLS_CONTEXT_INTERRUPT : CVL_CALLS_CONTEXT_SOFTIRQ;
	w.sure = w.sure && w.by != CVL_CALLS_NONE && (b->sure || flags->has);
	if (w.context == CVL_CALLS_CONTEXT_TASK && is_unseen(b, t)) {
		w.by = CVL_CALLS_NONE;
		w.context = CVL_CALLS_CONTEXT_SOFTIRQ;
		w.sure = false;
	}
	/* "ready" of a task on this very core may be at another core's request */
	if (b->kind == BOUND_WAKE && target->has &&
	    target->number == calls_core(r->calls, core)->number)
		w.sure = false;
	return inside(r, w, core, t);
}

static int wake(struct calls_read *r, const struct bound_class *b, uint32_t core, uint32_t thread,
		const struct taken *t, struct cvl_calls_time at)
{
	struct cvl_calls_waker w = waker_of(r, b, core, t);

	if (w.by == thread) { /* it ran, as far as is known: a switch is missing */
		w.by = CVL_CALLS_NONE;
		w.sure = false;
	}
	return calls_wake(r->calls, thread, &w, b->kind == BOUND_WAKE, at, r->err);
}

/* ---- lives ---- */

static int born(struct calls_read *r, uint32_t node, uint32_t core, const struct taken *t,
		struct cvl_calls_time at)
{
	const struct taken_value *parent = &t->slot[CALLS_SLOT_PREV];
	uint32_t thread, by = CVL_CALLS_NONE;
	int rc = 0;

	if (t->slot[CALLS_SLOT_NEXT].has)
		forget_task(r, node, t->slot[CALLS_SLOT_NEXT].number);
	rc = guest_process(r, node, t);
	if (rc)
		return rc;
	if (parent->has && (parent->is_text || parent->number))
		rc = find_task(r, parent, &(struct taken_value){ 0 }, false, node, core, &by);
	else if (!parent->has && calls_task(r->calls, core) != CVL_CALLS_NONE &&
		 !calls_doubtful(r->calls, core))
		by = calls_task(r->calls, core);
	if (!rc)
		rc = find_task(r, &t->slot[CALLS_SLOT_NEXT], &t->slot[CALLS_SLOT_NAME], false, node,
			       CVL_CALLS_NONE, &thread);
	if (!rc)
		calls_born(r->calls, thread, by, at);
	return rc;
}

/* In a process of many threads, the one that executes another program takes the first one's number. */
static int renamed(struct calls_read *r, uint32_t node, uint32_t thread, const struct taken *t)
{
	const struct taken_value *was = &t->slot[CALLS_SLOT_PREV], *is = &t->slot[CALLS_SLOT_NEXT];
	struct taken_value name = t->slot[CALLS_SLOT_NAME];
	const char *slash;

	if (was->has && is->has && was->number != is->number) {
		const uint32_t *old =
			calls_pairs_find(&r->tasks, thread_key(KEY_TASK, node, was->number));
		uint32_t *now = calls_pairs_find(&r->tasks, thread_key(KEY_TASK, node, is->number));

		if (old && *old != CVL_CALLS_NONE && now) {
			thread = *old;
			*now = thread;
			forget_task(r, node, was->number);
		}
	}
	if (!name.has || !name.is_text)
		return 0;
	slash = memrchr(name.text, '/', name.len);
	if (slash) {
		name.len -= (size_t)(slash + 1 - name.text);
		name.text = slash + 1;
	}
	name.len = name.len < 15 ? name.len : 15; /* as Linux cuts them */
	return name.len ? name_task(r, thread, &name, is->has ? is->number : 0) : 0;
}

static int migrated(struct calls_read *r, uint32_t node, uint32_t thread, const struct taken *t,
		    struct cvl_calls_time at)
{
	const struct taken_value *v = &t->slot[CALLS_SLOT_TARGET];
	uint32_t core;
	int rc = 0;

	if (!v->has)
		return 0;
	rc = find_core(r, node, v, thread_key(KEY_PROCESSOR, node, value_key(v)), &core);
	if (!rc)
		calls_migrated(r->calls, thread, core, at);
	return rc;
}

/* What a task waits for: "queue 0x20000100" by its label or its number's name, and its id. */
static int blocks(struct calls_read *r, const struct bound_class *b, uint32_t node, uint32_t core,
		  const struct taken *t, struct cvl_calls_time at)
{
	const struct taken_value *number = &t->slot[CALLS_SLOT_NEXT], *id = &t->slot[CALLS_SLOT_ID],
				 *name = &t->slot[CALLS_SLOT_NAME];
	const char *label = b->rule->label ? b->rule->label : "";
	uint32_t on = CVL_CALLS_NONE, thread = calls_running(r->calls, core);
	char text[140];
	int rc = 0, n = snprintf(text, sizeof(text), "%.100s", label);

	if (name->has && !name->is_text && name->number < b->rule->n_names && !*label)
		n = snprintf(text, sizeof(text), "%.100s", b->rule->names[name->number]);
	if (id->has && id->is_text)
		snprintf(text + n, sizeof(text) - (size_t)n, "%s%.*s", n ? " " : "",
			 id->len < 30 ? (int)id->len : 30, id->text);
	else if (id->has && id->number)
		snprintf(text + n, sizeof(text) - (size_t)n, "%s0x%" PRIx64, n ? " " : "",
			 id->number);
	if (*text)
		rc = function_of(r, &(struct taken_value){ 0 }, text, &on);
	if (!rc && number->has)
		rc = find_task(r, number, name->is_text ? name : &(struct taken_value){ 0 }, false,
			       node, CVL_CALLS_NONE, &thread);
	if (!rc && thread != CVL_CALLS_NONE)
		calls_blocks(r->calls, thread, on, at);
	return rc;
}

/* The task that stops is the one that runs, if the core is one. */
static int stops(struct calls_read *r, uint32_t node, uint32_t core,
		 const struct taken_value *number, struct cvl_calls_time at)
{
	return number->has ? ran(r, node, core, number, false, true, at) : 0;
}

int task_event(struct calls_read *r, const struct bound_class *b, uint32_t node, uint32_t core,
	       const struct taken *t, struct cvl_calls_time at)
{
	const struct taken_value *number = &t->slot[CALLS_SLOT_NEXT],
				 *name = &t->slot[CALLS_SLOT_NAME];
	uint32_t thread;
	int rc;

	switch (b->kind) {
	case BOUND_SWITCH: return switched(r, b, node, core, t, at);
	case BOUND_INTERRUPT: return interrupt(r, b, node, core, t, at);
	case BOUND_RETURN: return calls_return(r->calls, core, interrupt_key(b, t), at, r->err);
	case BOUND_BLOCK: return blocks(r, b, node, core, t, at);
	case BOUND_STOP: return stops(r, node, core, number, at);
	case BOUND_ALIAS: return guest_alias(r, node, t);
	default: break;
	}
	if (!number->has && !name->has) {
		r->counts.unnamed++;
		return 0;
	}
	if (b->kind == BOUND_BIRTH)
		return born(r, node, core, t, at);
	if (b->rule->states == CALLS_STATES_STATEDUMP && number->has && !number->number)
		return 0; /* one idle task a core: known once it runs */
	/* on which core it will run is not known */
	rc = find_task(r, number, name, false, node, CVL_CALLS_NONE, &thread);
	if (!rc && number->has && name->has && name->is_text && b->kind != BOUND_RENAME)
		rc = name_task(r, thread, name, number->number);
	if (rc)
		return rc;
	switch (b->kind) {
	case BOUND_WAKING:
	case BOUND_WAKE: return wake(r, b, core, thread, t, at);
	case BOUND_DEATH: calls_ends(r->calls, thread, at); break;
	case BOUND_RENAME: return renamed(r, node, thread, t);
	case BOUND_STATE:
		rc = guest_process(r, node, t);
		if (t->slot[CALLS_SLOT_BLOCKED].has && t->slot[CALLS_SLOT_BLOCKED].number == 5)
			calls_blocked(r->calls, thread, at);
		break;
	case BOUND_MIGRATE: return migrated(r, node, thread, t, at);
	default: break;
	}
	return rc;
}
