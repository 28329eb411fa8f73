/* SPDX-License-Identifier: MIT */
/**
 * A simulated bench behind pseudo-terminals: a target, a multimeter and an oscilloscope that see
 * what it does, in a process of their own. It can be told to misbehave.
 */
#ifndef SIM_LAB_H
#define SIM_LAB_H

#include <stdint.h>
#include <sys/types.h>

#include <coeval/error.h>

enum sim_fault {
	SIM_FINE,
	SIM_MUTE,    /* the target never says anything */
	SIM_CHATTER, /* the target talks without end and never prompts */
	SIM_RESET,   /* the target resets in the middle of a work */
	SIM_BINARY,  /* the target's answer holds bytes that are no text */
	SIM_VANISH,  /* the target's port goes away */
	SIM_HANG,    /* the target hangs until the process gets a SIGUSR1 */
	SIM_REFUSE,  /* the instruments answer with an error to being armed */
	SIM_HALF,    /* a block of readings ends in the middle */
	SIM_SILENT,  /* the instruments take lines and say nothing */
	SIM_UNWIRED, /* the trigger line does not reach the instruments */
	SIM_SHORT,   /* the instruments see half of the work */
	SIM_SLOW,    /* all answers come in pieces of a few bytes, with pauses */
	SIM_FAULTS
};

struct sim_lab_options {
	uint64_t seed;
	unsigned outlier_every; /* works; 0: none */
	enum sim_fault fault;
	unsigned after; /* the fault comes at this work and those behind it, from 0 */
	unsigned times; /* so often; 0: for ever */
};

struct sim_lab {
	char target[64], multimeter[64], scope[64]; /* paths of the terminals */
	pid_t pid;
	int hold; /* while it is open, the process lives */
};

/** Start it. CVL_E_ENV if there are no pseudo-terminals. */
int sim_lab_start(struct sim_lab *l, const struct sim_lab_options *o, struct cvl_error *err);

/** End it, and wait until it has. */
void sim_lab_stop(struct sim_lab *l);

#endif
