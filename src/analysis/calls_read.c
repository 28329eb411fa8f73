/* SPDX-License-Identifier: MIT */
/* Records, one by one. */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/calls_read_internal.h"
#include "analysis/clocks.h"

static int no_memory(struct cvl_error *err)
{
	return cvl_fail(err, CVL_E_NOMEM, CVL_NO_OFFSET, "out of memory");
}

/* ---- who ---- */

/* Keys of what is numbered or named: what it is, where, and who it is there. */
enum { KEY_CORE = 1, KEY_TASK, KEY_IDLE, KEY_INTERRUPT, KEY_PROCESSOR, KEY_NAME };

static uint64_t thread_key(unsigned what, uint32_t where, uint64_t who)
{
	return calls_mix(calls_mix(((uint64_t)what << 32 | where) + 1) ^ who);
}

static uint64_t value_key(const struct taken_value *v)
{
	return v->is_text ? text_key(v->text, v->len) : v->number;
}

static int find_core(struct calls_read *r, uint32_t node, const struct taken_value *v, uint64_t key,
		     uint32_t *core)
{
	const uint32_t *known = calls_pairs_find(&r->cores, key);
	bool plain = !v->is_text && v->number <= UINT32_MAX;
	struct core_name name = { 0 };
	int rc;

	if (known) {
		*core = *known;
		return 0;
	}
	if (calls_room(&r->core, r->n_cores, &r->room_cores, sizeof(*r->core)))
		return no_memory(r->err);
	rc = calls_add_core(r->calls, node, plain ? (uint32_t)v->number : r->node[node].cores, core,
			    r->err);
	if (rc)
		return rc;
	r->node[node].cores++;
	if ((v->is_text ?
		     asprintf(&name.text, "%.*s", (int)(v->len < 100 ? v->len : 100), v->text) :
		     asprintf(&name.text, "%" PRIu64, v->number)) < 0)
		return no_memory(r->err);
	r->core[r->n_cores++] = name;
	return calls_pairs_add(&r->cores, key, *core) ? no_memory(r->err) : 0;
}

static bool is_idle(const struct calls_read *r, const char *name)
{
	const struct calls_rules *rules = r->opts.rules;

	for (size_t i = 0; i < rules->n; i++)
		if (rules->rule[i].kind == CALLS_RULE_IDLE &&
		    !fnmatch(rules->rule[i].begin, name, 0))
			return true;
	return false;
}

/* The thread of @key; made, and called @name, if it is new. */
static int find_thread(struct calls_read *r, uint64_t key, uint32_t node, uint32_t core,
		       const char *name, uint32_t *thread)
{
	const uint32_t *known = calls_pairs_find(&r->tasks, key);
	int rc;

	if (known) {
		*thread = *known;
		return 0;
	}
	rc = calls_add_thread(r->calls, node, core, name, r->node[node].first, thread, r->err);
	if (rc)
		return rc;
	if (calls_pairs_add(&r->tasks, key, *thread) ||
	    calls_room(&r->task, r->n_tasks, &r->room_tasks, sizeof(*r->task)))
		return no_memory(r->err);
	r->task[r->n_tasks++] = (struct task){ .is_core = !name };
	calls_thread(r->calls, *thread)->idle = name && is_idle(r, name);
	return 0;
}

/* A second task of one name gets its number behind it. */
static int tell_apart(struct calls_read *r, uint32_t node, char *text, size_t size, uint64_t number)
{
	uint64_t key = thread_key(KEY_NAME, node, text_key(text, strlen(text)));
	size_t n = strlen(text);

	if (!calls_pairs_find(&r->names, key))
		return calls_pairs_add(&r->names, key, 0) ? no_memory(r->err) : 0;
	snprintf(text + n, size - n, "-%" PRIu64, number);
	return 0;
}

/*
 * A task by its number or name. Tasks that idle are one a core. One that @moves is of no core, and called by its program and its
 * number.
 */
