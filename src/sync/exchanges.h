/* SPDX-License-Identifier: MIT */
/**
 * Messages as exchanges: there and back between two clocks. What follows each other in both
 * directions is one exchange; a message that the other direction does not answer is one alone.
 */
#ifndef SYNC_EXCHANGES_H
#define SYNC_EXCHANGES_H

#include "sync/problem.h"

struct exchange {
	uint32_t a, b;     /* clocks, a < b; no aliases */
	size_t message[2]; /* of the problem; the second SIZE_MAX: unanswered */
	size_t number;     /* among those of its pair, in time */
	/*
	 * ns that both messages took together, with what their stamps cannot resolve; or INFINITY
	 */
	double round_trip;
};

struct exchanges {
	struct exchange *list; /* by pair, then by time */
	size_t n;
	size_t *count;                 /* one a clock: those it took part in */
	double *floor;                 /* one a clock: ns; see below */
	struct cvl_time *first, *last; /* one a clock: when, on the timeline */
};

/**
 * Find them, with the maps in @maps (one a clock), which tell when messages were under way; those
 * of clocks without a map are passed over. @floor of a clock is half of the shortest round trip
 * between it and the reference (whose bound is 0), summed along the way by which that is least: no
 * number of messages like these bounds its time better at any instant. CVL_E_NOMEM.
 */
int exchanges_find(struct exchanges *x, const struct sync_problem *p,
		   const struct cvl_clock_sync *maps, size_t reference, struct cvl_error *err);
void exchanges_free(struct exchanges *x);

/**
 * Fill @thin with @p and every @step-th exchange of each pair, from number @phase on. @message: as
 * many as @p's, of the caller.
 */
void exchanges_thin(struct sync_problem *thin, const struct sync_problem *p,
		    const struct exchanges *x, size_t step, size_t phase,
		    struct sync_message *message);

#endif
