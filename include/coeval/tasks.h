/* SPDX-License-Identifier: MIT */
/**
 * What the tasks of traced programs cost: time, cycles, instructions, accesses and energy, each
 * within a bound.
 *
 * A run of a task lasts from its begin to its end on the timeline: writes to two stimulus ports, a
 * line that is high or low while it runs, or a span. Of a task of a real-time kernel (events of
 * firmware/rtos) a run is from one switch to the next, and its interrupts count as tasks. Records on
 * the stream of the marks are before or after a mark by their order; on others by their time, and
 * what is too close to decide counts as half, with a bound that includes it. Counts are of the whole
 * run, including tasks that ran within it.
 *
 * A counter's packet says that it has wrapped: 256 counts. The remainder in the counter at the
 * begin and at the end is between 0 and 255, so n packets within a run mean 256 n counts to within
 * one packet. Summed over n runs that is n packets (proven). If all remainders at a begin are
 * equally likely, unless tasks run in step with the counter, a run that counts c gives c / 256
 * packets on average, rounded up or down: the sum is then within 1.95 sqrt(n) packets 99.9 % of the
 * time (Hoeffding 1963), which is used from 4 runs on.
 *
 * Runs are known only when all records were seen: what may have happened during them is kept until
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
/** Default stimulus ports that mark tasks. */
#define CVL_TASK_PORT_BEGIN 30
#define CVL_TASK_PORT_END 31

/** What is counted: six counters of the DWT, then accesses by region. */
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

/** "cyc", "lsu", "flash" ..., and back: CVL_TASK_WHATS if unknown. */
CVL_API const char *cvl_task_what_name(enum cvl_task_what what);
CVL_API enum cvl_task_what cvl_task_what_find(const char *name);

/** All zeros: the defaults. */
struct cvl_tasks_opts {
	uint64_t port_begin, port_end; /* both 0: CVL_TASK_PORT_BEGIN and CVL_TASK_PORT_END */
	/**
	 * Lines that are high, or low, while a task runs. Resolved here, must outlive the analysis;
	 * duplicates count once.
	 */
	struct cvl_selector *pin;
	size_t n_pins;
	/**
	 * What each comparator watches: CVL_TASK_FLASH, CVL_TASK_RAM or CVL_TASK_PERIPHERAL, else
	 * it is not counted.
	 */
	uint8_t region[CVL_TASK_COMPARATORS];
	/* line with only packets of `counting`, counted by its edges, or NULL; as pin */
	struct cvl_selector *edges;
	enum cvl_task_what counting;
	const char *power; /* channel, or NULL */
	double watts;      /* per unit of the channel */
	bool functions;
	/*
	 * packets come out at most delay_ns after their cause; else at most two distinct packet
	 * times late
	 */
	bool has_delay;
	int64_t delay_ns;

	/* conversion of counts to figures */
	uint64_t cycles_per_packet; /* of CYC: 64 or 1024 times (POSTPRESET + 1); 0: 1024 */
	double cpu_hz;              /* cycles are duration times this; 0: they are counted */
	/* bit per enum cvl_task_what: counted, even without any packet */
	uint32_t enabled;
	double tracing_w;         /* power of tracing itself, subtracted from the energy */
	double cycles_per_access; /* of RAM, in the combined counter; 0: 1 */
};

/** One end of a run. */
struct cvl_task_border {
	struct cvl_time time;
	struct cvl_bound bound;
	uint64_t place; /* number of its record in its stream */
};

/** Packets (or edges) within, and those too close to an end to decide. */
struct cvl_task_count {
	uint32_t sure, maybe;
};

struct cvl_task_run {
	uint32_t task;
	uint32_t stream;
	uint32_t clock;
	uint64_t id;    /* of its span, to distinguish runs of its task; else 0 */
	uint32_t outer; /* run of the same task that was open when it began, or CVL_TASK_NONE */
	bool packets;   /* marked by packets: only others of its own stream belong to it */
	bool finished;
	uint32_t gaps; /* overlapping it, in the streams of its marks or counts */
	struct cvl_task_border begin, end;
	int64_t bound;  /* of its duration, ns; CVL_BOUND_UNKNOWN */
	int64_t within; /* ns of runs directly within it */
	struct cvl_task_count count[CVL_TASK_WHATS];
	struct cvl_energy energy;
};

