/* SPDX-License-Identifier: MIT */
/**
 * What the event timestamping kernel (firmware/apps/ett) leaves on a disk or sends by its serial
 * port, and `coeval import` reads. Little-endian.
 *
 *   0      struct ett_header, and again at ETT_COPY_AT
 *   4096   blocks of ETT_BLOCK_BYTES: those of records, then those of the self-test's truth, each
 *          kind numbered from 0
 *
 * On a disk that the kernel boots from, the image begins at a sector which the boot sector names.
 * Each block has a checksum and says which run it is of, so that what is whole is kept when
 * something is not, and remains of an earlier run are not mistaken for this one's.
 *
 * A record is a read of the lines that showed something else than the read before it. The event
 * behind it happened in its bracket: not before the time stamp counter (TSC) was read ahead of the
 * previous read, and not after it was read behind this one. So a slow step of the loop widens the
 * bracket of its own event and no other.
 */
#ifndef WIRE_ETT_IMAGE_H
#define WIRE_ETT_IMAGE_H

#include <stdint.h>

#define ETT_MAGIC "CvlETT\r\n"
#define ETT_VERSION 1
#define ETT_COPY_AT 512
#define ETT_HEADER_BYTES 512
#define ETT_BLOCK_BYTES 4096
#define ETT_SECTOR_BYTES 512

/**
 * A boot sector of ours: ETT_BOOT_MARK at 3, and the sector of the image at ETT_BOOT_IMAGE_AT, 32
 * bits.
 */
#define ETT_BOOT_MARK "COEVALET"
#define ETT_BOOT_MARK_AT 3
#define ETT_BOOT_IMAGE_AT 12
/** A disk that may be written to from its first sector on begins with this. */
#define ETT_SPACE_MARK "COEVAL-ETT-SPACE"

/** Where the lines are read. Stored: append only. */
enum ett_source {
	ETT_SOURCE_LPT = 0,    /* data lines of a parallel port */
	ETT_SOURCE_SERIAL = 1, /* modem lines of a serial port: CTS, DSR, RI, DCD are bits 4 to 7 */
	ETT_SOURCE_MMIO = 2,   /* a register in memory */
	ETT_SOURCE_PORT = 3,   /* another port */
};

/** Why a capture ended. Stored: append only. */
enum ett_end {
	ETT_END_NONE = 0,
	ETT_END_ZERO = 1,   /* a probe showed code 0 */
	ETT_END_KEY = 2,    /* a key was pressed */
	ETT_END_FULL = 3,   /* the memory is full: what came later is lost */
	ETT_END_LENGTH = 4, /* it was told to be this long */
	ETT_END_TEST = 5,   /* the self-test drove its last edge */
};

enum {
	ETT_INVARIANT = 1, /* the processor says that its TSC runs at one rate, always */
	ETT_APART = 2, /* the self-test's processor has another TSC: its truth cannot be compared */
	ETT_HYPERVISOR = 4,
	ETT_EVERY_STEP = 8, /* worst-case mode: each step of the loop left a record */
	ETT_SELF_TEST = 16,
	ETT_NO_PORT = 32, /* FF was all that was ever read */
	ETT_PIT = 64,     /* rate measured against the 8254 */
	ETT_HPET = 128,   /* rate measured against the HPET */
};

struct ett_header {
	char magic[8];
	uint32_t version;
	uint32_t crc;   /* CRC-32C of the header with 0 here */
	uint32_t flags; /* ETT_INVARIANT, ... */
	uint8_t probes, bits, mask, source;
	uint64_t source_at; /* port or address */
	uint64_t rate_hz;   /* of the TSC, by which its ticks are turned into times */
	uint64_t rate_least_hz, rate_most_hz; /* what the calibration allows */
	uint64_t rate_cpuid_hz;               /* what the processor claims; 0: nothing */
	uint64_t run;                         /* which: the TSC when it began */
	uint64_t begin, end;                  /* behind the first read, behind the last one */
	uint32_t why;                         /* enum ett_end */
	uint32_t number;                      /* of runs since the boot */
	uint64_t records, truths, room;       /* how many, and how many records would have fitted */
	uint64_t steps, step_least, step_most; /* of the loop, ticks */
	/*
	 * Ticks by which the other processor's TSC is ahead, at the least and the most; least above
	 * most: it did not stay the same.
	 */
	int64_t apart_least, apart_most;
	uint32_t cpu;  /* CPUID's signature */
	uint8_t first; /* what the first read showed */
	uint8_t pad[3];
	char cpu_name[48];
	char config[128]; /* what the kernel was told */
	uint8_t rest[168];
};

enum ett_kind { ETT_RECORDS = 1, ETT_TRUTH = 2 };

#define ETT_BLOCK_MAGIC 0x4b425445u /* "ETBK" */

/** Set in flags of a record whose width is in units of 2^ETT_WIDE_SHIFT ticks, rounded up. */
#define ETT_WIDE 1
#define ETT_WIDE_SHIFT 16

struct ett_record {
	uint64_t tick;         /* TSC behind the read (of truth: behind the store) */
	uint32_t width;        /* of the bracket, which ends at the tick */
	uint8_t value, before; /* what the lines show, and what they showed */
	uint16_t flags;
};

struct ett_block {
	uint32_t magic;
	uint16_t kind, n; /* of records in it */
	uint32_t crc;     /* CRC-32C of the block with 0 here */
	uint32_t pad;
	uint64_t first; /* number of its first record */
	uint64_t run;   /* as of the header */
	struct ett_record record[(ETT_BLOCK_BYTES - 32) / 16];
};

#define ETT_BLOCK_RECORDS (sizeof(((struct ett_block *)0)->record) / sizeof(struct ett_record))

/* Sizes that both sides must agree in; a negative one does not compile. */
typedef char ett_header_fits[sizeof(struct ett_header) == ETT_HEADER_BYTES ? 1 : -1];
typedef char ett_block_fits[sizeof(struct ett_block) == ETT_BLOCK_BYTES ? 1 : -1];

#endif
