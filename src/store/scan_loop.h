/* SPDX-License-Identifier: MIT */
/**
 * The loop of the vector scans. The file for each instruction set includes this after defining
 *
 *   SCAN_NAME     the scan
 *   SCAN_TARGET   function attribute that allows the instructions
 *   SCAN_BLOCK    bytes looked at in one step: 64 or 128
 *   scan_differ   bool (const uint8_t *p, unsigned unit, uint64_t lanes, uint64_t *bits):
 *                 whether any sample of the block at @p differs from the one before it, in the
 *                 bits of @lanes; if so, @bits has a one at the first byte of each such sample
 */
#include "scan_internal.h"

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
 * Always stores four at a time, even if fewer are left: the branch that ends a loop at the last
 * edge would be mispredicted nearly every time. Bit 63 keeps the position defined when none is
 * left.
 */
SCAN_INLINE SCAN_TARGET bool scan_store(struct scan_run *r, size_t at, uint64_t bits, unsigned unit)
{
	const unsigned shift = (unsigned)__builtin_ctz(unit);
	const size_t found = (size_t)__builtin_popcountll(bits);
	const size_t room = r->out.max - r->stored;
	struct cvl_tick *tick = r->out.tick + r->stored;
	uint64_t *level = r->out.level + r->stored;

	if (__builtin_expect(((found + 3) & ~(size_t)3) >= room, 0)) {
		size_t take = found < room ? found : room;

		for (size_t i = 0; i < take; i++, bits &= bits - 1) {
			size_t k = at + ((size_t)__builtin_ctzll(bits) >> shift);

			tick[i].count = r->base + k;
			level[i] = scan_load(r->p + k * unit, unit) & r->mask;
		}
		r->stored += take;
		return r->stored < r->out.max;
	}
	for (size_t done = 0; done < found; done += 4) {
#pragma GCC unroll 4
		for (size_t i = 0; i < 4; i++, bits &= bits - 1) {
			size_t k = at + ((size_t)__builtin_ctzll(bits | 1ull << 63) >> shift);

			tick[done + i].count = r->base + k;
			level[done + i] = scan_load(r->p + k * unit, unit) & r->mask;
		}
	}
	r->stored += found;
	return true;
}

/* Whole blocks from sample 1 on. Returns the first sample not looked at. */
SCAN_INLINE SCAN_TARGET size_t scan_blocks(struct scan_run *r, unsigned unit, uint64_t lanes)
{
	const size_t step = SCAN_BLOCK / unit;
	size_t i = 1;

	for (; r->n - i >= step; i += step) {
		uint64_t bits[SCAN_BLOCK / 64];

		if (!scan_differ(r->p + i * unit, unit, lanes, bits))
			continue;
		for (size_t w = 0; w < SCAN_BLOCK / 64; w++)
			if (!scan_store(r, i + w * 64 / unit, bits[w], unit))
				return (size_t)(r->out.tick[r->stored - 1].count - r->base) + 1;
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
