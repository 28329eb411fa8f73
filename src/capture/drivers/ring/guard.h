/* SPDX-License-Identifier: MIT */
/**
 * Memory mapped from a file that somebody else may cut short. To touch a page that is no longer
 * there is a bus error: with a guard there is a page of zeros instead, and the guard tells.
 *
 * Who a bus error belongs to is known to the whole process alone: guards are the one thing here
 * that is. They belong to one thread.
 */
#ifndef DRIVERS_RING_GUARD_H
#define DRIVERS_RING_GUARD_H

#include <stdbool.h>
#include <stddef.h>

#define GUARDS_MAX 16

/**
 * Guard @n bytes at @memory, of whole pages. Returns false if there is no room for another, or no
 * handler can be had.
 */
bool guard_add(void *memory, size_t n);
/** Whether a page of what was guarded from @memory on is gone. */
bool guard_hit(const void *memory);
void guard_remove(const void *memory);

#endif
