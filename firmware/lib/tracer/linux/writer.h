/* SPDX-License-Identifier: MIT */
/** The process that writes a trace's stream. For start.c alone. */
#ifndef TRACER_LINUX_WRITER_H
#define TRACER_LINUX_WRITER_H

#include "start.h"

#define WRITER_SYNC 's' /* on the line: write all, then answer with a byte */

struct writer {
	struct tracer *t; /* as it was when the program began to trace */
	uint64_t ring_bytes;
	void *packet; /* room for one */
	int stream;   /* the file */
	/*
	 * a socket: a byte comes when a packet is complete, and its end when all who trace are gone
	 */
	int line;
};

/** Does not return. Calls nothing that a forked child of a program with threads may not call. */
_Noreturn void writer_run(struct writer *w);

#endif
