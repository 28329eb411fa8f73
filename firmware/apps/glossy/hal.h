/* SPDX-License-Identifier: MIT */
/**
 * What a node of the flooding network needs of a radio, a timer and two pins. Nothing here waits,
 * and nothing allocates.
 *
 * The timer is 32 bits wide, counts up at @timer_hz (nominal) forever and wraps. The radio listens
 * whenever it does not send, and turns by itself: from receiving to sending at the end of a packet,
 * from sending to receiving at the end of its own.
 */
#ifndef COEVAL_GLOSSY_HAL_H
#define COEVAL_GLOSSY_HAL_H

#include <stdint.h>

#include "syncnode/lines.h"
#include "wire/flood.h"

/** A packet came or left. */
struct glossy_event {
	uint8_t sent;   /* 1: it was ours */
	uint8_t n;      /* bytes of the payload; beyond FLOOD_BYTES only their number is told */
	uint32_t count; /* of the timer, at the end of the sync word */
	uint8_t payload[FLOOD_BYTES];
};

struct glossy_hal {
	void *ctx; /* the first argument of all */
	uint32_t timer_hz;

	uint32_t (*now)(void *ctx);

	/**
	 * The timer's count at a rising edge of the reference's pulse. Returns 1, or 0 if there was
	 * none since the last call.
	 */
	int (*pulse)(void *ctx, uint32_t *count);
	/** Raise the 1-PPS pin when the timer comes to @count, and lower it some ms later. */
	void (*raise)(void *ctx, uint32_t count);

	/**
	 * Begin to send at @count: the first bit of the preamble. Returns 1, or 0 if the radio
	 * cannot.
	 */
	int (*send)(void *ctx, uint32_t count, const uint8_t *payload, unsigned n);
	/** What came or left since, CRC good. Returns 1, or 0 if there is nothing. */
	int (*event)(void *ctx, struct glossy_event *e);
	/**
	 * After a packet that came: answer with this one, in the slot that begins now by itself, or
	 * (@payload NULL) do not send, and listen. To be called once for each, at once.
	 */
	void (*answer)(void *ctx, const uint8_t *payload, unsigned n);

	/**
	 * Queue @n bytes for the UART. Returns 1, or 0, and nothing is queued, if there is no room
	 * for all.
	 */
	int (*put)(void *ctx, const char *bytes, unsigned n);
	/** Tell the watchdog that all is well. */
	void (*feed)(void *ctx);
	/** Add to a line of status what is to be said of the radio. May be NULL. */
	void (*status)(void *ctx, struct lines *l);
};

#endif
