/* SPDX-License-Identifier: MIT */
/**
 * Records to the image of wire/ett_image.h: its blocks, one at a time, so that no second copy of
 * the record is needed.
 */
#ifndef ETT_IMAGE_H
#define ETT_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wire/ett_image.h>

/** CRC-32C, as host's cvl_crc32c(). */
uint32_t ett_crc(uint32_t crc, const void *bytes, size_t n);

struct ett_image {
	struct ett_header header; /* crc is filled in */
	const struct ett_record *record, *truth;
};

/** Blocks of the image, including that of the header. */
uint64_t ett_image_blocks(const struct ett_image *im);
/** Fill @block (ETT_BLOCK_BYTES, aligned to 8) with block @i of the image. */
void ett_image_block(struct ett_image *im, uint64_t i, void *block);

/**
 * Where on a disk an image may be written, by its first sector: the sector it begins at; false if
 * the disk is not marked as ours, and so nothing may be written.
 */
bool ett_image_place(const uint8_t sector[ETT_SECTOR_BYTES], uint32_t *lba);

#endif
