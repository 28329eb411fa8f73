/* SPDX-License-Identifier: MIT */
/**
 * Simulated instruments: a digitising multimeter and an oscilloscope, with the commands that
 * examples/taskbench uses. Lines of SCPI in, answers out; the caller supplies what they measure.
 * Pure.
 */
#ifndef SIM_INSTRUMENTS_H
#define SIM_INSTRUMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/random.h"

/** What was on the wires since the instrument was armed. */
struct sim_measured {
	bool happened;
	double amperes, seconds; /* while line 0 was high */
	double delay_s;          /* from line 0's edge to line 1's */
};

enum sim_instrument_kind { SIM_MULTIMETER, SIM_SCOPE };

struct sim_instrument {
	enum sim_instrument_kind kind;
	struct sim_random random;
	struct sim_measured measured;
	bool armed, refuse_next; /* refuse_next: an error at the next arming */
	bool half;               /* the next block ends in the middle */
	double sample_hz;
	int format; /* 0: text, 1: 32-bit floats */
	int errors; /* in the queue */
	long error[4];
};

void sim_instrument_init(struct sim_instrument *i, enum sim_instrument_kind kind, uint64_t seed);

/** The work is done: record it, if armed. */
void sim_instrument_see(struct sim_instrument *i, const struct sim_measured *m);

/** Execute @line. Returns the answer of *@n bytes, to be freed, or NULL if there is none.
 */
char *sim_instrument_line(struct sim_instrument *i, const char *line, size_t *n);

#endif
