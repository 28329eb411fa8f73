/* SPDX-License-Identifier: MIT */
/**
 * Frames of a Trace Port Interface Unit: 16 bytes that hold the bytes of several streams.
 *
 * Bytes at even places whose bit 0 is set switch to the stream in their upper bits; the others have
 * their bit 0 in byte 15, which says also whether a switch takes effect one byte later. FF FF FF 7F
 * (full) and FF 7F (half), at an even place, are synchronisation and no part of a frame. Source:
 * CoreSight Architecture Specification, D4.2.
 *
 * Where frames begin is told by a full synchronisation. As long as there has been none, it is found
 * from TPIU_LEARN bytes: frames can begin in 16 places, and in all but one of them streams that are
 * reserved or padding that is not zero turn up sooner or later. Where several are left, that with
 * the fewest switches is taken: that is a guess, and is counted as one. When what cannot be turns
 * up later, what is in hand is dropped and the search begins again.
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

/** Where each byte that came in went: the others add up to taken once tpiu_end() was called. */
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
	struct tpiu_raw held[TPIU_LEARN]; /* of the frame in hand, or for learning */
	unsigned n;
	uint32_t last; /* four bytes */
	uint8_t stream;
	bool framed; /* it is known where frames begin */
};

void tpiu_init(struct tpiu *t, const struct tpiu_sink *sink);
/** @from, @to: ticks between which the byte was on the line, or any numbers that do not fall. */
void tpiu_feed(struct tpiu *t, uint8_t byte, uint64_t from, uint64_t to);
/** Bytes are missing here: what is in hand is dropped. */
void tpiu_hole(struct tpiu *t);
/** No more bytes come. */
void tpiu_end(struct tpiu *t);

#endif
