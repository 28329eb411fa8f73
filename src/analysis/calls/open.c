/* SPDX-License-Identifier: MIT */
/* Opening, closing, and accessors of a reader. */
#include <stdlib.h>
#include <string.h>

#include "analysis/calls/read_internal.h"
#include "analysis/clocks.h"
#include "store/ctf/machine.h"

int none_found(const struct calls_read *r, struct cvl_error *err)
{
	return cvl_fail(err, CVL_E_NO, CVL_NO_OFFSET,
			"%s: no event name matches the begin or end of anything",
			cvl_session_path(cvl_timeline_session(r->tl)));
}

static int bind_stream(struct calls_read *r, size_t s, bool *any)
{
	const struct cvl_trace *trace = cvl_timeline_trace(r->tl, s);
	struct stream *st = &r->stream[s];
	int rc = 0;

	st->core = CVL_CALLS_NONE;
	st->n_classes = cvl_trace_events(trace);
	st->plans = some_set_new();
	st->class = calloc(st->n_classes + 1, sizeof(*st->class));
	if (!st->class || !st->plans)
		return CVL_E_NOMEM;
	for (size_t i = 0; i < st->n_classes && !rc; i++) {
		const struct cvl_event_class *class = cvl_trace_event(trace, i);
		struct bound_class *b = &st->class[i];

		*any = *any || class->kind == CVL_BEGIN;
		if (class->kind != CVL_EVENT)
			continue;
		rc = bound_class(b, r->opts.rules, trace, class);
		*any = *any || b->kind != BOUND_NOT;
		st->has_aliases = st->has_aliases || b->kind == BOUND_ALIAS;
		if (!b->kind && matcher_wants(r->matcher, s, (uint32_t)i))
			bound_message(b, class);
	}
	bound_trace(st->class, st->n_classes, trace);
	return rc;
}

static int name_nodes(struct calls_read *r)
{
	const struct cvl_session *session = cvl_timeline_session(r->tl);
	size_t n = cvl_session_clocks(session);

	r->node = calloc(n + 1, sizeof(*r->node));
	r->node_of = calloc(n + 1, sizeof(*r->node_of));
	r->streams_of = calloc(n + 1, sizeof(*r->streams_of));
	r->bracket = calloc(n + 1, sizeof(*r->bracket));
	r->root_of = clocks_roots(session);
	if (!r->node || !r->node_of || !r->streams_of || !r->bracket || !r->root_of)
		return CVL_E_NOMEM;
	for (size_t i = 0; i < n; i++) {
		const char *name = cvl_session_clock(session, i)->node;
		uint32_t k = 0;

		while (k < r->n_nodes && strcmp(r->node[k].name, name))
			k++;
		if (k == r->n_nodes)
			r->node[r->n_nodes++].name = name;
		r->node_of[i] = k;
	}
	return 0;
}

int calls_read_open(struct calls_read **out, struct cvl_timeline *tl,
		    const struct calls_read_opts *opts, const struct calls_sink *sink,
		    struct cvl_error *err)
{
	static const struct rule_set no_rules;
	struct calls_read *r = calloc(1, sizeof(*r));
	bool any = false;
	int rc;

	*out = NULL;
	if (!r)
		return cvl_no_memory(err);
	r->tl = tl;
	r->opts = *opts;
	r->err = err;
	r->calls = calls_new(sink);
	r->n_streams = cvl_timeline_streams(tl);
	r->stream = calloc(r->n_streams + 1, sizeof(*r->stream));
	rc = r->calls && r->stream ? name_nodes(r) : CVL_E_NOMEM;
	if (!rc)
		rc = matcher_new(&r->matcher, tl, opts->match ? opts->match : &no_rules, err);
	for (size_t s = 0; s < r->n_streams && !rc; s++)
		rc = bind_stream(r, s, &any);
	if (rc == CVL_E_NOMEM)
		cvl_no_memory(err);
	else if (!rc && !any)
		rc = none_found(r, err);
	if (rc)
		calls_read_close(r);
	else
		*out = r;
	return rc;
}

void calls_read_close(struct calls_read *r)
{
	if (!r)
		return;
	for (size_t s = 0; r->stream && s < r->n_streams; s++) {
		for (size_t i = 0; r->stream[s].class && i < r->stream[s].n_classes; i++)
			free(r->stream[s].class[i].stem);
		free(r->stream[s].class);
		some_set_free(r->stream[s].plans);
	}
	for (size_t i = 0; i < r->n_functions; i++)
		free(r->function[i].name);
	for (size_t i = 0; i < r->n_tasks; i++)
		free(r->task[i].label);
	for (size_t i = 0; i < r->n_cores; i++) {
		free(r->core[i].text);
		free(r->core[i].label);
	}
	for (size_t i = 0; i < r->n_objects; i++) {
		free(r->object[i].name);
		free(r->object[i].otherwise);
	}
	free(r->object);
	free(r->alias);
	free(r->core);
	free(r->stream);
	free(r->function);
	free(r->task);
	free(r->node);
	free(r->node_of);
	free(r->root_of);
	free(r->streams_of);
	free(r->bracket);
	free(r->functions.slot);
	free(r->tasks.slot);
	free(r->cores.slot);
	free(r->names.slot);
	free(r->objects.slot);
	free(r->groups.slot);
	free(r->aliases.slot);
	free(r->programs.slot);
	matcher_free(r->matcher);
	calls_free(r->calls);
	free(r);
}

/* ---- accessors ---- */

const struct calls *calls_read_calls(const struct calls_read *r)
{
	return r->calls;
}

size_t calls_read_nodes(const struct calls_read *r)
{
	return r->n_nodes;
}

size_t calls_read_functions(const struct calls_read *r)
{
	return r->n_functions;
}

struct cvl_calls_counts calls_read_counts(const struct calls_read *r)
{
	return r->counts;
}

void calls_read_range(const struct calls_read *r, struct cvl_calls_time *first,
		      struct cvl_calls_time *last)
{
	*first = r->first;
	*last = r->last;
}

struct cvl_bound calls_read_bound(const struct calls_read *r, struct cvl_calls_time at)
{
	struct cvl_tick tick = { at.tick };
	struct cvl_batch batch = { .n = 1, .tick = &tick };
	const struct cvl_slice slice = { .clock = at.clock, .batch = &batch, .end = 1 };

	if (r->bracket[at.clock])
		batch.bracket = &r->bracket[at.clock];
	return cvl_timeline_bound_parts(r->tl, &slice, 0);
}

int64_t calls_read_apart(const struct calls_read *r, struct cvl_calls_time a,
			 struct cvl_calls_time b)
{
	struct cvl_bound ba = calls_read_bound(r, a), bb = calls_read_bound(r, b);

	return r->root_of[a.clock] == r->root_of[b.clock] ? clocks_duration(b.ns - a.ns, ba, bb) :
							    clocks_pair(false, ba, bb);
}