static int find_task(struct calls_read *r, const struct taken_value *number,
		     const struct taken_value *name, bool moves, uint32_t node, uint32_t core,
		     uint32_t *thread)
{
	const struct taken_value *who = number->has ? number : name;
	uint64_t key = thread_key(KEY_TASK, node, value_key(who));
	const uint32_t *known = calls_pairs_find(&r->tasks, key);
	const char *given = NULL;
	char text[160];
	int rc;

	if (known) {
		*thread = *known;
		return 0;
	}
	if (!who->is_text && r->opts.names)
		given = calls_names_find(r->opts.names, who->number);
	if (given)
		snprintf(text, sizeof(text), "%s", given);
	else if (name->has && name->is_text && moves && !who->is_text)
		snprintf(text, sizeof(text), "%.*s-%" PRIu64,
			 (int)(name->len < 100 ? name->len : 100), name->text, who->number);
	else if (name->has && name->is_text)
		snprintf(text, sizeof(text), "%.*s", (int)(name->len < 100 ? name->len : 100),
			 name->text);
	else if (who->is_text)
		snprintf(text, sizeof(text), "%.*s", (int)(who->len < 100 ? who->len : 100),
			 who->text);
	else
		snprintf(text, sizeof(text), "task %" PRIu64, who->number);
	if (is_idle(r, text)) {
		key = thread_key(KEY_IDLE, core, value_key(who));
	} else if (!who->is_text) {
		rc = tell_apart(r, node, text, sizeof(text), who->number);
		if (rc)
			return rc;
	}
	return find_thread(r, key, node, moves ? CALLS_NONE : core, text, thread);
}

/* The core of a record: by a field, else by its stream. */
static int core_of(struct calls_read *r, const struct cvl_slice *sl, const struct taken *t,
		   uint32_t *core)
{
	struct stream *s = &r->stream[sl->stream];
	const struct taken_value *v = &t->slot[CALLS_SLOT_CORE];
	uint32_t node = r->node_of[sl->clock];
	uint64_t key = thread_key(KEY_PROCESSOR, node, v->has ? value_key(v) : 0);
	struct taken_value own;
	int rc = 0;

	if (v->has && (s->core == CALLS_NONE || s->core_key != key)) {
		rc = find_core(r, node, v, key, &s->core);
		s->core_key = key;
	} else if (!v->has && s->core == CALLS_NONE) {
		own = (struct taken_value){ .number = r->streams_of[sl->clock]++ };
		s->core_key = thread_key(KEY_PROCESSOR, node, own.number);
		rc = find_core(r, node, &own, s->core_key, &s->core);
	}
	*core = s->core;
	return rc;
}

static int thread_of(struct calls_read *r, uint32_t node, uint32_t core, const struct taken *t,
		     uint32_t *thread)
{
	if (t->slot[CALLS_SLOT_THREAD].has) {
		r->node[node].moves = true;
		return find_task(r, &t->slot[CALLS_SLOT_THREAD], &t->slot[CALLS_SLOT_NEXT], true,
				 node, core, thread);
	}
	*thread = calls_running(r->calls, core);
	if (*thread != CALLS_NONE)
		return 0;
	return find_thread(r, thread_key(KEY_CORE, core, 0), node, core, NULL, thread);
}

/* ---- records ---- */

static int interrupt(struct calls_read *r, uint32_t node, uint32_t core, const struct taken *t,
		     struct calls_time at)
{
	const struct taken_value *v = &t->slot[CALLS_SLOT_NAME];
	char text[140] = "interrupt";
	uint32_t thread, function;
	int rc;

	if (v->has && v->is_text)
		snprintf(text, sizeof(text), "interrupt %.*s", (int)(v->len < 100 ? v->len : 100),
			 v->text);
	else if (v->has)
		snprintf(text, sizeof(text), "interrupt %" PRIu64, v->number);
	rc = function_of(r, &(struct taken_value){ 0 }, text, &function);
	if (!rc)
		rc = find_thread(r, thread_key(KEY_INTERRUPT, core, function), node, core, text,
				 &thread);
	if (!rc)
		rc = calls_interrupt(r->calls, core, thread, at, r->err);
	return rc ? rc : calls_begin(r->calls, thread, at, function, 0, r->err);
}

static int interrupt_over(struct calls_read *r, uint32_t core, struct calls_time at)
{
	uint32_t thread = calls_running(r->calls, core);
	int rc = 0;

	if (thread != CALLS_NONE && calls_thread(r->calls, thread)->interrupt) {
		/* all that it called is over with it */
		const char *name = calls_thread(r->calls, thread)->name;
		uint32_t function;

		rc = function_of(r, &(struct taken_value){ 0 }, name, &function);
		if (!rc)
			rc = calls_end(r->calls, thread, at, function, 0, false, r->err);
	}
	return rc ? rc : calls_return(r->calls, core, at, r->err);
}

