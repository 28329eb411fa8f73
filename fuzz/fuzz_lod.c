/* SPDX-License-Identifier: MIT */
/*
 * Levels of detail: any bytes as a block are cells or an error; of any records, what a level says is
 * the sum of what the level below it says, and both are what goes in.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lod/blocks.h"
#include "lod/build.h"

#define CHANNELS 2
#define CLASSES 3
#define TRACKS (LOD_CHANNELS + CHANNELS + CLASSES)
#define LEAF 2

struct sums {
	uint64_t count[TRACKS], ticks[LOD_LINES];
};

static int see_any(void *ctx, const struct cvl_lod_cell *cell)
{
	uint64_t *n = ctx;

	for (size_t i = 0; i < cell->n; i++)
		*n += cell->sum[i].count;
	return 0;
}

static int see(void *ctx, const struct cvl_lod_cell *cell)
{
	struct sums *s = ctx;

	for (size_t i = 0; i < cell->n; i++) {
		const struct cvl_lod_sum *one = &cell->sum[i];

		if (one->track >= TRACKS || (i && one->track <= cell->sum[i - 1].track))
			abort();
		s->count[one->track] += one->count;
		if (one->track < LOD_LINES)
			s->ticks[one->track] += one->ticks;
	}
	return 0;
}

static int put(void *ctx, unsigned level, const struct cvl_lod_cell *cell)
{
	return lod_blocks_put(ctx, level, cell);
}

static void any_bytes(const uint8_t *data, size_t n)
{
	struct lod_blocks b = { .channels = CHANNELS };
	uint64_t sum = 0;
	struct lod_reading r = { .to = UINT64_MAX, .see = see_any, .ctx = &sum };
	unsigned char *copy = malloc(n + 1);
	int rc;

	memcpy(copy, data, n);
	b.level[3].bytes = copy;
	b.level[3].open.bytes = (uint32_t)n;
	rc = lod_blocks_read(&b, 3, &r);
	if (rc && rc != CVL_E_CHECKSUM)
		abort();
	lod_blocks_free(&b);
}

/* Records of five bytes: kind, distance (two), value (two). */
static size_t make(const uint8_t *data, size_t n, struct cvl_batch *b)
{
	static const uint8_t kinds[] = { CVL_EDGE,  CVL_EDGE,  CVL_EDGE, CVL_SAMPLE,
					 CVL_EVENT, CVL_PULSE, CVL_GAP,  CVL_BEACON };
	uint64_t tick = 0;
	size_t i;

	for (i = 0; i < CVL_BATCH_MAX && 5 * i + 5 <= n; i++) {
		const uint8_t *p = data + 5 * i;
		const uint64_t step = (uint64_t)p[1] << (p[2] % 40);

		tick += step;
		b->tick[i].count = p[0] & 64 ? tick - step / 2 : tick;
		b->kind[i] = kinds[p[0] & 7];
		b->flags[i] = p[0] & 64 ? CVL_LATE : p[0] & 32 ? CVL_STATE : 0;
		b->cls[i] = b->kind[i] == CVL_SAMPLE ? p[3] % CHANNELS :
			    b->kind[i] == CVL_EVENT  ? p[3] % CLASSES :
						       0;
		b->value[i] = (uint64_t)p[3] << (p[4] & 48);
		b->aux[i] = b->kind[i] == CVL_GAP ? tick + p[3] : (uint64_t)(p[4] & 15);
		if (b->kind[i] == CVL_SAMPLE)
			b->value[i] &= 0xffff; /* a small double: sums stay exact */
	}
	return i;
}

static void any_records(const uint8_t *data, size_t n)
{
	static struct cvl_tick tick[CVL_BATCH_MAX];
	static uint8_t kind[CVL_BATCH_MAX], flags[CVL_BATCH_MAX];
	static uint32_t cls[CVL_BATCH_MAX];
	static uint64_t value[CVL_BATCH_MAX], aux[CVL_BATCH_MAX];
	struct cvl_batch batch = {
		.tick = tick, .kind = kind, .flags = flags, .cls = cls, .value = value, .aux = aux
	};
	struct lod_blocks blocks = { .channels = CHANNELS };
	struct lod_build build = { .leaf = LEAF,
				   .top = CVL_LOD_LEVELS - 1,
				   .channels = CHANNELS,
				   .tracks = TRACKS,
				   .emit = put,
				   .ctx = &blocks };
	struct sums in = { 0 }, first = { 0 };

	batch.n = make(data, n, &batch);
	if (lod_build_begin(&build))
		return;
	for (size_t i = 0; i < batch.n; i++) {
		if (kind[i] == CVL_SAMPLE)
			in.count[LOD_CHANNELS + cls[i]]++;
		else if (kind[i] == CVL_EVENT)
			in.count[LOD_CHANNELS + CHANNELS + cls[i]]++;
		else if (kind[i] != CVL_EDGE)
			in.count[LOD_KINDS + kind[i]]++;
	}
	if (lod_build_push(&build, &batch) || lod_build_tail(&build, put, &blocks))
		abort();
	for (unsigned level = LEAF; level < CVL_LOD_LEVELS; level++) {
		struct sums s = { 0 };
		struct lod_reading r = { .to = UINT64_MAX, .see = see, .ctx = &s };

		if (lod_blocks_read(&blocks, level, &r))
			abort();
		if (memcmp(s.count + LOD_KINDS, in.count + LOD_KINDS,
			   (TRACKS - LOD_KINDS) * sizeof(*s.count)))
			abort();
		if (level == LEAF)
			first = s;
		if (memcmp(s.count, first.count, sizeof(s.count)))
			abort();
	}
	lod_build_free(&build);
	lod_blocks_free(&blocks);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	if (n && data[0] & 1)
		any_bytes(data + 1, n - 1);
	else if (n)
		any_records(data + 1, n - 1);
	return 0;
}
