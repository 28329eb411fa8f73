/* SPDX-License-Identifier: MIT */
/** Short texts that are written once and referred to by number: the first of each kind, of a fixed memory. */
#ifndef INTERNED_H
#define INTERNED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INTERNED_KINDS 3
#define INTERNED_BYTES 56 /* of the longest text */

struct interned {
	uint32_t n[INTERNED_KINDS];
	struct interned_slot {
		uint32_t number; /* 0: free */
		uint8_t kind, n;
		char text[INTERNED_BYTES];
	} slot[8192]; /* open addressing */
};

/**
 * Number of the text @s of @kind, from 1 on in each kind. Once there is no room for more, and of
 * longer texts, 0. Begin with {0}.
 */
uint32_t interned(struct interned *t, unsigned kind, const char *s, size_t n, bool *is_new);

#endif
