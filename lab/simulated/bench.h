/* SPDX-License-Identifier: MIT */
/**
 * A simulated bench behind pseudo-terminals: a target, a multimeter and an oscilloscope that
 * observe it, in a process of their own. It can be made to misbehave.
 */
#ifndef SIM_LAB_H
#define SIM_LAB_H

#include <stdint.h>
#include <sys/types.h>

#include <coeval/error.h>

enum sim_fault {
	SIM_FINE,
	SIM_MUTE,    /* the target never says anything */
	SIM_CHATTER, /* the target prints endlessly and never prompts */
	SIM_RESET,   /* the target resets in the middle of its work */
	SIM_BINARY,  /* the target's answer contains bytes that are not text */
	SIM_VANISH,  /* the target's port goes away */
	SIM_HANG,    /* the target hangs until the process gets a SIGUSR1 */
	SIM_REFUSE,  /* the instruments answer with an error to being armed */
	SIM_HALF,    /* a block of readings ends in the middle */
	SIM_SILENT,  /* the instruments accept lines and never answer */
	SIM_UNWIRED, /* the trigger line does not reach the instruments */
	SIM_SHORT,   /* the instruments see half of the work */
	SIM_SLOW,    /* all answers come in pieces of a few bytes, with pauses */
	SIM_FAULTS
};

struct sim_lab_options {
	uint64_t seed;
	unsigned outlier_every; /* works; 0: none */
	enum sim_fault fault;
	unsigned after; /* the fault begins with this work, from 0 */
	unsigned times; /* how often; 0: always */
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
