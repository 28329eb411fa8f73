/* SPDX-License-Identifier: MIT */
/*
 * Entries of the page tables: Intel's manual, volume 3A, 4.5. start.S made those of the first 4
 * GiB.
 */
#include "machine.h"

#include <string.h>

#define PRESENT 3
#define LARGE 0x80
#define UNCACHED 0x18
#define ENTRIES 512
#define RECORD_AT (UINT64_C(1) << 39)

extern uint64_t pd[4 * ENTRIES], record_pdpt[ENTRIES];

uint64_t map_record(const struct ett_memory *m, void **at)
{
	/* The first page that can be had holds the tables of all others: 512 of them, one a GiB. */
	uint64_t *tables = NULL, end = ett_memory_end(m), n = 0;

	for (uint64_t page = 0; page < end && n < (uint64_t)ENTRIES * ENTRIES; page++) {
		if (!ett_memory_usable(m, page))
			continue;
		if (!tables) {
			if (page >= 4 * ENTRIES)
				break;
			tables = (uint64_t *)(page * ETT_PAGE_BYTES);
			memset(tables, 0, ETT_PAGE_BYTES);
			continue;
		}
		if (n % ENTRIES == 0)
			record_pdpt[n / ENTRIES] = (uint64_t)(tables + n) | PRESENT;
		tables[n++] = page * ETT_PAGE_BYTES | LARGE | PRESENT;
	}
	*at = (void *)RECORD_AT;
	return n * ETT_PAGE_BYTES;
}

volatile void *map_register(uint64_t address)
{
	if (address >> 32)
		return NULL;
	pd[address / ETT_PAGE_BYTES] |= UNCACHED;
	__asm__ volatile("invlpg (%0)" : : "r"(address) : "memory");
	return (volatile void *)address;
}
