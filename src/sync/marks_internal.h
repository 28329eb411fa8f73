/* SPDX-License-Identifier: MIT */
/**
 * Shared by marks.c, which ties clocks and sources, and marks_maps.c, which tells what came of it.
 */
#ifndef SYNC_MARKS_INTERNAL_H
#define SYNC_MARKS_INTERNAL_H

#include "sync/count.h"
#include "sync/marks.h"
#include "sync/number.h"

/* From these on a clock is not to be trusted blindly. */
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
	size_t via;          /* the one of them that it heard most */
	uint64_t marks;      /* heard of tied sources */
	uint64_t bad;        /* numbered wrongly */
	uint64_t periods;    /* from the first to the last of them */
	unsigned jumps;      /* of numbers, not its senders' */
	int64_t first, last; /* x of the first and last */
	size_t unaware;      /* slips that the tracker does not know of */
	/* of clocks that are apart by a known number of periods; 0: the timeline's */
	uint32_t group;
	int64_t turn_ns;       /* of another group: the period */
	unsigned decided_by;   /* which pulses it heard: 1 << enum turn_kind */
	unsigned contradicted; /* what was left out for that, as it contradicts the rest */
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
	struct marks_tie *clock, *source;
	size_t root;
	int64_t *origin;           /* of each source: its number that stands at its own time 0 */
	int64_t root_time;         /* where that of the root stands on the timeline */
	unsigned *jumps;           /* of each source's numbers */
	struct pulse_count *count; /* [clock][source of pulses] */
	size_t n_pulse_sources;    /* they come first */
	uint32_t n_groups;
	/* sources whose own clocks did not hold still: for those who hear nothing else */
	bool *doubt;
	struct cvl_error *err;
};

/** The marks of @source that @clock heard, by x; not only those that count. */
size_t marks_list(const struct marks *w, size_t clock, size_t source, struct heard *const **list);

static inline struct pulse_count *marks_count(const struct marks *w, size_t clock, size_t source)
{
	return &w->count[clock * w->n_pulse_sources + source];
}

/**
 * Decide by how many whole periods the counts of those who heard the pulses of @source are apart;
 * clocks for which nothing decides it get a group of their own.
 */
int marks_decide(struct marks *w, size_t source);

/** Maps, figures and verdicts of all clocks, from their ties. */
int marks_finish(struct marks *w, struct sync_solution *s);

#endif
