/* SPDX-License-Identifier: MIT */
/** Shared by the two readings of the timeline. */
#ifndef ANALYSIS_TASKS_INTERNAL_H
#define ANALYSIS_TASKS_INTERNAL_H

#include "analysis/clocks.h"
#include "analysis/tasks/tasks.h"

/** What an event class says of tasks. */
enum task_role {
	ROLE_NONE,
	ROLE_SOFTWARE,
	ROLE_COUNTERS,
	ROLE_ADDRESS, /* the kinds of a comparator's packets, see task_study.match */
	ROLE_VALUE,
	ROLE_MATCH,
	ROLE_DATA_PC,
	ROLE_PC,
	ROLE_SLEEP,
	ROLE_UNKNOWN = 255, /* not looked at yet */
};
#define ROLE_MATCHES 4 /* from ROLE_ADDRESS on */

/** Runs about a moment that only moves on. */
struct task_active {
	uint32_t *run;
	size_t n, room, next;
};

struct task_stream {
	uint8_t *role; /* of each event class */
	uint64_t place;
	struct cvl_levels levels;
	int pin[TASK_PINS_MAX]; /* bit of the line, -1: it has none */
	int edges;              /* likewise */
	int channel;            /* of power */
	bool lines;             /* the five above are looked up */
	int64_t line_time[3];   /* latest times of its events that differ, the newest first */
	struct task_active active;
	bool on_line; /* its times are of packets on a line, not of what they tell of */
	bool counts;  /* its gaps lose counts or marks */
};

struct task_study {
	struct tasks *t;
	struct cvl_timeline *tl;
	const struct task_opts *opts;
	struct task_stream *stream;
	uint32_t *root; /* of each clock: the first that is this very clock */
	size_t room_tasks, room_runs, n_all;
	uint64_t match[TASK_COMPARATORS][ROLE_MATCHES];
	enum task_role match_role[TASK_COMPARATORS]; /* the kind that is counted */
	size_t last_task;
	uint32_t saw_pins; /* a bit each */
	bool saw_edges, saw_channel;
	int64_t reach; /* greatest half-width, ns, of what may lie about an end */
	struct cvl_error *err;
};

struct task_fields {
	uint64_t port, value, comparator;
	uint64_t counter[6]; /* in the order of enum task_what */
	char symbol[200];
};

int task_no_memory(const struct task_study *s);
enum task_role task_role(struct task_study *s, const struct cvl_slice *sl, size_t i);
void task_look_up(struct task_study *s, const struct cvl_slice *sl);
bool task_fields(struct task_study *s, const struct cvl_slice *sl, size_t i,
		 struct task_fields *out);

/** First reading: all runs into s->t->run, finished or not, in the order of their begins. */
int task_runs(struct task_study *s);
/** Second reading: what happened during them. */
int task_counts(struct task_study *s);

int task_not_tied(const struct task_study *s, uint32_t a, uint32_t b);

/** What a half-width may be in all; CVL_BOUND_UNKNOWN: nothing is known of when that record was. */
int64_t task_reach_of(struct cvl_bound b);

/** An event of this stream is at @ns: for task_earliest(). */
void task_see_time(struct task_stream *stream, int64_t ns);

/**
 * Earliest time of what an event at @ns tells of.
 *
 * A packet comes out later than what it tells of: it waits for those before it, and where it travels in frames for its frame to
 * fill. Its time on the line is known, its delay is not; but it was not made before what had already come out: the
 * frame before it was complete, and a second one covers what the tracing hardware's own buffers hold. A packet of a line is therefore of
 * any time from the last line time but one up to its own. Timestamps in a stream tell of the causes: nothing is added.
 */
int64_t task_earliest(const struct task_study *s, size_t stream, int64_t ns);

/** A record of this slice will be held against ends of runs: remember how far off it may be. */
void task_reach(struct task_study *s, struct cvl_bound bound);

/** Those that overlap @from to @to, or are so near that nobody can tell; @from must not fall. */
int task_active_move(struct task_study *s, struct task_active *a, int64_t from, int64_t to);

/* power */
struct task_power {
	bool known;
	struct cvl_time time;
	uint32_t clock;
	double watt;
	struct task_active active;
};

int task_power_sample(struct task_study *s, struct task_power *p, const struct cvl_slice *sl,
		      size_t i);

/* functions */
struct task_function_table {
	struct task_function *at; /* open addressing; name NULL: free */
	size_t size, used;
};

int task_function_add(struct task_study *s, struct task_function_table *t, uint32_t task,
		      const char *name);
/** Sorted into s->t; @t is freed. */
void task_function_end(struct task_study *s, struct task_function_table *t);

#endif
