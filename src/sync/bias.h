/* SPDX-License-Identifier: MIT */
/**
 * How much later than the mean of all clocks each clock stamps the same edges, and how well that is
 * known.
 *
 * Map errors last, so edges close together in time are not independent. How long they last is
 * estimated from the autocorrelation of the edge distances; how large they are, from their variance
 * together with the maps' own bounds. The latter weigh as ten more edges, since a short correlated
 * series underestimates the variance.
 */
#ifndef SYNC_BIAS_H
#define SYNC_BIAS_H

#include <stddef.h>
#include <stdint.h>

/** An edge as one clock stamped it, ns. */
struct bias_edge {
	int64_t time;
	size_t clock;
	double sd; /* of the time: the map's bound and the capture's resolution */
	/*
	 * half-width of the edge's own bracket: the truth may be at the same place in all of them
	 */
	double fixed;
};

struct bias {
	double late_ns, bound_ns; /* 99.9 % */
	uint64_t edges;           /* 0: unknown */
};

/** Stamps this close together are the same edge. */
#define BIAS_TOGETHER_NS 1000000

/**
 * Find @bias of each of @n_clocks clocks. @edge is sorted by time. Edges seen by one clock only, or
 * twice by the same clock, are ignored. CVL_E_NOMEM.
 */
int bias_find(struct bias_edge *edge, size_t n, struct bias *bias, size_t n_clocks);

#endif
