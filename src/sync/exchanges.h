/* SPDX-License-Identifier: MIT */
/**
 * Messages as exchanges: round trips between two clocks. Consecutive messages in opposite
 * directions are one exchange; an unanswered message is one by itself.
 */
#ifndef SYNC_EXCHANGES_H
#define SYNC_EXCHANGES_H

#include "sync/problem.h"

struct exchange {
	uint32_t a, b;     /* clocks, a < b; no aliases */
	size_t message[2]; /* indices in the problem; the second SIZE_MAX: unanswered */
	size_t number;     /* among those of its pair, by time */
	/* ns that both messages took, plus the resolution of their stamps; or INFINITY */
	double round_trip;
};

struct exchanges {
	struct exchange *list; /* by pair, then by time */
	size_t n;
	size_t *count;                 /* per clock: those it took part in */
	double *floor;                 /* per clock, ns; see below */
	struct cvl_time *first, *last; /* per clock: when, on the timeline */
};

/**
 * Find them, using @maps (one per clock) to tell when messages were in flight; those of clocks
 * without a map are skipped. @floor of a clock is half of the shortest round trip between it and
 * the reference (whose floor is 0), summed along the path where the sum is least: no number of
 * messages like these gives a better bound at any instant. CVL_E_NOMEM.
 */
int exchanges_find(struct exchanges *x, const struct sync_problem *p,
		   const struct cvl_clock_sync *maps, size_t reference, struct cvl_error *err);
void exchanges_free(struct exchanges *x);

/**
 * Fill @thin with @p and every @step-th exchange of each pair, from number @phase on. @message:
 * buffer as large as @p's.
 */
void exchanges_thin(struct sync_problem *thin, const struct sync_problem *p,
		    const struct exchanges *x, size_t step, size_t phase,
		    struct sync_message *message);

#endif
