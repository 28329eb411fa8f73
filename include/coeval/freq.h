/* SPDX-License-Identifier: MIT */
/**
 * Which frequency a task should run at: tasks measured at every frequency of a device,
 * correlations, and how well rules choose: those of the thesis on task characterization (chapter
 * 10) and one learned from several counters at once.
 *
 * A rule is fitted to the measured energies of all tasks but one, so that it is judged by a task
 * that it has not seen (leave-one-out). Thresholds and frequencies minimise the sum over tasks of
 * energy at the chosen frequency over energy at the highest; linear rules are ridge regressions of
 * that ratio, and the estimate's alpha * C is the mean by equation 10.5.
 *
 * Correlations are Pearson's, of cycles and energies over those at the highest frequency; NaN where
 * something does not vary or was not measured. One thread at a time for each object.
 */
#ifndef COEVAL_FREQ_H
#define COEVAL_FREQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <coeval/api.h>
#include <coeval/error.h>
#include <coeval/out.h>

CVL_BEGIN_DECLS

/** A device's settings and the energy of a cycle there (examples/devices/). */
struct cvl_freq_device;

/**
 * From YAML or JSON. CVL_E_SYNTAX with the place of the error; CVL_E_LIMIT, CVL_E_IO, CVL_E_NOMEM.
 */
CVL_API int cvl_freq_device_load(struct cvl_freq_device **device, const char *path,
				 struct cvl_error *err);
CVL_API void cvl_freq_device_free(struct cvl_freq_device *device);

/** Measurements of tasks at each setting (docs/task.md). */
struct cvl_freq_table;

/**
 * From CSV. CVL_E_SYNTAX, CVL_E_RANGE, CVL_E_LIMIT with the offset of the bad line;
 * CVL_E_MISSING: no column of tasks, frequencies or cycles, or no line; CVL_E_IO, CVL_E_NOMEM.
 */
CVL_API int cvl_freq_table_load(struct cvl_freq_table **table, const char *path,
				struct cvl_error *err);
/** As CSV, so that cvl_freq_table_load() reads it back. */
CVL_API void cvl_freq_table_write(const struct cvl_freq_table *table, struct cvl_out *out);
CVL_API void cvl_freq_table_free(struct cvl_freq_table *table);

struct cvl_freq_opts {
	const char *policy; /* of voltage scaling; NULL: the device's first */
	bool adaption;      /* of wait states to the frequency */
	bool cache;         /* of the flash memory */
	/* second frequency at which rules know the cycles: the nearest is used; 0: the lowest */
	uint64_t other_hz;
	bool choices; /* also what the learned rule chooses for each task */
};

/** One frequency; the first is the highest. */
struct cvl_freq_point {
	uint32_t hz;
	size_t best_for;      /* tasks that take the least energy here */
	double cycles_energy; /* correlation of the two here (table 10.3) */
};

/**
 * A counter's share at the highest frequency with the cycles at the point where they correlate best
 * (table 10.5).
 */
struct cvl_freq_counter {
	const char *name;
	uint32_t point; /* 0: nowhere */
	double cycles;  /* the correlation */
};

#define CVL_FREQ_COUNTERS 8

enum cvl_freq_group { CVL_FREQ_ALL, CVL_FREQ_SAVING, CVL_FREQ_NOT_SAVING, CVL_FREQ_GROUPS };

/**
 * Cycles per instruction with the cycles at the lowest frequency (table 10.7); saving: tasks with
 * their least energy at a lower one.
 */
struct cvl_freq_correlation {
	size_t n; /* tasks */
	double cycles;
};

/** Chosen points, and the share of energy they save. */
struct cvl_freq_choice {
	const char *task;
	uint32_t best,
		/* chosen by the learned rule, not fitted to the task; 0 where it is undecided */
		chosen;
	double best_saves, chosen_saves;
};

/** A task without its energy at every frequency: points that rules choose, or -1. */
struct cvl_freq_guess {
	const char *task;
	int estimate, learned;
};

/**
 * Quality of choices. A choice is
 * - best: no other point takes less energy;
 * - best or better: best, or less energy than the highest frequency. So a task that could save and
 *   is left at the highest is neither;
 * - no worse: no more energy than at the highest frequency.
 * The thesis counts by the second for cycles an instruction, and by the third for saved cycles and
 * for the energy estimate.
 */
