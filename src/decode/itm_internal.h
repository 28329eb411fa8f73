/* SPDX-License-Identifier: MIT */
/**
 * Shared by the two ways to decode an ITM's packets: byte by byte (itm.c), and whole packets at
 * once (itm_quick.c).
 */
#ifndef DECODE_ITM_INTERNAL_H
#define DECODE_ITM_INTERNAL_H

#include "decode/itm.h"

/** What a header byte begins. */
enum itm_begins {
	BEGINS_SOURCE, /* a payload, with its size in the low two bits */
	BEGINS_ZERO,
	BEGINS_OVERFLOW,
	BEGINS_SHORT_TS,
	BEGINS_LONG_TS,
	BEGINS_GLOBAL1,
	BEGINS_GLOBAL2,
	BEGINS_PAGE,
	BEGINS_NOTHING
};

static inline enum itm_begins itm_begins(uint8_t b)
{
	if (b & 3)
		return BEGINS_SOURCE;
	if (!b)
		return BEGINS_ZERO;
	if (b == 0x70)
		return BEGINS_OVERFLOW;
	if ((b & 0x8f) == 0)
		return BEGINS_SHORT_TS;
	if ((b & 0xcf) == 0xc0)
		return BEGINS_LONG_TS;
	if (b == 0x94)
		return BEGINS_GLOBAL1;
	if (b == 0xb4)
		return BEGINS_GLOBAL2;
	return (b & 0x0b) == 0x08 ? BEGINS_PAGE : BEGINS_NOTHING;
}

/** Payload bytes after the header of a source's packet. */
static inline unsigned itm_payload(uint8_t header)
{
	return (header & 3) == 3 ? 4 : header & 3;
}

/** Bits of a global timestamp of four groups that are its value; the rest are flags. */
#define ITM_GLOBAL1_MASK 0x3ffffffu

/**
 * Set the kind of the software or hardware packet @p, whose value and size are set; @page of the
 * ports.
 */
void itm_source(uint32_t page, uint8_t header, struct itm_packet *p);

/** Build the table of itm_quick(). */
void itm_quick_init(struct itm *d);

/**
 * Decode consecutive packets that are complete before @end, with the decoder at a header. Leaves
 * what is rare, truncated or wrong to the byte-by-byte decoder. Returns how many; @bytes is moved
 * past them.
 */
size_t itm_quick(struct itm *d, const uint8_t **bytes, const uint8_t *end, struct itm_packet *out,
		 size_t room);

#endif
