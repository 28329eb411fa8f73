/* SPDX-License-Identifier: MIT */
/** Shared by the parts of the analysis of tasks. */
#ifndef ANALYSIS_TASKS_INTERNAL_H
#define ANALYSIS_TASKS_INTERNAL_H

#include <stdio.h>

#include <coeval/tasks.h>

#include "analysis/clocks.h"
#include "analysis/energy.h"

/** Role of an event class for tasks. */
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
	/* of a real-time kernel: see firmware/rtos/points.h */
	ROLE_SWITCH,
	ROLE_CREATE,
	ROLE_NAME,
	ROLE_ISR_ENTER,
	ROLE_ISR_EXIT,
	ROLE_UNKNOWN = 255, /* not yet determined */
};
#define ROLE_MATCHES 4 /* from ROLE_ADDRESS on */

/** Runs around a moment that only moves forward. */
struct task_active {
	uint32_t *run;
	size_t n, room, next;
};

struct task_stream {
	uint8_t *role;    /* per event class */
	uint32_t running; /* task of a real-time kernel; CVL_TASK_NONE: not known */
	uint64_t place;
	int channel;          /* of power */
	bool lines;           /* channel and lines were looked up */
	int64_t line_time[3]; /* latest distinct times of its events, newest first */
	struct task_active active;
	bool on_line; /* its times are those of packets on a line, not of their causes */
	bool counts;  /* its gaps lose counts or marks */
};

/** Facts that may belong to runs, kept until the runs are known. */
enum task_fact_kind { FACT_COUNTS, FACT_MATCH, FACT_PC, FACT_SAMPLE, FACT_GAP };

struct task_fact {
	int64_t time, first; /* ns; first: see task_earliest() */
	uint64_t place, tick;
	int64_t capture; /* part of its bound */
	union {
		int64_t to;       /* FACT_GAP: its end, ns */
		double watt;      /* FACT_SAMPLE; NaN: power is unknown from here on */
		const char *name; /* FACT_PC: function */
	};
	uint32_t stream, clock;
	uint16_t what; /* FACT_COUNTS: bit per enum cvl_task_what */
	uint8_t kind, role, comparator;
};

struct task_log {
	struct task_fact *fact;
	size_t n;
	FILE *spill; /* earlier ones; NULL: none */
};

/** PC samples by task and function: open addressing; name NULL: free. */
struct task_function_table {
	struct cvl_task_function *at;
	size_t size, used;
};

struct task_power {
	bool known;
	int64_t time;
	uint32_t clock;
	double watt;
	struct task_active active;
};

struct task_study {
	struct cvl_analysis analysis;
	struct cvl_tasks_result r;
	struct cvl_timeline *tl;
	struct cvl_selector *pins[CVL_TASK_PINS_MAX], *edges; /* without duplicates */
	size_t n_pins;
	struct cvl_selection *pin_lines, *edge_lines; /* or NULL */
	struct task_stream *stream;
	size_t n_streams;
	uint32_t *root; /* per clock: the first identical to it */
	size_t room_tasks, room_runs;
	uint64_t match[CVL_TASK_COMPARATORS][ROLE_MATCHES];
	enum task_role match_role[CVL_TASK_COMPARATORS]; /* the kind counted */
	size_t last_task;
	bool saw_channel;
	int64_t reach;       /* greatest half-width, ns, of records that may be near an end */
	int64_t *end_so_far; /* latest end of each run and those before it */
	struct task_log log;
	struct task_power power;
	struct task_function_table functions;
	struct cvl_error *err; /* of the call */
};

enum task_role task_role(struct task_study *s, const struct cvl_slice *sl, size_t i);
void task_look_up(struct task_study *s, const struct cvl_slice *sl);

struct task_fields {
	uint64_t port, value, comparator;
	uint64_t task, prev, next, irq; /* of a real-time kernel; UINT64_MAX: not given */
	uint64_t counter[6];            /* in the order of enum cvl_task_what */
	char symbol[200];               /* or a task's name */
};

bool task_fields(struct task_study *s, const struct cvl_slice *sl, size_t i,
		 struct task_fields *out);

/** Process a record: runs go into s->r.run, other relevant facts into the log. */
int task_record(struct task_study *s, const struct cvl_slice *sl, size_t i);
/** After all runs are known: count from the log. */
int task_counts(struct task_study *s);

int task_not_tied(const struct task_study *s, uint32_t a, uint32_t b);

/** Total half-width; CVL_BOUND_UNKNOWN: the record's time is unknown. */
int64_t task_reach_of(struct cvl_bound b);

/**
 * Earliest time of the cause of an event at @ns.
 *
 * A packet comes out later than its cause: it waits for those before it, and if it travels in
 * frames, for its frame to fill. Its time on the line is known, its delay is not; but it was not
 * created before what had already come out: the frame before it was complete, and a second one
 * covers the tracing hardware's own buffers. The cause of a packet is therefore between the last
 * but one line time and its own. Timestamps in a stream are those of the causes: nothing is added.
 */
int64_t task_earliest(const struct task_study *s, size_t stream, int64_t ns);

/** Runs that overlap @from to @to, or may do so within bounds; @from must not decrease. */
int task_active_move(struct task_study *s, struct task_active *a, int64_t from, int64_t to);

/**
 * Append record @i; the caller fills in the rest. NULL: out of memory or disk, see s->err.
 */
struct task_fact *task_log_add(struct task_study *s, const struct cvl_slice *sl, size_t i,
			       enum task_fact_kind kind);
/** Call for each in order; stops at the first result that is not 0. */
int task_log_each(struct task_study *s,
		  int (*fn)(struct task_study *s, const struct task_fact *fact));
void task_log_free(struct task_log *log);

/** Bound of a fact's time. */
struct cvl_bound task_fact_bound(const struct task_study *s, const struct task_fact *fact);

int task_power_sample(struct task_study *s, const struct task_fact *fact);

/**
 * Count a sample; returns the function's name, at its permanent address. NULL: out of memory, or
 * too many.
 */
const char *task_function_add(struct task_study *s, uint32_t task, const char *name);
/** Sort them into s->r. */
void task_function_end(struct task_study *s);

#endif
