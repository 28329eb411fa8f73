/* SPDX-License-Identifier: MIT */
/**
 * Tasks measured at every frequency of a device, and scores of frequency choices on them.
 */
#ifndef TASK_FREQ_H
#define TASK_FREQ_H

#include <coeval/error.h>
#include <coeval/freq.h>

#include "analysis/freq/device.h"
#include "analysis/freq/table.h"

/** Which lines of a table: those at one setting. */
struct freq_slice {
	const char *policy; /* NULL: the device's first */
	bool adaption, cache;
};

/** A task measured at every point. */
struct freq_case {
	const char *name;     /* of the table */
	struct swo_task task; /* at point 0 */
	uint64_t cycles[DEVICE_POINTS];
	double energy[DEVICE_POINTS]; /* measured, J: rules are fitted to this */
	/* rules are judged by this: the true energy if known, else the measured one */
	double truth[DEVICE_POINTS];
};

struct freq_set {
	struct swo_point point[DEVICE_POINTS]; /* with the wait states of the slice */
	uint32_t n_points;
	double alpha_c;      /* of the device, F */
	uint32_t other;      /* the second point at which rules may know the cycles */
	struct freq_case *c; /* by name */
	size_t n;
	size_t left_out; /* tasks */
	/*
	 * those whose cycles are known at point 0, so rules may choose for them; 0: unknown cycles
	 */
	struct freq_case *more;
	size_t n_more;
	bool true_known; /* of every task */
};

/**
 * Take the tasks of @table at @slice. Unusable entries are reported to @report and dropped: lines
 * at a frequency that the device does not have (none within 3 %), tasks that lack a frequency, its
 * cycles or its energy. CVL_E_SYNTAX: a task was measured twice at one setting; CVL_E_MISSING:
 * unknown policy, or fewer than two tasks are left and none that rules may choose for; CVL_E_NOMEM.
 * The table must outlive the set.
 */
int freq_set_make(struct freq_set *set, const struct task_table *table, const struct device *device,
		  const struct freq_slice *slice, const struct cvl_report *report,
		  struct cvl_error *err);
void freq_set_free(struct freq_set *set);

/** For the rules; points into @set. */
struct swo_device freq_device(const struct freq_set *set);

/** Point with the least true energy; on a tie the higher frequency. */
uint32_t freq_best(const struct freq_set *set, const struct freq_case *c);

void freq_score_add(struct cvl_freq_score *s, const struct freq_set *set, const struct freq_case *c,
		    int point);
/** Call after the last one: sums become means. */
void freq_score_end(struct cvl_freq_score *s);

/* ---- correlations (10.4.3, 10.4.5, 10.4.6) ---- */

/** Pearson's correlation of @n pairs; NaN if one side does not vary. */
double freq_pearson(const double *x, const double *y, size_t n);

/** Of cycles at @p over those at point 0, with energy likewise (table 10.3). */
double freq_cycles_energy(const struct freq_set *set, uint32_t p);
/** Of a counter's share at point 0 with the cycles at @p over those at point 0 (table 10.5). */
double freq_counter_cycles(const struct freq_set *set, enum swo_feature f, uint32_t p);

enum freq_group { FREQ_ALL, FREQ_SAVING, FREQ_NOT_SAVING };
/**
 * Of cycles an instruction at point 0 with cycles as above (table 10.7); saving: those of the least
 * energy at a lower frequency.
 */
double freq_cpi_cycles(const struct freq_set *set, enum freq_group group, uint32_t p, size_t *n);

/* ---- constants from measurements (10.4.7) ---- */

/**
 * Power at 0 Hz by a straight line through mean powers at points of the voltage of point 0, W; NaN
 * with fewer than two.
 */
double freq_static_w(const struct freq_set *set);
/**
 * Mean of alpha * C over tasks and points by equation 10.5, F, with the device's static powers,
 * without task @skip.
 */
double freq_alpha_c(const struct freq_set *set, size_t skip);

/* ---- internals of the public types, for the task simulator ---- */

const struct device *freq_device_of(const struct cvl_freq_device *device);
/** Empty; @name must outlive it. NULL: out of memory. */
struct cvl_freq_table *freq_table_new(const char *name);
struct task_table *freq_table_of(struct cvl_freq_table *table);

#endif
