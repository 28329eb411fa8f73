/* SPDX-License-Identifier: MIT */
/**
 * Memory mapped from a file that others may truncate. Touching a missing page raises a bus error: a
 * guard puts a page of zeros there instead, and records it.
 *
 * Signal handlers belong to the whole process, so guards are global: the only such state here. They
 * belong to one thread.
 */
#ifndef DRIVERS_RING_GUARD_H
#define DRIVERS_RING_GUARD_H

#include <stdbool.h>
#include <stddef.h>

#define GUARDS_MAX 16

/**
 * Guard @n bytes at @memory, of whole pages. Returns false if there is no room for another guard,
 * or no handler can be installed.
 */
bool guard_add(void *memory, size_t n);
/** Whether a page guarded from @memory on is missing. */
bool guard_hit(const void *memory);
void guard_remove(const void *memory);

#endif
