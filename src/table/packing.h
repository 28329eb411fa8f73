/* SPDX-License-Identifier: MIT */
/**
 * Encodings of numbers as in Parquet ("Parquet encoding definitions"): differences in as few bits as
 * they need, and runs.
 */
#ifndef TABLE_PACKING_H
#define TABLE_PACKING_H

#include "table/buffer.h"

/** @v as a varint, at most ten bytes. Returns the end. */
uint8_t *pack_varint(uint8_t *w, uint64_t v);

/** A signed number so that small ones are small. */
static inline uint64_t pack_zigzag(int64_t v)
{
	return (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0);
}

/** DELTA_BINARY_PACKED, for any values: differences wrap around. */
void pack_deltas(struct buffer *to, const uint64_t *v, size_t n);

/** The hybrid of runs and packed bits of RLE and RLE_DICTIONARY, without what comes before it. */
void pack_runs(struct buffer *to, const int32_t *v, size_t n, unsigned width);

/** Bits that a number up to @most needs; at least one, which any reader takes. */
static inline unsigned pack_width(uint32_t most)
{
	return most && most != UINT32_MAX ? 32 - (unsigned)__builtin_clz(most) : 1;
}

#endif