/** The sum of some runs. Begin with all zeros. */
struct cvl_task_sum {
	uint64_t runs, lost; /* lost: runs that a gap overlaps */
	uint64_t timed;      /* runs whose ends are known to within a bound; of these: */
	double ns, self_ns, bound_ns, least_ns, most_ns;
	uint64_t sure[CVL_TASK_WHATS], maybe[CVL_TASK_WHATS];
	uint64_t sampled; /* runs with a sample of power within, of these: */
	double sampled_ns, sampled_bound_ns;
	struct cvl_energy_sum energy;
};

struct cvl_task {
	uint64_t number; /* as written; 0 for a line, span or interrupt */
	char *name; /* of the line or span; NULL if numbered. Of a kernel's task: its name, if known */
	bool kernel;    /* a task of a real-time kernel */
	bool interrupt; /* one of a real-time kernel's */
	bool over;      /* another of the kernel's tasks has its number now */
	bool begun;     /* a run was seen to begin */
	uint32_t clock; /* that marks it */
	uint64_t runs;
	uint64_t unfinished;       /* began; no end was seen */
	uint64_t unbegun;          /* ended; no begin was seen */
	uint32_t open;             /* latest run still open, or CVL_TASK_NONE */
	struct cvl_task_sum sum;   /* of all its runs */
	struct cvl_task_sum whole; /* of those without gaps and with known times */
};

/** PC samples of a function while a task ran; task CVL_TASK_NONE: at any time. */
struct cvl_task_function {
	uint32_t task;
	char *name; /* "" without a symbol */
	uint64_t samples;
	double share, low,
		high; /* of all of that task, and its interval: 99.9 %, Clopper and Pearson 1934 */
};

struct cvl_tasks_result {
	struct cvl_tasks_opts opts; /* with defaults filled in */
	struct cvl_task *task;
	size_t n;
	struct cvl_task_run *run; /* finished ones, by their begin */
	size_t n_runs;
	struct cvl_task_function *function; /* by task, the most samples first */
	size_t n_functions;
	uint64_t packets[CVL_TASK_WHATS]; /* in the whole session */
	/* bit per enum cvl_task_what: it had packets, or is enabled */
	uint32_t measured;
	uint64_t samples;   /* of power */
	uint64_t lost_gaps; /* overlapping no run */
};

/**
 * @opts is copied, its strings and selectors are not. CVL_E_UNKNOWN_ID: an unknown line or channel;
 *       CVL_E_USAGE. Later CVL_E_NO: no task is marked, or clocks whose order matters are not tied;
 *       CVL_E_LIMIT: too many tasks or runs; CVL_E_IO, CVL_E_FULL: the temporary file.
 */
CVL_API int cvl_tasks_open(struct cvl_analysis **a, struct cvl_timeline *tl,
			   const struct cvl_tasks_opts *opts, struct cvl_error *err);

/** Of an analysis that cvl_tasks_open() made, once it has ended. */
CVL_API const struct cvl_tasks_result *cvl_tasks_result(const struct cvl_analysis *a);

/* ---- figures ---- */

struct cvl_task_figure {
	bool known;
	bool at_least; /* something was lost: the true value may exceed `high` */
	double value, low, high;
};

struct cvl_task_figures {
	struct cvl_task_figure seconds, cycles, instructions, cycles_per_instruction;
	struct cvl_task_figure count[CVL_TASK_WHATS]; /* cycles, instructions or accesses */
	struct cvl_task_figure share[CVL_TASK_WHATS]; /* of the cycles; accesses per cycle */
	/**
	 * Counters combined: (LSU - RAM * cycles_per_access) / cycles: thesis on task
	 * characterization, equation 10.1
	 */
	struct cvl_task_figure combined;
	struct cvl_task_figure joule, watt;
	bool statistical; /* bounds of counts hold 99.9 % of the time */
};

/** Add a run. */
CVL_API void cvl_task_sum_add(struct cvl_task_sum *sum, const struct cvl_task_run *run);

/** Figures of a sum of runs of @r: totals, not means. */
CVL_API void cvl_task_figures(const struct cvl_tasks_result *r, const struct cvl_task_sum *sum,
			      struct cvl_task_figures *out);

/** The same for one run. */
CVL_API void cvl_task_run_figures(const struct cvl_tasks_result *r, const struct cvl_task_run *run,
				  struct cvl_task_figures *out);

/**
 * Means over the runs of task number @task; false if none ended. Packet counts are of the runs
 * without gaps, if there are any.
 */
CVL_API bool cvl_task_mean(const struct cvl_tasks_result *r, size_t task,
			   struct cvl_task_figures *out);

/** Half of the interval's width. */
CVL_API double cvl_task_half(const struct cvl_task_figure *f);

CVL_END_DECLS

#endif
