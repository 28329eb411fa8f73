/* SPDX-License-Identifier: MIT */
/**
 * Packets of a ring as bytes of a line (wire/trace_link.h), for a UART, an ITM port, a debugger's
 * file or a socket.
 *
 * The line pulls: it asks for what is next when it has room, from a transmit interrupt, a DMA's end
 * or the idle loop, and neither side waits. Only the header is copied. A packet is trimmed to its
 * content. Its slot is free again when all of it was taken; if it was overwritten meanwhile
 * (TRACE_OVERWRITE) its checksum is made wrong, and the reader drops and counts it.
 *
 * The link is the ring's drain; all its calls are made from one context, or from contexts that do
 * not interrupt each other.
 */
#ifndef TRACER_LINK_H
#define TRACER_LINK_H

#include "../drain.h"

struct tracer_link {
	struct tracer_drain drain;
	void *memory;
	uint32_t memory_bytes;
	const uint8_t *body; /* of the packet in hand, in the ring; NULL: there is none */
	uint32_t at, bytes;  /* of it: sent; in all, its checksum included */
	uint32_t crc;
	uint8_t passed;
	struct tracer_packet head;
	uint8_t tail[4];
};

/**
 * Begin to send the ring at @memory, which need not be there yet. To be called again after each
 * tracer_init().
 */
void tracer_link_init(struct tracer_link *l, void *memory, uint32_t bytes);

/**
 * The next bytes to send, up to @most, at *@bytes. Returns how many, 0 if there are none now. They
 * count as sent, and stay valid until the next call, which may be made once they have left.
 */
uint32_t tracer_link_take(struct tracer_link *l, uint32_t most, const uint8_t **bytes);

/** The next byte, or -1 if there is none now: for a transmit interrupt. */
int tracer_link_byte(struct tracer_link *l);

/** Whether something waits to be sent. */
int tracer_link_waits(struct tracer_link *l);

#endif
