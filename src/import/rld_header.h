/* SPDX-License-Identifier: MIT */
/**
 * The header of a RocketLogger data file (.rld), versions 2 to 4. Little-endian. Facts: the
 * project's wiki, "data format", and its change log.
 *
 *   offset  bytes
 *   0       4  "%RLD"
 *   4       2  version
 *   6       2  length of the header
 *   8       4  samples a block
 *   12      4  blocks
 *   16      8  samples
 *   24      2  samples a second, nominal
 *   26      6  MAC address
 *   32    2x8  start, UTC seconds and nanoseconds
 *   48      4  length of the comment
 *   52    2x2  binary channels, analog channels
 *   56         comment; then 28 bytes a channel, the binary ones first:
 *              4 unit, 4 power of ten, 2 bytes of a reading, 2 link to the channel that tells
 *              whether it is valid, 16 name
 *
 * Links count from 1 in version 2, from 0 later. A block is its time on two clocks, 2x8 bytes each
 * (wall clock, then the system's monotonic clock), and its samples: a bit a binary channel in whole
 * words of 32 bits, then signed integers.
 */
#ifndef RLD_HEADER_H
#define RLD_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <coeval/error.h>

#define RLD_MAGIC "%RLD"
#define RLD_LEAD_BYTES 56
#define RLD_CHANNEL_BYTES 28
#define RLD_STAMP_BYTES 32
#define RLD_NO_LINK -1
#define RLD_NAME_MAX 24

struct rld_channel {
	char name[RLD_NAME_MAX]; /* UTF-8; no two lines, and no two others, have the same */
	int power;               /* power of ten of the unit: volts, amperes or other */
	double scale;            /* 10^|power| */
	unsigned bytes;          /* of a reading: 1, 2, 4 or 8 */
	int link;                /* binary channel that shows whether it is valid, or RLD_NO_LINK */
	bool binary;
};

struct rld_header {
	unsigned version, rate;
	size_t bytes;
	uint32_t block, blocks; /* samples per block; blocks */
	uint64_t samples;       /* 0: the writer did not get to write it */
	unsigned char mac[6];
	int64_t start_ns; /* UTC */
	char *comment;
	size_t n_lines, n_channels;
	struct rld_channel *channel; /* the binary ones first */
};

/** Time from 2x8 bytes, ns; false if invalid. */
bool rld_stamp(const unsigned char *p, int64_t *ns);

/** Number at @p, little-endian. */
uint64_t rld_uint(const unsigned char *p, unsigned bytes);
int64_t rld_int(const unsigned char *p, unsigned bytes);

/** Length of the header that begins with these RLD_LEAD_BYTES; 0: not a header. */
size_t rld_header_bytes(const unsigned char *lead);

/**
 * Parse a complete header of @n bytes. @name: of the file, for messages. Free with
 * rld_header_free() in any case.
 */
int rld_header_parse(struct rld_header *h, const unsigned char *bytes, size_t n, const char *name,
		     struct cvl_error *err);
void rld_header_free(struct rld_header *h);

/** The reading at @p in the unit of its channel. */
double rld_reading(const struct rld_channel *c, const unsigned char *p);

/** Bytes per sample for the binary channels. */
size_t rld_line_bytes(const struct rld_header *h);
/** Bytes per sample. */
size_t rld_row_bytes(const struct rld_header *h);

#endif
