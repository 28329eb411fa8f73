/* SPDX-License-Identifier: MIT */
/**
 * Runs of edges: records of one class with compact headers and nothing but levels, one after the
 * other, within a wrap of their timestamps.
 */
#ifndef CTF_EDGES_H
#define CTF_EDGES_H

#include <stddef.h>
#include <stdint.h>

struct edge_run {
	uint64_t from;  /* tick of the record before */
	uint64_t span;  /* none is later than that after it */
	uint32_t id;    /* of the class, below 31 */
	unsigned bytes; /* of levels: 1 to 8 */
};

/**
 * Decode records at @p, which end before @end, up to @max of them: ticks and levels. Stops, and
 * returns how many, before one that is of another class, later than the span, or whose
 * timestamp wrapped.
 */
typedef size_t edges_fn(const uint8_t *p, const uint8_t *end, const struct edge_run *run,
			uint64_t *tick, uint64_t *level, size_t max);

/** One at a time: what edges_decode() is tested against. */
edges_fn edges_decode_plain;
edges_fn edges_decode;

#endif
