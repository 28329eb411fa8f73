/* SPDX-License-Identifier: MIT */
/**
 * The logic's interface to the chip. chip.c implements it with registers, tests with a model,
 * so that the logic runs on any machine.
 */
#ifndef FX2_CHIP_H
#define FX2_CHIP_H

#include <stdbool.h>
#include <stdint.h>

#include "waveform.h"

/** The bus runs at 480 Mbit/s, not at 12. */
bool chip_high_speed(void);

/** REVID. */
uint8_t chip_revision(void);

/**
 * Make the sampling engine ready: nothing runs, no packet waits, no half-filled one either.
 *
 * @flags enum fx2_flags
 */
void chip_prepare(uint8_t flags, const uint8_t waveform[FX2_WAVEFORM]);

/** Start sampling. Returns what the timer showed, a fixed number of cycles earlier. */
uint32_t chip_start(void);

/** False once the engine has found the buffers full, or has been aborted. */
bool chip_sampling(void);

void chip_abort(void);

/** Packets that wait for the host, 0 to FX2_BUFFERS. */
uint8_t chip_packets(void);

/**
 * Make a packet of what is in the buffer that is being filled, be it nothing. Needs a free buffer.
 */
void chip_commit(void);

/** Abort, and discard whatever waits for the host. */
void chip_flush(void);

/** Now, in 1/FX2_TIMER_HZ. */
uint32_t chip_timer(void);

/** FX2_ENDPOINT answers with STALL. */
bool chip_halted(void);
void chip_halt(bool halted);

/** FX2_ENDPOINT's next packet is DATA0. */
void chip_reset_toggle(void);

#endif