struct cvl_freq_score {
	size_t n, best, better, no_worse;
	size_t said;     /* tasks for which the rule decided */
	double saved;    /* mean over tasks of 1 - energy / energy at the highest frequency */
	double slower;   /* mean over tasks of time / time at the highest frequency - 1 */
	double could_be; /* saved by the best choices */
};

enum cvl_freq_how {
	CVL_FREQ_GIVEN,    /* a constant frequency, or a rule with the thesis's thresholds */
	CVL_FREQ_FITTED,   /* to the tasks it is judged by: optimistic */
	CVL_FREQ_LEFT_OUT, /* for each task to all others */
};

struct cvl_freq_rule {
	char name[32];
	enum cvl_freq_how how;
	unsigned passes; /* runs of a task to measure what it needs, one quantity at a time (6.4) */
	unsigned frequencies; /* at which: 0 to 2 */
	struct cvl_freq_score score;
};

#define CVL_FREQ_RULES 64
#define CVL_FREQ_FEATURES 9
#define CVL_FREQ_NONE SIZE_MAX

struct cvl_freq_result {
	size_t n, left_out; /* tasks */
	/* true energies: rules are judged by these, but fitted to measured ones */
	bool true_known;
	const struct cvl_freq_point *point;
	size_t n_points;
	const struct cvl_freq_guess *guess;
	size_t n_guesses;

	/* with at least two tasks: */
	double could_be; /* share of energy that the best choice for each task saves */
	struct cvl_freq_counter counter[CVL_FREQ_COUNTERS];
	struct cvl_freq_correlation per_instruction[CVL_FREQ_GROUPS];
	double static_w, device_static_w; /* power extrapolated to 0 Hz; as in the device file */
	double alpha_c, device_alpha_c;   /* F, mean by equation 10.5; as in the device file */
	const struct cvl_freq_choice *choice; /* with choices: of each task */
	struct cvl_freq_rule rule[CVL_FREQ_RULES];
	size_t n_rules;
	size_t learned;      /* the learned rule, left out; CVL_FREQ_NONE: none */
	size_t learned_from; /* tasks that have all its features */
	/*
	 * it saves more than every other rule, except linear ones and those fitted to the tasks
	 * they are judged by;
	 */
	bool won;
	size_t closest;                         /* the best of these */
	const char *unknown[CVL_FREQ_FEATURES]; /* features known of no task */
	size_t n_unknown;
	const char *unusable[CVL_FREQ_RULES]; /* rules that need them */
	size_t n_unusable;
};

/** Tasks of a device, and the results. */
struct cvl_freq;

/**
 * Unusable entries are reported to @report and dropped: lines at a frequency that the device does
 * not have (none within 3 %), tasks that lack a frequency, its cycles or its energy. @device and
 * @table must outlive it. CVL_E_SYNTAX: a task was measured twice at one setting; CVL_E_MISSING:
 * unknown policy, or fewer than two tasks are left and none that rules may choose for; CVL_E_USAGE:
 * no frequency below the highest is near @opts->other_hz; CVL_E_LIMIT: more than 1000 tasks;
 * CVL_E_NOMEM.
 */
CVL_API int cvl_freq_open(struct cvl_freq **freq, const struct cvl_freq_device *device,
			  const struct cvl_freq_table *table, const struct cvl_freq_opts *opts,
			  const struct cvl_report *report, struct cvl_error *err);
CVL_API const struct cvl_freq_result *cvl_freq_result(const struct cvl_freq *freq);
CVL_API void cvl_freq_close(struct cvl_freq *freq);

/**
 * The learned rule, fitted to all tasks that have its features, as C for the target
 * (firmware/lib/swotrace/rules.h). CVL_E_MISSING: fewer than two such tasks; nothing is written
 * then.
 */
CVL_API int cvl_freq_write_model(const struct cvl_freq *freq, struct cvl_out *out,
				 struct cvl_error *err);

/**
 * Several sets of tasks: sums of scores, and how often the learned rule saved more. Begin with all
 * zeros.
 */
struct cvl_freq_tally {
	size_t sets, won;
	double could_be;
	struct {
		double saved, square, best, better, no_worse, slower; /* shares, 0 to 1 */
		size_t beaten; /* sets in which the learned rule saved more than this one */
	} rule[CVL_FREQ_RULES];
};

/** @result of the same device and options as those before. */
CVL_API void cvl_freq_tally_add(struct cvl_freq_tally *tally, const struct cvl_freq_result *result);

CVL_END_DECLS

#endif
