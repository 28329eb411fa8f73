/* SPDX-License-Identifier: MIT */
/**
 * The platform of a program on Linux: a ring in shared memory, and another process that drains it.
 *
 * Either a process of the tracer's own writes a CTF trace (.to), and runs until no process is left
 * that could trace: events of a program that crashed or was killed are in the trace. Or the ring is
 * a file in memory (.ring), which `coeval capture --driver shm` drains, before or after the program
 * ended.
 *
 * Events may come from any thread and signal handler. A child that the program forks traces into
 * the same ring, until it calls exec. If tracing cannot begin, the reason is printed on standard
 * error and the program continues without.
 */
#ifndef TRACER_LINUX_START_H
#define TRACER_LINUX_START_H

#ifndef TRACER_CONFIG
#define TRACER_CONFIG "linux/config.h"
#endif
#include "../metadata.h"
#include "../tracer.h"

struct tracer_linux {
	const char *to; /* directory of the trace; made. A trace that is there is replaced */
	/* or the ring's file, "/dev/shm/NAME"; metadata are written to "/dev/shm/NAME.metadata" */
	const char *ring;
	/* of a ring: a FIFO or mq:/NAME to ring when a packet is complete; it has to be there */
	const char *bell;
	const char *node; /* name of the machine in the trace; NULL: the host's */
	/* of a ring: overwrite the oldest events (flight recorder), rather than drop the newest */
	int newest;
	uint8_t packet_log2; /* bytes of a packet; 0: 14, 16 KiB */
	uint32_t packets;    /* a power of two; 0: 64 */
	uint16_t core;       /* tells rings of one memory apart */

	uint64_t (*clock)(void *ctx); /* counts up, from any thread; NULL: CLOCK_MONOTONIC */
	void *ctx;
	uint64_t rate_hz; /* of that clock; it says nothing of the time of day */
	/*
	 * the processor's time stamp counter, where it has one that is the same on all cores; its
	 * rate is measured in 50 ms
	 */
	int tsc;
};

/**
 * tracer_linux() calls this. Never NULL: one that cannot trace has all tracepoints off. There is
 * one a program.
 */
struct tracer *tracer_linux_start(const struct tracer_linux *o,
				  const struct tracer_declarations *d);

/**
 * All that was traced up to here is in the trace when this returns. exit() does the same; tracing
 * goes on.
 */
void tracer_linux_sync(struct tracer *t);

#endif
