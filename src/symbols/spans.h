/* SPDX-License-Identifier: MIT */
/** Address ranges: flattens overlapping ones to a sorted list without overlaps, for fast lookup. */
#ifndef SYMBOLS_SPANS_H
#define SYMBOLS_SPANS_H

#include <stddef.h>
#include <stdint.h>

struct span {
	uint64_t from, end; /* from <= address < end */
	uint64_t start;     /* start of the whole, of which this may be a piece */
	const char *name;
	uint32_t line;
	/* of several with the same start and length the lowest wins */
	uint32_t rank;
};

struct spans {
	struct span *at;
	size_t n, room;
	size_t last; /* index of the last one found */
};

/** -1: out of memory. An empty span is ignored. */
int spans_add(struct spans *s, struct span span);

/**
 * Sort and split so that no two overlap: the innermost one (starting last, then the shortest) wins.
 * -1: out of memory.
 */
int spans_flatten(struct spans *s);

/** The span that holds @address, or NULL. After spans_flatten(). */
const struct span *spans_find(struct spans *s, uint64_t address);

void spans_free(struct spans *s);

#endif
