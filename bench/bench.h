/* SPDX-License-Identifier: MIT */
/**
 * Harness of the benchmarks: rows that compare ours with a reference measured in the same run.
 *
 * What is timed is CPU time (user and system), taken several times, ours and the reference in
 * turns, so that a busy machine disturbs both alike. The ratio is of the best of each; the medians
 * are printed beside it.
 *
 * Functions return 0 or a negative enum cvl_code, after printing the error on standard error.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#define BENCH_PATH_MAX 4096
#define BENCH_RUNS_MAX 16

struct bench {
	const char *group;
	char dir[BENCH_PATH_MAX];    /* for files; removed at the end */
	char coeval[BENCH_PATH_MAX]; /* the command */
	const char *worlds;          /* directory of the simulated worlds */
	bool json;
	bool progress; /* standard error is a terminal */
};

/** A group of rows. main.c has the table of them. */
struct bench_group {
	const char *name;
	const char *what;
	int (*run)(const struct bench *b);
	bool only_alone; /* it takes long: only on request */
};

extern const struct bench_group bench_core, bench_clocks, bench_papers, bench_grace, bench_swo,
	bench_check, bench_tracelab, bench_calls, bench_tracer, bench_ett, bench_long, bench_truth,
	bench_live, bench_view, bench_collect, bench_doors;

/* ---- rows ---- */

/** What was measured, run by run, in the unit of the row. */
struct bench_series {
	double v[BENCH_RUNS_MAX];
	size_t n;
};

struct bench_row {
	const char *name;
	const char *unit;
	bool less_is_better; /* of values; in ratios more is always better */
	double goal;         /* the required ratio */
	struct bench_series ours, reference;
	char skip[200]; /* why there is no reference, or "" */
};

void bench_add(struct bench_series *s, double v);
double bench_best(const struct bench_series *s, bool less_is_better);
double bench_median(const struct bench_series *s);

/** Print headings, if the table has any. */
void bench_heads(const struct bench *b);
void bench_put(const struct bench *b, const struct bench_row *row);

/**
 * A quantity with a goal of its own, measured for each seed of a simulated world, or several times.
 */
struct bench_figure {
	const char *name;
	const char *unit;
	bool less_is_better;
	double goal;
	bool real;                    /* measured on this machine; otherwise simulated */
	bool every;                   /* seed has to meet the goal, not the median alone */
	struct bench_series measured; /* of each seed */
	char note[200];               /* or "" */
};

void bench_figure_heads(const struct bench *b);

/**
 * Print the median (of figures with @every: the worst) and every seed's, and by how much the goal
 * is missed.
 */
void bench_figure_put(const struct bench *b, const struct bench_figure *f);

/** Show progress on a terminal. */
void bench_doing(const struct bench *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void bench_done(const struct bench *b);

/** Print the error and return @code. */
int bench_fail(const struct bench *b, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* ---- measuring ---- */

/** CPU time of this process so far, in seconds. */
double bench_cpu(void);

/**
 * CPU time, in seconds, in which the fastest of several loops reads @n bytes once: the machine's
 * limit for all that looks at each. @bytes is aligned to 64, @n a multiple of 512.
 */
double bench_read_s(const uint8_t *bytes, size_t n);

/** Whether the user wants to stop. */
bool bench_stopped(void);

/** @name in the directory for files. Aborts if that does not fit. */
void bench_path(const struct bench *b, char out[BENCH_PATH_MAX], const char *name);

/** Delete the tree @path, if there is one. */
void bench_remove(const char *path);

/** Whether @program can be found; if not, says so in @row->skip. */
bool bench_installed(struct bench_row *row, const char *program);

/** A program to run. */
struct bench_command {
	const char *const *argv;
	const char *fresh;  /* removed before each run, or NULL */
	const char *output; /* file for its output, or NULL: thrown away */
	/* name of the file for what it says on standard error; NULL: "messages" */
	const char *messages;
	int *status; /* gets its exit status, which then is not an error; or NULL */
};

/** Resources that a program used. */
struct bench_usage {
	bool watch_memory;
	double cpu_s;
	/* if it was watched: */
	double anon_mib;     /* peak of its anonymous memory */
	double resident_mib; /* peak of all of it, files that it maps too */
	double threads;      /* the most that were seen */
};

/** Start @c. Whoever calls waits for it. */
int bench_start(const struct bench *b, const struct bench_command *c, pid_t *pid);

/** Show the first lines of what a program said, in file @messages of its command. */
void bench_show_messages(const struct bench *b, const char *messages);

/** Peaks of process @pid so far, into the watched members of @u. */
void bench_watch(pid_t pid, struct bench_usage *u);

/** CPU time of those that @used counts, in seconds. */
double bench_seconds(const struct rusage *used);

/** Run @c to its end. */
int bench_run(const struct bench *b, const struct bench_command *c, struct bench_usage *u);

/** If a run takes longer than this, only one is made. */
#define BENCH_LONG_S 60

/**
 * Run @ours and @reference in turns, @runs times, and print @row in seconds. Without a reference
 * (see bench_installed()) only ours runs.
 */
int bench_compare(const struct bench *b, struct bench_row *row, size_t runs,
		  const struct bench_command *ours, const struct bench_command *reference);

#endif
