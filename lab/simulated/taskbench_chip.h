/* SPDX-License-Identifier: MIT */
/**
 * The target's shell (firmware/apps/taskbench) on a simulated chip: an STM32L476 as described in
 * the thesis, with a table of the workloads' costs. Simulated work takes simulated time only; a
 * part of it is executed, so that the workloads' results are real.
 */
#ifndef SIM_TASKBENCH_CHIP_H
#define SIM_TASKBENCH_CHIP_H

#include "core/random.h"
#include "lab/simulated/instruments.h"
#include "taskbench/shell.h"

struct sim_chip {
	struct bench_shell shell;
	struct bench_hal hal;
	struct sim_random random;
	uint64_t us; /* simulated time */
	struct bench_setting setting;
	struct bench_trace trace;
	double counted[BENCH_RANGES]; /* of the last work, in the order of enum bench_counter */
	double ram, flash, peripheral;
	struct sim_measured measured; /* of the last work that was framed by line 0 */
	unsigned works;               /* how many so far */
	unsigned outlier_every;       /* every so many works takes a fifth longer; 0: none */
	/* bytes received and not taken, and sent and not fetched */
	const uint8_t *in;
	size_t in_left;
	char *out;
	size_t out_n, out_capacity;
};

void sim_chip_init(struct sim_chip *c, uint64_t seed, unsigned outlier_every);

/**
 * Take in @n bytes. The shell's output is appended to c->out, from which the caller takes by
 * setting c->out_n to 0.
 */
void sim_chip_feed(struct sim_chip *c, const uint8_t *bytes, size_t n);

void sim_chip_free(struct sim_chip *c);

#endif
