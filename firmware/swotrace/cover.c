/* SPDX-License-Identifier: MIT */
#include "cover.h"

/* A run of blocks of the same size, side by side. */
struct run {
	uint64_t address, blocks;
	uint32_t mask;
};

int swo_cover_valid(const struct swo_range *range, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (range[i].from > range[i].to)
			return 0;
		for (uint32_t k = 0; k < i; k++)
			if (range[i].from <= range[k].to && range[k].from <= range[i].to)
				return 0;
	}
	return 1;
}

/* The first blocks of the range from @from up to before @end: as many as are of one size and at most @max_mask wide. */
static struct run first_run(uint64_t from, uint64_t end, uint32_t max_mask)
{
	struct run r = { from, 1, 0 };

	while (r.mask < max_mask && !(from & (1ull << r.mask)) && end - from >= 2ull << r.mask)
		r.mask++;
	if (r.mask == max_mask)
		r.blocks = (end - from) >> r.mask;
	return r;
}

uint64_t swo_cover_count(const struct swo_range *range, uint32_t n, uint32_t max_mask)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t end = range[i].to + 1ull;

		for (uint64_t at = range[i].from; at < end;) {
			struct run r = first_run(at, end, max_mask);

			count += r.blocks;
			at += r.blocks << r.mask;
		}
	}
	return count;
}

struct swo_block swo_cover_block(const struct swo_range *range, uint32_t n, uint32_t max_mask,
				 uint64_t i)
{
	struct swo_block block = { 0, 0 };

	for (uint32_t k = 0; k < n; k++) {
		uint64_t end = range[k].to + 1ull;

		for (uint64_t at = range[k].from; at < end;) {
			struct run r = first_run(at, end, max_mask);

			if (i < r.blocks) {
				block.address = (uint32_t)(at + (i << r.mask));
				block.mask = r.mask;
				return block;
			}
			i -= r.blocks;
			at += r.blocks << r.mask;
		}
	}
	return block;
}

uint64_t swo_cover_passes(uint64_t count, uint32_t comparators)
{
	return (count + comparators - 1) / comparators;
}
