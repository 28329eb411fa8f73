/* SPDX-License-Identifier: MIT */
/**
 * Frames of a Trace Port Interface Unit: 16 bytes that hold the bytes of several streams.
 *
 * Bytes at even places whose bit 0 is set switch to the stream in their upper bits; those of the others have their bit 0 in byte 15, which
 * says also whether a switch takes effect one byte later. FF FF FF 7F (full) and FF 7F (half) between frames, or between
 * pairs of bytes in one, are synchronisation. Source: CoreSight Architecture Specification, D4.2.
 *
 * Nothing is decoded before the first full synchronisation. A frame that cannot be one (a reserved stream) is counted, and decoding
 * goes on at the next full synchronisation.
 */
#ifndef DECODE_TPIU_H
#define DECODE_TPIU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TPIU_STREAMS 128
#define TPIU_FRAME 16

/** A byte of a stream. */
struct tpiu_byte {
	uint64_t from, to; /* of the frame that it came in, or as it was given */
	uint8_t stream, value;
};

struct tpiu_sink {
	void (*byte)(void *ctx, const struct tpiu_byte *byte);
	/** Bytes are missing in all streams. */
	void (*hole)(void *ctx, uint64_t from, uint64_t to);
	void *ctx;
};

/** Where each byte that came in went. */
struct tpiu_counts {
	uint64_t taken, data, ids, flags, padding, sync, skipped; /* taken: all of them */
	uint64_t resyncs;
	uint64_t stream[TPIU_STREAMS];
};

struct tpiu {
	struct tpiu_sink sink;
	struct tpiu_counts counts;
	uint8_t stream, n, frame[TPIU_FRAME];
	uint64_t from[TPIU_FRAME], to[TPIU_FRAME];
	uint32_t last; /* four bytes */
	unsigned seen;
	bool synced;
};

void tpiu_init(struct tpiu *t, const struct tpiu_sink *sink);
/** @from, @to: ticks between which the byte was on the line, or any numbers that do not fall. */
void tpiu_feed(struct tpiu *t, uint8_t byte, uint64_t from, uint64_t to);
/** Bytes are missing here: the frame in hand is dropped. */
void tpiu_hole(struct tpiu *t, uint64_t from, uint64_t to);
void tpiu_end(struct tpiu *t);

#endif
