/* SPDX-License-Identifier: MIT */
#include "export/lanes.h"

#include <coeval/fields.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Tracks are ordered by kind, then by id. */
#define RANK_KIND 100000u
/* Marks owners of tracks that are per stream, not per clock like others of their kind. */
#define RUNS_STREAM 0x80000000u

static uint64_t track(struct lanes *x, enum lane_kind kind, size_t owner, uint64_t id,
		      uint64_t parent, const char *name)
{
	const struct perfetto_track t = {
		.key = { kind, (uint32_t)owner, id },
		.parent = parent,
		.name = name,
		.rank = kind * RANK_KIND + (uint32_t)(id < RANK_KIND ? id : RANK_KIND - 1),
		.counter = kind == LANE_CHANNEL,
	};

	return perfetto_add(x->p, &t);
}

static uint64_t find(const struct lanes *x, enum lane_kind kind, size_t owner, uint64_t id)
{
	return perfetto_find(x->p, (struct perfetto_key){ kind, (uint32_t)owner, id });
}

/* Track of a node, or of one of its clocks with another name. */
static uint64_t clock_track(struct lanes *x, size_t clock)
{
	const struct cvl_session *session = cvl_timeline_session(x->tl);
	const struct cvl_clock *c = cvl_session_clock(session, clock);
	uint64_t node, found = find(x, LANE_CLOCK, 0, clock);
	size_t first = 0;

	if (found)
		return found;
	while (strcmp(cvl_session_clock(session, first)->node, c->node))
		first++;
	node = track(x, LANE_NODE, 0, first, 0, c->node);
	return strcmp(c->node, c->name) ? track(x, LANE_CLOCK, 0, clock, node, c->name) : node;
}

uint64_t lanes_stream(struct lanes *x, const struct cvl_slice *sl, enum lane_kind kind, uint64_t id,
		      const char *name)
{
	uint64_t found = find(x, kind, sl->stream, id);
	char text[256];

	if (found)
		return found;
	snprintf(text, sizeof(text), "%s", name);
	if (!cvl_trace_ours(cvl_timeline_trace(x->tl, sl->stream)))
		snprintf(text, sizeof(text), "%s (%s)", name,
			 cvl_timeline_stream_name(x->tl, sl->stream));
	return track(x, kind, sl->stream, id, clock_track(x, sl->clock), text);
}

uint64_t lanes_line(struct lanes *x, const struct cvl_slice *sl, unsigned line)
{
	uint64_t found = find(x, LANE_LINE, sl->stream, line);
	char buf[24];

	return found ? found :
		       track(x, LANE_LINE, sl->stream, line, clock_track(x, sl->clock),
			     cvl_timeline_line(x->tl, sl->stream, line, buf));
}

uint64_t lanes_event(struct lanes *x, const struct cvl_slice *sl, const struct notes_about *a)
{
	enum lane_kind kind = a->has_task ? LANE_TASK : LANE_CORE;
	uint64_t id = a->has_task ? a->task : a->core, found;
	char text[NOTES_NAME + 32];

	if (!a->has_task && !a->has_core)
		return lanes_stream(x, sl, LANE_EVENTS, 0, "events");
	found = find(x, kind, sl->clock, id);
	if (found)
		return found;
	if (kind == LANE_TASK && a->task_name[0] && a->is_numbered)
		snprintf(text, sizeof(text), "%s (%" PRId64 ")", a->task_name, (int64_t)id);
	else if (kind == LANE_TASK && a->task_name[0])
		snprintf(text, sizeof(text), "%s", a->task_name);
	else
		snprintf(text, sizeof(text), "%s %" PRId64, kind == LANE_TASK ? "task" : "core",
			 (int64_t)id);
	return track(x, kind, sl->clock, id, clock_track(x, sl->clock), text);
}

uint64_t lanes_runs(struct lanes *x, const struct cvl_slice *sl, const struct notes_about *a,
		    bool *is_new)
{
	/* cores are numbered per clock, streams globally: numbers may coincide */
	size_t owner = a->has_core ? sl->clock : RUNS_STREAM + sl->stream;
	uint64_t id = a->has_core ? a->core : 0, found = find(x, LANE_RUNS, owner, id);
	char text[40] = "runs";

	*is_new = !found;
	if (found)
		return found;
	if (a->has_core)
		snprintf(text, sizeof(text), "core %" PRId64 " runs", (int64_t)id);
	return track(x, LANE_RUNS, owner, id, clock_track(x, sl->clock), text);
}

uint64_t lanes_channel(struct lanes *x, const struct cvl_slice *sl, uint32_t channel)
{
	uint64_t found = find(x, LANE_CHANNEL, sl->stream, channel);
	char buf[24];

	return found ? found :
		       track(x, LANE_CHANNEL, sl->stream, channel, clock_track(x, sl->clock),
			     cvl_timeline_channel(x->tl, sl->stream, channel, buf));
}
