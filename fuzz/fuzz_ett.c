/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <wire/ett_image.h>

#include "../src/core/crc32c.h"
#include "../src/import/importers.h"
#include "fuzz_import.h"

enum { STRICT = 1, SOUND = 2 };

static void put_crc(uint8_t *bytes, size_t n, size_t at)
{
	uint32_t crc;

	memset(bytes + at, 0, sizeof(crc));
	crc = cvl_crc32c(0, bytes, n);
	memcpy(bytes + at, &crc, sizeof(crc));
}

/*
 * Checksums that hold, and blocks of this run where they are expected, so that what is in them is
 * reached.
 */
static void make_sound(uint8_t *data, size_t n)
{
	struct ett_header h;
	uint64_t first = 0, left;
	uint16_t kind = ETT_RECORDS;

	memcpy(data, ETT_MAGIC, sizeof(h.magic));
	data[8] = ETT_VERSION;
	put_crc(data, ETT_HEADER_BYTES, offsetof(struct ett_header, crc));
	memcpy(&h, data, sizeof(h));
	left = h.records;
	for (size_t at = ETT_BLOCK_BYTES; at + ETT_BLOCK_BYTES <= n; at += ETT_BLOCK_BYTES) {
		struct ett_block b;

		if (!left && kind == ETT_RECORDS) {
			kind = ETT_TRUTH;
			left = h.truths;
			first = 0;
		}
		memcpy(&b, data + at, sizeof(b));
		if (b.pad & 1) /* some are left as they are */
			continue;
		b.magic = ETT_BLOCK_MAGIC;
		b.kind = kind;
		b.n = (uint16_t)(left < ETT_BLOCK_RECORDS ? left : ETT_BLOCK_RECORDS);
		b.first = first;
		b.run = h.run;
		first += b.n;
		left -= b.n;
		memcpy(data + at, &b, sizeof(b));
		put_crc(data + at, sizeof(b), offsetof(struct ett_block, crc));
	}
}

/* The first byte chooses how. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct cvl_import_opts opts = { .strict = n && (data[0] & STRICT) };
	uint8_t *copy;

	if (!n || !(data[0] & SOUND) || n - 1 < ETT_BLOCK_BYTES)
		return n ? fuzz_import(&cvl_import_ett, data + 1, n - 1, &opts) : 0;
	copy = malloc(n);
	if (!copy)
		return 0;
	memcpy(copy, data, n);
	make_sound(copy + 1, n - 1);
	fuzz_import(&cvl_import_ett, copy + 1, n - 1, &opts);
	free(copy);
	return 0;
}
