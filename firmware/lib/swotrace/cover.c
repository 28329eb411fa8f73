/* SPDX-License-Identifier: MIT */
#include "cover.h"

#define RUN_MAX (1u << 31)

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

void swo_cover_begin(struct swo_cover *c, const struct swo_range *range, uint32_t n,
		     uint32_t max_mask)
{
	c->range = range;
	c->n = n;
	c->max_mask = max_mask < SWO_MASK_MAX ? max_mask : SWO_MASK_MAX;
	c->at = n ? range->from : 0;
}

/* The widest mask of a block at @at that goes no further than @to. */
static uint32_t widest(uint32_t at, uint32_t to, uint32_t max_mask)
{
	uint32_t aligned = at ? (uint32_t)__builtin_ctz(at) : SWO_MASK_MAX;
	uint32_t bytes = to - at + 1; /* 0: all there are */
	uint32_t fits = bytes ? 31u - (uint32_t)__builtin_clz(bytes) : SWO_MASK_MAX;
	uint32_t mask = aligned < fits ? aligned : fits;

	return mask < max_mask ? mask : max_mask;
}

uint32_t swo_cover_run(struct swo_cover *c, struct swo_block *first)
{
	uint32_t mask, blocks = 1, ones, last;

	if (!c->n)
		return 0;
	mask = widest(c->at, c->range->to, c->max_mask);
	ones = (1u << mask) - 1;
	if (mask == c->max_mask) {
		blocks = (c->range->to - c->at - ones) >> mask; /* beyond the first */
		blocks = blocks < RUN_MAX ? blocks + 1 : RUN_MAX;
	}
	first->address = c->at;
	first->mask = mask;
	last = c->at + ((blocks - 1) << mask) + ones;
	if (last != c->range->to) {
		c->at = last + 1;
	} else {
		c->n--;
		c->range++;
		if (c->n)
			c->at = c->range->from;
	}
	return blocks;
}

uint64_t swo_cover_count(const struct swo_range *range, uint32_t n, uint32_t max_mask)
{
	struct swo_cover c;
	struct swo_block first;
	uint64_t count = 0;
	uint32_t blocks;

	swo_cover_begin(&c, range, n, max_mask);
	while ((blocks = swo_cover_run(&c, &first)))
		count += blocks;
	return count;
}

struct swo_block swo_cover_block(const struct swo_range *range, uint32_t n, uint32_t max_mask,
				 uint64_t i)
{
	struct swo_cover c;
	struct swo_block block = { 0, 0 };
	uint32_t blocks;

	swo_cover_begin(&c, range, n, max_mask);
	while ((blocks = swo_cover_run(&c, &block)) && i >= blocks)
		i -= blocks;
	block.address += (uint32_t)i << block.mask;
	return block;
}

uint64_t swo_cover_passes(uint64_t count, uint32_t comparators)
{
	return (count + comparators - 1) / comparators;
}
