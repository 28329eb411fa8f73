/* SPDX-License-Identifier: MIT */
/**
 * What the tasks of traced programs cost: time, cycles, instructions, accesses and energy, each
 * within a bound.
 *
 * A run of a task lasts from its begin to its end as the timeline shows them: writes to two
 * stimulus ports, a line that is high or low while it runs, or a span. What happened on the stream
 * of the marks is before or after a mark as it is there; on others it is so by its time, and what
 * lies too close to tell is counted as half, with a bound that says so. Counts are of the whole
 * run, with tasks that ran within it.
 *
 * A packet of a counter says that it has wrapped: 256 counts. What was left in the counter at the
 * begin, and what is left at the end, is between 0 and 255, so that n packets within a run mean 256
 * n counts to within one packet. Summed over n runs that is n packets (proven). Where the remainder
 * at a begin is as likely to be any as any other, unless tasks run in step with the counter, a run
 * that counts c gives c / 256 packets on the average, rounded up or down: the sum is then within
 * 1.95 sqrt(n) packets 99.9 % of the time (Hoeffding 1963), which is taken from 4 runs on.
 *
 * When runs are is known only when all were seen: what may have happened during them is kept till
 * then, in memory and, beyond some megabytes, in a temporary file.
 */
#ifndef COEVAL_TASKS_H
#define COEVAL_TASKS_H

#include <coeval/analysis.h>
#include <coeval/api.h>
#include <coeval/power.h>
#include <coeval/select.h>

CVL_BEGIN_DECLS

#define CVL_TASK_PINS_MAX 16
#define CVL_TASK_COMPARATORS 16
#define CVL_TASK_NONE UINT32_MAX
/** Stimulus ports that tasks are marked by, unless others are named. */
#define CVL_TASK_PORT_BEGIN 30
#define CVL_TASK_PORT_END 31

/** What is counted: six counters of the DWT, then accesses by where they go. */
enum cvl_task_what {
	CVL_TASK_CYC,
	CVL_TASK_CPI,
	CVL_TASK_EXC,
	CVL_TASK_SLEEP,
	CVL_TASK_LSU,
	CVL_TASK_FOLD,
	CVL_TASK_FLASH,
	CVL_TASK_RAM,
	CVL_TASK_PERIPHERAL,
	CVL_TASK_WHATS
};

/** "cyc", "lsu", "flash" ..., and back: CVL_TASK_WHATS if there is none of that name. */
CVL_API const char *cvl_task_what_name(enum cvl_task_what what);
CVL_API enum cvl_task_what cvl_task_what_find(const char *name);

/** All zeros is usual. */
struct cvl_tasks_opts {
	uint64_t port_begin, port_end; /* both 0: CVL_TASK_PORT_BEGIN and CVL_TASK_PORT_END */
	/**
	 * Lines that are high, or low, while a task runs. They are resolved here, and outlive the
	 * analysis; what means the same line is one.
	 */
	struct cvl_selector *pin;
	size_t n_pins;
	/**
	 * What each comparator watches: CVL_TASK_FLASH, CVL_TASK_RAM or CVL_TASK_PERIPHERAL, else
	 * nothing that is counted.
	 */
	uint8_t region[CVL_TASK_COMPARATORS];
	/* line with packets of `counting` alone, which are counted by its edges, or NULL; as pin */
	struct cvl_selector *edges;
	enum cvl_task_what counting;
	const char *power; /* channel, or NULL */
	double watts;      /* that one unit of the channel is */
	bool functions;
	/*
	 * packets come out at most delay_ns after what they tell of; else at most as late as the
	 * last two times that some did
	 */
	bool has_delay;
	int64_t delay_ns;

	/* how counts become figures */
	uint64_t cycles_per_packet; /* of CYC: 64 or 1024 times (POSTPRESET + 1); 0: 1024 */
	double cpu_hz;              /* cycles are duration times it; 0: they are counted */
	/* bit per enum cvl_task_what: counted, though there may be no packet of it */
	uint32_t enabled;
	double tracing_w;         /* what tracing itself takes, off the energy */
	double cycles_per_access; /* of RAM, in the combined counter; 0: 1 */
};

/** One end of a run. */
struct cvl_task_border {
	struct cvl_time time;
	struct cvl_bound bound;
	uint64_t place; /* number of its record in its stream */
};

/** Packets (or edges) that were within, and those too close to an end to tell. */
struct cvl_task_count {
	uint32_t sure, maybe;
};

struct cvl_task_run {
	uint32_t task;
	uint32_t stream;
	uint32_t clock;
	uint64_t id;    /* of its span, to tell it from others of its task; else 0 */
	uint32_t outer; /* of the same task, that was open when it began, or CVL_TASK_NONE */
	bool packets;   /* marked by packets: others of its own stream alone belong to it */
	bool finished;
	uint32_t gaps; /* that overlap it, where its marks or counts come from */
	struct cvl_task_border begin, end;
	int64_t bound;  /* of its duration, ns; CVL_BOUND_UNKNOWN */
	int64_t within; /* ns of runs directly within it */
	struct cvl_task_count count[CVL_TASK_WHATS];
	struct cvl_energy energy;
};

