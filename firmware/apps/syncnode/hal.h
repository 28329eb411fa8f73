/* SPDX-License-Identifier: MIT */
/**
 * What the sync node needs of a board. Nothing here waits without limit, and nothing allocates.
 *
 * The timer is 32 bits wide, counts up at @timer_hz (nominal) forever and wraps.
 */
#ifndef COEVAL_SYNCNODE_HAL_H
#define COEVAL_SYNCNODE_HAL_H

#include <stdint.h>

struct hal {
	void *ctx; /* the first argument of all */
	uint32_t timer_hz;

	uint32_t (*now)(void *ctx);

	/**
	 * Select the radio, and have the timer itself start the transfer of the byte @strobe when
	 * it comes to @count, at least 100 us from now. The radio stays selected until disarm().
	 */
	void (*arm)(void *ctx, uint32_t count, uint8_t strobe);
	/**
	 * Deselect the radio. Returns the status byte that it answered with, or -1 if the byte has
	 * not gone out.
	 */
	int (*disarm)(void *ctx);

	/**
	 * Select the radio, exchange @n bytes, deselect it. Returns 0, or -1 if the radio did not
	 * say that it is ready (MISO stays high) or the bus failed; @in is then undefined. Not to
	 * be called while armed.
	 */
	int (*spi)(void *ctx, const uint8_t *out, uint8_t *in, unsigned n);

	/**
	 * The timer's count at a rising edge of the 1-PPS. Returns 1, or 0 if there was none since
	 * the last call.
	 */
	int (*pulse)(void *ctx, uint32_t *count);

	/** The next byte received. Returns 1, or 0 if there is none. */
	int (*get)(void *ctx, uint8_t *byte);
	/**
	 * Queue @n bytes to be sent. Returns 1, or 0, and nothing is queued, if there is no room
	 * for all.
	 */
	int (*put)(void *ctx, const char *bytes, unsigned n);

	/** Tell the watchdog that all is well. */
	void (*feed)(void *ctx);
};

#endif
