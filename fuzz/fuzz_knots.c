/* SPDX-License-Identifier: MIT */
/*
 * A file of knots with any bytes in it. The first byte: number of full blocks, whether the file is
 * cut short, and whether checksums are made right, so that what they protect is reached; then the
 * header, then 100 bytes for the beginning of each slot and each full block, which is repeated to
 * its end with the ticks and times counted up.
 */
#include <coeval/clockmap.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../src/core/crc32c.h"

#define BLOCK 4096
#define HEADER 288
#define SLOTS 3
#define FULL 6
#define BEGINNING 100

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void make_right(uint8_t *block)
{
	uint32_t crc = cvl_crc32c(0, block + 4, BLOCK - 4);

	memcpy(block, &crc, sizeof(crc));
}

/* Knots of 32 bytes from byte 16 on: each is the one two before it, later. */
static void fill(uint8_t *block)
{
	for (size_t at = 16 + 64; at + 32 <= BLOCK - 16; at += 32) {
		uint64_t tick, ns;

		memcpy(block + at, block + at - 64, 32);
		memcpy(&tick, block + at, 8);
		memcpy(&ns, block + at + 8, 8);
		tick += 2000;
		ns += 2000000;
		memcpy(block + at, &tick, 8);
		memcpy(block + at + 8, &ns, 8);
	}
}

/* Blocks may each be right and not follow each other: then answers depend on what was asked before. */
static bool in_order(const struct cvl_map *map)
{
	struct cvl_knot before, k;
	size_t n = cvl_map_ends(map, NULL, NULL);

	for (size_t i = 0; i < n; i++) {
		if (cvl_map_knot(map, i, &k, NULL))
			return false;
		if (i && (k.tick.count <= before.tick.count || k.time.ns < before.time.ns ||
			  (k.time.ns == before.time.ns && k.frac < before.frac)))
			return false;
		before = k;
	}
	return true;
}

static void use(const struct cvl_map *map)
{
	const bool sane = in_order(map);
	struct cvl_map_cursor cursor = { 0 };
	struct cvl_knot first, last;
	struct cvl_tick tick[64];
	struct cvl_time time[64];
	int64_t bound[64], one;

	cvl_map_ends(map, &first, &last);
	for (size_t i = 0; i < 64; i++)
		tick[i].count =
			i < 48 ? first.tick.count + (last.tick.count - first.tick.count) / 47 * i :
				 (uint64_t)1 << (i - 48) * 4;
	cvl_map_times(map, tick, 64, time);
	cvl_map_bounds(map, &cursor, tick, 64, bound);
	for (size_t i = 0; i < 64; i++) {
		bool same = cvl_map_time(map, tick[i], &one).ns == time[i].ns && one == bound[i];

		if (one < 0 || (sane && !same))
			abort();
		cvl_map_tick(map, time[i]);
		cvl_map_rate_ppb(map, tick[i]);
	}
	cvl_map_bound_max(map, first.tick, last.tick);
	cvl_map_bound_median(map, first.tick, last.tick);
	if (cvl_map_verify(map) && !cvl_map_damaged(map, NULL))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static char path[64];
	static uint8_t file[(1 + SLOTS + FULL) * BLOCK];
	struct cvl_map *map;
	struct cvl_error err;
	size_t blocks, at = HEADER, size;
	FILE *f;

	if (!path[0]) {
		snprintf(path, sizeof(path), "/tmp/coeval-fuzz-knots-XXXXXX");
		close(mkstemp(path));
	}
	if (n < 1 + HEADER)
		return 0;
	blocks = SLOTS + (data[0] & 0x3f) % (FULL + 1);
	size = (1 + blocks) * BLOCK - (data[0] & 0x40 ? BLOCK / 2 : 0);
	memset(file, 0, sizeof(file));
	memcpy(file, data + 1, at);
	for (size_t i = 1; i <= blocks; i++) {
		size_t take = n - 1 - at < BEGINNING ? n - 1 - at : BEGINNING;

		memcpy(file + i * BLOCK, data + 1 + at, take);
		at += take;
		fill(file + i * BLOCK);
	}
	if (data[0] & 0x80)
		for (size_t i = 0; i <= blocks; i++)
			make_right(file + i * BLOCK);
	unlink(path); /* never written while it is mapped */
	f = fopen(path, "w");
	if (!f || fwrite(file, 1, size, f) != size || fclose(f))
		abort();
	if (!cvl_map_load(&map, path, &err)) {
		use(map);
		cvl_map_free(map);
	}
	return 0;
}
