/* SPDX-License-Identifier: MIT */
#include "link.h"

#include <stddef.h>

#include "../../wire/trace_link.h"
#include "../port.h"

/* CRC-32C four bits at a time: a table of 64 bytes. */
static uint32_t add_crc(uint32_t crc, const uint8_t *at, uint32_t n)
{
	static const uint32_t nibble[16] = { 0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1,
					     0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
					     0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
					     0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75 };

	for (uint32_t i = 0; i < n; i++) {
		crc ^= at[i];
		crc = crc >> 4 ^ nibble[crc & 15u];
		crc = crc >> 4 ^ nibble[crc & 15u];
	}
	return crc;
}

void tracer_link_init(struct tracer_link *l, void *memory, uint32_t bytes)
{
	*l = (struct tracer_link){ .memory = memory, .memory_bytes = bytes };
}

/* A packet to send, if there is one. */
static int next_packet(struct tracer_link *l)
{
	const struct tracer_packet *p = 0;
	enum tracer_drained got = TRACER_RESET;

	if (l->drain.ring)
		got = tracer_drain_look(&l->drain, &p);
	if (got == TRACER_RESET) {
		/* not begun yet, or begun again */
		if (tracer_drain_open(&l->drain, l->memory, l->memory_bytes) != TRACER_PACKET) {
			l->drain.ring = 0;
			return 0;
		}
		got = tracer_drain_look(&l->drain, &p);
	}
	if (got == TRACER_NONE || got == TRACER_RESET)
		return 0;
	l->head = *p;
	l->head.packet_size = (l->head.content_size + 31u) & ~31u;
	if (got == TRACER_BROKEN || l->head.packet_size > l->drain.packet_bits ||
	    l->head.packet_size < TRACE_PACKET_HEADER_BITS ||
	    l->head.packet_size / 8u > TRACE_LINK_PACKET_MAX) {
		tracer_drain_pass(&l->drain);
		return 0;
	}
	l->body = (const uint8_t *)p;
	l->bytes = l->head.packet_size / 8u + TRACE_LINK_CRC_BYTES;
	l->at = 0;
	l->crc = 0xffffffffu;
	l->passed = 0;
	return 1;
}

/*
 * All of the packet was sent: its slot may be used again. The checksum tells whether it was used
 * too early.
 */
static void finish(struct tracer_link *l)
{
	int good = tracer_drain_pass(&l->drain);
	uint32_t crc = good ? ~l->crc : l->crc;

	for (unsigned i = 0; i < TRACE_LINK_CRC_BYTES; i++)
		l->tail[i] = (uint8_t)(crc >> 8 * i);
	l->passed = 1;
}

uint32_t tracer_link_take(struct tracer_link *l, uint32_t most, const uint8_t **bytes)
{
	const uint8_t *from;
	uint32_t packet, left;

	if (!most || (!l->body && !next_packet(l)))
		return 0;
	packet = l->bytes - TRACE_LINK_CRC_BYTES;
	if (l->at < sizeof(l->head)) {
		from = (const uint8_t *)&l->head + l->at;
		left = (uint32_t)sizeof(l->head) - l->at;
	} else if (l->at < packet) {
		from = l->body + l->at;
		left = packet - l->at;
	} else {
		if (!l->passed)
			finish(l);
		from = l->tail + (l->at - packet);
		left = l->bytes - l->at;
	}
	if (left > most)
		left = most;
	if (l->at < packet)
		l->crc = add_crc(l->crc, from, left);
	l->at += left;
	if (l->at == l->bytes)
		l->body = 0;
	*bytes = from;
	return left;
}

int tracer_link_byte(struct tracer_link *l)
{
	const uint8_t *byte;

	return tracer_link_take(l, 1, &byte) ? *byte : -1;
}

int tracer_link_waits(struct tracer_link *l)
{
	return l->body || next_packet(l);
}
