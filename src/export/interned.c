/* SPDX-License-Identifier: MIT */
#include "export/interned.h"

#include <string.h>

#define SLOTS (sizeof(((struct interned *)0)->slot) / sizeof(struct interned_slot))
#define EACH_MAX (SLOTS / (INTERNED_KINDS + 1)) /* of a kind: some slots stay free */

uint32_t interned(struct interned *t, unsigned kind, const char *s, size_t n, bool *is_new)
{
	uint64_t hash = 0xcbf29ce484222325u + kind; /* FNV-1a, 64 bits (Fowler, Noll, Vo) */

	*is_new = false;
	if (n > INTERNED_BYTES)
		return 0;
	for (size_t i = 0; i < n; i++)
		hash = (hash ^ (unsigned char)s[i]) * 0x100000001b3u;
	for (size_t i = (size_t)(hash >> 32);; i++) {
		struct interned_slot *slot = &t->slot[i % SLOTS];

		if (slot->number && slot->kind == kind && slot->n == n && !memcmp(slot->text, s, n))
			return slot->number;
		if (slot->number)
			continue;
		if (t->n[kind] == EACH_MAX)
			return 0;
		slot->number = ++t->n[kind];
		slot->kind = (uint8_t)kind;
		slot->n = (uint8_t)n;
		memcpy(slot->text, s, n);
		*is_new = true;
		return slot->number;
	}
}
