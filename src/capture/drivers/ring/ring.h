/* SPDX-License-Identifier: MIT */
/** Where rings are. */
#ifndef DRIVERS_RING_RING_H
#define DRIVERS_RING_RING_H

#include <stddef.h>

#include "wire/trace_ring.h"

/**
 * Offset of the first ring in @n bytes of @memory from offset @from on, which is a multiple of 8;
 * SIZE_MAX if there is none.
 */
size_t ring_find(const void *memory, size_t n, size_t from);

#endif
