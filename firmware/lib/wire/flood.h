/* SPDX-License-Identifier: MIT */
/**
 * Packets of a flood on the air, declared once for all nodes (C99, no libc).
 *
 * As beacons they are sent with length, address (wire/beacon.h), payload, CRC. Their payload has
 * another length than any beacon's, so that they cannot be confused. Numbers are
 * little-endian.
 */
#ifndef COEVAL_FLOOD_H
#define COEVAL_FLOOD_H

#include "beacon.h"

#define FLOOD_VERSION 1
#define FLOOD_BYTES 12
#define FLOOD_RELAY_MOST 63

/** Where the fields of the payload begin. */
enum flood_field {
	FLOOD_AT_VERSION = 0, /* u8 */
	FLOOD_AT_RELAY =
		1, /* u8: the slot it is sent in; 0 by the initiator, one more with every hop */
	FLOOD_AT_INITIATOR = 2, /* u16: 1 and up */
	FLOOD_AT_SEQUENCE = 4,  /* u32: one more with every flood of this initiator */
	FLOOD_AT_SECOND = 8     /* u32: the second that it announces, since 1970; 0: not known */
};

struct flood_packet {
	uint8_t relay;
	uint16_t initiator;
	uint32_t sequence, second;
};

/** Write @p's payload to @out, FLOOD_BYTES of room. */
static inline void flood_encode(const struct flood_packet *p, uint8_t *out)
{
	out[FLOOD_AT_VERSION] = FLOOD_VERSION;
	out[FLOOD_AT_RELAY] = p->relay;
	beacon_put(out + FLOOD_AT_INITIATOR, p->initiator, 2);
	beacon_put(out + FLOOD_AT_SEQUENCE, p->sequence, 4);
	beacon_put(out + FLOOD_AT_SECOND, p->second, 4);
}

/**
 * Read a payload of @n bytes. Returns 1, or 0 if it is none of a flood (length, version, impossible
 * numbers).
 */
static inline int flood_decode(const uint8_t *in, unsigned n, struct flood_packet *p)
{
	if (n != FLOOD_BYTES || in[FLOOD_AT_VERSION] != FLOOD_VERSION)
		return 0;
	p->relay = in[FLOOD_AT_RELAY];
	p->initiator = (uint16_t)beacon_get(in + FLOOD_AT_INITIATOR, 2);
	p->sequence = (uint32_t)beacon_get(in + FLOOD_AT_SEQUENCE, 4);
	p->second = (uint32_t)beacon_get(in + FLOOD_AT_SECOND, 4);
	return p->initiator != 0 && p->relay <= FLOOD_RELAY_MOST;
}

#endif
