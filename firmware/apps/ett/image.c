/* SPDX-License-Identifier: MIT */
#include "image.h"

#include <string.h>

uint32_t ett_crc(uint32_t crc, const void *bytes, size_t n)
{
	/* four bits at a time: a table of 64 bytes serves a kernel as well as one of 1024 */
	static const uint32_t nibble[16] = {
		0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
		0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
		0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
	};
	const uint8_t *p = bytes;

	crc = ~crc;
	while (n--) {
		crc ^= *p++;
		crc = crc >> 4 ^ nibble[crc & 15];
		crc = crc >> 4 ^ nibble[crc & 15];
	}
	return ~crc;
}

static uint64_t blocks(uint64_t records)
{
	return records / ETT_BLOCK_RECORDS + (records % ETT_BLOCK_RECORDS != 0);
}

uint64_t ett_image_blocks(const struct ett_image *im)
{
	return 1 + blocks(im->header.records) + blocks(im->header.truths);
}

static void put_header(struct ett_image *im, uint8_t *out)
{
	struct ett_header *h = &im->header;

	memcpy(h->magic, ETT_MAGIC, sizeof(h->magic));
	h->version = ETT_VERSION;
	h->crc = 0;
	h->crc = ett_crc(0, h, sizeof(*h));
	memset(out, 0, ETT_BLOCK_BYTES);
	memcpy(out, h, sizeof(*h));
	memcpy(out + ETT_COPY_AT, h, sizeof(*h));
}

static void put_records(const struct ett_image *im, uint64_t i, struct ett_block *b)
{
	const uint64_t ahead = blocks(im->header.records);
	const struct ett_record *from = im->record;
	uint64_t n = im->header.records;

	memset(b, 0, sizeof(*b));
	b->magic = ETT_BLOCK_MAGIC;
	b->kind = ETT_RECORDS;
	if (i >= ahead) {
		b->kind = ETT_TRUTH;
		i -= ahead;
		from = im->truth;
		n = im->header.truths;
	}
	b->first = i * ETT_BLOCK_RECORDS;
	n -= b->first;
	b->n = (uint16_t)(n < ETT_BLOCK_RECORDS ? n : ETT_BLOCK_RECORDS);
	b->run = im->header.run;
	memcpy(b->record, from + b->first, b->n * sizeof(*from));
	b->crc = ett_crc(0, b, sizeof(*b));
}

void ett_image_block(struct ett_image *im, uint64_t i, void *block)
{
	if (i)
		put_records(im, i - 1, block);
	else
		put_header(im, block);
}

bool ett_image_place(const uint8_t sector[ETT_SECTOR_BYTES], uint32_t *lba)
{
	if (!memcmp(sector + ETT_BOOT_MARK_AT, ETT_BOOT_MARK, strlen(ETT_BOOT_MARK))) {
		memcpy(lba, sector + ETT_BOOT_IMAGE_AT, sizeof(*lba));
		return *lba > 0;
	}
	*lba = 0;
	return !memcmp(sector, ETT_SPACE_MARK, strlen(ETT_SPACE_MARK)) ||
	       !memcmp(sector, ETT_MAGIC, strlen(ETT_MAGIC));
}
