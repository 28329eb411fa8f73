/* SPDX-License-Identifier: MIT */
/* What metadata declares, whatever the language it is written in. */
#include <stdlib.h>
#include <string.h>

#include "store/ctf/internal.h"

uint32_t metadata_hash(uint32_t seed, const char *name)
{
	uint32_t h = 2166136261u ^ seed; /* FNV-1a */

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 16777619u;
	return h;
}

struct stream_class *metadata_stream(struct cvl_trace *trace, uint64_t id)
{
	struct stream_class **at = &trace->streams;
	unsigned n = 0;

	for (; *at; at = &(*at)->next, n++)
		if ((*at)->id == id)
			return *at;
	*at = n < CTF_STREAMS_MAX ? arena_alloc(&trace->arena, sizeof(**at)) : NULL;
	if (*at) {
		(*at)->id = id;
		(*at)->clock = -1;
	}
	return *at;
}

struct event_class *metadata_add_event(struct cvl_trace *trace, struct stream_class *s, uint64_t id)
{
	const uint32_t n = trace->n_events;
	struct event_class *e = arena_alloc(&trace->arena, sizeof(*e));

	if (!e || n >= CTF_OPS_MAX)
		return NULL;
	if ((n & (n - 1)) == 0) { /* doubled when full */
		struct event_class **grown =
			arena_alloc(&trace->arena, (n ? 2 * n : 1) * sizeof(*grown));

		if (!grown)
			return NULL;
		if (n)
			memcpy(grown, trace->event, n * sizeof(*grown));
		trace->event = grown;
	}
	e->pub.name = "";
	e->pub.id = id;
	e->pub.kind = CVL_EVENT;
	e->stream = s;
	e->index = n;
	trace->event[trace->n_events++] = e;
	return e;
}

bool metadata_add_clock(struct cvl_trace *trace, const struct cvl_clock_class *clock)
{
	struct cvl_clock_class *grown =
		trace->n_clocks < CTF_CLOCKS_MAX ?
			arena_alloc(&trace->arena, (trace->n_clocks + 1) * sizeof(*grown)) :
			NULL;

	if (!grown)
		return false;
	if (trace->n_clocks)
		memcpy(grown, trace->clock, trace->n_clocks * sizeof(*grown));
	grown[trace->n_clocks++] = *clock;
	trace->clock = grown;
	return true;
}

bool metadata_add_env(struct cvl_trace *trace, const char *name, const char *value)
{
	struct env_entry *e = arena_alloc(&trace->arena, sizeof(*e));

	if (!e)
		return false;
	*e = (struct env_entry){ name, value, trace->env };
	trace->env = e;
	return true;
}

static int by_stream_and_id(const void *pa, const void *pb)
{
	const struct event_class *a = *(struct event_class *const *)pa,
				 *b = *(struct event_class *const *)pb;

	if (a->stream != b->stream)
		return a->stream < b->stream ? -1 : 1;
	if (a->pub.id != b->pub.id)
		return a->pub.id < b->pub.id ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

bool metadata_finish(struct cvl_trace *trace, const struct event_class **twice)
{
	struct event_class **sorted =
		arena_alloc(&trace->arena, (trace->n_events + 1) * sizeof(*sorted));

	*twice = NULL;
	if (!sorted)
		return false;
	if (trace->n_events)
		memcpy(sorted, trace->event, trace->n_events * sizeof(*sorted));
	qsort(sorted, trace->n_events, sizeof(*sorted), by_stream_and_id);
	for (uint32_t i = 0; i < trace->n_events; i++) {
		struct event_class *e = sorted[i];

		if (!*twice && i && e->stream == sorted[i - 1]->stream &&
		    e->pub.id == sorted[i - 1]->pub.id)
			*twice = e;
		if (!e->stream->n_events++)
			e->stream->event = sorted + i;
		e->pub.type[CVL_SCOPE_PACKET_HEADER] = trace->packet_header;
		e->pub.type[CVL_SCOPE_PACKET_CONTEXT] = e->stream->packet_context;
		e->pub.type[CVL_SCOPE_EVENT_HEADER] = e->stream->event_header;
		e->pub.type[CVL_SCOPE_STREAM_CONTEXT] = e->stream->event_context;
	}
	return true;
}
