/* SPDX-License-Identifier: MIT */
#include "store/ctf/internal.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE 4096 /* a session may have a thousand traces */

struct arena_block {
	struct arena_block *next;
	size_t used, size;
	_Alignas(16) unsigned char bytes[];
};

void *arena_alloc(struct arena *arena, size_t n)
{
	struct arena_block *b = arena->head;
	void *p;

	n = (n + 15) & ~(size_t)15;
	if (!b || b->size - b->used < n) {
		size_t size = n > BLOCK_SIZE ? n : BLOCK_SIZE;

		b = calloc(1, sizeof(*b) + size);
		if (!b)
			return NULL;
		b->size = size;
		b->next = arena->head;
		arena->head = b;
	}
	p = b->bytes + b->used;
	b->used += n;
	return p;
}

char *arena_text(struct arena *arena, const char *s, size_t n)
{
	char *copy = arena_alloc(arena, n + 1);

	if (copy)
		memcpy(copy, s, n);
	return copy;
}

void arena_free(struct arena *arena)
{
	while (arena->head) {
		struct arena_block *next = arena->head->next;

		free(arena->head);
		arena->head = next;
	}
}
