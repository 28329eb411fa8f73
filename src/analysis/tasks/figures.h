/* SPDX-License-Identifier: MIT */
/**
 * Figures of tasks from what was counted during their runs, each an interval.
 *
 * A packet of a counter says that it has wrapped: 256 counts. What was left in the counter at the begin, and what is
 * left at the end, is between 0 and 255, so that n packets within a run mean 256 n counts to within one packet. Summed over
 * n runs that is n packets (proven). Where the remainder at a begin is as likely to be any as any other, unless tasks run in step with
 * the counter, a run that counts c gives c / 256 packets on the average, rounded up or down: the sum is then within
 * 1.95 sqrt(n) packets 99.9 % of the time (Hoeffding 1963), which is taken from 4 runs on.
 */
#ifndef ANALYSIS_TASKS_FIGURES_H
#define ANALYSIS_TASKS_FIGURES_H

#include "analysis/tasks/tasks.h"

struct task_figure {
	bool known;
	bool at_least; /* something was lost: the true one may be greater than `high` */
	double value, low, high;
};

struct task_scale {
	uint64_t cycles_per_packet; /* of CYC: 64 or 1024 times (POSTPRESET + 1) */
	double cpu_hz;              /* cycles are duration times it; 0: they are counted */
	uint32_t enabled; /* bit per enum task_what: counted, though there may be no packet of it */
	double tracing_w; /* what tracing itself takes, off the energy */
	double cycles_per_access; /* of RAM, in the combined counter */
	bool edges;
	enum task_what counting; /* is counted in edges */
};

/** One run, or the sum of some. Begin with {0}. */
struct task_sum {
	uint64_t runs, lost; /* lost: runs that a gap overlaps */
	uint64_t timed;      /* runs whose ends are known to within a bound, of which are: */
	double ns, self_ns, bound_ns, least_ns, most_ns;
	uint64_t sure[TASK_WHATS], maybe[TASK_WHATS];
	uint64_t sampled; /* runs with a sample of power within, of which are: */
	double sampled_ns, sampled_bound_ns;
	struct energy_sum energy;
};

struct task_figures {
	struct task_figure seconds, cycles, instructions, cycles_per_instruction;
	struct task_figure count[TASK_WHATS]; /* cycles, instructions or accesses */
	struct task_figure share[TASK_WHATS]; /* of the cycles; accesses a cycle */
	struct task_figure combined; /* thesis, equation 10.1: (LSU - RAM * CPA) / cycles */
	struct task_figure joule, watt;
	bool statistical; /* bounds of counts are of 99.9 % */
};

void task_sum_add(struct task_sum *sum, const struct task_run *run);

/** @seen: packets of each in the session; what has none, and is not enabled, was not measured. */
void task_figure(const struct task_sum *sum, const struct task_scale *scale,
		 const uint64_t seen[TASK_WHATS], struct task_figures *out);

/** The middle of the interval stands for it: half of its width. */
double task_half(const struct task_figure *f);

#endif
