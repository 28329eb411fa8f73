/* SPDX-License-Identifier: MIT */
/**
 * What the task bench needs of a board. A function that a board has not is NULL, and the shell says
 * so.
 */
#ifndef COEVAL_TASKBENCH_HAL_H
#define COEVAL_TASKBENCH_HAL_H

#include <stdint.h>

#include "workloads/workload.h"

/** What a processor is set to. Policies as in thesis section 8.4.1. */
enum bench_policy {
	BENCH_FAST_FLASH,  /* a lower frequency first saves wait states of the flash */
	BENCH_LOW_VOLTAGE, /* a lower frequency first saves voltage */
};

struct bench_setting {
	uint32_t hz;
	enum bench_policy policy;
	int adaption; /* wait states follow the frequency; else those of the highest one stay */
	int cache;    /* the flash's cache is on */
};

/**
 * What one trace counts: packets of one kind, since a counter of edges cannot tell kinds apart
 * (thesis table 6.2).
 */
enum bench_counter {
	BENCH_CYCLES,
	BENCH_CPI,
	BENCH_EXC,
	BENCH_SLEEP,
	BENCH_LSU,
	BENCH_FOLD,
	BENCH_RANGES, /* data accesses to ranges of addresses */
	BENCH_COUNTERS
};

#define BENCH_MAX_RANGES 4

/** Addresses @from to @to, both included. */
struct bench_range {
	uint32_t from, to;
};

struct bench_trace {
	enum bench_counter counter;
	unsigned n_ranges;
	struct bench_range range[BENCH_MAX_RANGES];
	/* from 0: ranges that take more comparators than there are, take several traces */
	uint32_t pass;
};

/** What a trace gave. */
struct bench_counted {
	uint64_t edges;  /* as counted by the timer, 0 where counts come by another way */
	uint64_t count;  /* cycles or accesses */
	uint32_t passes; /* traces that all ranges take */
};

/** Results of the functions below that can fail. */
enum bench_status {
	BENCH_OK = 0,
	BENCH_CANNOT = -1, /* this board has not what it takes */
	BENCH_FAILED = -2, /* it has, but it did not work */
};

struct bench_hal {
	void *ctx; /* the first argument of all */

	/** The next byte received. Returns 1, or 0 if there is none. */
	int (*get)(void *ctx, uint8_t *byte);
	/** Send @n bytes; waits until all are queued. */
	void (*put)(void *ctx, const char *bytes, unsigned n);

	/** Microseconds since some instant. Independent of the processor's settings. */
	uint64_t (*now_us)(void *ctx);

	/**
	 * Level of trigger line @line: 0 frames the work, 1 is raised at its end (for delays
	 * between two lines).
	 */
	void (*trigger)(void *ctx, unsigned line, int high);

	/**
	 * Set the processor; @s becomes the actual settings, such as the nearest frequency. enum
	 * bench_status.
	 */
	int (*set)(void *ctx, struct bench_setting *s);

	/** Begin and end a trace. enum bench_status. */
	int (*trace_start)(void *ctx, const struct bench_trace *t);
	int (*trace_stop)(void *ctx, struct bench_counted *c);

	/** Reboot. Does not return on a real board. */
	void (*reboot)(void *ctx);

	/** How workloads are run, for a simulated board; NULL: by calling them. */
	int (*run)(void *ctx, const struct workload *w, uint32_t iterations, uint32_t arg);

	const struct workload_io *io;            /* for the workloads, or NULL */
	const struct workload *const *workloads; /* lists, ended by NULL */
	const char *board;                       /* its name, without blanks */
};

#endif
