/* SPDX-License-Identifier: MIT */
/**
 * A carrier in the process, that misbehaves as carriers do, by a seed: it loses messages it said it has,
 * repeats and reorders them, forgets its end, is full, and lets connections go. For tests.
 */
#ifndef UPLINK_LOOP_H
#define UPLINK_LOOP_H

#include "uplink/carrier.h"

struct loop;

/** Probabilities of each of these, for each message or call. */
struct loop_faults {
	double lose;      /* a message that was confirmed is gone */
	double refuse;    /* it is not taken, and the node is told so */
	double silent;    /* neither taken nor refused, until the node gives up */
	double repeat;    /* it comes twice */
	double reorder;   /* it comes before the one before */
	double deaf;      /* what is told is lost */
	double cut;       /* a connection is lost */
	double forget;    /* the carrier loses up to half of what it holds */
	double damage;    /* a byte of it is another */
	size_t bytes_max; /* that it holds; 0: any number */
};

/** NULL when out of memory. */
struct loop *loop_new(uint64_t seed, const struct loop_faults *faults);
void loop_free(struct loop *l);
/** From now on. */
void loop_set(struct loop *l, const struct loop_faults *faults);

/** An end: of node @node, or, if that is NULL, the collector's. NULL when out of memory. */
struct carrier *loop_open(struct loop *l, const char *node);

/** Messages that it holds. */
size_t loop_held(const struct loop *l);

#endif
