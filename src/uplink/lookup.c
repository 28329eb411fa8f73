/* SPDX-License-Identifier: MIT */
#include "uplink/lookup.h"

#include <stdlib.h>
#include <string.h>

#include <coeval/error.h>

#include "core/crc32c.h"

#define ROOM_LEAST 64 /* a power of two, as all */

struct lookup_slot {
	uint32_t hash, index1; /* index + 1; 0: free */
};

uint32_t lookup_hash(const char *node, const char *clock, const uint8_t id[16])
{
	uint32_t hash = node ? cvl_crc32c(0, node, strlen(node)) : 0;

	hash = clock ? cvl_crc32c(hash, clock, strlen(clock)) : hash;
	return id ? cvl_crc32c(hash, id, 16) : hash;
}

static void put(struct lookup *t, struct lookup_slot s)
{
	size_t i = s.hash & (t->room - 1);

	while (t->slot[i].index1)
		i = (i + 1) & (t->room - 1);
	t->slot[i] = s;
	t->n++;
}

int lookup_put(struct lookup *t, uint32_t hash, size_t index)
{
	struct lookup more = { .room = t->room ? 2 * t->room : ROOM_LEAST };

	if (2 * (t->n + 1) > t->room) {
		more.slot = calloc(more.room, sizeof(*more.slot));
		if (!more.slot)
			return CVL_E_NOMEM;
		for (size_t i = 0; i < t->room; i++)
			if (t->slot[i].index1)
				put(&more, t->slot[i]);
		free(t->slot);
		*t = more;
	}
	put(t, (struct lookup_slot){ hash, (uint32_t)index + 1 });
	return 0;
}

bool lookup_next(const struct lookup *t, uint32_t hash, size_t *at, size_t *index)
{
	while (*at < t->room) {
		const struct lookup_slot s = t->slot[(hash + (*at)++) & (t->room - 1)];

		if (!s.index1)
			return false;
		*index = s.index1 - 1;
		if (s.hash == hash)
			return true;
	}
	return false;
}

void lookup_clear(struct lookup *t)
{
	if (t->n)
		memset(t->slot, 0, t->room * sizeof(*t->slot));
	t->n = 0;
}

void lookup_free(struct lookup *t)
{
	free(t->slot);
	*t = (struct lookup){ 0 };
}
