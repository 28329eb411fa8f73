/* SPDX-License-Identifier: MIT */
/**
 * Frames of a Trace Port Interface Unit: 16 bytes that hold the bytes of several streams.
 *
 * Bytes at even positions with bit 0 set switch to the stream in their upper bits; the others have
 * their bit 0 in byte 15, which also tells whether a switch takes effect one byte later. FF FF FF
 * 7F (full) and FF 7F (half), at an even position, are synchronisation and not part of a frame.
 * Source: CoreSight Architecture Specification, D4.2.
 *
 * A full synchronisation marks where frames begin. Until there is one, it is found from TPIU_LEARN
 * bytes: frames can begin at 16 positions, and at all but one of them reserved streams or non-zero
 * padding turn up eventually. If several are left, the one with the fewest switches is used, and
 * counted as a guess. If something impossible turns up later, the current bytes are dropped and the
 * search starts over.
 */
#ifndef DECODE_TPIU_H
#define DECODE_TPIU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TPIU_STREAMS 128
#define TPIU_FRAME 16
#define TPIU_LEARN 1024
/** Of bytes before the first switch. */
#define TPIU_UNKNOWN 127

/** A byte of a stream. */
struct tpiu_byte {
	uint64_t from, to; /* first and last tick of the frame it came in */
	uint8_t stream, value;
};

struct tpiu_sink {
	void (*byte)(void *ctx, const struct tpiu_byte *byte);
	/** Bytes were dropped here: something of any stream may be missing. */
	void (*hole)(void *ctx, uint64_t from, uint64_t to);
	void *ctx;
};

/** What became of each input byte: the others add up to taken after tpiu_end(). */
struct tpiu_counts {
	uint64_t taken, data, ids, flags, padding, sync, skipped;
	uint64_t frames, full_syncs, guesses, losses;
	uint64_t stream[TPIU_STREAMS];
};

struct tpiu_raw {
	uint64_t from, to;
	uint8_t value;
};

struct tpiu {
	struct tpiu_sink sink;
	struct tpiu_counts counts;
	struct tpiu_raw held[TPIU_LEARN]; /* of the current frame, or for learning */
	unsigned n;
	uint32_t last; /* four bytes */
	uint8_t stream;
	bool framed; /* the start of frames is known */
};

void tpiu_init(struct tpiu *t, const struct tpiu_sink *sink);
/** @from, @to: ticks between which the byte was on the line, or any non-decreasing numbers. */
void tpiu_feed(struct tpiu *t, uint8_t byte, uint64_t from, uint64_t to);
/** Bytes are missing here: the current frame is dropped. */
void tpiu_hole(struct tpiu *t);
/** No more bytes come. */
void tpiu_end(struct tpiu *t);

#endif
