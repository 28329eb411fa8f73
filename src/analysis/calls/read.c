/* SPDX-License-Identifier: MIT */
/* Records, one by one. */
#include <string.h>

#include "analysis/calls/read_internal.h"
#include "analysis/clocks.h"

static int span(struct calls_read *r, uint32_t thread, const struct taken *t, bool begin,
		uint64_t id, bool overlap, struct cvl_calls_time at)
{
	uint32_t function;
	const struct calls_rule *rule = t->class->rule;
	int rc = rule && rule->named ?
			 object_function(r, calls_thread(r->calls, thread)->node, t, &function) :
			 function_of(r, &t->slot[CALLS_SLOT_NAME], t->class->stem, &function);

	if (rc)
		return rc;
	if (begin && function == CVL_CALLS_NONE) {
		r->counts.unnamed++;
		rc = function_of(r, &t->slot[CALLS_SLOT_NAME], "?", &function);
	}
	if (!rc && !begin && function == CVL_CALLS_NONE && t->class->want[CALLS_SLOT_NAME])
		r->counts.unnamed++;
	if (rc)
		return rc;
	if (!begin)
		return calls_end(r->calls, thread, at, function, id, overlap, r->err);
	rc = calls_begin(r->calls, thread, at, function, id, r->err);
	return !rc && rule && rule->chain ? calls_chain(r->calls, thread, r->err) : rc;
}

/* Record @i of @thread may be an end of messages; completed ones are passed on. */
static int messages(struct calls_read *r, const struct cvl_slice *sl, size_t i, uint32_t thread)
{
	struct match_end end[MATCH_ROLES_MAX];
	int n = matcher_see(r->matcher, sl, i, thread, end, r->err);

	for (int k = 0; k < n; k++) {
		const struct match_end *e = &end[k];
		struct cvl_calls_message m = {
			.rule = e->rule,
			.from = e->sender,
			.to = e->receiver,
			.sent = { e->sent_ns, e->sent, e->from },
			.received = { e->received_ns, e->received, e->to },
		};

		if (!e->receive) {
			int rc = calls_chain_sends(r->calls, thread, e->number, r->err);

			if (rc)
				return rc;
		}
		if (!e->complete) {
			if (e->receive) /* of whom is not known */
				calls_anew(r->calls, thread);
			continue;
		}
		r->counts.messages++;
		calls_received(r->calls, &m);
		if (e->receive)
			calls_chain_receives(r->calls, thread, e->number);
	}
	return n < 0 ? n : 0;
}

static int event(struct calls_read *r, const struct cvl_slice *sl, size_t i, struct bound_class *b,
		 struct cvl_calls_time at)
{
	struct stream *s = &r->stream[sl->stream];
	const uint64_t packet = cvl_batch_packet(sl->batch) + 1;
	uint32_t node = r->node_of[sl->clock], core, thread;
	struct taken t;
	int rc = 0;

	if (!b->planned)
		rc = bound_plan(b, s->plans, cvl_timeline_trace(r->tl, sl->stream),
				sl->batch->cls[i], r->err);
	if (rc)
		return rc;
	if (!take(&t, b, cvl_timeline_stream(r->tl, sl->stream), sl->batch, i, s->packet == packet))
		return 0; /* already reported by the reader of the stream */
	rc = core_of(r, sl, &t, &core);
	if (rc)
		return rc;
	s->packet = t.slot[CALLS_SLOT_CORE].has && b->packet_core ? packet :
		    b->packet_core                                ? s->packet :
								    0;
	r->counts.events += b->kind != BOUND_MESSAGE;
	if (b->kind == BOUND_OBJECT)
		return object_event(r, b, node, &t);
	if (b->kind != BOUND_BEGIN && b->kind != BOUND_END && b->kind != BOUND_MESSAGE &&
	    b->kind != BOUND_ANEW)
		return task_event(r, b, node, core, &t, at);
	rc = thread_of(r, node, core, &t, &thread);
	if (rc)
		return rc;
	if (b->kind == BOUND_ANEW)
		calls_anew(r->calls, thread);
	if (matcher_wants(r->matcher, sl->stream, sl->batch->cls[i])) {
		rc = messages(r, sl, i, thread);
		calls_sign(r->calls, thread, at);
	}
	if (rc || b->kind == BOUND_MESSAGE || b->kind == BOUND_ANEW)
		return rc;
	return span(r, thread, &t, b->kind == BOUND_BEGIN,
		    t.slot[CALLS_SLOT_ID].has ? value_key(&t.slot[CALLS_SLOT_ID]) : 0,
		    t.slot[CALLS_SLOT_ID].has, at);
}

/* A span of cvl_writer_span(). */
static int own_span(struct calls_read *r, const struct cvl_slice *sl, size_t i,
		    struct cvl_calls_time at)
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

static int gap(struct calls_read *r, size_t stream, uint32_t node, struct cvl_calls_time from,
	       struct cvl_calls_time to, uint64_t lost, bool began)
{
	uint32_t core = r->stream[stream].core;

	if (r->node[node].moves)
		core = CVL_CALLS_NONE;
	return calls_gap(r->calls, node, core, from, to, lost, began, r->err);
}

static int see_gap(struct calls_read *r, const struct cvl_slice *sl, size_t i,
		   struct cvl_calls_time from)
{
	struct stream *s = &r->stream[sl->stream];
	struct cvl_calls_time to = from;
	uint64_t lost = sl->batch->kind[i] == CVL_GAP ? sl->batch->value[i] : CVL_LOST_UNKNOWN;

	if (sl->batch->kind[i] == CVL_GAP && sl->batch->aux[i] == CVL_TICK_UNKNOWN) {
		s->gap_from = from;
		s->gap_lost = lost;
		if (s->gap)
			return 0;
		s->gap = true; /* up to its next record */
		return calls_gap_begins(r->calls, r->node_of[sl->clock], r->err);
	}
	if (sl->batch->kind[i] == CVL_GAP) {
		to.tick = sl->batch->aux[i];
		to.ns = cvl_map_time(cvl_timeline_map(r->tl, sl->clock),
				     (struct cvl_tick){ to.tick }, NULL)
				.ns;
	}
	return gap(r, sl->stream, r->node_of[sl->clock], from, to.ns < from.ns ? from : to, lost,
		   false);
}

static int end_gap(struct calls_read *r, size_t stream, uint32_t node, struct cvl_calls_time to)
{
	struct stream *s = &r->stream[stream];

	s->gap = false;
	return gap(r, stream, node, s->gap_from, to, s->gap_lost, true);
}

int calls_read_push(struct calls_read *r, const struct cvl_slice *sl, struct cvl_error *err)
{
	struct stream *s = &r->stream[sl->stream];
	const struct cvl_batch *b = sl->batch;
	struct node *node = &r->node[r->node_of[sl->clock]];
	int rc = 0;

	r->err = err;
	node->has_aliases = node->has_aliases || s->has_aliases;
	for (size_t i = sl->begin; i < sl->end && !rc; i++) {
		struct cvl_calls_time at = { sl->time[i].ns, b->tick[i].count,
					     (uint32_t)sl->clock };

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
