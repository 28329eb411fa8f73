/* SPDX-License-Identifier: MIT */
/* The image, block by block, to a disk or the serial port. */
#include "save.h"

#define SECTORS (ETT_BLOCK_BYTES / ETT_SECTOR_BYTES)

static uint64_t block[ETT_BLOCK_BYTES / 8];

const char *save_disk(struct ett_image *im, const struct timer *t, int number, uint64_t *saved)
{
	uint64_t blocks = ett_image_blocks(im);
	const char *problem;
	struct disk d;
	uint32_t lba;

	*saved = 0;
	problem = disk_open(&d, t, number);
	if (!problem)
		problem = disk_read(&d, t, 0, block);
	if (problem)
		return problem;
	if (!ett_image_place((const uint8_t *)block, &lba))
		return "the disk is not marked as ours: nothing was written";
	for (uint64_t i = 0; i < blocks && !problem; i++) {
		if (lba + (i + 1) * SECTORS > d.sectors) {
			problem = "the disk is full";
			break;
		}
		ett_image_block(im, i, block);
		problem = disk_write(&d, t, lba + i * SECTORS, block, SECTORS);
		if (!problem)
			*saved = i + 1;
		if (i % 4096 == 4095)
			screen_line(ETT_ROWS - 2, i & 4096 ? "saving ..." : "saving ....");
	}
	if (*saved) {
		const char *flushed = disk_flush(&d, t);

		problem = problem ? problem : flushed;
	}
	return problem;
}

const char *save_serial(struct ett_image *im, const struct timer *t)
{
	uint64_t blocks = ett_image_blocks(im);

	if (!serial_open())
		return "there is no serial port";
	for (uint64_t i = 0; i < blocks; i++) {
		ett_image_block(im, i, block);
		if (!serial_send(t, block, ETT_BLOCK_BYTES))
			return "the serial port does not send";
	}
	return NULL;
}
