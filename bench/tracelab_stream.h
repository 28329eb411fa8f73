/* SPDX-License-Identifier: MIT */
/** What a simulated TraceLab observer sends by SPI, of a world without loss. */
#ifndef BENCH_TRACELAB_STREAM_H
#define BENCH_TRACELAB_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "bench.h"

struct tracelab_stream {
	const char *name;
	bool paper;
	unsigned period; /* ticks of 500 ns between readings of power; 0: none */
	uint64_t apart;  /* cycles of 10 ns between two edges */
	size_t packets;  /* at least so many words */
	uint8_t *bytes;  /* to be freed */
	size_t n;
};

/** Fill in bytes and n. */
int tracelab_stream(const struct bench *b, struct tracelab_stream *s);

/**
 * Rows: memory of `coeval capture` and `coeval power` for two sessions, one ten times as long.
 */
int tracelab_memory(const struct bench *b);

#endif