/** The sum of some runs. Begin with all zeros. */
struct cvl_task_sum {
	uint64_t runs, lost; /* lost: runs that a gap overlaps */
	uint64_t timed;      /* runs whose ends are known to within a bound, of which are: */
	double ns, self_ns, bound_ns, least_ns, most_ns;
	uint64_t sure[CVL_TASK_WHATS], maybe[CVL_TASK_WHATS];
	uint64_t sampled; /* runs with a sample of power within, of which are: */
	double sampled_ns, sampled_bound_ns;
	struct cvl_energy_sum energy;
};

struct cvl_task {
	uint64_t number; /* as it was written; of a line or a span 0 */
	char *name;      /* of the line or span; NULL: it has a number */
	uint32_t clock;  /* on which it was marked */
	uint64_t runs;
	uint64_t unfinished;       /* began, and no end was seen */
	uint64_t unbegun;          /* ended, and no begin was seen */
	uint32_t open;             /* run that began last and goes on, or CVL_TASK_NONE */
	struct cvl_task_sum sum;   /* of all its runs */
	struct cvl_task_sum whole; /* of those that no gap overlaps, at times that are known */
};

/** PC samples of a function while a task ran; task CVL_TASK_NONE: at any time. */
struct cvl_task_function {
	uint32_t task;
	char *name; /* "" where there is no symbol */
	uint64_t samples;
	double share, low,
		high; /* of all of that task, and its interval: 99.9 %, Clopper and Pearson 1934 */
};

struct cvl_tasks_result {
	struct cvl_tasks_opts opts; /* with the defaults filled in */
	struct cvl_task *task;
	size_t n;
	struct cvl_task_run *run; /* finished ones, by their begin */
	size_t n_runs;
	struct cvl_task_function *function; /* by task, the most samples first */
	size_t n_functions;
	uint64_t packets[CVL_TASK_WHATS]; /* in the whole session */
	/* bit per enum cvl_task_what: there were packets of it, or it is enabled */
	uint32_t measured;
	uint64_t samples;   /* of power */
	uint64_t lost_gaps; /* that overlap no run */
};

/**
 * @opts is copied, its strings and selectors are not. CVL_E_UNKNOWN_ID: a line or channel that
 *       there is not; CVL_E_USAGE. Later CVL_E_NO: no task is marked, or clocks whose order matters
 *       are not tied; CVL_E_LIMIT: more tasks or runs than memory is spent on; CVL_E_IO,
 *       CVL_E_FULL: the temporary file.
 */
CVL_API int cvl_tasks_open(struct cvl_analysis **a, struct cvl_timeline *tl,
			   const struct cvl_tasks_opts *opts, struct cvl_error *err);

/** Of an analysis that cvl_tasks_open() made, when it has ended. */
CVL_API const struct cvl_tasks_result *cvl_tasks_result(const struct cvl_analysis *a);

/* ---- figures ---- */

struct cvl_task_figure {
	bool known;
	bool at_least; /* something was lost: the true one may be greater than `high` */
	double value, low, high;
};

struct cvl_task_figures {
	struct cvl_task_figure seconds, cycles, instructions, cycles_per_instruction;
	struct cvl_task_figure count[CVL_TASK_WHATS]; /* cycles, instructions or accesses */
	struct cvl_task_figure share[CVL_TASK_WHATS]; /* of the cycles; accesses a cycle */
	/**
	 * Counters combined: (LSU - RAM * cycles_per_access) / cycles: thesis on task
	 * characterization, equation 10.1
	 */
	struct cvl_task_figure combined;
	struct cvl_task_figure joule, watt;
	bool statistical; /* bounds of counts are of 99.9 % */
};

/** Take in one more. */
CVL_API void cvl_task_sum_add(struct cvl_task_sum *sum, const struct cvl_task_run *run);

/** What a sum of runs of @r comes to: all of it, not the mean. */
CVL_API void cvl_task_figures(const struct cvl_tasks_result *r, const struct cvl_task_sum *sum,
			      struct cvl_task_figures *out);

/** The same of one run. */
CVL_API void cvl_task_run_figures(const struct cvl_tasks_result *r, const struct cvl_task_run *run,
				  struct cvl_task_figures *out);

/**
 * Means over the runs of task number @task; false if none ended. What is counted by packets is of
 * the runs that no gap overlaps, as long as there is one.
 */
CVL_API bool cvl_task_mean(const struct cvl_tasks_result *r, size_t task,
			   struct cvl_task_figures *out);

/** The middle of the interval stands for it: half of its width. */
CVL_API double cvl_task_half(const struct cvl_task_figure *f);

CVL_END_DECLS

#endif
