/* SPDX-License-Identifier: MIT */
/**
 * On which Perfetto track a record of the timeline stands: one for each node, under it one for each
 * of its clocks that has another name, and under that those of lines, cores, tasks and so on. They
 * are made when first asked for.
 */
#ifndef LANES_H
#define LANES_H

#include <coeval/timeline.h>

#include "export/notes.h"
#include "export/perfetto_packets.h"

/** Sorts of tracks, in the order in which they stand under their clock. */
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

/**
 * Of the tasks that the core of an event runs, or whatever its stream is of; @is_new: it was not
 * there.
 */
uint64_t lanes_runs(struct lanes *x, const struct cvl_slice *sl, const struct notes_about *a,
		    bool *is_new);

/**
 * Number @id of a kind of its stream, called @name, with the stream's name where its clock may have
 * several.
 */
uint64_t lanes_stream(struct lanes *x, const struct cvl_slice *sl, enum lane_kind kind, uint64_t id,
		      const char *name);

#endif
