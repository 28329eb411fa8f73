/* SPDX-License-Identifier: MIT */
#include "memory.h"

#include <string.h>

#define ENTRY_BYTES 20
#define USABLE 1

struct entry {
	uint64_t base, end;
	bool usable;
};

/* The entry at *@at, which moves on; false at the end, or if the map is invalid. */
static bool next(const struct ett_memory *m, size_t *at, struct entry *e)
{
	uint64_t length;
	uint32_t size, type;

	if (*at > m->n || m->n - *at < 4 + ENTRY_BYTES)
		return false;
	memcpy(&size, m->map + *at, 4);
	if (size < ENTRY_BYTES || size > m->n)
		return false;
	memcpy(&e->base, m->map + *at + 4, 8);
	memcpy(&length, m->map + *at + 12, 8);
	memcpy(&type, m->map + *at + 20, 4);
	e->end = length > UINT64_MAX - e->base ? UINT64_MAX : e->base + length;
	e->usable = type == USABLE;
	*at += 4 + size;
	return true;
}

uint64_t ett_memory_end(const struct ett_memory *m)
{
	uint64_t end = 0;
	struct entry e;

	for (size_t at = 0; next(m, &at, &e);)
		if (e.usable && e.end > end)
			end = e.end;
	return end / ETT_PAGE_BYTES + (end % ETT_PAGE_BYTES != 0);
}

bool ett_memory_usable(const struct ett_memory *m, uint64_t page)
{
	uint64_t from = page * ETT_PAGE_BYTES, to = from + ETT_PAGE_BYTES;
	bool inside = false;
	struct entry e;

	if (from < m->from)
		return false;
	for (size_t at = 0; next(m, &at, &e);) {
		if (e.usable)
			inside |= e.base <= from && to <= e.end;
		else if (e.base < to && from < e.end)
			return false;
	}
	return inside;
}
