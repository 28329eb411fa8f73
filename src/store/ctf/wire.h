/* SPDX-License-Identifier: MIT */
/**
 * The layout of the traces that we write, shared by writer and reader (see docs/session.md).
 * Everything is little-endian and byte-aligned, except the 5 + 27 bits of an event header.
 */
#ifndef CTF_WIRE_H
#define CTF_WIRE_H

#include <stdint.h>

#define WIRE_TRACER "coeval"
#define WIRE_VERSION 1 /* of the layout; env calls it tracer_major */
#define WIRE_STREAM_FILE "stream"
#define WIRE_CLOCK "ticks"

/**
 * Packet header and context. After the content, in what a CTF reader skips as padding, follow four
 * bytes: the CRC-32C of everything before them. There it needs no field that other tools would warn
 * about or show with each event.
 */
#define WIRE_CRC_BYTES 4

struct wire_packet {
	uint32_t magic;
	uint8_t uuid[16];
	uint32_t stream_id;
	uint64_t timestamp_begin, timestamp_end;
	uint64_t content_size, packet_size; /* bits */
	uint64_t packet_seq_num;
	uint64_t events_discarded; /* since the start */
} __attribute__((packed));

/** Last field of line records if some levels may be unknown. */
#define WIRE_UNKNOWN "unknown"

/** Event ids of our own kinds; user-declared classes follow. */
enum wire_event {
	WIRE_LEVELS,
	WIRE_EDGE,
	WIRE_SAMPLE,
	WIRE_BEACON,
	WIRE_PULSE,
	WIRE_MESSAGE,
	WIRE_GAP,
	WIRE_BEGIN,
	WIRE_END,
	WIRE_SLIP,
	WIRE_EDGE_WITHIN,    /* also called edge: its half-width before its levels */
	WIRE_LEVELS_UNKNOWN, /* also called levels: then the mask of unknown lines */
	WIRE_EDGE_UNKNOWN,   /* likewise */
	WIRE_USER,
};

/** Event ids of an export's records that are not events of a trace. */
enum wire_export_event {
	WIRE_EXPORT_EDGE,
	WIRE_EXPORT_SAMPLE,
	WIRE_EXPORT_BEACON,
	WIRE_EXPORT_PULSE,
	WIRE_EXPORT_MESSAGE,
	WIRE_EXPORT_GAP, /* fields in the order of WIRE_GAP's: until, lost, why */
	WIRE_EXPORT_SLIP,
	WIRE_EXPORT_FIRST,
};

/**
 * Event header: id in the low 5 bits, the clock's low 27 above; id 31 announces the extended form.
 */
#define WIRE_ID_BITS 5
#define WIRE_STAMP_BITS 27
#define WIRE_EXTENDED 31

/** Index beside the stream, in the format of lttng-tools 1.1 (big-endian). */
#define WIRE_INDEX_MAGIC 0xc1f1dcc1u

struct wire_index_header {
	uint32_t magic, major, minor, entry_size;
} __attribute__((packed));

struct wire_index_entry {
	uint64_t offset, packet_size, content_size, timestamp_begin, timestamp_end,
		events_discarded;
	uint64_t stream_id, stream_instance_id, packet_seq_num;
} __attribute__((packed));

#endif
