/* SPDX-License-Identifier: MIT */
/**
 * The loop of the vector scans. The file for each instruction set includes this after defining
 *
 *   SCAN_NAME     the scan
 *   SCAN_TARGET   function attribute that allows the instructions
 *   scan_any      bool (const uint8_t *p, unsigned unit, uint64_t lanes): whether any sample of the 64
 *                 bytes at @p differs from the one before it, in the bits of @lanes; no branches
 *   scan_bits     uint64_t (the same): a one at the first byte of each such sample
 */
#include "scan_internal.h"

#define SCAN_BLOCK 64
/* Bytes that are looked at before the first edge in them is stored: a block for each bit of a word. */
#define SCAN_PAGE (64 * SCAN_BLOCK)
/* The stream that the processor itself prefetches dries up while edges are stored. */
#define SCAN_AHEAD 8192
/* With more blocks than this with edges in a page, all are taken: most have several edges. */
#define SCAN_DENSE 58

struct scan_run {
	const uint8_t *p;
	size_t n;
	uint64_t mask;
	uint64_t base;
	struct cvl_scan_out out;
	size_t stored;
};

/*
 * Store the edges in @bits, whose bit 0 stands for the first byte of sample @at. Returns false when
 * the output is full.
 *
 * Always stores @together at a time, even if fewer are left: the branch that ends a loop at the
 * last edge would be mispredicted nearly every time. The bit of the last sample keeps the position
 * defined when none is left.
 */
SCAN_INLINE SCAN_TARGET bool scan_store(struct scan_run *r, size_t at, uint64_t bits, unsigned unit,
					uint64_t lanes, size_t together)
{
	const uint64_t mask = lanes == ~0ull ? ~0ull : r->mask, first = r->base + at;
	const unsigned shift = (unsigned)__builtin_ctz(unit);
	const size_t found = (size_t)__builtin_popcountll(bits);
	const size_t room = r->out.max - r->stored;
	struct cvl_tick *tick = r->out.tick + r->stored;
	uint64_t *level = r->out.level + r->stored;
	const uint8_t *p = r->p + at * unit;

	if (__builtin_expect(((found + together - 1) & ~(together - 1)) >= room, 0)) {
		size_t take = found < room ? found : room;

		for (size_t i = 0; i < take; i++, bits &= bits - 1) {
			size_t k = (size_t)__builtin_ctzll(bits);

			tick[i].count = first + (k >> shift);
			level[i] = scan_load(p + k, unit) & mask;
		}
		r->stored += take;
		return r->stored < r->out.max;
	}
	for (size_t done = 0; done < found; done += together) {
#pragma GCC unroll 8
		for (size_t i = 0; i < together; i++, bits &= bits - 1) {
			size_t k = (size_t)__builtin_ctzll(bits | 1ull << (64 - unit));

			tick[done + i].count = first + (k >> shift);
			level[done + i] = scan_load(p + k, unit) & mask;
		}
	}
	r->stored += found;
	return true;
}

/* The sample after the last edge stored. */
SCAN_INLINE size_t scan_end(const struct scan_run *r)
{
	return (size_t)(r->out.tick[r->stored - 1].count - r->base) + 1;
}

/* The blocks with edges among the @blocks that begin with sample @at: a bit for each. */
SCAN_INLINE SCAN_TARGET uint64_t scan_page(const uint8_t *p, size_t blocks, unsigned unit,
					   uint64_t lanes)
{
	uint64_t with = 0;

	for (size_t k = 0; k < blocks; k++, p += SCAN_BLOCK) {
		__builtin_prefetch(p + SCAN_AHEAD);
		with |= (uint64_t)scan_any(p, unit, lanes) << k;
	}
	return with;
}

/*
 * Whole blocks from sample 1 on. Returns the first sample not looked at.
 *
 * Edges are rare and come when they like, so a branch on them is mispredicted: first the blocks
 * with edges are found for a whole page, without branches, so that this costs one misprediction a
 * page rather than one or two an edge.
 */
SCAN_INLINE SCAN_TARGET size_t scan_blocks(struct scan_run *r, unsigned unit, uint64_t lanes)
{
	const size_t step = SCAN_BLOCK / unit;
	size_t i = 1, blocks;

	for (; (blocks = (r->n - i) / step) > 0; i += blocks * step) {
		const uint8_t *p = r->p + i * unit;
		uint64_t with;

		if (blocks >= 64) {
			blocks = 64;
			with = scan_page(p, 64, unit, lanes);
		} else {
			with = scan_page(p, blocks, unit, lanes);
		}
		if (__builtin_popcountll(with) > SCAN_DENSE) {
			for (size_t k = 0; k < blocks; k++)
				if (!scan_store(r, i + k * step,
						scan_bits(p + k * SCAN_BLOCK, unit, lanes), unit,
						lanes, 8))
					return scan_end(r);
			continue;
		}
		for (; with; with &= with - 1) {
			size_t k = (size_t)__builtin_ctzll(with);

			if (!scan_store(r, i + k * step, scan_bits(p + k * SCAN_BLOCK, unit, lanes),
					unit, lanes, 4))
				return scan_end(r);
		}
	}
	return i;
}

/* A mask known to be all ones costs nothing. */
SCAN_INLINE SCAN_TARGET size_t scan_unit(struct scan_run *r, unsigned unit, uint64_t ones)
{
	uint64_t lanes = (r->mask & ones) * (~0ull / ones);

	if (lanes == ~0ull)
		return scan_blocks(r, unit, ~0ull);
	return scan_blocks(r, unit, lanes);
}

SCAN_TARGET size_t SCAN_NAME(const void *samples, size_t n, unsigned unit, uint64_t mask,
			     uint64_t base, uint64_t *last, struct cvl_scan_out out, size_t *used)
{
	struct scan_run r = { .p = samples, .n = n, .mask = mask, .base = base, .out = out };
	struct cvl_scan_out rest;
	size_t i, tail;

	r.stored = cvl_scan_plain(samples, n < 1 ? n : 1, unit, mask, base, last, out, &i);
	if (i < n && r.stored < out.max) {
		switch (unit) {
		case 1: i = scan_unit(&r, 1, 0xff); break;
		case 2: i = scan_unit(&r, 2, 0xffff); break;
		case 4: i = scan_unit(&r, 4, 0xffffffff); break;
		default: i = scan_unit(&r, 8, ~0ull); break;
		}
		*last = scan_load(r.p + (i - 1) * unit, unit) & mask;
	}
	rest = (struct cvl_scan_out){ out.tick + r.stored, out.level + r.stored,
				      out.max - r.stored };
	r.stored += cvl_scan_plain(r.p + i * unit, n - i, unit, mask, base + i, last, rest, &tail);
	*used = i + tail;
	return r.stored;
}
