/* SPDX-License-Identifier: MIT */
/** Open spans, so that overlapping ones of the same name can be kept apart. */
#ifndef OPEN_SPANS_H
#define OPEN_SPANS_H

#include <stdbool.h>
#include <stdint.h>

#define OPEN_SPANS_MAX 64

/** All zero: none. */
struct open_spans {
	struct open_span {
		bool open;
		int slot;
		uint64_t name, id; /* hash of its name */
	} span[OPEN_SPANS_MAX];
};

/**
 * A span begins. Returns its slot, the first not used by an open span of its name; -1 if too many
 * are open.
 */
int open_spans_begin(struct open_spans *s, uint64_t name, uint64_t id);
/** It ends. Returns its slot, or -1 if it never began. */
int open_spans_end(struct open_spans *s, uint64_t name, uint64_t id);

#endif
