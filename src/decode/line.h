/* SPDX-License-Identifier: MIT */
/**
 * Output of line decoders: bytes, each with the ticks between which it was on the line.
 *
 * A decoder is pushed each change of its line, and calls its sink for each byte. It holds no file,
 * allocates nothing after its init, and accepts any sequence of edges.
 */
#ifndef DECODE_LINE_H
#define DECODE_LINE_H

#include <stdbool.h>
#include <stdint.h>

struct line_byte {
	uint64_t from, to; /* first and last tick at which it can have been on the line */
	uint8_t value;
	bool broken; /* its framing or parity is wrong: the value is invalid */
	bool counts; /* broken, but one byte: only its parity is wrong */
};

struct line_sink {
	void (*byte)(void *ctx, const struct line_byte *byte);
	void *ctx;
};

#endif
