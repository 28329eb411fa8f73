/* SPDX-License-Identifier: MIT */
/**
 * Extracts packets from the bytes of a line (wire/trace_link.h). Pure: bytes in, packets and
 * counters out. Damaged packets are left out; the numbers of later packets show what is missing.
 */
#ifndef DECODE_UNPACK_H
#define DECODE_UNPACK_H

#include <stddef.h>
#include <stdint.h>

#include <coeval/error.h>

#include "wire/trace_link.h"
#include "wire/trace_ring.h"

/** A whole packet of @n bytes, aligned to 8. A non-zero return ends reading with it. */
typedef int unpack_fn(void *ctx, struct tracer_packet *packet, size_t n, struct cvl_error *err);

struct unpack {
	unpack_fn *packet;
	void *ctx;
	uint32_t layout;
	uint64_t packets;
	uint64_t skipped; /* bytes that are not part of a good packet */
	/* packets with a good checksum, of another program or another core than the first */
	uint64_t foreign;
	uint32_t foreign_layout;
	uint16_t core, foreign_core;
	size_t have;
	_Alignas(8) uint8_t one[TRACE_LINK_PACKET_MAX];
	uint8_t buf[2 * (TRACE_LINK_PACKET_MAX + TRACE_LINK_CRC_BYTES)];
};

/** Packets of @layout are handed to @packet. */
void unpack_init(struct unpack *l, uint32_t layout, unpack_fn *packet, void *ctx);

int unpack_push(struct unpack *l, const void *bytes, size_t n, struct cvl_error *err);

/** End of input: what looked like the start of a packet may contain others. */
int unpack_end(struct unpack *l, struct cvl_error *err);

#endif
