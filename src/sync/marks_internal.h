/* SPDX-License-Identifier: MIT */
/** Shared by marks.c, which ties clocks and sources, and marks_maps.c, which makes the maps. */
#ifndef SYNC_MARKS_INTERNAL_H
#define SYNC_MARKS_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "sync/count.h"
#include "sync/marks.h"
#include "sync/number.h"

/* Beyond these a clock is degraded. */
#define CORRELATION_DEGRADED 0.2
#define MISSED_DEGRADED 0.5
#define REJECTED_DEGRADED 0.1
#define HOLDOVER_PERIODS 600 /* without marks at an end of the records */

/* A clock or a source: its own nominal time against the timeline. */
struct marks_tie {
	bool tied;
	bool sure; /* of a clock: tied by sources that are not in doubt */
	struct track track;
	size_t sources;      /* that tied it */
	size_t via;          /* the one it heard most */
	uint64_t marks;      /* heard of tied sources */
	uint64_t bad;        /* wrongly numbered */
	uint64_t periods;    /* from the first to the last of them */
	unsigned jumps;      /* of numbers, not due to the sender */
	int64_t first, last; /* x of the first and last */
	/* x between which it heard the root, and of the other sources the one heard most */
	int64_t root_first, root_last;
	size_t other;   /* SIZE_MAX: none */
	size_t unaware; /* slips that the tracker ignores */
	/* clocks a known number of periods apart share a group; 0: the timeline's */
	uint32_t group;
	int64_t turn_ns;       /* of another group: the period */
	unsigned decided_by;   /* evidence for which pulses it heard: 1 << enum turn_kind */
	unsigned contradicted; /* evidence left out since it contradicts the rest */
};

struct marks {
	const struct sync_problem *p;
	const struct tracker *tracker;
	struct heard *heard; /* by clock, then x */
	size_t n;
	size_t *begin;        /* of each clock in heard; n_clocks + 1 */
	struct heard **order; /* to all of heard, by source, clock, x */
	size_t *source_begin; /* of each source in order; n_sources + 1 */
	struct heard **list;  /* scratch: n */
	struct spill heard_in, order_in, list_in;
	struct marks_tie *clock, *source;
	size_t root;
	int64_t *origin;           /* per source: the number at its own time 0 */
	int64_t root_time;         /* that of the root on the timeline */
	unsigned *jumps;           /* of each source's numbers */
	struct pulse_count *count; /* [clock][source of pulses] */
	size_t n_pulse_sources;    /* listed first */
	uint32_t n_groups;
	/* sources whose own clocks were unstable: used only by clocks that hear nothing else */
	bool *doubt;
	struct jobs *jobs; /* or NULL: clocks are tracked one after the other */
	pthread_t caller;
	atomic_bool cancelled;
	struct cvl_error *err;
};

/** The marks of @source that @clock heard, by x, including bad ones. */
size_t marks_list(const struct marks *w, size_t clock, size_t source, struct heard *const **list);

static inline struct pulse_count *marks_count(const struct marks *w, size_t clock, size_t source)
{
	return &w->count[clock * w->n_pulse_sources + source];
}

/**
 * Decide by how many whole periods the counts of those that heard the pulses of @source differ;
 * undecided clocks get a group of their own.
 */
int marks_decide(struct marks *w, size_t source);

/** Maps, figures and verdicts of all clocks, from their ties. */
int marks_finish(struct marks *w, struct sync_solution *s);

#endif
