/* SPDX-License-Identifier: MIT */
/**
 * A CC1101 that takes part in floods: what glossy_hal wants of a radio, on the sync node's board.
 * Facts from SWRS061.
 *
 * The chip turns by itself: RXOFF_MODE TX and TXOFF_MODE RX (section 29.1, MCSM1), so that an
 * answer leaves a fixed time after the packet, whatever the processor does. It has until the end of
 * the preamble to fill the FIFO: 128 us and the turnaround (section 15.4: a preamble goes on while
 * the FIFO is empty, and the answer would be late). GDO0 rises at the end of a sync word, sent or
 * heard, and the timer captures it.
 *
 * Nothing waits: trx_poll() is to be called again and again, and at least every 20 us while packets
 * come.
 */
#ifndef COEVAL_GLOSSY_TRX_H
#define COEVAL_GLOSSY_TRX_H

#include "hal.h"

#include "syncnode/settings.h"

/** The board, and what it has beyond a sync node's. */
struct trx_board {
	const struct hal *hal;
	/**
	 * The timer's count at a rising edge of GDO0. Returns 1, or 0 if there was none since the
	 * last call.
	 */
	int (*sync)(void *ctx, uint32_t *count);
	void (*raise)(void *ctx, uint32_t count); /* as glossy_hal */
};

enum trx_state {
	TRX_DOWN, /* to be reset */
	TRX_RESETTING,
	TRX_LISTENING,
	TRX_HEARING,  /* a sync word came; waits for the end of the packet */
	TRX_DECIDING, /* for the answer */
	TRX_SENDING,
	TRX_STARTING, /* a flood of ours: the synthesizer starts */
	TRX_ARMED     /* waits for the timer's strobe */
};

struct trx {
	const struct trx_board *board;
	struct radio_setting settings[SETTINGS_MAX];
	unsigned n_settings;
	uint32_t sync_ns, rest_ns; /* of a packet: up to the end of the sync word, and after it */

	enum trx_state state;
	uint32_t since, wait; /* counts: @wait from @since on something is due */
	uint32_t strobe;      /* count at which to send */
	uint8_t version;
	struct glossy_event event;
	int ready; /* it has not been fetched */

	uint32_t absent, stuck, resets, bad; /* bad: packets that were not whole */
};

/** Returns NULL, or what is wrong with the profile. @board must outlive @t. */
const char *trx_init(struct trx *t, const struct trx_board *board,
		     const struct cc1101_profile *profile);

/** Fill @hal, with @t as its context. */
void trx_hal(struct trx *t, struct glossy_hal *hal);

/** Look at chip and timer. */
void trx_poll(struct trx *t);

#endif