static int switched(struct calls_read *r, uint32_t node, uint32_t core, const struct taken *t,
		    struct calls_time at)
{
	uint32_t thread;
	int rc;

	if (!t->slot[CALLS_SLOT_NEXT].has && !t->slot[CALLS_SLOT_NAME].has) {
		r->counts.unnamed++;
		return 0;
	}
	rc = find_task(r, &t->slot[CALLS_SLOT_NEXT], &t->slot[CALLS_SLOT_NAME], false, node, core,
		       &thread);
	if (rc)
		return rc;
	return calls_switch(r->calls, core, thread,
			    t->slot[CALLS_SLOT_BLOCKED].has && t->slot[CALLS_SLOT_BLOCKED].number,
			    at, r->err);
}

static int span(struct calls_read *r, uint32_t thread, const struct taken *t, bool begin,
		uint64_t id, bool overlap, struct calls_time at)
{
	uint32_t function;
	int rc = function_of(r, &t->slot[CALLS_SLOT_NAME], t->class->stem, &function);

	if (rc)
		return rc;
	if (begin && function == CALLS_NONE) {
		r->counts.unnamed++;
		rc = function_of(r, &t->slot[CALLS_SLOT_NAME], "?", &function);
	}
	if (!rc && !begin && function == CALLS_NONE && t->class->want[CALLS_SLOT_NAME])
		r->counts.unnamed++;
	if (rc)
		return rc;
	return begin ? calls_begin(r->calls, thread, at, function, id, r->err) :
		       calls_end(r->calls, thread, at, function, id, overlap, r->err);
}

/* Record @i of @thread may be the end of messages; those that are whole by it are told. */
static int messages(struct calls_read *r, const struct cvl_slice *sl, size_t i, uint32_t thread)
{
	struct match_end end[MATCH_ROLES_MAX];
	int n = matcher_see(r->matcher, sl, i, thread, end, r->err);

	for (int k = 0; k < n; k++) {
		const struct match_end *e = &end[k];
		struct calls_message m = {
			.rule = e->rule,
			.from = e->sender,
			.to = e->receiver,
			.sent = { e->sent_ns, e->sent, e->from },
			.received = { e->received_ns, e->received, e->to },
		};

		if (!e->complete)
			continue;
		r->counts.messages++;
		calls_received(r->calls, &m);
	}
	return n < 0 ? n : 0;
}

static int event(struct calls_read *r, const struct cvl_slice *sl, size_t i,
		 const struct bound_class *b, struct calls_time at)
{
	uint32_t node = r->node_of[sl->clock], core, thread;
	struct taken t;
	int rc;

	if (!take(&t, b, cvl_timeline_stream(r->tl, sl->stream), sl->batch, i))
		return 0; /* the reader of the stream has told of it */
	rc = core_of(r, sl, &t, &core);
	if (rc)
		return rc;
	r->counts.events += b->kind != BOUND_MESSAGE;
	if (b->kind == BOUND_SWITCH)
		return switched(r, node, core, &t, at);
	if (b->kind == BOUND_INTERRUPT)
		return interrupt(r, node, core, &t, at);
	if (b->kind == BOUND_RETURN)
		return interrupt_over(r, core, at);
	rc = thread_of(r, node, core, &t, &thread);
	if (rc)
		return rc;
	if (matcher_wants(r->matcher, sl->stream, sl->batch->cls[i])) {
		rc = messages(r, sl, i, thread);
		calls_sign(r->calls, thread, at);
	}
	if (rc || b->kind == BOUND_MESSAGE)
		return rc;
	return span(r, thread, &t, b->kind == BOUND_BEGIN,
		    t.slot[CALLS_SLOT_ID].has ? value_key(&t.slot[CALLS_SLOT_ID]) : 0,
		    t.slot[CALLS_SLOT_ID].has, at);
}

/* A span of cvl_writer_span(). */
static int own_span(struct calls_read *r, const struct cvl_slice *sl, size_t i,
		    struct calls_time at)
{
	char no_stem[] = "";
	const struct bound_class none = { .stem = no_stem };
	struct taken t = { .class = &none };
	struct clocks_span name;
	uint32_t core, thread;
	int rc;

