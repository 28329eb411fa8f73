/* SPDX-License-Identifier: MIT */
/**
 * Actuations of a TraceLab observer: ordered by a line of text, done at their time, told of by what
 * the observer sends.
 *
 *   act set|clear|pulse LINE[:WIDTH] TIME    TIME: "+50ms" from now, "12.5s" since the start
 *   acted ID
 *
 * Answers are JSON: id, state (waiting, done, late, unknown), at_s, done_s, end_s (of a pulse),
 * reason.
 */
#ifndef DRIVERS_TRACELAB_ACTS_H
#define DRIVERS_TRACELAB_ACTS_H

#include "capture/drivers/tracelab/io.h"

#define ACTS_KEPT 64 /* as many as the observer's ids */

struct act_order {
	struct tracelab_act act;
	uint64_t id;        /* from 1 on; 0: none */
	uint64_t done, end; /* done at; end: of a pulse. 0: not yet, or unknown */
	bool late;
};

struct acts {
	struct act_order order[ACTS_KEPT];
	uint64_t n;
	uint64_t unit_hz;  /* of the observer's time */
	uint64_t newest;   /* the latest time seen */
	const char *names; /* of the lines, or NULL */
};

/** "T1,T2,T3,T4,T5,ACT1,ACT2,ACT3,PPS" */
extern const char tracelab_lines[];

/** The bit of line @name, or -1. @names: names given by the user, or NULL. */
int tracelab_line(const char *names, const char *name, size_t n);

/** Answer from malloc(), or NULL with @err filled: CVL_E_NO, refused, and why. */
char *acts_command(struct acts *a, struct tracelab_io *io, const char *text, struct cvl_error *err);

/** The observer reports that number @id was done at @time. */
void acts_done(struct acts *a, unsigned id, uint64_t time);

#endif
