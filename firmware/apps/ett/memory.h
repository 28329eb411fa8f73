/* SPDX-License-Identifier: MIT */
/** Which memory there is, from the boot loader's map, in pages of ETT_PAGE_BYTES. */
#ifndef ETT_MEMORY_H
#define ETT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ETT_PAGE_BYTES (UINT64_C(1) << 21)

/**
 * The multiboot memory map: entries of a 32-bit size (of what follows), 64-bit base and length,
 * 32-bit type (1: usable).
 */
struct ett_memory {
	const uint8_t *map;
	size_t n;      /* bytes */
	uint64_t from; /* what lies below is in use */
};

/** Page number after the last usable byte. */
uint64_t ett_memory_end(const struct ett_memory *m);
/**
 * Whether all of page @page is usable: inside one entry that is, and touched by none that is not.
 */
bool ett_memory_usable(const struct ett_memory *m, uint64_t page);

#endif
