/* SPDX-License-Identifier: MIT */
/** Shared by marks.c, which ties clocks and sources, and marks_maps.c, which tells what came of it. */
#ifndef SYNC_MARKS_INTERNAL_H
#define SYNC_MARKS_INTERNAL_H

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
	int64_t *origin;   /* of each source: its number that stands at its own time 0 */
	int64_t root_time; /* where that of the root stands on the timeline */
	unsigned *jumps;   /* of each source's numbers */
	bool *doubt; /* sources whose own clocks did not hold still: for those who hear nothing else */
	struct cvl_error *err;
};

/** Maps, figures and verdicts of all clocks, from their ties. */
int marks_finish(struct marks *w, struct sync_solution *s);

#endif