	if (!clocks_span_name(&name, cvl_timeline_stream(r->tl, sl->stream), sl->batch, i)) {
		r->counts.unnamed++;
		return 0;
	}
	r->counts.events++;
	t.slot[CALLS_SLOT_NAME] = (struct taken_value){
		.has = true, .is_text = true, .text = name.text, .len = strlen(name.text)
	};
	rc = core_of(r, sl, &t, &core);
	if (!rc)
		rc = thread_of(r, r->node_of[sl->clock], core, &t, &thread);
	return rc ? rc :
		    span(r, thread, &t, sl->batch->kind[i] == CVL_BEGIN, sl->batch->value[i], true,
			 at);
}

/* ---- losses ---- */

static int gap(struct calls_read *r, size_t stream, uint32_t node, struct calls_time from,
	       struct calls_time to, uint64_t lost)
{
	uint32_t core = r->stream[stream].core;

	if (r->node[node].moves)
		core = CALLS_NONE;
	return calls_gap(r->calls, node, core, from, to, lost, r->err);
}

static int see_gap(struct calls_read *r, const struct cvl_slice *sl, size_t i,
		   struct calls_time from)
{
	struct stream *s = &r->stream[sl->stream];
	struct calls_time to = from;
	uint64_t lost = sl->batch->kind[i] == CVL_GAP ? sl->batch->value[i] : CVL_LOST_UNKNOWN;

	if (sl->batch->kind[i] == CVL_GAP && sl->batch->aux[i] == CVL_TICK_UNKNOWN) {
		s->gap = true; /* up to its next record */
		s->gap_from = from;
		s->gap_lost = lost;
		return 0;
	}
	if (sl->batch->kind[i] == CVL_GAP) {
		to.tick = sl->batch->aux[i];
		to.ns = cvl_map_time(cvl_timeline_map(r->tl, sl->clock),
				     (struct cvl_tick){ to.tick }, NULL)
				.ns;
	}
	return gap(r, sl->stream, r->node_of[sl->clock], from, to.ns < from.ns ? from : to, lost);
}

static int end_gap(struct calls_read *r, size_t stream, uint32_t node, struct calls_time to)
{
	struct stream *s = &r->stream[stream];

	s->gap = false;
	return gap(r, stream, node, s->gap_from, to, s->gap_lost);
}

int calls_read_push(struct calls_read *r, const struct cvl_slice *sl, struct cvl_error *err)
{
	struct stream *s = &r->stream[sl->stream];
	const struct cvl_batch *b = sl->batch;
	struct node *node = &r->node[r->node_of[sl->clock]];
	int rc = 0;

	r->err = err;
	for (size_t i = sl->begin; i < sl->end && !rc; i++) {
		struct calls_time at = { sl->time[i].ns, b->tick[i].count, (uint32_t)sl->clock };

		if (!r->begun)
			r->first = at;
		if (!r->begun || at.ns > r->last.ns)
			r->last = at;
		r->begun = true;
		if (!node->begun)
			node->first = at;
		if (!node->begun || at.ns > node->last.ns)
			node->last = at;
		node->begun = true;
		r->counts.late += (b->flags[i] & CVL_LATE) != 0;
		if (b->bracket && b->bracket[i] > r->bracket[sl->clock])
			r->bracket[sl->clock] = b->bracket[i];
		if (b->kind[i] == CVL_GAP || b->kind[i] == CVL_SLIP) {
			rc = see_gap(r, sl, i, at);
			continue;
		}
		if (s->gap)
			rc = end_gap(r, sl->stream, r->node_of[sl->clock], at);
		if (!rc && b->kind[i] == CVL_EVENT && s->class[b->cls[i]].kind)
			rc = event(r, sl, i, &s->class[b->cls[i]], at);
		else if (!rc && (b->kind[i] == CVL_BEGIN || b->kind[i] == CVL_END))
			rc = own_span(r, sl, i, at);
	}
	return rc;
}

int calls_read_end(struct calls_read *r, struct cvl_error *err)
{
	struct match_counts match;
	int rc = 0;

	r->err = err;
	for (size_t s = 0; s < r->n_streams && !rc; s++)
		if (r->stream[s].gap) {
			uint32_t node = r->node_of[r->stream[s].gap_from.clock];

			rc = end_gap(r, s, node, r->node[node].last);
		}
	match = matcher_counts(r->matcher);
	r->counts.unmatched = match.unmatched;
	r->counts.duplicates = match.duplicates;
	if (!rc && !r->counts.events)
		rc = none_found(r, err);
	for (uint32_t i = 0; i < r->n_nodes && !rc; i++)
		calls_finish(r->calls, i, r->node[i].last);
	return rc;
}
