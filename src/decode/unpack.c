/* SPDX-License-Identifier: MIT */
#include "decode/unpack.h"

#include <endian.h>
#include <string.h>

#include "core/crc32c.h"
#include "tracer/drain.h"

void unpack_init(struct unpack *l, uint32_t layout, unpack_fn *packet, void *ctx)
{
	*l = (struct unpack){ .layout = layout, .packet = packet, .ctx = ctx };
}

static int take(struct unpack *l, struct tracer_packet *p, size_t n, struct cvl_error *err)
{
	if (!l->packets)
		l->core = p->core;
	if (p->layout != l->layout || p->core != l->core) {
		l->foreign_layout = p->layout;
		l->foreign_core = p->core;
		l->foreign++;
		return 0;
	}
	l->packets++;
	return l->packet(l->ctx, p, n, err);
}

/*
 * Length of the packet and checksum at @at, of @n bytes: 0 if none, SIZE_MAX if more bytes are
 * needed. Ignores the layout, to tell packets of another program from noise.
 */
static size_t packet_at(const uint8_t *at, size_t n)
{
	const uint32_t magic = htole32(TRACE_PACKET_MAGIC);
	struct tracer_packet h;
	uint32_t crc;
	size_t size;

	if (memcmp(at, &magic, n < sizeof(magic) ? n : sizeof(magic)) != 0)
		return 0;
	if (n < sizeof(h))
		return SIZE_MAX;
	memcpy(&h, at, sizeof(h));
	size = h.packet_size / 8;
	if (size > TRACE_LINK_PACKET_MAX || size < sizeof(h) ||
	    !tracer_packet_good(&h, (uint32_t)size, h.layout))
		return 0;
	if (n < size + TRACE_LINK_CRC_BYTES)
		return SIZE_MAX;
	memcpy(&crc, at + size, sizeof(crc));
	return le32toh(crc) == cvl_crc32c(0, at, size) ? size : 0;
}

/* Take complete packets. @last: incomplete ones will not be completed. */
static int parse(struct unpack *l, bool last, struct cvl_error *err)
{
	size_t at = 0;
	int rc = 0;

	while (at < l->have && !rc) {
		size_t size = packet_at(l->buf + at, l->have - at);

		if (size == SIZE_MAX && !last)
			break;
		if (!size || size == SIZE_MAX) {
			at++;
			l->skipped++;
			continue;
		}
		memcpy(l->one, l->buf + at, size);
		at += size + TRACE_LINK_CRC_BYTES;
		rc = take(l, (struct tracer_packet *)(void *)l->one, size, err);
	}
	memmove(l->buf, l->buf + at, l->have - at);
	l->have -= at;
	return rc;
}

int unpack_push(struct unpack *l, const void *bytes, size_t n, struct cvl_error *err)
{
	const uint8_t *from = bytes;
	int rc = 0;

	while (n && !rc) {
		size_t room = sizeof(l->buf) - l->have, part = n < room ? n : room;

		memcpy(l->buf + l->have, from, part);
		l->have += part;
		from += part;
		n -= part;
		rc = parse(l, false, err);
	}
	return rc;
}

int unpack_end(struct unpack *l, struct cvl_error *err)
{
	return parse(l, true, err);
}
