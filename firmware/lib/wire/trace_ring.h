/* SPDX-License-Identifier: MIT */
/**
 * The memory of a tracer, as the traced core and whoever drains it see it: a control block, and
 * behind it packets of CTF 1.8. All platforms are drains of such a ring. The core and its drains
 * are little-endian.
 *
 * Positions count bits, as sizes do in CTF, from the start of tracing (modulo 2^32).
 * Packet number n of the ring's life begins at position n * packet bits, and is in slot n %
 * packets. A packet that begins at position p is complete, and stays as it is until it is
 * overwritten, when head is at p + packet bits or beyond and commit[slot] is p + packet bits.
 */
#ifndef WIRE_TRACE_RING_H
#define WIRE_TRACE_RING_H

#include <stdint.h>

#define TRACE_RING_MAGIC 0x676e5274u /* "tRng" in memory */
#define TRACE_RING_VERSION 1
/*
 * Of a packet in bytes, by their binary logarithm; of packets; of all in bytes, so that differences
 * of positions have a sign.
 */
#define TRACE_PACKET_LOG2_MIN 7
#define TRACE_PACKET_LOG2_MAX 24
#define TRACE_PACKETS_MIN 2
#define TRACE_BYTES_MAX (1u << 27)

enum tracer_mode {
	TRACE_STOP,      /* when all packets are full: the beginning is kept */
	TRACE_OVERWRITE, /* the oldest packet: the end is kept (flight recorder) */
	TRACE_STREAM,    /* a drain frees packets; what finds none free is dropped and counted */
	TRACE_MODES
};

struct tracer_ring {
	uint32_t magic; /* written last; 0 while the core starts */
	uint16_t version;
	uint16_t core;   /* tells the cores of one machine apart */
	uint32_t layout; /* of the events: metadata with another one do not belong to them */
	uint32_t boot;   /* one more each time the core began again, if the memory kept it */
	uint8_t mode;    /* enum tracer_mode */
	uint8_t packet_log2;
	uint8_t stamp_bits;  /* of an event's time: 32 or 64 */
	uint8_t reserved;    /* 0 */
	uint32_t packets;    /* a power of two */
	uint32_t data;       /* bytes from here to the first packet */
	uint32_t rate_hz[2]; /* of the clock, lower half first; 0: unknown */

	/* written by the core */
	uint32_t head;      /* position behind the last event that was begun, see TRACE_HEAD_* */
	uint32_t lost;      /* events dropped since the start */
	uint32_t half;      /* time in half periods of a 32-bit counter, as last looked at */
	uint32_t heartbeat; /* counts calls of tracer_keep_time() */
	/* written by the drain */
	/*
	 * position up to which packets have been read, the end of one; stays 0 where the ring stops
	 * when it is full
	 */
	uint32_t consumed;

	uint32_t commit[]; /* one a slot */
};

/*
 * Events begin at multiples of 32 bits. Where the last one ends within such a word, the lowest bits
 * of head count the bits that it has in there, and the others stand at the end of the word.
 */
#define TRACE_HEAD_NEXT(head) ((head) & ~31u)
#define TRACE_HEAD_END(head) ((head)&31u ? (head)-32u : (head))

#define TRACE_PACKET_MAGIC 0xc1fc1fc1u /* CTF 1.8, 5.2 */

/**
 * What a packet begins with: packet header and packet context of CTF. Sizes in bits. The layout
 * stands where the context is aligned to 64 bits: drains see it, and viewers need not show it with
 * every event.
 */
struct tracer_packet {
	uint32_t magic;
	uint32_t layout; /* as in the ring */
	uint32_t packet_size;
	uint32_t content_size;
	uint32_t timestamp_begin[2];
	uint32_t timestamp_end[2];
	uint32_t events_discarded; /* since the start, up to its end */
	uint32_t packet_seq_num;
	uint16_t core;
	uint16_t boot;
};

#define TRACE_PACKET_HEADER_BITS (8u * (uint32_t)sizeof(struct tracer_packet))

/**
 * Identifier of the event that keeps readers from missing a wrap of 32-bit stamps. Those of a
 * program's own events follow.
 */
#define TRACE_ID_CLOCK 0

#endif
