/* SPDX-License-Identifier: MIT */
/** The process that writes a trace's stream. For start.c alone. */
#ifndef TRACER_LINUX_WRITER_H
#define TRACER_LINUX_WRITER_H

#include "start.h"

#define WRITER_SYNC 's' /* in the pipe: write all, then answer */

struct writer {
	struct tracer *t; /* as it was when the program began to trace */
	uint64_t ring_bytes;
	void *packet; /* room for one */
	int stream;   /* the file */
	int bell,
		done; /* ends of pipes: rung when a packet is complete, and at its end when all are gone; answers */
};

/** Does not return. Calls nothing that a forked child of a program with threads may not call. */
_Noreturn void writer_run(struct writer *w);

#endif
