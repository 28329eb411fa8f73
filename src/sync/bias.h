/* SPDX-License-Identifier: MIT */
/**
 * By how much later than the mean of all each clock stamps the same edges, and how well that is
 * known.
 *
 * What the maps err by lasts, so edges close together in time tell the same thing again. How long
 * it lasts is seen in the distances from edge to edge (their autocorrelation); how much it is, in
 * their variance, beside what the maps themselves promise: that counts as much as ten more edges,
 * since a short series that is correlated shows too little of it.
 */
#ifndef SYNC_BIAS_H
#define SYNC_BIAS_H

#include <stddef.h>
#include <stdint.h>

/** An edge as one clock stamped it, ns. */
struct bias_edge {
	int64_t time;
	size_t clock;
	double sd; /* of the time, by the map's bound and by what the capture cannot resolve */
	/*
	 * half-width of a bracket of its own: within it the truth may always be at the same place
	 */
	double fixed;
};

struct bias {
	double late_ns, bound_ns; /* 99.9 % */
	uint64_t edges;           /* 0: nothing is known */
};

/** Edges of one happening lie within that. */
#define BIAS_TOGETHER_NS 1000000

/**
 * Find @bias of each of @n_clocks clocks. @edge is put in order of time. Edges that one clock alone
 * has, or twice, count for nothing. CVL_E_NOMEM.
 */
int bias_find(struct bias_edge *edge, size_t n, struct bias *bias, size_t n_clocks);

#endif
