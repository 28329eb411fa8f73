/* SPDX-License-Identifier: MIT */
/**
 * What the tasks of traced programs cost: time, cycles, instructions, accesses and energy, each within a bound.
 *
 * A run of a task lasts from its begin to its end as the timeline shows them: writes to two stimulus ports (see
 * wire/swo_marks.h), a line that is high or low while it runs, or a span. The timeline is read twice: for the runs, and for what
 * happened during each. What happened on the stream of the marks is before or after a mark as it is there; on
 * others it is so by its time, and what lies too close to tell is counted as half, with a bound that says so.
 *
 * Counts are of the whole run, with tasks that ran within it. Figures of several runs: see task_sum_add().
 */
#ifndef ANALYSIS_TASKS_H
#define ANALYSIS_TASKS_H

#include <coeval/timeline.h>

#include "analysis/energy.h"

#define TASK_PINS_MAX 16
#define TASK_COMPARATORS 16
#define TASK_NONE UINT32_MAX

/** What is counted: six counters of the DWT, then accesses by where they go. */
enum task_what {
	TASK_CYC,
	TASK_CPI,
	TASK_EXC,
	TASK_SLEEP,
	TASK_LSU,
	TASK_FOLD,
	TASK_FLASH,
	TASK_RAM,
	TASK_PERIPHERAL,
	TASK_WHATS
};

/** "cyc", "lsu", "flash" ..., and back: TASK_WHATS if there is none of that name. */
const char *task_what_name(enum task_what what);
enum task_what task_what_find(const char *name);

struct task_pin {
	const char *line;
	bool low; /* the task runs while it is low */
};

struct task_opts {
	uint64_t port_begin, port_end;
	struct task_pin pin[TASK_PINS_MAX];
	size_t n_pins;
	uint8_t region
		[TASK_COMPARATORS]; /* enum task_what of what each comparator watches, or TASK_WHATS */
	const char *
		edges; /* line on which packets of `counting` alone are counted by their edges, or NULL */
	enum task_what counting;
	const char *power; /* channel, or NULL */
	double watts;      /* that one unit of the channel is */
	bool functions;
	bool has_delay; /* packets come out at most delay_ns after what they tell of; else see task_counts.c */
	int64_t delay_ns;
};

/** One end of a run. */
struct task_border {
	struct cvl_time time;
	struct cvl_bound bound;
	uint64_t place; /* number of its record in its stream */
};

/** Packets (or edges) that were within, and those too close to an end to tell. */
struct task_count {
	uint32_t sure, maybe;
};

struct task_run {
	uint32_t task;
	uint32_t stream;
	uint32_t clock;
	uint64_t id;    /* of its span, to tell it from others of its task; else 0 */
	uint32_t outer; /* of the same task, that was open when it began, or TASK_NONE */
	bool packets;   /* marked by packets: others of its own stream alone belong to it */
	bool finished;
	uint32_t gaps; /* that overlap it, where its marks or counts come from */
	struct task_border begin, end;
	int64_t bound;  /* of its duration, ns; CVL_BOUND_UNKNOWN */
	int64_t within; /* ns of runs directly within it */
	struct task_count count[TASK_WHATS];
	struct energy energy;
};

struct task {
	uint64_t number; /* as it was written; of a line or a span 0 */
	char *name;      /* of the line or span; NULL: it has a number */
	uint32_t clock;  /* on which it was marked */
	uint64_t runs;
	uint64_t unfinished; /* began, and no end was seen */
	uint64_t unbegun;    /* ended, and no begin was seen */
	uint32_t open;       /* run that began last and goes on, or TASK_NONE */
};

/** PC samples of a function while a task ran; task TASK_NONE: at any time. */
struct task_function {
	uint32_t task;
	char *name; /* "" where there is no symbol */
	uint64_t samples;
};

struct tasks {
	struct task *task;
	size_t n;
	struct task_run *run; /* finished ones, by their begin */
	size_t n_runs;
	struct task_function *function; /* by task, the most samples first */
	size_t n_functions;
	uint64_t packets[TASK_WHATS]; /* in the whole session */
	uint64_t samples;             /* of power */
	uint64_t lost_gaps;           /* that overlap no run */
};

/**
 * Read @tl from its start, twice. CVL_E_NO: no task is marked, or clocks whose order matters are not tied; CVL_E_LIMIT: more tasks or
 * runs than memory is spent on; CVL_E_UNKNOWN_ID: a line or channel that nobody has.
 */
int tasks_study(struct tasks *tasks, struct cvl_timeline *tl, const struct task_opts *opts,
		struct cvl_error *err);
void tasks_free(struct tasks *tasks);

#endif
