/* SPDX-License-Identifier: MIT */
/*
 * The kernel's disk driver, against the task file of a disk larger than any that a test could have.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <string.h>

/* In place of the processor's instructions. */
#define ETT_IO_H

#define BASE 0x170
#define WORDS_A_SECTOR 256

/* A disk: registers that hold two writes each, and what the last command was. */
static struct {
	uint64_t sectors;
	bool lba48, there, sick, mute;
	uint8_t reg[8], older[8];
	uint8_t control, status;
	uint8_t last;
	uint64_t lba;
	unsigned want;
	uint64_t words;
	uint64_t now;
} disk;

static uint64_t tsc(void)
{
	return disk.now += 1000;
}

static void begin(uint8_t what)
{
	bool ext = what == 0x34 || what == 0x24;

	disk.last = what;
	disk.lba = (uint64_t)disk.reg[5] << 16 | (uint64_t)disk.reg[4] << 8 | disk.reg[3];
	if (ext)
		disk.lba |= (uint64_t)disk.older[5] << 40 | (uint64_t)disk.older[4] << 32 |
			    (uint64_t)disk.older[3] << 24;
	else
		disk.lba |= (uint64_t)(disk.reg[6] & 15) << 24;
	disk.want = ext ? (unsigned)disk.older[2] << 8 | disk.reg[2] : disk.reg[2];
	disk.words = 0;
	disk.status = what == 0xe7 || what == 0xea ? 0x50 : 0x58;
	if (disk.sick)
		disk.status = 0x51;
	if (disk.mute)
		disk.status = 0xd0;
}

static uint8_t in8(uint16_t at)
{
	if (!disk.there)
		return 0xff;
	return at == BASE + 7 || at == BASE + 0x206 ? disk.status : 0;
}

static void out8(uint16_t at, uint8_t v)
{
	unsigned r = at - BASE;

	if (at == BASE + 0x206) {
		disk.control = v;
		return;
	}
	assert_true(r > 0 && r < 8);
	disk.older[r] = disk.reg[r];
	disk.reg[r] = v;
	if (r == 7)
		begin(v);
}

static void count(uint64_t words)
{
	assert_int_equal(disk.status, 0x58);
	disk.words += words;
	if (disk.words == (uint64_t)disk.want * WORDS_A_SECTOR)
		disk.status = 0x50;
}

static void in16_many(uint16_t at, void *to, uint64_t n)
{
	uint16_t *id = to;

	assert_int_equal(at, BASE);
	assert_int_equal(n, WORDS_A_SECTOR);
	if (disk.last != 0xec) {
		count(n);
		return;
	}
	memset(id, 0, 2 * n);
	id[60] = (uint16_t)(disk.sectors < 0x0fffffff ? disk.sectors : 0xffff);
	id[61] = (uint16_t)((disk.sectors < 0x0fffffff ? disk.sectors : 0x0fffffff) >> 16);
	id[83] = disk.lba48 ? 0x4400 : 0x4000;
	if (disk.lba48)
		memcpy(&id[100], &disk.sectors, 8);
	disk.status = 0x50;
}

static void out16_many(uint16_t at, const void *from, uint64_t n)
{
	(void)from;
	assert_int_equal(at, BASE);
	count(n);
}

#include "ett/pc/disk.c"

static const struct timer timer = { .hz = 1000000000 };
static uint8_t bytes[8 * 512];

static void plug(uint64_t sectors, bool lba48)
{
	memset(&disk, 0, sizeof(disk));
	disk.there = true;
	disk.status = 0x50;
	disk.sectors = sectors;
	disk.lba48 = lba48;
}

static void a_disk_says_how_large_it_is(void **state)
{
	struct disk d;

	(void)state;
	plug(1000000, false);
	assert_null(disk_open(&d, &timer, 3));
	assert_int_equal(d.sectors, 1000000);
	assert_int_equal(disk.reg[6], 0xb0); /* the second of its channel */
	assert_int_equal(disk.control, 2);   /* no interrupts */
	plug(UINT64_C(5) << 30, true);
	assert_null(disk_open(&d, &timer, 2));
	assert_true(d.sectors == UINT64_C(5) << 30);
}

static void near_sectors_are_written_by_28_bits_and_far_ones_by_48(void **state)
{
	struct disk d;

	(void)state;
	plug(UINT64_C(1) << 36, true);
	assert_null(disk_open(&d, &timer, 2));
	assert_null(disk_write(&d, &timer, 0x0abcdef, bytes, 8));
	assert_int_equal(disk.last, 0x30);
	assert_true(disk.lba == 0x0abcdef && disk.want == 8 && disk.words == 8 * 256);
	assert_null(disk_write(&d, &timer, 0x0ffffff8, bytes, 8));
	assert_int_equal(disk.last, 0x30);
	assert_null(disk_write(&d, &timer, 0x0ffffff9, bytes,
			       8)); /* beyond 28 bits with its last one */
	assert_int_equal(disk.last, 0x34);
	assert_true(disk.lba == 0x0ffffff9 && disk.want == 8);
	assert_null(disk_write(&d, &timer, UINT64_C(0xfedcba987), bytes, 8));
	assert_int_equal(disk.last, 0x34);
	assert_true(disk.lba == UINT64_C(0xfedcba987) && disk.words == 8 * 256);
	assert_null(disk_read(&d, &timer, 0, bytes));
	assert_true(disk.last == 0x20 && disk.lba == 0);
	assert_null(disk_flush(&d, &timer));
	assert_int_equal(disk.last, 0xea);
}

static void what_goes_wrong_is_told(void **state)
{
	struct disk d;

	(void)state;
	plug(1000, false);
	disk.there = false;
	assert_non_null(disk_open(&d, &timer, 2));
	assert_non_null(disk_open(&d, &timer, -1));
	plug(1000, false);
	disk.sick = true; /* it aborts the command, as one that is no ATA disk does */
	assert_non_null(disk_open(&d, &timer, 2));
	plug(1000, false);
	assert_null(disk_open(&d, &timer, 2));
	disk.sick = true;
	assert_string_equal(disk_write(&d, &timer, 1, bytes, 1), "the disk reports an error");
	disk.sick = false;
	disk.status = 0x50;
	disk.mute = true;
	disk.now = 0;
	assert_string_equal(disk_write(&d, &timer, 1, bytes, 1), "the disk does not answer");
	assert_true(disk.now >= UINT64_C(10000000000)); /* it had ten seconds */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_disk_says_how_large_it_is),
		cmocka_unit_test(near_sectors_are_written_by_28_bits_and_far_ones_by_48),
		cmocka_unit_test(what_goes_wrong_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
