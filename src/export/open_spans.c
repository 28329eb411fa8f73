/* SPDX-License-Identifier: MIT */
#include "export/open_spans.h"

#include <stddef.h>

int open_spans_begin(struct open_spans *s, uint64_t name, uint64_t id)
{
	struct open_span *room = NULL;
	uint64_t taken = 0;

	for (size_t k = 0; k < OPEN_SPANS_MAX; k++) {
		struct open_span *o = &s->span[k];

		if (!o->open)
			room = room ? room : o;
		else if (o->name == name)
			taken |= (uint64_t)1 << o->slot;
	}
	if (!room)
		return -1;
	*room = (struct open_span){ true, __builtin_ctzll(~taken), name, id };
	return room->slot;
}

int open_spans_end(struct open_spans *s, uint64_t name, uint64_t id)
{
	for (size_t k = 0; k < OPEN_SPANS_MAX; k++) {
		struct open_span *o = &s->span[k];

		if (o->open && o->name == name && o->id == id) {
			o->open = false;
			return o->slot;
		}
	}
	return -1;
}
