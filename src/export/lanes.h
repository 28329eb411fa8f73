/* SPDX-License-Identifier: MIT */
/**
 * The Perfetto track of a record: one per node, under it one per clock with another name, and under
 * that those of lines, cores, tasks and so on. They are created on first use.
 */
#ifndef LANES_H
#define LANES_H

#include <coeval/timeline.h>

#include "export/notes.h"
#include "export/perfetto_packets.h"

/** Kinds of tracks, in their order under a clock. */
enum lane_kind {
	LANE_NODE = 1,
	LANE_CLOCK,
	LANE_LINE,
	LANE_RUNS, /* which task a core runs */
	LANE_CORE,
	LANE_TASK,
	LANE_EVENTS, /* of no task or core */
	LANE_SPAN,
	LANE_CHANNEL,
	LANE_MARKS,
	LANE_GAPS,
};

struct lanes {
	struct perfetto *p;
	struct cvl_timeline *tl;
};

/** Numbers of tracks. */
uint64_t lanes_line(struct lanes *x, const struct cvl_slice *sl, unsigned line);
uint64_t lanes_channel(struct lanes *x, const struct cvl_slice *sl, uint32_t channel);

/** Of an event: its task's, else its core's, else that of all events of its stream. */
uint64_t lanes_event(struct lanes *x, const struct cvl_slice *sl, const struct notes_about *a);

/** Track of the tasks run by the core of an event, or by its stream; @is_new: just created. */
uint64_t lanes_runs(struct lanes *x, const struct cvl_slice *sl, const struct notes_about *a,
		    bool *is_new);

/**
 * Track @id of a kind in its stream, called @name, with the stream's name if its clock may have
 * several.
 */
uint64_t lanes_stream(struct lanes *x, const struct cvl_slice *sl, enum lane_kind kind, uint64_t id,
		      const char *name);

#endif
