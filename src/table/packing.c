/* SPDX-License-Identifier: MIT */
#include "table/packing.h"

#define BLOCK 128 /* differences that have their least one in common */
#define MINI 32   /* and that are of one width */
#define RUN_LEAST 16

uint8_t *pack_varint(uint8_t *w, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*w++ = (uint8_t)(v | 0x80);
	*w++ = (uint8_t)v;
	return w;
}

/* The low @width bits of MINI values: 4 bytes times @width. */
static uint8_t *pack_mini(uint8_t *w, const uint64_t *v, unsigned width)
{
	uint64_t bits = 0;
	unsigned n = 0;

	for (unsigned k = 0; k < MINI && width; k++) {
		bits |= v[k] << n;
		n += width;
		if (n < 64)
			continue;
		bits = htole64(bits);
		memcpy(w, &bits, 8);
		w += 8;
		n -= 64;
		bits = n ? v[k] >> (width - n) : 0;
	}
	if (n) {
		bits = htole64(bits);
		memcpy(w, &bits, 4);
		w += 4;
	}
	return w;
}

void pack_deltas(struct buffer *to, const uint64_t *v, size_t n)
{
	const size_t blocks = n / BLOCK + 1;
	uint8_t *w = buffer_room(to, 40 + blocks * (10 + BLOCK / MINI + BLOCK * 8));

	if (!w)
		return;
	w = pack_varint(w, BLOCK);
	w = pack_varint(w, BLOCK / MINI);
	w = pack_varint(w, n);
	w = pack_varint(w, pack_zigzag(n ? (int64_t)v[0] : 0));
	for (size_t i = 1; i < n; i += BLOCK) {
		const size_t count = n - i < BLOCK ? n - i : BLOCK;
		uint64_t delta[BLOCK];
		int64_t least = INT64_MAX;
		uint8_t *width;

		for (size_t k = 0; k < count; k++) {
			delta[k] = v[i + k] - v[i + k - 1];
			least = (int64_t)delta[k] < least ? (int64_t)delta[k] : least;
		}
		for (size_t k = 0; k < count; k++)
			delta[k] -= (uint64_t)least;
		memset(delta + count, 0, (BLOCK - count) * sizeof(*delta));
		w = pack_varint(w, pack_zigzag(least));
		width = w;
		w += BLOCK / MINI;
		for (unsigned m = 0; m < BLOCK / MINI; m++) {
			uint64_t any = 0;

			for (unsigned k = 0; k < MINI; k++)
				any |= delta[m * MINI + k];
			/* values at half bytes repeat where a compressor can see it */
			width[m] = any ? (uint8_t)((67 - __builtin_clzll(any)) & ~3) : 0;
			w = pack_mini(w, delta + m * MINI, width[m]);
		}
	}
	to->n = (size_t)(w - to->at);
}

/* How often v[0] comes, up to @most times. */
static size_t repeats(const int32_t *v, size_t most)
{
	size_t n = 1;

	while (n < most && v[n] == v[0])
		n++;
	return n;
}

/* Groups of eight, the last one filled up with zeros. */
static uint8_t *pack_groups(uint8_t *w, const int32_t *v, size_t n, unsigned width)
{
	const size_t groups = (n + 7) / 8;
	uint8_t *end;
	uint64_t bits = 0;
	unsigned fill = 0;

	w = pack_varint(w, groups << 1 | 1);
	end = w + groups * width;
	for (size_t i = 0; i < n; i++) {
		bits |= (uint64_t)(uint32_t)v[i] << fill;
		fill += width;
		for (; fill >= 8; fill -= 8) {
			*w++ = (uint8_t)bits;
			bits >>= 8;
		}
	}
	if (fill)
		*w++ = (uint8_t)bits;
	memset(w, 0, (size_t)(end - w));
	return end;
}

void pack_runs(struct buffer *to, const int32_t *v, size_t n, unsigned width)
{
	/* a run takes less than what it stands for; and there are heads */
	uint8_t *w = buffer_room(to, n * 4 + n / RUN_LEAST * 16 + 64);

	for (size_t i = 0; w && i < n;) {
		size_t run = repeats(v + i, n - i), begin = i;

		if (run >= RUN_LEAST || i + run == n) {
			w = pack_varint(w, run << 1);
			for (unsigned k = 0; k < width; k += 8)
				*w++ = (uint8_t)((uint32_t)v[i] >> k);
			i += run;
			continue;
		}
		do {
			i = n - i < 8 ? n : i + 8;
		} while (i < n &&
			 repeats(v + i, n - i < RUN_LEAST ? n - i : RUN_LEAST) < RUN_LEAST);
		w = pack_groups(w, v + begin, i - begin, width);
	}
	if (w)
		to->n = (size_t)(w - to->at);
}
