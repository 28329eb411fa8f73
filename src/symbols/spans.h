/* SPDX-License-Identifier: MIT */
/**
 * Ranges of addresses: from what lies one upon another to a sorted row without overlaps, in which
 * an address is found fast.
 */
#ifndef SYMBOLS_SPANS_H
#define SYMBOLS_SPANS_H

#include <stddef.h>
#include <stdint.h>

struct span {
	uint64_t from, end; /* from <= address < end */
	uint64_t start;     /* where the whole of it began, of which this may be a piece */
	const char *name;
	uint32_t line;
	/* of several that start at one place and are of one length the lowest is taken */
	uint32_t rank;
};

struct spans {
	struct span *at;
	size_t n, room;
	size_t last; /* index of what was found last */
};

/** CVL_E_NOMEM's sign: -1. An empty span is left out. */
int spans_add(struct spans *s, struct span span);

/**
 * Sort and cut, so that no two overlap: the innermost one (which starts last, of those the
 * shortest) is on top. -1: out of memory.
 */
int spans_flatten(struct spans *s);

/** The span that holds @address, or NULL. After spans_flatten(). */
const struct span *spans_find(struct spans *s, uint64_t address);

void spans_free(struct spans *s);

#endif
