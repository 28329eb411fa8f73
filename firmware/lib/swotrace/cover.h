/* SPDX-License-Identifier: MIT */
/**
 * Address ranges covered by comparators: each matches 2^mask addresses, aligned to as many, and a
 * chip has few of them. Pure functions, for the library on the target and for planning on the host.
 *
 * A cover is exact: every address of the ranges by one comparator, no other address by any. It has
 * the fewest comparators that an exact one can have: from its first address on, each is as large as
 * alignment, range and @max_mask allow.
 */
#ifndef COEVAL_SWOTRACE_COVER_H
#define COEVAL_SWOTRACE_COVER_H

#include <stdint.h>

#define SWO_MASK_MAX 31u

/** Addresses @from to @to, both included. */
struct swo_range {
	uint32_t from, to;
};

/** What one comparator matches: addresses whose bits from @mask on are those of @address. */
struct swo_block {
	uint32_t address;
	uint32_t mask; /* as in DWT_MASK: address bits that are ignored */
};

/**
 * Are these ranges from a lower to a higher address, without one in common? Two comparators would
 * report a common one twice.
 */
int swo_cover_valid(const struct swo_range *range, uint32_t n);

/** Iterator over a cover; without divisions or 64-bit numbers, for the target. */
struct swo_cover {
	const struct swo_range *range;
	uint32_t n, max_mask, at; /* ranges that are left, and the next address of the first */
};

/**
 * @range: valid, and there as long as the cover is. @max_mask: what the chip has, up to
 * SWO_MASK_MAX.
 */
void swo_cover_begin(struct swo_cover *c, const struct swo_range *range, uint32_t n,
		     uint32_t max_mask);

/**
 * The next blocks of one size, side by side. Returns how many, and the first in @first; 0 at the
 * end.
 */
uint32_t swo_cover_run(struct swo_cover *c, struct swo_block *first);

/** Number of comparators that valid ranges need. */
uint64_t swo_cover_count(const struct swo_range *range, uint32_t n, uint32_t max_mask);

/** Comparator @i of them, from 0 up to the count. */
struct swo_block swo_cover_block(const struct swo_range *range, uint32_t n, uint32_t max_mask,
				 uint64_t i);

/** Runs of a task, each with up to @comparators (at least 1), that @count of them take. */
uint64_t swo_cover_passes(uint64_t count, uint32_t comparators);

#endif
