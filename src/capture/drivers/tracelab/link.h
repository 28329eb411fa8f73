/* SPDX-License-Identifier: MIT */
/**
 * What a TraceLab observer sends over SPI, as bytes: blocks that are whole, and what is missing
 * between them. Pure; nothing is allocated. The layout is in firmware/lib/wire/tracelab_wire.h.
 *
 * Transactions need no boundaries here: each begins with a SYNC word that is checked by itself. A
 * block is handed on when the SYNC behind it has proved it. After bytes that were lost, added or
 * turned the next SYNC is looked for, byte by byte (a transaction begins with a byte), and believed
 * if the whole block behind it holds.
 */
#ifndef DRIVERS_TRACELAB_LINK_H
#define DRIVERS_TRACELAB_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/tracelab_wire.h"

/** Bytes of a block with the SYNC behind it. */
#define LINK_BLOCK_BYTES (TL_BLOCK_WORDS * 4u)
/** Packets of a block at the most. */
#define LINK_PACKETS (TL_BLOCK_WORDS - 1)
/** How many are missing, when unknown: more than their count can express. */
#define LINK_MISSING_UNKNOWN UINT64_MAX

struct tracelab_link {
	uint16_t crc[4][256]; /* of a byte, with 0 to 3 zero bytes behind */
	uint8_t buf[8192];
	size_t from, to;
	bool synced, begun; /* begun: ever in sync */
	uint16_t count;     /* of the last SYNC */
	uint64_t searched;  /* bytes since the last sync */

	uint32_t packet[LINK_PACKETS]; /* of the last LINK_BLOCK */
	size_t n;
	uint64_t missing; /* packets, of the last LINK_LOST */

	uint64_t blocks, bad_blocks, skipped_bytes;
};

enum link_got {
	LINK_MORE,  /* all bytes were consumed */
	LINK_BLOCK, /* packets */
	LINK_LOST   /* packets are missing before those that come next */
};

void link_init(struct tracelab_link *l);

/** Take from @n bytes, split anywhere, what one result needs; *used of them. */
enum link_got link_take(struct tracelab_link *l, const uint8_t *bytes, size_t n, size_t *used);

/** Bytes waiting for more. */
size_t link_waiting(const struct tracelab_link *l);

/** The CRC of @words words, first @crc. */
uint16_t link_crc(const struct tracelab_link *l, uint16_t crc, const uint8_t *bytes, size_t words);

#endif
