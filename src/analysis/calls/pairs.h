/* SPDX-License-Identifier: MIT */
/** A table from 64-bit keys to numbers. Begin with {0}. */
#ifndef ANALYSIS_CALLS_PAIRS_H
#define ANALYSIS_CALLS_PAIRS_H

#include <stddef.h>
#include <stdint.h>

struct calls_pairs {
	struct calls_pair {
		uint64_t key;
		uint32_t value;
		uint32_t used;
	} * slot;
	size_t size, n;
};

/* The finaliser of SplitMix64 (Steele, Lea, Flood 2014). */
static inline uint64_t calls_mix(uint64_t v)
{
	v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9u;
	v = (v ^ v >> 27) * 0x94d049bb133111ebu;
	return v ^ v >> 31;
}

/** Pointer to the number of @key, or NULL. */
static inline uint32_t *calls_pairs_find(const struct calls_pairs *p, uint64_t key)
{
	for (size_t i = (size_t)calls_mix(key);; i++) {
		struct calls_pair *s;

		if (!p->size)
			return NULL;
		s = &p->slot[i & (p->size - 1)];
		if (!s->used)
			return NULL;
		if (s->key == key)
			return &s->value;
	}
}

/** Add a new key; -1: out of memory. */
int calls_pairs_add(struct calls_pairs *p, uint64_t key, uint32_t value);
/** Of a key that may be known already; -1: out of memory. */
int calls_pairs_set(struct calls_pairs *p, uint64_t key, uint32_t value);

#endif
