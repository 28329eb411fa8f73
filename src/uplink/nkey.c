/* SPDX-License-Identifier: MIT */
#include "uplink/nkey.h"

#include <nettle/eddsa.h>

#include <stdint.h>
#include <string.h>
#include <sys/random.h>

#define KEY 32
#define PREFIX_SEED (18 << 3) /* 'S' */
#define PREFIX_USER (20 << 3) /* 'U' */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/* CRC-16/XMODEM */
static uint16_t crc16(const uint8_t *p, size_t n)
{
	uint16_t crc = 0;

	for (size_t i = 0; i < n; i++) {
		crc ^= (uint16_t)(p[i] << 8);
		for (int k = 0; k < 8; k++)
			crc = (uint16_t)(crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1);
	}
	return crc;
}

/* Base32 of @n bytes without padding. */
static void put_base32(char *out, const uint8_t *p, size_t n)
{
	uint32_t bits = 0;
	unsigned have = 0;

	for (size_t i = 0; i < n; i++) {
		bits = bits << 8 | p[i];
		for (have += 8; have >= 5; have -= 5)
			*out++ = digits[bits >> (have - 5) & 31];
	}
	if (have)
		*out++ = digits[bits << (5 - have) & 31];
	*out = '\0';
}

/* The inverse, of exactly @n bytes. */
static bool take_base32(uint8_t *out, size_t n, const char *text)
{
	uint32_t bits = 0;
	unsigned have = 0;
	size_t k = 0;

	if (strlen(text) != (n * 8 + 4) / 5)
		return false;
	for (; *text; text++) {
		const char *at = strchr(digits, *text);

		if (!at)
			return false;
		bits = bits << 5 | (uint32_t)(at - digits);
		have += 5;
		if (have >= 8 && k < n) {
			have -= 8;
			out[k++] = (uint8_t)(bits >> have);
		}
	}
	return k == n;
}

static void put_key(char *out, uint8_t *bytes, size_t n)
{
	const uint16_t crc = crc16(bytes, n);

	bytes[n] = (uint8_t)crc;
	bytes[n + 1] = (uint8_t)(crc >> 8);
	put_base32(out, bytes, n + 2);
}

bool nkey_new(char seed[NKEY_SEED_TEXT])
{
	uint8_t raw[2 + KEY + 2] = { PREFIX_SEED | PREFIX_USER >> 5, (PREFIX_USER & 31) << 3 };

	if (getrandom(raw + 2, KEY, 0) != KEY)
		return false;
	put_key(seed, raw, 2 + KEY);
	return true;
}

bool nkey_public(const char *seed, char text[NKEY_PUBLIC_TEXT])
{
	uint8_t raw[2 + KEY + 2], public[1 + KEY + 2] = { PREFIX_USER };

	if (!take_base32(raw, sizeof(raw), seed) || raw[0] != (PREFIX_SEED | PREFIX_USER >> 5) ||
	    raw[1] != (PREFIX_USER & 31) << 3 ||
	    crc16(raw, 2 + KEY) != (raw[2 + KEY] | raw[3 + KEY] << 8))
		return false;
	ed25519_sha512_public_key(public + 1, raw + 2);
	put_key(text, public, 1 + KEY);
	return true;
}
