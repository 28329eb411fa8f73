/* SPDX-License-Identifier: MIT */
#include "export/pb.h"

#include "core/utf8.h"

#include <endian.h>
#include <string.h>

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_LENGTH = 2 };

#define VARINT_MAX 10
#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

static size_t varint(uint8_t out[VARINT_MAX], uint64_t v)
{
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		out[n++] = (uint8_t)(v | 0x80);
	out[n++] = (uint8_t)v;
	return n;
}

/* Whether @n more bytes may be written. Once something did not fit, so does nothing after it. */
static bool room(struct pb *p, size_t n)
{
	p->full = p->full || p->cap - p->n < n;
	return !p->full;
}

static void put(struct pb *p, unsigned field, unsigned wire, const void *value, size_t n)
{
	uint8_t key[VARINT_MAX];
	size_t k = varint(key, (uint64_t)field << 3 | wire);

	if (!room(p, k + n))
		return;
	memcpy(p->buf + p->n, key, k);
	memcpy(p->buf + p->n + k, value, n);
	p->n += k + n;
}

void pb_head(struct pb *p, unsigned field, size_t n)
{
	uint8_t length[VARINT_MAX];

	put(p, field, WIRE_LENGTH, length, varint(length, n));
}

void pb_u64(struct pb *p, unsigned field, uint64_t v)
{
	uint8_t value[VARINT_MAX];

	put(p, field, WIRE_VARINT, value, varint(value, v));
}

void pb_fixed64(struct pb *p, unsigned field, uint64_t v)
{
	v = htole64(v);
	put(p, field, WIRE_FIXED64, &v, sizeof(v));
}

void pb_double(struct pb *p, unsigned field, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	pb_fixed64(p, field, bits);
}

void pb_bytes(struct pb *p, unsigned field, const void *bytes, size_t n)
{
	size_t begun = pb_begin(p, field);

	if (!room(p, n)) {
		p->n = begun;
		return;
	}
	memcpy(p->buf + p->n, bytes, n);
	p->n += n;
	pb_end(p, begun);
}

void pb_text(struct pb *p, unsigned field, const char *s, size_t n)
{
	size_t begun = pb_begin(p, field);

	for (size_t i = 0, len; i < n; i += len ? len : 1) {
		const char *from;
		size_t bytes;

		len = utf8_length(s + i, n - i);
		from = len ? s + i : REPLACEMENT;
		bytes = len ? len : sizeof(REPLACEMENT) - 1;
		if (!room(p, bytes)) {
			p->n = begun;
			return;
		}
		memcpy(p->buf + p->n, from, bytes);
		p->n += bytes;
	}
	pb_end(p, begun);
}

/* Reserves one byte for the length: most messages are short. Longer ones are moved at the end. */
size_t pb_begin(struct pb *p, unsigned field)
{
	size_t begun = p->n;

	put(p, field, WIRE_LENGTH, "", 1);
	return begun;
}

void pb_end(struct pb *p, size_t begun)
{
	uint8_t length[VARINT_MAX];
	size_t at = begun, n, k;

	if (p->full) {
		p->n = begun < p->n ? begun : p->n;
		return;
	}
	while (p->buf[at++] & 0x80) /* its key */
		;
	n = p->n - at - 1;
	k = varint(length, n);
	if (!room(p, k - 1)) {
		p->n = begun;
		return;
	}
	memmove(p->buf + at + k, p->buf + at + 1, n);
	memcpy(p->buf + at, length, k);
	p->n += k - 1;
}
