/* SPDX-License-Identifier: MIT */
/**
 * One node of the test bed: an FX2 analyzer and a CC1101, simulated, and a real `coeval capture`
 * that observes by them.
 *
 * All runs on the node's simulated time, which advances as samples are taken. Faults are logged
 * with their times, so that the judge knows which of the clock's ticks each stored tick was.
 */
#ifndef SIMBED_NODE_H
#define SIMBED_NODE_H

#include "sim/devices/bed.h"

enum node_fault {
	NODE_OVERFLOW, /* the analyzer's buffers are full for a while */
	NODE_UNPLUG,   /* the analyzer is pulled out for a while */
	NODE_KILL,     /* the capture gets SIGKILL, and is started again after a while */
	NODE_DIE,      /* the same, for good */
	NODE_DEAF,     /* the radio does not answer for a while */
	NODE_STEP,     /* the host's wall clock is set back by a second */
	NODE_FULL,     /* the disk is full for a while; the capture is started again then */
	NODE_FAULTS
};

struct node_event {
	enum node_fault what;
	uint64_t tick, ticks; /* of the node's clock: at, for */
};

struct node_opts {
	const char *coeval;  /* the program */
	const char *preload; /* libcoeval-simclock.so */
	const char *session; /* where its capture goes */
	const char *log;     /* segments are written to there: "first end" in ticks, one a line */
	const struct node_event *event; /* by tick */
	size_t n_events;
	uint64_t disk_bytes; /* a file system of its own for the session, so large; 0: none */
	bool quiet;          /* the capture's output goes to session.txt beside the session */
};

/** What happened, and what its captures consumed. */
struct node_usage {
	unsigned faults[NODE_FAULTS]; /* that it had */
	/* of whole processes: with libusb, the kernel, and the emulation's library in them */
	double capture_cpu_s;
	double samples_cpu_s; /* of that our work on samples, by the captures' own count */
	long early_kib,
		peak_kib; /* peak memory of a capture in the first tenth of the time, and ever */
};

/**
 * Run the node from its start to the end of the world. Returns the exit status of its last capture,
 * or a negative code with @err filled.
 */
int node_run(const struct bed *bed, size_t i, const struct node_opts *opts, struct node_usage *used,
	     struct cvl_error *err);

#endif
