/* SPDX-License-Identifier: MIT */
/**
 * Commands to a TraceLab observer as bytes of its UART, and its answers. Pure. The layout is in
 * firmware/lib/wire/tracelab_wire.h.
 */
#ifndef DRIVERS_TRACELAB_COMMAND_H
#define DRIVERS_TRACELAB_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/tracelab_wire.h"

#define TRACELAB_FRAME_MAX (TL_PAYLOAD_MAX + 5)
#define TRACELAB_DATA_MAX 64
/**
 * How far ahead an actuation must be when it arrives (Lim et al. 2015, IV-D: sent at least 70 us in
 * advance).
 */
#define TRACELAB_AHEAD_NS 70000

struct tracelab_command {
	uint8_t command, tag;
	uint8_t payload[TL_PAYLOAD_MAX];
	uint8_t n;
};

/** Encode @c. Returns the number of bytes. */
size_t tracelab_command_bytes(const struct tracelab_command *c, uint8_t out[TRACELAB_FRAME_MAX]);

struct tracelab_act {
	uint64_t time;
	enum tl_act what;
	uint8_t lines, id; /* lines: bits of the three */
	uint32_t width;    /* of a pulse */
};

struct tracelab_command tracelab_act_command(const struct tracelab_act *a);

struct tracelab_answer {
	uint8_t command, tag, status; /* enum tl_answer */
	uint8_t n;
	uint8_t data[TRACELAB_DATA_MAX];
};

struct tracelab_answers {
	uint8_t buf[TRACELAB_DATA_MAX + 6];
	size_t n;
	uint64_t skipped; /* bytes that belong to no answer */
};

/** Take a byte. True: it completed an answer, which is in @out. Invalid bytes are skipped. */
bool tracelab_answer_take(struct tracelab_answers *a, uint8_t byte, struct tracelab_answer *out);

/** "too late", ... */
const char *tracelab_answer_text(unsigned status);

struct tracelab_status {
	unsigned flags, act_lines, mask, queued, bad_bytes, pps, rejected, adc_bad;
	uint32_t ring, lost;
	uint64_t time;
};

/** False: it is none. */
bool tracelab_status_read(struct tracelab_status *s, const struct tracelab_answer *a);

#endif
