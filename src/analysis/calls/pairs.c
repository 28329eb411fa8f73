/* SPDX-License-Identifier: MIT */
#include "analysis/calls/pairs.h"

#include <stdlib.h>

static void put(struct calls_pairs *p, uint64_t key, uint32_t value)
{
	size_t i = (size_t)calls_mix(key) & (p->size - 1);

	while (p->slot[i].used)
		i = (i + 1) & (p->size - 1);
	p->slot[i] = (struct calls_pair){ key, value, 1 };
}

int calls_pairs_add(struct calls_pairs *p, uint64_t key, uint32_t value)
{
	if (2 * (p->n + 1) > p->size) {
		struct calls_pairs grown = { .size = p->size ? 2 * p->size : 64, .n = p->n };

		grown.slot = calloc(grown.size, sizeof(*grown.slot));
		if (!grown.slot)
			return -1;
		for (size_t i = 0; i < p->size; i++)
			if (p->slot[i].used)
				put(&grown, p->slot[i].key, p->slot[i].value);
		free(p->slot);
		*p = grown;
	}
	put(p, key, value);
	p->n++;
	return 0;
}

int calls_pairs_set(struct calls_pairs *p, uint64_t key, uint32_t value)
{
	uint32_t *known = calls_pairs_find(p, key);

	if (!known)
		return calls_pairs_add(p, key, value);
	*known = value;
	return 0;
}
