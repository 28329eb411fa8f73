/* SPDX-License-Identifier: MIT */
/*
 * ATA disks by programmed I/O (ATA/ATAPI-6, 8 and 9): task file at the base port, each command's
 * data sector by sector whenever the disk asks for it. 48-bit addresses go in two halves, the upper
 * one first.
 */
#include "machine.h"

#include <string.h>

#include "io.h"

enum { DATA = 0, COUNT = 2, LBA0 = 3, LBA1 = 4, LBA2 = 5, DEVICE = 6, COMMAND = 7, STATUS = 7 };
enum { ERROR = 1, DRQ = 8, FAULT = 0x20, BUSY = 0x80 };
enum {
	READ = 0x20,
	READ_EXT = 0x24,
	WRITE = 0x30,
	WRITE_EXT = 0x34,
	FLUSH = 0xe7,
	FLUSH_EXT = 0xea,
	IDENTIFY = 0xec
};

#define NO_INTERRUPT 2
#define PATIENCE_US 10000000
#define WORDS (ETT_SECTOR_BYTES / 2)
#define LBA28_END (UINT64_C(1) << 28)

static const char no_disk[] = "there is no such disk";
static const char broken[] = "the disk reports an error";
static const char silent[] = "the disk does not answer";

static uint16_t reg(const struct disk *d, int r)
{
	return (uint16_t)(d->base + r);
}

/* Until it is no longer busy, and asks for data if it shall. */
static const char *wait(const struct disk *d, const struct timer *t, bool data)
{
	uint64_t until = tsc() + ett_ticks(PATIENCE_US, t->hz);

	for (int i = 0; i < 4; i++) /* 400 ns, until its status holds */
		in8(d->control);
	while (tsc() < until) {
		uint8_t s = in8(reg(d, STATUS));

		if (s & BUSY)
			continue;
		if (s & (ERROR | FAULT))
			return broken;
		if (!data || s & DRQ)
			return NULL;
	}
	return silent;
}

const char *disk_open(struct disk *d, const struct timer *t, int number)
{
	uint16_t id[WORDS];
	const char *problem;

	*d = (struct disk){ .base = number < 2 ? 0x1f0 : 0x170, .unit = (uint8_t)(number & 1) };
	d->control = (uint16_t)(d->base + 0x206);
	if (number < 0 || in8(reg(d, STATUS)) == 0xff)
		return no_disk;
	out8(d->control, NO_INTERRUPT);
	out8(reg(d, DEVICE), (uint8_t)(0xa0 | d->unit << 4));
	for (int i = 0; i < 4; i++)
		in8(d->control);
	for (int r = COUNT; r <= LBA2; r++)
		out8(reg(d, r), 0);
	out8(reg(d, COMMAND), IDENTIFY);
	if (!in8(reg(d, STATUS)))
		return no_disk;
	problem = wait(d, t, true);
	if (problem)
		return no_disk; /* or not an ATA disk: it aborts the command */
	in16_many(reg(d, DATA), id, WORDS);
	d->lba48 = id[83] >> 10 & 1;
	d->sectors = (uint64_t)id[61] << 16 | id[60];
	if (d->lba48)
		memcpy(&d->sectors, &id[100], 8);
	return d->sectors ? NULL : no_disk;
}

static void command(const struct disk *d, uint64_t lba, unsigned n, int plain, int ext)
{
	bool wide = d->lba48 && lba + n > LBA28_END;

	out8(reg(d, DEVICE),
	     (uint8_t)(0xe0u | (unsigned)d->unit << 4 | (wide ? 0 : (unsigned)(lba >> 24) & 15)));
	if (wide) {
		out8(reg(d, COUNT), (uint8_t)(n >> 8));
		out8(reg(d, LBA0), (uint8_t)(lba >> 24));
		out8(reg(d, LBA1), (uint8_t)(lba >> 32));
		out8(reg(d, LBA2), (uint8_t)(lba >> 40));
	}
	out8(reg(d, COUNT), (uint8_t)n);
	out8(reg(d, LBA0), (uint8_t)lba);
	out8(reg(d, LBA1), (uint8_t)(lba >> 8));
	out8(reg(d, LBA2), (uint8_t)(lba >> 16));
	out8(reg(d, COMMAND), (uint8_t)(wide ? ext : plain));
}

const char *disk_read(const struct disk *d, const struct timer *t, uint64_t lba, void *sector)
{
	const char *problem = wait(d, t, false);

	if (problem)
		return problem;
	command(d, lba, 1, READ, READ_EXT);
	problem = wait(d, t, true);
	if (!problem)
		in16_many(reg(d, DATA), sector, WORDS);
	return problem;
}

const char *disk_write(const struct disk *d, const struct timer *t, uint64_t lba, const void *from,
		       unsigned n)
{
	const uint8_t *p = from;
	const char *problem = wait(d, t, false);

	if (problem)
		return problem;
	command(d, lba, n, WRITE, WRITE_EXT);
	for (; n; n--, p += ETT_SECTOR_BYTES) {
		problem = wait(d, t, true);
		if (problem)
			return problem;
		out16_many(reg(d, DATA), p, WORDS);
	}
	return wait(d, t, false);
}

const char *disk_flush(const struct disk *d, const struct timer *t)
{
	out8(reg(d, COMMAND), d->lba48 ? FLUSH_EXT : FLUSH);
	return wait(d, t, false);
}
