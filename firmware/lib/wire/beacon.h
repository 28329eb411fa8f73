/* SPDX-License-Identifier: MIT */
/**
 * Beacons on the air, declared once for sync node and observer (C99, no libc).
 *
 * A CC1101 sends preamble, sync word D3 91, length, address, payload, CRC. Length counts address
 * and payload. (Grace's published firmware sends no address, though its paper has one: observers
 * understand both.) Two payloads are understood, told apart by their length:
 *
 *   Grace's, 4 bytes: seconds since the sender was turned on (Harms et al., DCOSS 2022, III-G),
 *   sender 0; ours, version 1, BEACON_BYTES.
 *
 * Numbers are little-endian. "Sent" is when the first bit of the preamble leaves, set by the
 * sender's timer.
 */
#ifndef COEVAL_BEACON_H
#define COEVAL_BEACON_H

#include <stdint.h>

#define BEACON_SYNC_WORD 0xd391u
#define BEACON_ADDRESS 0x7f
#define BEACON_PREAMBLE_BYTES 4

#define BEACON_GRACE_BYTES 4

#define BEACON_VERSION 1
#define BEACON_BYTES 28

enum beacon_flags {
	BEACON_DISCIPLINED = 1, /* the sender's time follows a 1-PPS */
	BEACON_UTC = 2          /* utc_* are valid */
};

/** Where the fields of our payload begin. */
enum beacon_field {
	BEACON_AT_VERSION = 0,   /* u8 */
	BEACON_AT_FLAGS = 1,     /* u8 */
	BEACON_AT_SENDER = 2,    /* u16: tells senders apart; 1 and up, 0 is Grace's */
	BEACON_AT_SEQUENCE = 4,  /* u32: one more with every beacon that was due, sent or not */
	BEACON_AT_SENT = 8,      /* u64: ns of the sender's own time */
	BEACON_AT_UTC_S = 16,    /* u32: seconds since 1970, of the same instant */
	BEACON_AT_UTC_NS = 20,   /* u32: ns within that second */
	BEACON_AT_UNCERTAIN = 24 /* u32: half-width in ns of the UTC time; all ones: unknown */
};

/** A beacon, decoded. */
struct beacon {
	uint8_t version; /* 0: Grace's */
	uint8_t flags;
	uint16_t sender;
	uint32_t sequence; /* Grace's: its seconds */
	uint64_t sent_ns;  /* Grace's: its seconds */
	uint32_t utc_s, utc_ns, uncertain_ns;
};

static inline void beacon_put(uint8_t *at, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		at[i] = (uint8_t)(v >> (8 * i));
}

static inline uint64_t beacon_get(const uint8_t *at, unsigned bytes)
{
	uint64_t v = 0;

	for (unsigned i = bytes; i-- > 0;)
		v = v << 8 | at[i];
	return v;
}

/** Write @b's payload to @out, BEACON_BYTES of room. Returns its length. */
static inline unsigned beacon_encode(const struct beacon *b, uint8_t *out)
{
	if (b->version == 0) {
		beacon_put(out, b->sequence, 4);
		return BEACON_GRACE_BYTES;
	}
	out[BEACON_AT_VERSION] = b->version;
	out[BEACON_AT_FLAGS] = b->flags;
	beacon_put(out + BEACON_AT_SENDER, b->sender, 2);
	beacon_put(out + BEACON_AT_SEQUENCE, b->sequence, 4);
	beacon_put(out + BEACON_AT_SENT, b->sent_ns, 8);
	beacon_put(out + BEACON_AT_UTC_S, b->utc_s, 4);
	beacon_put(out + BEACON_AT_UTC_NS, b->utc_ns, 4);
	beacon_put(out + BEACON_AT_UNCERTAIN, b->uncertain_ns, 4);
	return BEACON_BYTES;
}

/**
 * Read a payload of @n bytes. Returns 1, or 0 if it is neither kind (wrong length, version,
 * impossible numbers).
 */
static inline int beacon_decode(const uint8_t *in, unsigned n, struct beacon *b)
{
	if (n == BEACON_GRACE_BYTES) {
		*b = (struct beacon){ .sequence = (uint32_t)beacon_get(in, 4) };
		b->sent_ns = (uint64_t)b->sequence * 1000000000u;
		return 1;
	}
	if (n != BEACON_BYTES || in[BEACON_AT_VERSION] != BEACON_VERSION)
		return 0;
	b->version = in[BEACON_AT_VERSION];
	b->flags = in[BEACON_AT_FLAGS];
	b->sender = (uint16_t)beacon_get(in + BEACON_AT_SENDER, 2);
	b->sequence = (uint32_t)beacon_get(in + BEACON_AT_SEQUENCE, 4);
	b->sent_ns = beacon_get(in + BEACON_AT_SENT, 8);
	b->utc_s = (uint32_t)beacon_get(in + BEACON_AT_UTC_S, 4);
	b->utc_ns = (uint32_t)beacon_get(in + BEACON_AT_UTC_NS, 4);
	b->uncertain_ns = (uint32_t)beacon_get(in + BEACON_AT_UNCERTAIN, 4);
	return b->sender != 0 && b->utc_ns < 1000000000u;
}

#endif
