/* SPDX-License-Identifier: MIT */
/* The image, block by block, to a disk or the serial port. */
#include "save.h"

#include "../keys.h"

#define SECTORS (ETT_BLOCK_BYTES / ETT_SECTOR_BYTES)

static const char stopped[] = "stopped by Esc";

static uint64_t block[ETT_BLOCK_BYTES / 8];

/* Show the progress. False: the user cancelled. */
static bool go_on(uint64_t i, uint64_t blocks)
{
	char row[ETT_COLUMNS + 1] = "";
	struct ett_text t = { row, 0 };

	ett_put(&t, "saving, blocks: ");
	ett_put_dec(&t, i, 0);
	ett_put(&t, " of ");
	ett_put_dec(&t, blocks, 0);
	ett_put(&t, "  (Esc stops it)");
	screen_line(ETT_ROWS - 2, row);
	return key_poll() != ETT_KEY_ESC;
}

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
		if (i % 64 == 0 && !go_on(i, blocks)) {
			problem = stopped;
			break;
		}
		ett_image_block(im, i, block);
		problem = disk_write(&d, t, lba + i * SECTORS, block, SECTORS);
		if (!problem)
			*saved = i + 1;
	}
	if (*saved) {
		const char *flushed = disk_flush(&d, t);

		problem = problem ? problem : flushed;
	}
	return problem;
}

const char *save_serial(struct ett_image *im, const struct timer *t, uint64_t *saved)
{
	uint64_t blocks = ett_image_blocks(im);

	*saved = 0;
	if (!serial_open())
		return "there is no serial port";
	for (uint64_t i = 0; i < blocks; i++) {
		if (!go_on(i, blocks))
			return stopped;
		ett_image_block(im, i, block);
		if (!serial_send(t, block, ETT_BLOCK_BYTES))
			return "the serial port does not send";
		*saved = i + 1;
	}
	return NULL;
}
