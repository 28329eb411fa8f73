/* SPDX-License-Identifier: MIT */
#include "capture/drivers/ring/ring.h"

static uint32_t look(const void *word)
{
	return __atomic_load_n((const uint32_t *)word, __ATOMIC_ACQUIRE);
}

size_t ring_find(const void *memory, size_t n, size_t from)
{
	const uint8_t *m = memory;

	for (; n >= sizeof(struct tracer_ring) && from <= n - sizeof(struct tracer_ring); from += 8)
		if (look(m + from) == TRACE_RING_MAGIC &&
		    look(m + from + offsetof(struct tracer_ring, packets)))
			return from;
	return SIZE_MAX;
}
