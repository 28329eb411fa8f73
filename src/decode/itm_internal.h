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
	BEGINS_SOURCE, /* a payload, whose size the low two bits tell */
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

/** Bytes behind a header that begins a source's packet. */
static inline unsigned itm_payload(uint8_t header)
{
	return (header & 3) == 3 ? 4 : header & 3;
}

/** Bits of a global timestamp of four groups that are its value; the rest are flags. */
#define ITM_GLOBAL1_MASK 0x3ffffffu

/**
 * Say what packet of software or hardware @p is, whose value and size are set; @page of the ports.
 */
void itm_source(uint32_t page, uint8_t header, struct itm_packet *p);

/** Make the table that itm_quick() goes by. */
void itm_quick_init(struct itm *d);

/**
 * Decode packets that lie whole before @end as long as one follows the other, in a decoder that
 * stands at a header. Leaves what is rare, cut or wrong to be done byte by byte. Returns how many;
 * @bytes is moved behind them.
 */
size_t itm_quick(struct itm *d, const uint8_t **bytes, const uint8_t *end, struct itm_packet *out,
		 size_t room);

#endif
