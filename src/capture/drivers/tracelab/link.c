/* SPDX-License-Identifier: MIT */
#include "capture/drivers/tracelab/link.h"

#include <string.h>

/*
 * The count of packets wraps at 65536. One that is half of that ahead may as well have gone back:
 * bytes came twice.
 */
#define MISSING_MAX 32768u

static uint32_t get32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint16_t crc_byte(uint16_t crc, uint8_t byte)
{
	crc = (uint16_t)(crc ^ byte << 4);
	for (int i = 0; i < 8; i++)
		crc = (uint16_t)((crc << 1 ^ (crc & 0x800 ? TL_CRC12 : 0)) & 0xfff);
	return crc;
}

void link_init(struct tracelab_link *l)
{
	memset(l, 0, sizeof(*l));
	for (unsigned b = 0; b < 256; b++) {
		uint16_t crc = crc_byte(0, (uint8_t)b);

		for (int k = 0; k < 4; k++) {
			l->crc[k][b] = crc;
			crc = crc_byte(crc, 0);
		}
	}
}

uint16_t link_crc(const struct tracelab_link *l, uint16_t crc, const uint8_t *bytes, size_t words)
{
	for (size_t i = 0; i < words; i++) {
		uint32_t x = get32(bytes + 4 * i) ^ (uint32_t)crc << 20;

		crc = l->crc[3][x >> 24] ^ l->crc[2][x >> 16 & 255] ^ l->crc[1][x >> 8 & 255] ^
		      l->crc[0][x & 255];
	}
	return crc;
}

static bool is_sync(uint32_t word)
{
	return word >> 28 == TL_SYNC_TOP;
}

static uint16_t count_of(uint32_t sync)
{
	return (uint16_t)(sync >> 12);
}

/* A SYNC that opens a transaction. */
static bool opens(const struct tracelab_link *l, const uint8_t *p)
{
	return is_sync(get32(p)) && !link_crc(l, TL_CRC12_INIT, p, 1);
}

/* 63 words and a SYNC, which came after a SYNC with @count. */
static bool holds(struct tracelab_link *l, const uint8_t *p, uint16_t count)
{
	uint32_t sync = get32(p + 4 * LINK_PACKETS);

	if (!is_sync(sync) || link_crc(l, TL_CRC12_INIT, p, TL_BLOCK_WORDS))
		return false;
	l->n = 0;
	for (size_t i = 0; i < LINK_PACKETS; i++) {
		uint32_t word = get32(p + 4 * i);

		l->packet[l->n] = word;
		l->n += word != TL_IDLE;
	}
	return (uint16_t)(count + l->n) == count_of(sync);
}

/* The SYNC that was found has @count. True: something is missing. */
static bool miss(struct tracelab_link *l, uint16_t count)
{
	bool begun = l->begun;

	l->missing = (uint16_t)(count - l->count);
	if (l->missing >= MISSING_MAX || l->searched >= 4 * MISSING_MAX)
		l->missing = LINK_MISSING_UNKNOWN;
	l->begun = l->synced = true;
	l->searched = 0;
	l->count = count;
	return begun ? l->missing != 0 : count != 0;
}

static enum link_got step(struct tracelab_link *l)
{
	for (;;) {
		const uint8_t *p = l->buf + l->from;
		size_t have = l->to - l->from;

		if (!l->synced) {
			if (have < 4 + LINK_BLOCK_BYTES)
				return LINK_MORE;
			if (opens(l, p) && holds(l, p + 4, count_of(get32(p)))) {
				l->from += 4;
				if (miss(l, count_of(get32(p))))
					return LINK_LOST;
				continue;
			}
			l->from++;
			l->searched++;
			l->skipped_bytes++;
			continue;
		}
		if (have >= 4 && is_sync(get32(p)) && opens(l, p)) {
			l->from += 4;
			if (miss(l, count_of(get32(p))))
				return LINK_LOST;
			continue;
		}
		if (have < LINK_BLOCK_BYTES)
			return LINK_MORE;
		if (!holds(l, p, l->count)) {
			l->synced = false;
			l->bad_blocks++;
			continue;
		}
		l->count = (uint16_t)(l->count + l->n);
		l->from += LINK_BLOCK_BYTES;
		l->blocks++;
		if (l->n)
			return LINK_BLOCK;
	}
}

enum link_got link_take(struct tracelab_link *l, const uint8_t *bytes, size_t n, size_t *used)
{
	*used = 0;
	for (;;) {
		enum link_got got = step(l);
		size_t room;

		if (got != LINK_MORE || *used == n)
			return got;
		memmove(l->buf, l->buf + l->from, l->to - l->from);
		l->to -= l->from;
		l->from = 0;
		room = sizeof(l->buf) - l->to;
		room = room < n - *used ? room : n - *used;
		memcpy(l->buf + l->to, bytes + *used, room);
		l->to += room;
		*used += room;
	}
}

size_t link_waiting(const struct tracelab_link *l)
{
	return l->to - l->from;
}
